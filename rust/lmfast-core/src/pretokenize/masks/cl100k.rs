//! `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|`
//! `\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+`

use super::{
    Rules, Window,
    words::{self, Words},
};
use crate::pretokenize::{
    scan::{self, Case},
    unicode::Classes,
};

/// What `scan::words_of_any_case` scans: [`Words`] of letters, and contractions apart from them.
pub(in super::super) struct Cl100k<
    const KEEPS_FINAL_SPACES: bool,
    const MARKS: bool,
    const NUMBERS: usize,
>;

impl<const KEEPS_FINAL_SPACES: bool, const MARKS: bool, const NUMBERS: usize> Words
    for Cl100k<KEEPS_FINAL_SPACES, MARKS, NUMBERS>
{
    const MARKS: bool = MARKS;
    const NUMBERS: usize = NUMBERS;
    const SLASHES: bool = false;
    const KEEPS_FINAL_SPACES: bool = KEEPS_FINAL_SPACES;
}

impl<const KEEPS_FINAL_SPACES: bool, const MARKS: bool, const NUMBERS: usize> Rules<true>
    for Cl100k<KEEPS_FINAL_SPACES, MARKS, NUMBERS>
{
    #[inline(always)]
    fn starts(&self, window: &mut Window, text: &str) {
        words::starts::<Self>(window, text.as_bytes());
        window.start_behind_contractions(text, Case::Any);
    }

    #[inline]
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize {
        scan::words_of_any_case::<KEEPS_FINAL_SPACES, MARKS, NUMBERS>(classes, text, start)
    }
}
