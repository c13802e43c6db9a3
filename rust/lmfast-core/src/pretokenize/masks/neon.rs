//! The classes of ASCII with NEON.

use std::arch::aarch64::{
    uint8x16_t, vaddv_u8, vandq_u8, vceqq_u8, vcgeq_u8, vcleq_u8, vdupq_n_u8, vget_high_u8,
    vget_low_u8, vorrq_u8, vsubq_u8,
};

use super::{BLOCK, Block, Window, wide};

/// Classify `blocks` as those of the window from `first` on.
#[target_feature(enable = "neon")]
pub(super) fn classify_all<const DETAILS: bool>(
    blocks: &[[u8; BLOCK]],
    window: &mut Window,
    first: usize,
) {
    for (at, block) in blocks.iter().enumerate() {
        let mut found = Block::default();
        let quarters = bytemuck::cast::<[u8; BLOCK], [uint8x16_t; 4]>(*block);
        for (quarter, bytes) in quarters.into_iter().enumerate() {
            let put = |mask: &mut u64, bytes| *mask |= u64::from(bits(bytes)) << (16 * quarter);
            let blank = equal(bytes, b' ');
            put(&mut found.letter, within(vorrq_u8(bytes, vdupq_n_u8(0x20)), b'a', b'z'));
            put(&mut found.number, within(bytes, b'0', b'9'));
            put(&mut found.white, vorrq_u8(within(bytes, b'\t', b'\r'), blank));
            put(&mut found.newline, vorrq_u8(equal(bytes, b'\n'), equal(bytes, b'\r')));
            put(&mut found.blank, blank);
            put(&mut found.quote, equal(bytes, b'\''));
            put(&mut found.high, vcgeq_u8(bytes, vdupq_n_u8(0x80)));
            if DETAILS {
                put(&mut found.slash, equal(bytes, b'/'));
                put(&mut found.upper, within(bytes, b'A', b'Z'));
                put(&mut found.inner, within(bytes, 0x80, 0xBF));
            }
        }
        if found.high != 0 {
            let mut ranges = [0; wide::RANGES.len()];
            for (range, (first, last)) in ranges.iter_mut().zip(wide::RANGES) {
                for (quarter, bytes) in quarters.into_iter().enumerate() {
                    *range |= u64::from(bits(within(bytes, first, last))) << (16 * quarter);
                }
            }
            found.three = wide::letters_of_three(ranges);
        }
        window.set_block::<DETAILS>(first + at, found);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn equal(bytes: uint8x16_t, byte: u8) -> uint8x16_t {
    vceqq_u8(bytes, vdupq_n_u8(byte))
}

#[inline]
#[target_feature(enable = "neon")]
fn within(bytes: uint8x16_t, first: u8, last: u8) -> uint8x16_t {
    vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(first)), vdupq_n_u8(last - first))
}

/// One bit for each byte, which is 0 or 0xFF.
#[inline]
#[target_feature(enable = "neon")]
fn bits(bytes: uint8x16_t) -> u16 {
    let places = bytemuck::cast::<[u8; 16], uint8x16_t>([
        1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
    ]);
    let placed = vandq_u8(bytes, places);
    u16::from(vaddv_u8(vget_low_u8(placed))) | u16::from(vaddv_u8(vget_high_u8(placed))) << 8
}
