//! Where a text may be cut so that its parts, cut into pretokens one by one, give what the whole
//! would give.
//!
//! No named scheme looks back, and each looks ahead only after whitespace. So a cut is safe where
//! the character before it is not whitespace and its pretoken ends there whatever follows:
//!
//! * after a letter, before what can neither continue a word nor be the apostrophe of a contraction;
//! * after a number, before anything else;
//! * after anything, before whitespace; but a newline may belong to the symbols before it, except
//!   in GPT-2's scheme;
//! * within a run of numbers, after every third one, except in GPT-2's scheme.
//!
//! That leaves no cut in one run of letters, of symbols or of whitespace, which is one pretoken
//! anyway (or, in o200k, a word in mixed case), and in symbols and newlines alone.

use super::{
    Pretokenizer, Scheme,
    unicode::{Classes, HEAD, LETTER, NEWLINE, NUMBER, SPACE, TAIL},
};

/// Which of these cuts are safe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SafeCuts {
    /// Those that every scheme allows.
    common: bool,
    before_newlines: bool,
    within_numbers: bool,
}

impl SafeCuts {
    /// Those that `pretokenizer` allows.
    pub(crate) fn of(pretokenizer: &Pretokenizer) -> Self {
        let scheme = match pretokenizer {
            Pretokenizer::Scheme(scheme) => Some(*scheme),
            Pretokenizer::Regex(_) | Pretokenizer::None => None,
        };
        let is_gpt2 = scheme == Some(Scheme::Gpt2);
        Self {
            common: scheme.is_some(),
            before_newlines: is_gpt2,
            within_numbers: scheme.is_some() && !is_gpt2,
        }
    }

    /// Those that `other` allows, too.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            common: self.common && other.common,
            before_newlines: self.before_newlines && other.before_newlines,
            within_numbers: self.within_numbers && other.within_numbers,
        }
    }

    /// The last safe cut of `text`, if there is any.
    ///
    /// `text` must begin where a pretoken does.
    pub(crate) fn last(self, text: &str) -> Option<usize> {
        if !self.common {
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
        if class & SPACE != 0 {
            return false;
        }
        (class & LETTER != 0 && ahead & (LETTER | HEAD | TAIL) == 0 && next != '\'')
            || (class & NUMBER != 0 && ahead & NUMBER == 0)
            || (ahead & SPACE != 0 && (ahead & NEWLINE == 0 || self.before_newlines))
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
