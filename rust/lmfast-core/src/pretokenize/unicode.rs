//! The character classes that the patterns use, as one byte of flags per code point.
//!
//! The tables are built once, from the Unicode data of `regex-syntax`: the data that the regular
//! expression engines of this crate and of tiktoken are built on.

use std::sync::LazyLock;

pub(super) use super::table::decode;
use super::table::{CODE_POINTS, CodePointTable};
use crate::characters::ranges_of_class;

/// The version of the tables of `regex-syntax`, which decides how some characters are cut.
pub const UNICODE_VERSION: &str = "16.0.0";

/// `\p{L}`
pub(crate) const LETTER: u8 = 1 << 0;
/// `\p{N}`
pub(crate) const NUMBER: u8 = 1 << 1;
/// `\s`
pub(crate) const SPACE: u8 = 1 << 2;
/// `[\r\n]`
pub(crate) const NEWLINE: u8 = 1 << 3;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: what may open a word.
pub(crate) const HEAD: u8 = 1 << 4;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: what may continue a word.
pub(crate) const TAIL: u8 = 1 << 5;
/// `[\p{P}\p{S}]`
pub(crate) const SYMBOL: u8 = 1 << 6;
/// `[\u4E00-\u9FA5\u3040-\u30FF]`: what `DeepSeek`'s scheme takes for Chinese and Japanese.
pub(crate) const HAN_OR_KANA: u8 = 1 << 7;
/// `[\p{L}\p{M}]`
pub(crate) const LETTER_OR_MARK: u8 = HEAD | TAIL;

const CLASSES: [(&str, u8); 8] = [
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
    (r"[\r\n]", NEWLINE),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", HEAD),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", TAIL),
    (r"[\p{P}\p{S}]", SYMBOL),
    ("[\u{4e00}-\u{9fa5}\u{3040}-\u{30ff}]", HAN_OR_KANA),
];

static TABLE: LazyLock<CodePointTable> = LazyLock::new(|| {
    let mut flags = vec![0u8; CODE_POINTS];
    for (class, flag) in CLASSES {
        for (first, last) in ranges_of_class(class).expect("a constant class") {
            flags[first as usize..=last as usize].iter_mut().for_each(|flags| *flags |= flag);
        }
    }
    CodePointTable::new(&flags)
});

/// Looks up the classes of code points.
#[derive(Clone, Copy)]
pub(crate) struct Classes(&'static CodePointTable);

impl Classes {
    pub(crate) fn get() -> Self {
        Self(&TABLE)
    }

    #[inline]
    pub(crate) fn of(self, c: char) -> u8 {
        self.of_code(c as u32)
    }

    #[inline]
    pub(super) fn of_code(self, code: u32) -> u8 {
        self.0.of(code)
    }

    /// The flags and the length of the character at `at`, or `(0, 0)` at the end of the text.
    #[inline]
    pub(crate) fn at(self, text: &str, at: usize) -> (u8, usize) {
        match text.as_bytes().get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (ASCII[byte as usize], 1),
            Some(_) => {
                let (code, len) = decode(&text.as_bytes()[at..]);
                (self.of_code(code), len)
            }
        }
    }

    /// The end of the run of characters from `at` on that have any of `flags`.
    #[inline]
    pub(crate) fn run(self, text: &str, mut at: usize, flags: u8) -> usize {
        loop {
            let (found, len) = self.at(text, at);
            if found & flags == 0 {
                return at;
            }
            at += len;
        }
    }

    /// The end of the run of letters from `at` on.
    #[inline]
    pub(crate) fn letters(self, text: &str, mut at: usize) -> usize {
        loop {
            while let Some(eight) = text.as_bytes().get(at..).and_then(<[u8]>::first_chunk) {
                let letters = leading_letters(*eight);
                at += letters;
                if letters < 8 {
                    break;
                }
            }
            let (found, len) = self.at(text, at);
            if found & LETTER == 0 {
                return at;
            }
            at += len;
        }
    }

    /// The end of the run of letters and marks from `at` on.
    #[inline]
    pub(crate) fn letters_and_marks(self, text: &str, mut at: usize) -> usize {
        loop {
            at = self.letters(text, at);
            let (found, len) = self.at(text, at);
            if found & LETTER_OR_MARK == 0 {
                return at;
            }
            at += len;
        }
    }

    /// The end of the run of characters from `at` on that have none of `flags`.
    #[inline]
    pub(crate) fn run_without(self, text: &str, mut at: usize, flags: u8) -> usize {
        loop {
            let (found, len) = self.at(text, at);
            if len == 0 || found & flags != 0 {
                return at;
            }
            at += len;
        }
    }
}

/// The classes of ASCII.
static ASCII: [u8; 0x80] = {
    let mut flags = [0; 0x80];
    let mut byte = 0;
    while byte < 0x80 {
        flags[byte as usize] = match byte {
            b'A'..=b'Z' => LETTER | HEAD,
            b'a'..=b'z' => LETTER | TAIL,
            b'0'..=b'9' => NUMBER,
            b'\n' | b'\r' => SPACE | NEWLINE,
            b' ' | b'\t' | 0x0B | 0x0C => SPACE,
            b'!'..=b'~' => SYMBOL,
            _ => 0,
        };
        byte += 1u8;
    }
    flags
};

/// How many of eight bytes are letters of ASCII, up to the first that is not: all at once, each in
/// its part of one number.
#[inline]
fn leading_letters(eight: [u8; 8]) -> usize {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let bytes = u64::from_le_bytes(eight);
    // Without its highest bit no byte carries into the next; with 0x20 letters are lower case.
    let lower = (bytes | each(0x20)) & each(0x7F);
    let from_a = lower + each(0x80 - b'a');
    let beyond_z = lower + each(0x7F - b'z');
    let letters = from_a & !beyond_z & !bytes & each(0x80);
    ((letters ^ each(0x80)).trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_the_classes_of_the_table() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let classes = Classes::get();
            assert_eq!(classes.at(&text, 0), (classes.of(c), text.len()), "{c:?}");
        }
    }

    #[test]
    fn runs_of_letters_end_where_they_should() {
        let classes = Classes::get();
        for first in 0..0x80u8 {
            for len in 0..20 {
                for next in ["", "@", "[", "`", "{", "é", "。", " x"] {
                    let text =
                        ["b".repeat(len), char::from(first).to_string(), next.into()].concat();
                    assert_eq!(
                        classes.letters(&text, 0),
                        classes.run(&text, 0, LETTER),
                        "{text:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_version_of_unicode_is_the_one_that_is_named() {
        assert_eq!(UNICODE_VERSION, "16.0.0");
        let is_letter = |c| Classes::get().of(c) & LETTER != 0;
        // Letters of versions 15, 16 and 17.
        assert_eq!(
            ['\u{1DF25}', '\u{105C0}', '\u{10D50}', '\u{088F}'].map(is_letter),
            [true, true, true, false]
        );
    }
}
