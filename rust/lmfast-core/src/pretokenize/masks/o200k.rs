//! `[^\r\n\p{L}\p{N}]?HEAD*TAIL+CONTRACTION?|[^\r\n\p{L}\p{N}]?HEAD+TAIL*CONTRACTION?|`
//! `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

use super::{
    Rules, Window,
    bits::{places, run_end, run_start},
    words::{self, Words},
};
use crate::pretokenize::{
    scan::{self, Case},
    unicode::Classes,
};

/// What `scan::words_by_case` scans: [`Words`] of letters and marks, which end with their
/// contractions, and where upper case follows lower case.
///
/// A mark behind symbols may belong to them or open a word, which these rules leave open.
pub(in super::super) struct O200k<const CONTRACTIONS: bool, const NUMBERS: usize>;

impl<const CONTRACTIONS: bool, const NUMBERS: usize> Words for O200k<CONTRACTIONS, NUMBERS> {
    const MARKS: bool = true;
    const NUMBERS: usize = NUMBERS;
    const SLASHES: bool = true;
    const KEEPS_FINAL_SPACES: bool = false;
}

impl<const CONTRACTIONS: bool, const NUMBERS: usize> Rules for O200k<CONTRACTIONS, NUMBERS> {
    #[inline]
    fn starts(&self, window: &mut Window, text: &str) {
        stop_at_marks_behind_symbols(window);
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

fn stop_at_marks_behind_symbols(window: &mut Window) {
    if !window.is_wide {
        return;
    }
    for at in 0..window.blocks() {
        let others = [&window.letter, &window.number, &window.white, &window.mark];
        let others_behind =
            others.iter().fold(u64::from(at == 0), |all, bits| all | bits.behind(at));
        let marks = window.mark[at] & !others_behind;
        if let Some(place) = places(at, marks).next() {
            window.limit = window.limit.min(place);
            return;
        }
    }
}

/// Move the start from the apostrophe of a contraction that a word ends with to behind it.
#[inline]
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
            if opens && upper_end >= window.len && !window.is_last {
                window.limit = window.limit.min(place);
                return;
            }
            if !opens || !window.letter.has(upper_end) {
                window.starts.set(place);
            }
        }
    }
}
