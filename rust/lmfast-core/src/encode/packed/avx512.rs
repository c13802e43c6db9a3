//! The ids of four words at once, with AVX-512.

use std::{
    arch::x86_64::{
        __m256i, __m512i, _mm256_maskz_loadu_epi64, _mm512_and_si512, _mm512_castsi256_si512,
        _mm512_cmpgt_epu32_mask, _mm512_mask_storeu_epi32, _mm512_maskz_compress_epi32,
        _mm512_permutexvar_epi64, _mm512_set1_epi32, _mm512_shuffle_epi8, _mm512_srlv_epi32,
        _mm512_storeu_si512,
    },
    mem::MaybeUninit,
};

use super::{COUNT_BITS, ID_BITS, ID_MASK, Packed, TOKENS, WRITTEN_IN_VAIN};
use crate::vocabulary::TokenId;

/// Words of a step.
const LANES: usize = 4;

/// A word stands twice in sixteen bytes. Those four bytes for each id that hold it, and those that
/// hold the count.
const BYTES: [[u8; 16]; LANES] =
    [[0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 0x80, 0x80, 0x80, 0x80]; LANES];
const COUNT_BYTE: [[u8; 16]; LANES] =
    [[0, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80];
        LANES];
/// How many bits stand before an id in its four bytes.
const BITS_BEFORE: [[u32; 4]; LANES] =
    [[COUNT_BITS, COUNT_BITS + ID_BITS - 16, COUNT_BITS + 2 * ID_BITS - 32, 0]; LANES];

/// Write the tokens of all words from the beginning of `room` on. How many they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
pub(in crate::encode) fn unpack(words: &[Packed], room: &mut [MaybeUninit<TokenId>]) -> usize {
    assert!(TOKENS * words.len() + WRITTEN_IN_VAIN <= room.len(), "room for all");
    let mut count = 0;
    let (fours, rest) = words.as_chunks::<LANES>();
    for four in fours {
        let (ids, len) = compressed(bytemuck::cast(four.map(Packed::word)));
        // SAFETY: Four words add no more than twelve to the count, so there is room for sixteen ids.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().add(count).cast(), ids) };
        count += len;
    }
    if !rest.is_empty() {
        // SAFETY: As many are read as there are.
        let words =
            unsafe { _mm256_maskz_loadu_epi64((1 << rest.len()) - 1, rest.as_ptr().cast()) };
        let (ids, len) = compressed(words);
        // SAFETY: As many are written as they have.
        unsafe {
            _mm512_mask_storeu_epi32(
                room.as_mut_ptr().add(count).cast(),
                ((1u32 << len) - 1) as u16,
                ids,
            );
        }
        count += len;
    }
    count
}

/// The ids of all words, one behind the other, and how many they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
fn compressed(words: __m256i) -> (__m512i, usize) {
    let twice = _mm512_permutexvar_epi64(
        bytemuck::cast([0u64, 0, 1, 1, 2, 2, 3, 3]),
        _mm512_castsi256_si512(words),
    );
    let apart = _mm512_shuffle_epi8(twice, bytemuck::cast(BYTES));
    let ids = _mm512_srlv_epi32(apart, bytemuck::cast(BITS_BEFORE));
    let ids = _mm512_and_si512(ids, _mm512_set1_epi32(ID_MASK as i32));
    let counts = _mm512_shuffle_epi8(twice, bytemuck::cast(COUNT_BYTE));
    let counts = _mm512_and_si512(counts, _mm512_set1_epi32((1 << COUNT_BITS) - 1));
    let is_id = _mm512_cmpgt_epu32_mask(counts, bytemuck::cast([[0u32, 1, 2, 3]; LANES]));
    (_mm512_maskz_compress_epi32(is_id, ids), is_id.count_ones() as usize)
}
