//! Ids a part of the text at a time, for what needs not all of them at once.

use std::ops::{ControlFlow, Range};

use super::{Memory, Tokenizer, spans::not_spelled};
use crate::{
    error::Result,
    pretokenize::SafeCuts,
    special::{Found, Part, Rule, SpecialPolicy},
    utf8,
    vocabulary::TokenId,
    watch::Watch,
};

/// A part has about so many bytes.
const PART_BYTES: usize = 1 << 16;

/// Which end of a text is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    Right,
}

impl Tokenizer {
    /// How many ids `text` has, without keeping them.
    pub fn count_tokens(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        watch: &Watch,
    ) -> Result<usize> {
        let mut count = 0;
        self.for_each_part(text, policy, watch, |ids| {
            count += ids.len();
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    /// Where in `text` the longest stretch lies that keeps within `max_tokens`: of the tokens of
    /// `text`, the characters that are whole in the first ones (in the last ones where the left
    /// side is cut off), and of these stretches the longest that has no more than `max_tokens` ids
    /// by itself, too.
    pub fn truncate(
        &self,
        text: &[u8],
        max_tokens: usize,
        side: Side,
        policy: &SpecialPolicy,
        watch: &Watch,
    ) -> Result<Range<usize>> {
        let ids = match side {
            Side::Right => self.first_ids(text, max_tokens.saturating_add(1), policy, watch)?,
            Side::Left => self.last_ids(text, max_tokens.saturating_add(1), policy, watch)?,
        };
        if ids.len() <= max_tokens {
            return Ok(0..text.len());
        }
        let spelled = self.decode_bytes(&ids)?;
        let is_there = match side {
            Side::Right => text.starts_with(&spelled),
            Side::Left => text.ends_with(&spelled),
        };
        if !is_there {
            return Err(not_spelled());
        }
        let (mut kept, mut bytes) = (&ids[..], spelled.len());
        // One token more than may stay is among them, so that the outermost is always taken off.
        while let Some((&id, rest)) = match side {
            Side::Right => kept.split_last(),
            Side::Left => kept.split_first(),
        } {
            kept = rest;
            bytes -= self.token_bytes(id)?.len();
            let stretch = match side {
                Side::Right => 0..start_of_character(text, bytes),
                Side::Left => end_of_character(text, text.len() - bytes)..text.len(),
            };
            // Cut elsewhere, the last pretoken may need more tokens than it gave.
            let by_itself =
                self.first_ids(&text[stretch.clone()], max_tokens + 1, policy, watch)?;
            if by_itself.len() <= max_tokens {
                return Ok(stretch);
            }
        }
        Ok(0..0)
    }

    /// Up to `most` ids from the beginning of `text`.
    fn first_ids(
        &self,
        text: &[u8],
        most: usize,
        policy: &SpecialPolicy,
        watch: &Watch,
    ) -> Result<Vec<TokenId>> {
        let mut first = Vec::new();
        self.for_each_part(text, policy, watch, |ids| {
            first.extend_from_slice(&ids[..ids.len().min(most - first.len())]);
            if first.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(first)
    }

    /// Up to `most` ids from the end of `text`.
    fn last_ids(
        &self,
        text: &[u8],
        most: usize,
        policy: &SpecialPolicy,
        watch: &Watch,
    ) -> Result<Vec<TokenId>> {
        let mut last = Vec::new();
        self.for_each_part(text, policy, watch, |ids| {
            last.extend_from_slice(ids);
            if last.len() / 2 >= most.max(PART_BYTES) {
                last.drain(..last.len() - most);
            }
            ControlFlow::Continue(())
        })?;
        last.drain(..last.len().saturating_sub(most));
        Ok(last)
    }

    /// Call `visit` with the ids of one part of `text` after the other, until it has enough.
    fn for_each_part(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        watch: &Watch,
        mut visit: impl FnMut(&[TokenId]) -> ControlFlow<()>,
    ) -> Result<()> {
        if !self.special_tokens.is_plain() {
            // A token or a normal form may reach across any place.
            let ids = self.encode(text, policy)?;
            watch.advance(text.len() as u64)?;
            let _ = visit(&ids);
            return Ok(());
        }
        let rule = self.special_tokens.rule(policy)?;
        let mut ids = Vec::new();
        for (part, bytes) in self.parts(text, &rule, PART_BYTES)? {
            ids.clear();
            self.with_memory(|memory| self.encode_part(part, memory, &mut ids))?;
            watch.advance(bytes as u64)?;
            if visit(&ids).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The special tokens of `text`, and the text between them in parts of `about` so many bytes
    /// that give the ids of the whole; each with the number of its bytes. Only where the special
    /// tokens are plain.
    pub(super) fn parts<'a>(
        &self,
        text: &'a [u8],
        rule: &'a Rule,
        about: usize,
    ) -> Result<impl Iterator<Item = (Part<'a>, usize)>> {
        let cuts = self.safe_cuts();
        let mut tokens = self.special_tokens.find_iter(text, rule)?;
        let (mut at, mut token) = (0, tokens.next());
        Ok(std::iter::from_fn(move || {
            let rest = &text[at..token.map_or(text.len(), |token| token.start)];
            if !rest.is_empty() {
                let part = &rest[..part_len(cuts, rest, about)];
                at += part.len();
                return Some((Part::Text(part), part.len()));
            }
            let Found { start, end, id } = token?;
            (at, token) = (end, tokens.next());
            Some((Part::Token(id), end - start))
        }))
    }

    /// Append the ids of a part.
    pub(super) fn encode_part(
        &self,
        part: Part<'_>,
        memory: &mut Memory,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        match part {
            Part::Token(id) => {
                out.push(id);
                Ok(())
            }
            Part::Text(text) => self.encode_ordinary_into(text.into(), memory, out),
        }
    }
}

/// How far the first part of `text` reaches: to where a pretoken ends whatever follows.
fn part_len(cuts: SafeCuts, text: &[u8], about: usize) -> usize {
    let mut window = about;
    while window < text.len() {
        if let Some(cut) = last_cut(cuts, &text[..window]) {
            return cut;
        }
        window *= 2;
    }
    text.len()
}

/// The last cut of `text` that is safe whatever follows. A stretch of invalid bytes is a pretoken, and
/// what is before and behind it is cut as texts of their own.
fn last_cut(cuts: SafeCuts, text: &[u8]) -> Option<usize> {
    let (valid, error) = utf8::valid_start(text);
    if error.is_none_or(|error| error.error_len().is_none()) {
        return cuts.last(valid);
    }
    // The last valid stretch, where it begins, and the first invalid bytes behind it.
    let (mut last, mut start, mut behind, mut at) = ("", 0, 0, 0);
    for chunk in text.utf8_chunks() {
        if !chunk.valid().is_empty() {
            (last, start, behind) = (chunk.valid(), at, chunk.invalid().len());
        }
        at += chunk.valid().len() + chunk.invalid().len();
    }
    let end = start + last.len();
    if last.is_empty() {
        None
    } else if end + behind < text.len() {
        Some(end)
    } else {
        // What follows could still make a character of the bytes behind it.
        let within = cuts.last(last).map(|cut| start + cut);
        within.or((start > 0).then_some(start))
    }
}

/// The character that `at` lies inside of, if any: where it begins and ends.
fn character_around(text: &[u8], at: usize) -> Option<Range<usize>> {
    (at.saturating_sub(3)..at).find_map(|start| {
        let chunk = text[start..text.len().min(start + 4)].utf8_chunks().next()?;
        let end = start + chunk.valid().chars().next()?.len_utf8();
        (end > at).then_some(start..end)
    })
}

fn start_of_character(text: &[u8], at: usize) -> usize {
    character_around(text, at).map_or(at, |character| character.start)
}

fn end_of_character(text: &[u8], at: usize) -> usize {
    character_around(text, at).map_or(at, |character| character.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pretokenize::{Pretokenizer, Scheme};

    /// Valid and invalid stretches, and characters that a part may end in the middle of.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let some = prop::sample::select(vec![
            &b"a"[..],
            b"Bc ",
            b" 12",
            b"\n",
            b"'s",
            "\u{e9}".as_bytes(),
            "\u{4e2d}".as_bytes(),
            b"\x80",
            b"\xff",
            b"\xe4",
            b"\xe4\xb8",
            b"\xf0\x9f",
        ]);
        proptest::collection::vec(some, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn parts_have_the_pretokens_of_the_whole(text in text(), about in 1usize..30) {
            for scheme in Scheme::ALL {
                let pretokenizer = Pretokenizer::Scheme(scheme);
                let cuts = SafeCuts::of(&pretokenizer);
                let add = |to: &mut Vec<Vec<u8>>, text: &[u8]| {
                    pretokenizer.for_each_bytes(text, |pretoken| to.push(pretoken.to_vec())).unwrap();
                };
                let (mut expected, mut found, mut rest) = (Vec::new(), Vec::new(), &text[..]);
                add(&mut expected, rest);
                while !rest.is_empty() {
                    let (part, after) = rest.split_at(part_len(cuts, rest, about));
                    add(&mut found, part);
                    rest = after;
                }
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
