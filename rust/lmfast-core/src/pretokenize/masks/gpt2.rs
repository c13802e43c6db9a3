//! `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

use std::array::from_fn;

use super::{
    Rules, Window,
    bits::{LANES, places},
    wide,
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
    #[inline(always)]
    fn starts(&self, window: &mut Window, text: &str) {
        window.end_with_white();
        for first in (0..window.blocks()).step_by(LANES) {
            let starts = from_fn(|lane| starts_of_runs(window, first + lane));
            *window.starts.lanes(first) = starts;
        }
        window.starts.set(0);
        if window.is_wide {
            start_at_wide_spaces(window, text.as_bytes());
        }
        window.start_behind_contractions(text, Case::Sensitive);
    }

    #[inline]
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize {
        scan::gpt2(classes, text, start)
    }
}

/// The starts in block `at`, but for those at wide spaces and behind contractions.
#[inline(always)]
fn starts_of_runs(window: &Window, at: usize) -> u64 {
    let [letter, number, white] = [&window.letter, &window.number, &window.white];
    let symbol = !(letter[at] | number[at] | white[at]);
    let no_symbol_behind = letter.behind(at) | number.behind(at) | white.behind(at);
    let runs = letter[at] & !letter.behind(at)
        | number[at] & !number.behind(at)
        | symbol & no_symbol_behind;
    let first_white = white[at] & !white.behind(at);
    let last_white = white[at] & !white.before(at) & !window.high[at];
    runs & !window.blank.behind(at) | first_white | last_white
}

/// A start at each wide space that is the last whitespace before anything else.
fn start_at_wide_spaces(window: &mut Window, bytes: &[u8]) {
    for at in 0..window.blocks() {
        let last = window.white[at] & !window.white.before(at) & window.high[at];
        for place in places(at, last) {
            window.starts.set(wide::lead(bytes, place));
        }
    }
}
