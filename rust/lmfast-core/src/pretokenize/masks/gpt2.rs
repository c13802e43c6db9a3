//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

use super::{
    Rules, Window,
    bits::{Bits, shifted},
};
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

impl Rules<false> for Gpt2 {
    #[inline]
    fn starts(&self, window: &mut Window, text: &str) {
        let mut symbol_before = 0;
        window.starts = Bits::default();
        for at in 0..window.blocks() {
            let (letter, number, white) = (window.letter[at], window.number[at], window.white[at]);
            let symbol = !(letter | number | white) & window.valid(at);
            let symbol_behind = shifted(symbol, &mut symbol_before);
            let runs = letter & !window.letter.behind(at)
                | number & !window.number.behind(at)
                | symbol & !symbol_behind;
            window.starts[at] |= runs & !window.blank.behind(at) | white & !window.white.behind(at);
            window.start_at_last_white(at, white, text.as_bytes());
        }
        window.start_behind_contractions(text, Case::Sensitive);
    }

    #[inline]
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize {
        scan::gpt2(classes, text, start)
    }
}
