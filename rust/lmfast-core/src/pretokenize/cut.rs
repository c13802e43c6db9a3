//! Where a text may be cut so that its parts, cut into pretokens one by one, give what the whole
//! would give.
//!
//! No named scheme looks back, and each looks ahead only after whitespace. So a cut is safe where
//! the character before it is not whitespace and its pretoken ends there whatever follows:
//!
//! * after a letter, before what can neither continue a word nor be the apostrophe of a contraction;
//! * after a number, before anything else;
//! * after anything, before whitespace; but a newline may belong to the symbols before it, except
//!   in the schemes that cut as GPT-2 does;
//! * within a run of numbers, after every third one, except in GPT-2's scheme.
//!
//! That leaves no cut in one run of letters, of symbols or of whitespace, which is one pretoken
//! anyway (or, in o200k, a word in mixed case), and in symbols and newlines alone.
//!
//! Of a user's pattern the table tells where it always cuts.

use std::collections::HashSet;

use super::{
    Pretokenizer, Scheme,
    unicode::{Classes, HAN_OR_KANA, HEAD, LETTER, NEWLINE, NUMBER, SPACE, TAIL},
};

/// Which of these cuts are safe.
#[expect(clippy::struct_excessive_bools, reason = "one for each kind of cut")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SafeCuts {
    after_letters: bool,
    after_numbers: bool,
    before_spaces: bool,
    before_newlines: bool,
    within_numbers: bool,
}

impl SafeCuts {
    /// Nowhere.
    pub(crate) const NONE: Self = Self {
        after_letters: false,
        after_numbers: false,
        before_spaces: false,
        before_newlines: false,
        within_numbers: false,
    };

    /// Those that `pretokenizer` allows.
    pub(crate) fn of(pretokenizer: &Pretokenizer) -> Self {
        match pretokenizer {
            Pretokenizer::Scheme(scheme) => Self {
                after_letters: true,
                after_numbers: true,
                before_spaces: true,
                before_newlines: matches!(scheme, Scheme::Gpt2 | Scheme::StarCoder),
                within_numbers: !matches!(scheme, Scheme::Gpt2),
            },
            Pretokenizer::Regex(user) => user.safe_cuts(),
            Pretokenizer::Sequence(steps) => steps.safe_cuts(),
            Pretokenizer::None => Self::NONE,
        }
    }

    /// Those of a pattern, of which `kind` is what it takes a character for, and `always_cuts`
    /// whether a pretoken ends wherever a character of the one kind is before one of the other.
    pub(super) fn of_pattern(
        kind: impl Fn(char) -> u8,
        always_cuts: impl Fn(u8, u8) -> bool,
    ) -> Self {
        let classes = Classes::get();
        let mut cells: Vec<(u8, bool, u8)> =
            ('\0'..=char::MAX).map(|c| (classes.of(c), c == '\'', kind(c))).collect();
        cells.dedup();
        let cells: HashSet<(u8, bool, u8)> = cells.into_iter().collect();
        let mut safe = Self { within_numbers: false, ..Self::ALL };
        for &(class, _, before) in &cells {
            for &(ahead, is_apostrophe, after) in &cells {
                if !always_cuts(before, after) {
                    let place = Self::describing(class, ahead, is_apostrophe);
                    safe.after_letters &= !place.after_letters;
                    safe.after_numbers &= !place.after_numbers;
                    safe.before_spaces &= !place.before_spaces;
                    safe.before_newlines &= !place.before_newlines;
                }
            }
        }
        safe
    }

    const ALL: Self = Self {
        after_letters: true,
        after_numbers: true,
        before_spaces: true,
        before_newlines: true,
        within_numbers: true,
    };

    /// Those that `other` allows, too.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            after_letters: self.after_letters && other.after_letters,
            after_numbers: self.after_numbers && other.after_numbers,
            before_spaces: self.before_spaces && other.before_spaces,
            before_newlines: self.before_newlines && other.before_newlines,
            within_numbers: self.within_numbers && other.within_numbers,
        }
    }

    /// The last safe cut of `text`, if there is any.
    ///
    /// `text` must begin where a pretoken does.
    pub(crate) fn last(self, text: &str) -> Option<usize> {
        if self == Self::NONE {
            return None;
        }
        let classes = Classes::get();
        let mut next: Option<(char, u8)> = None;
        for (at, c) in text.char_indices().rev() {
            let class = classes.of(c);
            if next.is_some_and(|(next, ahead)| self.ends_pretoken(class, next, ahead)) {
                return Some(at + c.len_utf8());
            }
            next = Some((c, class));
        }
        if self.within_numbers { cut_in_numbers(classes, text) } else { None }
    }

    /// Whether a pretoken that holds a character of `class` ends before `next`, whatever follows.
    fn ends_pretoken(self, class: u8, next: char, ahead: u8) -> bool {
        let place = self.and(Self::describing(class, ahead, next == '\''));
        place != Self::NONE
    }

    /// Which of these cuts there is between a character of `class` and one of `ahead`.
    fn describing(class: u8, ahead: u8, next_is_apostrophe: bool) -> Self {
        if class & SPACE != 0 {
            return Self::NONE;
        }
        let ends_word = class & LETTER != 0 && ahead & (LETTER | HEAD | TAIL | HAN_OR_KANA) == 0;
        Self {
            after_letters: ends_word && !next_is_apostrophe,
            after_numbers: class & NUMBER != 0 && ahead & NUMBER == 0,
            before_spaces: ahead & SPACE != 0 && ahead & NEWLINE == 0,
            before_newlines: ahead & NEWLINE != 0,
            within_numbers: false,
        }
    }
}

/// The last cut after a multiple of three numbers of the run that ends `text`.
fn cut_in_numbers(classes: Classes, text: &str) -> Option<usize> {
    let numbers = text.chars().rev().take_while(|&c| classes.of(c) & NUMBER != 0).count();
    // The last numbers may be fewer than three, with more of them to come.
    let after_cut = numbers.checked_sub(1)? % 3 + 1;
    let (cut, _) = text.char_indices().rev().nth(after_cut - 1)?;
    (after_cut < numbers).then_some(cut)
}
