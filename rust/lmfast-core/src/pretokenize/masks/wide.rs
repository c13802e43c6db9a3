//! The classes of characters that are not ASCII.

use super::{BLOCK, Window};
use crate::pretokenize::{
    table::decode,
    unicode::{Classes, HEAD, LETTER, LETTER_OR_MARK, NUMBER, SPACE},
};

/// The bytes that [`letters_of_three`] asks for, from a first to a last one.
pub(super) const RANGES: [(u8, u8); 11] = [
    (0xE5, 0xE9),
    (0xEB, 0xEC),
    (0xE4, 0xE4),
    (0xB7, 0xB7),
    (0xE3, 0xE3),
    (0x80, 0x80),
    (0x81, 0x81),
    (0x82, 0x82),
    (0x83, 0x83),
    (0x97, 0xA0),
    (0xBB, 0xBB),
];

/// Where the letters of Chinese, Japanese and Korean begin that have three bytes, in a block of
/// which the bits of each range are given. Some are missing, none is wrong:
///
/// * U+5000 to U+9FFF and U+B000 to U+CFFF are all letters;
/// * U+4000 to U+4FFF but for U+4DC0 to U+4DFF, which are hexagrams;
/// * U+3041 to U+30FF but for U+3097 to U+30A0 and U+30FB.
///
/// Only those that lie within the block are found.
#[inline]
pub(super) fn letters_of_three(ranges: [u64; RANGES.len()]) -> u64 {
    let [han, hangul, u4000, b7, u3000, x80, x81, x82, x83, x97_a0, xbb] = ranges;
    let hiragana = x81 & !(x80 >> 1);
    let either = x82 & !(x97_a0 >> 1);
    let katakana = x83 & !(xbb >> 1);
    let kana = u3000 & (hiragana | either | katakana) >> 1;
    (han | hangul | u4000 & !(b7 >> 1) | kana) & u64::MAX >> 2
}

/// Set the bits of all bytes of each character that is not ASCII and begins in the window.
pub(super) fn classify<const DETAILS: bool>(window: &mut Window, classes: Classes, text: &str) {
    let bytes = text.as_bytes();
    for block in 0..window.blocks() {
        let three = window.three[block];
        let known = three | three << 1 | three << 2;
        window.letter[block] |= known;
        if DETAILS {
            window.both[block] |= known;
        }
        let mut left = window.high[block] & !known;
        while left != 0 {
            let at = block * BLOCK + left.trailing_zeros() as usize;
            // The rest of a character of the block before.
            if bytes[at] & 0xC0 == 0x80 {
                left &= left - 1;
                continue;
            }
            let (code, len) = decode(&bytes[at..]);
            let class = classes.of_code(code);
            if DETAILS {
                match class & LETTER_OR_MARK {
                    LETTER_OR_MARK => window.both.set_run(at, len),
                    HEAD => window.upper.set_run(at, len),
                    _ => {}
                }
            }
            if class & LETTER != 0 {
                window.letter.set_run(at, len);
            } else if DETAILS && class & LETTER_OR_MARK != 0 {
                window.mark.set_run(at, len);
            } else if class & NUMBER != 0 {
                window.number.set_run(at, len);
            } else if class & SPACE != 0 {
                window.white.set_run(at, len);
            }
            let shift = at % BLOCK + len;
            left &= if shift < BLOCK { u64::MAX << shift } else { 0 };
        }
    }
}

/// Where the character begins whose last byte is at `at`.
#[inline]
pub(super) fn lead(bytes: &[u8], mut at: usize) -> usize {
    while bytes[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_three_bytes_are_letters() {
        let mut known = 0;
        for c in ('\u{800}'..='\u{FFFF}').filter(|c| c.len_utf8() == 3) {
            let mut block = [b' '; BLOCK];
            for at in [0, 30, 61, 62] {
                block.fill(b' ');
                let end = BLOCK.min(at + 3);
                block[at..end].copy_from_slice(&c.to_string().as_bytes()[..end - at]);
                let found = letters_of_three(RANGES.map(|(first, last)| {
                    (0..BLOCK).fold(0, |mask, at| {
                        mask | u64::from((first..=last).contains(&block[at])) << at
                    })
                }));
                assert!(found == 0 || found == 1 << at && at <= 61, "{c:?} at {at}");
                if found != 0 {
                    known += 1;
                    let class = Classes::get().of(c) & (LETTER | LETTER_OR_MARK);
                    assert_eq!(class, LETTER | LETTER_OR_MARK, "{c:?}");
                }
            }
        }
        assert!(known > 3 * 30_000, "{known}");
    }
}
