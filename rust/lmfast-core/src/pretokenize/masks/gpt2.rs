//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

use super::{BLOCK, Rules, Window, wide::lead};
use crate::pretokenize::{
    scan::{self, Case},
    unicode::Classes,
};

/// GPT-2's scheme. A pretoken starts
///
/// * where a run of letters, of numbers, of symbols or of whitespace does, but not behind a blank,
///   which belongs to the run behind it;
/// * at the last character of whitespace before anything else;
/// * behind a contraction.
pub(in super::super) struct Gpt2;

impl Rules for Gpt2 {
    #[inline]
    fn starts(&self, window: &mut Window, text: &str) {
        let bytes = text.as_bytes();
        let blocks = window.blocks();
        let mut symbol_before = 0;
        for at in 0..blocks {
            let (letter, number) = (window.letter[at], window.number[at]);
            let (white, valid) = (window.white[at], window.valid(at));
            let symbol = !(letter | number | white) & valid;
            let symbol_behind = symbol << 1 | symbol_before;
            symbol_before = symbol >> (BLOCK - 1);
            let runs = letter & !window.letter.behind(at)
                | number & !window.number.behind(at)
                | symbol & !symbol_behind;
            let white_next =
                window.white.before(at) | !(valid >> 1 | window.valid(at + 1) << (BLOCK - 1));
            let last_white = white & !white_next;
            window.starts[at] =
                runs & !window.blank.behind(at) | white & !window.white.behind(at) | last_white;
            let mut wide_white = last_white & window.high[at];
            while wide_white != 0 {
                let place = at * BLOCK + wide_white.trailing_zeros() as usize;
                wide_white &= wide_white - 1;
                let lead = lead(bytes, place);
                if lead < place {
                    window.starts.clear(place);
                    window.starts.set(lead);
                }
            }
        }
        window.starts[blocks] = 0;
        for at in 0..blocks {
            let mut quotes = window.quote[at] & window.starts[at];
            while quotes != 0 {
                let place = at * BLOCK + quotes.trailing_zeros() as usize;
                quotes &= quotes - 1;
                if let Some(end) = scan::contraction(text, place, Case::Sensitive) {
                    window.starts.clear(place + 1);
                    window.starts.set(end);
                }
            }
        }
    }

    #[inline]
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize {
        scan::gpt2(classes, text, start)
    }
}
