//! `[^\r\n\p{L}\p{N}]?HEAD*TAIL+CONTRACTION?|[^\r\n\p{L}\p{N}]?HEAD+TAIL*CONTRACTION?|`
//! `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

use super::{
    Rules, Window,
    bits::{places, run_end, run_start},
    wide::lead,
    words::{self, Words},
};
use crate::pretokenize::{
    scan::{self, Case},
    unicode::Classes,
};

/// What `scan::words_by_case` scans: [`Words`] of letters and marks, which end with their
/// contractions, and where upper case follows lower case.
pub(in super::super) struct O200k<const CONTRACTIONS: bool, const NUMBERS: usize>;

impl<const CONTRACTIONS: bool, const NUMBERS: usize> Words for O200k<CONTRACTIONS, NUMBERS> {
    const MARKS: bool = true;
    const NUMBERS: usize = NUMBERS;
    const SLASHES: bool = true;
    const KEEPS_FINAL_SPACES: bool = false;
}

impl<const CONTRACTIONS: bool, const NUMBERS: usize> Rules<true> for O200k<CONTRACTIONS, NUMBERS> {
    #[inline(always)]
    fn starts(&self, window: &mut Window, text: &str) {
        if window.is_wide {
            settle_marks_behind_symbols(window, text.as_bytes());
        }
        words::starts::<Self>(window, text.as_bytes());
        for at in 0..window.blocks() {
            let lower_behind =
                window.letter.behind(at) & !window.upper.behind(at) & !window.both.behind(at);
            window.starts[at] |= window.upper[at] & lower_behind;
        }
        if CONTRACTIONS {
            end_words_with_contractions(window, text);
        }
        if window.is_wide {
            start_in_upper_case_behind_both(window);
        }
    }

    #[inline]
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize {
        scan::words_by_case::<CONTRACTIONS, NUMBERS>(classes, text, start)
    }
}

/// Marks behind symbols open a word if the word takes the symbol before it, which no other symbol
/// and no blank may precede; else they are symbols themselves. Behind slashes, which may belong to
/// the newlines before them, that is left open.
fn settle_marks_behind_symbols(window: &mut Window, bytes: &[u8]) {
    for at in 0..window.blocks() {
        if window.mark[at] == 0 {
            continue;
        }
        let others = [&window.letter, &window.number, &window.white, &window.mark];
        let others_behind =
            others.iter().fold(u64::from(at == 0), |all, bits| all | bits.behind(at));
        for place in places(at, window.mark[at] & !others_behind) {
            let symbol = lead(bytes, place - 1);
            let slashes_from = symbol.saturating_sub(1);
            if (slashes_from..=symbol).any(|at| window.slash.has(at)) {
                window.limit = window.limit.min(place);
                return;
            }
            if symbol == 0 || !is_symbol_or_blank(window, symbol - 1) {
                continue;
            }
            for inside in place..run_end(place, |block| window.mark[block]) {
                window.mark.clear(inside);
                window.both.clear(inside);
            }
        }
    }
}

fn is_symbol_or_blank(window: &Window, at: usize) -> bool {
    let others = [&window.letter, &window.number, &window.white, &window.mark];
    window.blank.has(at) || !others.iter().any(|bits| bits.has(at))
}

/// Move the start from the apostrophe of a contraction that a word ends with to behind it.
#[inline(always)]
fn end_words_with_contractions(window: &mut Window, text: &str) {
    let mut last_end = 0;
    for at in 0..window.blocks() {
        for place in places(at, window.quote[at] & window.letter.behind(at)) {
            if place == last_end {
                continue; // It opens a word, since one has no two contractions.
            }
            if let Some(end) = scan::contraction(text, place, Case::Any) {
                (place..end).for_each(|inside| window.starts.clear(inside));
                window.starts.set(end);
                last_end = end;
            }
        }
    }
}

/// Starts in upper case behind letters or marks that may both open a word and go on in one.
///
/// Those letters go on in a word behind lower case, which upper case then ends. Otherwise they open
/// it, and so does the upper case behind them, but only where it is followed by what goes on in a
/// word: else the word ends with the last letter that may go on.
fn start_in_upper_case_behind_both(window: &mut Window) {
    for at in 0..window.blocks() {
        for place in places(at, window.upper[at] & window.both.behind(at)) {
            let both = run_start(place - 1, |block| window.both[block]);
            let opens = both == 0
                || window.starts.has(both)
                || window.upper.has(both - 1)
                || !window.letter.has(both - 1);
            let upper_end = run_end(place, |block| window.upper[block]);
            let ends = window.is_last || upper_end < window.len;
            if !opens || ends && !window.letter.has(upper_end) {
                window.starts.set(place);
            }
        }
    }
}
