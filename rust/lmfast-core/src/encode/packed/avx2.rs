//! The three ids of a word at once, with AVX2.

use std::{
    arch::x86_64::{
        _mm_and_si128, _mm_cvtsi64_si128, _mm_set1_epi32, _mm_shuffle_epi8, _mm_srlv_epi32,
    },
    mem::MaybeUninit,
};

use super::{COUNT_BITS, ID_BITS, ID_MASK, Packed, TOKENS, WRITTEN_IN_VAIN};
use crate::vocabulary::TokenId;

/// For each id those four bytes of a word that hold it, and how many bits stand before it in them.
const BYTES: [u8; 16] = [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 0x80, 0x80, 0x80, 0x80];
const BITS_BEFORE: [u32; 4] =
    [COUNT_BITS, COUNT_BITS + ID_BITS - 16, COUNT_BITS + 2 * ID_BITS - 32, 0];

/// Write the tokens of all words from the beginning of `room` on. How many they are.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::encode) fn unpack(words: &[Packed], room: &mut [MaybeUninit<TokenId>]) -> usize {
    assert!(TOKENS * words.len() + WRITTEN_IN_VAIN <= room.len(), "room for all");
    let mask = _mm_set1_epi32(ID_MASK as i32);
    let mut count = 0;
    for word in words {
        let apart = _mm_shuffle_epi8(_mm_cvtsi64_si128(word.0 as i64), bytemuck::cast(BYTES));
        let ids = _mm_and_si128(_mm_srlv_epi32(apart, bytemuck::cast(BITS_BEFORE)), mask);
        // SAFETY: A word adds no more than `TOKENS` to the count, so that there is room for four
        // ids behind it.
        unsafe { room.as_mut_ptr().add(count).cast::<[TokenId; 4]>().write(bytemuck::cast(ids)) };
        count += word.len();
    }
    count
}
