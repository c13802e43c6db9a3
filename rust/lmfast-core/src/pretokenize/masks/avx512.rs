//! The classes of ASCII with AVX-512: those of 64 bytes are looked up at once.

use std::arch::x86_64::{
    __m512i, _mm512_cmple_epu8_mask, _mm512_maskz_permutex2var_epi8, _mm512_movepi8_mask,
    _mm512_set1_epi8, _mm512_sub_epi8, _mm512_test_epi8_mask,
};

use super::{BLOCK, Block, Ends, Rules, Tier, Window, ends_by, wide};
use crate::pretokenize::ends;

/// Tell `ends` where each pretoken ends.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn ends<const DETAILS: bool>(
    text: &str,
    rules: &impl Rules<DETAILS>,
    ends: &mut impl Ends,
) {
    let write = |base, places, out: &mut [usize]| ends::avx512::write_places(base, places, out);
    ends_by(text, Tier::Avx512, rules, ends, write);
}

/// A bit for each class that ASCII has characters of.
mod class {
    pub(super) const LETTER: u8 = 1;
    pub(super) const NUMBER: u8 = 1 << 1;
    pub(super) const WHITE: u8 = 1 << 2;
    pub(super) const NEWLINE: u8 = 1 << 3;
    pub(super) const BLANK: u8 = 1 << 4;
    pub(super) const QUOTE: u8 = 1 << 5;
    pub(super) const SLASH: u8 = 1 << 6;
    pub(super) const UPPER: u8 = 1 << 7;

    /// Those of each character.
    pub(super) const OF: [u8; 128] = {
        let mut classes = [0; 128];
        let mut byte = 0;
        while byte < classes.len() {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' => LETTER,
                b'A'..=b'Z' => LETTER | UPPER,
                b'0'..=b'9' => NUMBER,
                b'\n' | b'\r' => WHITE | NEWLINE,
                b'\t'..=b'\r' => WHITE,
                b' ' => WHITE | BLANK,
                b'\'' => QUOTE,
                b'/' => SLASH,
                _ => 0,
            };
            byte += 1;
        }
        classes
    };
}

/// Classify `blocks` as those of the window from `first` on.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn classify_all<const DETAILS: bool>(
    blocks: &[[u8; BLOCK]],
    window: &mut Window,
    first: usize,
) {
    let [low, high] = bytemuck::cast::<[u8; 128], [__m512i; 2]>(class::OF);
    for (at, block) in (first..).zip(blocks) {
        let bytes = bytemuck::cast(*block);
        let beyond_ascii = _mm512_movepi8_mask(bytes);
        let classes = _mm512_maskz_permutex2var_epi8(!beyond_ascii, low, bytes, high);
        let have = |class| _mm512_test_epi8_mask(classes, each(class));
        let detail = |class| if DETAILS { have(class) } else { 0 };
        window.set_block::<DETAILS>(
            at,
            Block {
                letter: have(class::LETTER),
                number: have(class::NUMBER),
                white: have(class::WHITE),
                newline: detail(class::NEWLINE),
                blank: have(class::BLANK),
                quote: have(class::QUOTE),
                slash: detail(class::SLASH),
                upper: detail(class::UPPER),
                high: beyond_ascii,
                inner: if DETAILS { within(bytes, 0x80, 0xBF) } else { 0 },
                three: 0,
            },
        );
    }
    for (at, block) in (first..).zip(blocks) {
        if window.high[at] != 0 {
            let bytes = bytemuck::cast(*block);
            let ranges = wide::RANGES.map(|(first, last)| within(bytes, first, last));
            window.three[at] = wide::letters_of_three(ranges);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn each(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte as i8)
}

/// A bit for each byte from `first` to `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, each(first)), each(last - first))
}
