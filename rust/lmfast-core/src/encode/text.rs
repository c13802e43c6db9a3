//! What is encoded.

use std::ops::Range;

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
