//! What is encoded.

use std::ops::Range;

use memchr::memmem;

/// Bytes, of which it may be known that they are UTF-8.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// Known to be UTF-8.
    Str(&'a str),
    /// Any bytes.
    Bytes(&'a [u8]),
}

impl<'a> Text<'a> {
    #[inline]
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The texts before, between and behind all that are `separator`, which is not empty.
    pub fn split(self, separator: &str) -> impl Iterator<Item = Self> {
        let text = match self {
            Self::Str(_) => self,
            // Then nobody has to ask of each part again.
            Self::Bytes(bytes) => simdutf8::basic::from_utf8(bytes).map_or(self, Self::Str),
        };
        let found = memmem::find_iter(text.bytes(), separator);
        let ends = found.map(|at| (at, at + separator.len()));
        let mut start = 0;
        ends.chain([(text.bytes().len(), 0)]).map(move |(end, next)| {
            let part = text.part(start..end);
            start = next;
            part
        })
    }

    /// A part of the text, which ends where characters do if the text is UTF-8.
    #[inline]
    pub(super) fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Str(text) => Self::Str(&text[range]),
            Self::Bytes(bytes) => Self::Bytes(&bytes[range]),
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Str(text)
    }
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Text<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Text<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_strings_are() {
        let invalid = Text::from(b"\xff--a--\xc3").split("--").map(Text::bytes);
        assert_eq!(invalid.collect::<Vec<_>>(), [&b"\xff"[..], b"a", b"\xc3"]);
        for text in ["", "--", "a--b", "--a----é-", "---", "a-b", "é--中--"] {
            let expected: Vec<&str> = text.split("--").collect();
            let of_str: Vec<&[u8]> = Text::from(text).split("--").map(Text::bytes).collect();
            let of_bytes = Text::from(text.as_bytes()).split("--").map(Text::bytes);
            assert_eq!(of_str, expected.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
            assert_eq!(of_bytes.collect::<Vec<_>>(), of_str);
        }
    }
}
