//! Where in a text each token lies.

use super::Tokenizer;
use crate::{
    error::{Error, ErrorKind, Result},
    vocabulary::TokenId,
};

/// What places in a text are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Byte,
    /// Characters: code points, and what U+FFFD stands for where the text is not UTF-8.
    Character,
}

/// Where each token of a text begins and ends.
///
/// A token that holds only a part of a character has the whole of it: its span is the smallest
/// piece of the text, in whole characters, that it lies in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// Where each token begins.
    pub starts: Vec<i64>,
    /// Where each token ends: one past its last byte or character.
    pub ends: Vec<i64>,
}

impl Tokenizer {
    /// Where in `text` the tokens of `ids` lie, which must spell it.
    pub fn spans(&self, text: &[u8], ids: &[TokenId], unit: Unit) -> Result<Spans> {
        if unit == Unit::Byte || text.is_ascii() {
            self.spans_counted(text, ids, |at| at as i64)
        } else {
            self.spans_counted(text, ids, counter(character_ends(text)))
        }
    }

    /// `before` says how many bytes or characters end at or before a byte.
    fn spans_counted(
        &self,
        text: &[u8],
        ids: &[TokenId],
        mut before: impl FnMut(usize) -> i64,
    ) -> Result<Spans> {
        let mut spans =
            Spans { starts: Vec::with_capacity(ids.len()), ends: Vec::with_capacity(ids.len()) };
        let mut end = 0;
        for &id in ids {
            let token = self.token_bytes(id)?;
            let start = end;
            end += token.len();
            if text.get(start..end) != Some(token) {
                return Err(not_spelled());
            }
            spans.starts.push(before(start));
            spans.ends.push(before(end - 1) + 1);
        }
        if end == text.len() { Ok(spans) } else { Err(not_spelled()) }
    }
}

/// The error where the ids of a text do not spell it, so that they have no places in it.
pub(super) fn not_spelled() -> Error {
    let message = "the ids do not spell the text, so they have no places in it: this tokenizer \
                   normalizes text, or has tokens that swallow the space beside them";
    Error::new(ErrorKind::Text, message)
}

/// Where each character of `text` ends.
fn character_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    let lengths = text.utf8_chunks().flat_map(|chunk| {
        let replaced = (!chunk.invalid().is_empty()).then_some(chunk.invalid().len());
        chunk.valid().chars().map(char::len_utf8).chain(replaced)
    });
    lengths.scan(0, |end, len| {
        *end += len;
        Some(*end)
    })
}

/// For places in ascending order: how many of `ends` are not beyond each.
fn counter(ends: impl Iterator<Item = usize>) -> impl FnMut(usize) -> i64 {
    let (mut ends, mut count) = (ends.peekable(), 0);
    move |at| {
        while ends.next_if(|&end| end <= at).is_some() {
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pretokenize::Pretokenizer, special::SpecialTokens, vocabulary::Vocabulary};

    #[test]
    fn a_part_of_a_character_has_the_span_of_all_of_it() {
        let [a, b] = "é".as_bytes() else { unreachable!("two bytes") };
        let vocabulary = Vocabulary::from_training(&[(97, (*a).into())]).unwrap();
        let special = SpecialTokens::new(Vec::new()).unwrap();
        let bytes = Tokenizer::new(vocabulary, special, Pretokenizer::None).unwrap();
        let ids = [256, (*b).into(), 98, 0xFF];
        let text = [b'a', *a, *b, b'b', 0xFF];
        let spans = |unit| bytes.spans(&text, &ids, unit).unwrap();
        assert_eq!(spans(Unit::Byte), Spans { starts: vec![0, 2, 3, 4], ends: vec![2, 3, 4, 5] });
        let characters = Spans { starts: vec![0, 1, 2, 3], ends: vec![2, 2, 3, 4] };
        assert_eq!(spans(Unit::Character), characters);
        for other in [&text[..4], b"aaaaa", &[&text[..], b"!"].concat()] {
            assert!(bytes.spans(other, &ids, Unit::Byte).is_err());
        }
    }
}
