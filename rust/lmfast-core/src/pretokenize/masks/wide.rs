//! The classes of characters that are not ASCII.

use super::{BLOCK, Window};
use crate::pretokenize::unicode::{Classes, LETTER, NUMBER, SPACE, decode};

/// Set the bits of all bytes of each such character that begins in the window.
pub(super) fn classify(window: &mut Window, classes: Classes, text: &str) {
    let bytes = text.as_bytes();
    for block in 0..window.blocks() {
        let mut left = window.high[block];
        while left != 0 {
            let at = block * BLOCK + left.trailing_zeros() as usize;
            // The rest of a character of the block before.
            if bytes[at] & 0xC0 == 0x80 {
                left &= left - 1;
                continue;
            }
            let (code, len) = decode(&bytes[at..]);
            let class = classes.of_code(code);
            if class & LETTER != 0 {
                window.letter.set_run(at, len);
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
