//! Where added tokens lie in a text, and what of the space around them they swallow.
//!
//! The rules are those of Hugging Face: tokens that are not normalized are found in the text as it
//! is; what lies between them is normalized, and searched for the others.

use std::sync::LazyLock;

use super::{Flags, SpecialTokens, matcher::Matcher};
use crate::{error::Result, vocabulary::TokenId};

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Token(TokenId),
    /// Ordinary text, in the normal form.
    Text(&'a [u8]),
}

/// What finds the tokens that a policy lets be found.
#[derive(Clone, Debug, Default)]
pub(super) struct Matchers {
    /// Of the tokens found in the text as it is.
    pub(super) raw: Matcher,
    /// Of those found in normalized text.
    pub(super) normalized: Matcher,
}

impl Matchers {
    /// Whether there is nothing to find.
    pub(super) fn is_nothing(&self) -> bool {
        self.raw.longest() == 0 && self.normalized.longest() == 0
    }
}

impl SpecialTokens {
    pub(super) fn matchers(&self, found: impl Fn(&str, Flags) -> bool) -> Result<Matchers> {
        // Of two tokens with one normal form, Hugging Face finds the special one.
        let special_first = [true, false].into_iter().flat_map(|special| {
            self.tokens.iter().filter(move |token| token.flags.special == special)
        });
        let of = |normalized| {
            let tokens = special_first.clone().filter(|token| {
                let pass = token.flags.normalized && !self.is_plain;
                pass == normalized && found(&token.text, token.flags)
            });
            let normalizer = if normalized { Some(&self.normalizer) } else { None };
            Matcher::new(tokens.map(|token| {
                let text = token.text.as_bytes();
                (normalizer.map_or(text.into(), |normalizer| normalizer.normalize(text)), token.id)
            }))
        };
        Ok(Matchers { raw: of(false)?, normalized: of(true)? })
    }

    /// Call `visit` with the parts of `text`, in order.
    pub(super) fn for_each_part_of(
        &self,
        text: &[u8],
        matchers: &Matchers,
        mut visit: impl FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        self.split(text, &matchers.raw, &mut |part| match part {
            Part::Token(_) => visit(part),
            Part::Text(text) => {
                self.split(&self.normalizer.normalize(text), &matchers.normalized, &mut visit)
            }
        })
    }

    fn split(
        &self,
        text: &[u8],
        matcher: &Matcher,
        visit: &mut dyn FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        // Where the last run of space that was looked at ends, lest one run is read many times.
        let mut space_end = 0;
        for found in matcher.find_iter(text) {
            let flags = self.flags_of(found.id);
            let (mut start, mut end) = (found.start, found.end);
            if flags.single_word
                && (ends_with_word(&text[..start]) || starts_with_word(&text[end..]))
            {
                continue;
            }
            if flags.lstrip {
                start = if start <= done { done } else { done + trimmed_len(&text[done..start]) };
            }
            if flags.rstrip {
                space_end = if end < space_end { space_end } else { end + space_len(&text[end..]) };
                end = space_end;
            }
            if done < start {
                visit(Part::Text(&text[done..start]))?;
            }
            // One that swallows the space before it may itself have been swallowed.
            if start < end {
                visit(Part::Token(found.id))?;
            }
            // A token may lie in space that the one before it swallowed: then this goes back.
            done = end;
        }
        if done < text.len() { visit(Part::Text(&text[done..])) } else { Ok(()) }
    }
}

/// The length of `text` without the space at its end.
fn trimmed_len(text: &[u8]) -> usize {
    let mut len = text.len();
    while let Some(c) = last_char(&text[..len]).filter(|c| c.is_whitespace()) {
        len -= c.len_utf8();
    }
    len
}

/// The length of the space that `text` begins with.
fn space_len(text: &[u8]) -> usize {
    let mut len = 0;
    while let Some(c) = first_char(&text[len..]).filter(|c| c.is_whitespace()) {
        len += c.len_utf8();
    }
    len
}

fn ends_with_word(text: &[u8]) -> bool {
    last_char(text).is_some_and(is_word)
}

fn starts_with_word(text: &[u8]) -> bool {
    first_char(text).is_some_and(is_word)
}

/// The character at the end, or `None` where there is none or its bytes are not UTF-8.
fn last_char(text: &[u8]) -> Option<char> {
    let last = text[text.len().saturating_sub(4)..].utf8_chunks().last()?;
    if last.invalid().is_empty() { last.valid().chars().next_back() } else { None }
}

fn first_char(text: &[u8]) -> Option<char> {
    text[..text.len().min(4)].utf8_chunks().next()?.valid().chars().next()
}

/// Whether a regular expression's `\w` matches.
fn is_word(c: char) -> bool {
    static WORD: LazyLock<Vec<(u32, u32)>> =
        LazyLock::new(|| crate::characters::ranges_of_class(r"\w").expect("a class of characters"));
    let code = u32::from(c);
    let after = WORD.partition_point(|&(first, _)| first <= code);
    after > 0 && code <= WORD[after - 1].1
}
