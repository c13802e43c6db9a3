//! The classes of ASCII with AVX2.

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_sub_epi8,
};

use super::{BLOCK, Block, Ends, Rules, Tier, Window, ends_by, wide};
use crate::pretokenize::write_places;

/// Tell `ends` where each pretoken ends.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn ends<const DETAILS: bool>(
    text: &str,
    rules: &impl Rules<DETAILS>,
    ends: &mut impl Ends,
) {
    ends_by(text, Tier::Avx2, rules, ends, write_places);
}

/// Classify `blocks` as those of the window from `first` on.
#[target_feature(enable = "avx2")]
pub(super) fn classify_all<const DETAILS: bool>(
    blocks: &[[u8; BLOCK]],
    window: &mut Window,
    first: usize,
) {
    for (at, block) in blocks.iter().enumerate() {
        let [low, high] = bytemuck::cast::<[u8; BLOCK], [__m256i; 2]>(*block);
        let (low, high) = (Half::of::<DETAILS>(low), Half::of::<DETAILS>(high));
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        window.set_block::<DETAILS>(
            first + at,
            Block {
                letter: join(low.letter, high.letter),
                number: join(low.number, high.number),
                white: join(low.white, high.white),
                newline: join(low.newline, high.newline),
                blank: join(low.blank, high.blank),
                quote: join(low.quote, high.quote),
                slash: join(low.slash, high.slash),
                upper: join(low.upper, high.upper),
                high: join(low.high, high.high),
                inner: join(low.inner, high.inner),
                three: 0,
            },
        );
    }
    for (at, block) in (first..).zip(blocks) {
        if window.high[at] != 0 {
            window.three[at] = three(bytemuck::cast(*block));
        }
    }
}

// Apart: compiled into the loop above, the masks become thousands of single bits.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn three([low, high]: [__m256i; 2]) -> u64 {
    let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let mut ranges = [0; wide::RANGES.len()];
    for (found, (first, last)) in ranges.iter_mut().zip(wide::RANGES) {
        *found = join(mask(within(low, first, last)), mask(within(high, first, last)));
    }
    wide::letters_of_three(ranges)
}

/// The classes of 32 bytes.
struct Half {
    letter: u32,
    number: u32,
    white: u32,
    newline: u32,
    blank: u32,
    quote: u32,
    slash: u32,
    upper: u32,
    high: u32,
    inner: u32,
}

impl Half {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of<const DETAILS: bool>(bytes: __m256i) -> Self {
        let lower = _mm256_or_si256(bytes, each(0x20));
        let blank = equal(bytes, b' ');
        let newline = _mm256_or_si256(equal(bytes, b'\n'), equal(bytes, b'\r'));
        Self {
            letter: mask(within(lower, b'a', b'z')),
            number: mask(within(bytes, b'0', b'9')),
            white: mask(_mm256_or_si256(within(bytes, b'\t', b'\r'), blank)),
            newline: mask(newline),
            blank: mask(blank),
            quote: mask(equal(bytes, b'\'')),
            slash: if DETAILS { mask(equal(bytes, b'/')) } else { 0 },
            upper: if DETAILS { mask(within(bytes, b'A', b'Z')) } else { 0 },
            high: mask(bytes),
            // As signed numbers 0x80 to 0xBF are the lowest.
            inner: if DETAILS { mask(_mm256_cmpgt_epi8(each(0xC0), bytes)) } else { 0 },
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn each(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: __m256i, byte: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, each(byte))
}

#[inline]
#[target_feature(enable = "avx2")]
fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let above = _mm256_sub_epi8(bytes, each(first));
    _mm256_cmpeq_epi8(_mm256_min_epu8(above, each(last - first)), above)
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(bytes: __m256i) -> u32 {
    _mm256_movemask_epi8(bytes) as u32
}
