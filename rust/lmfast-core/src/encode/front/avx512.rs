//! Eight pieces at a time, with AVX-512.
//!
//! Nobody asks for the memory of sets beforehand, as in `avx2`: it comes from the core's own cache, and
//! the loops are so short that the processor has several rounds of them in hand.

use std::{
    arch::x86_64::{
        __m128i, __m512i, _mm_add_epi16, _mm_cvtsi32_si128, _mm_maskz_compress_epi16,
        _mm_set1_epi16, _mm512_add_epi32, _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epu64_mask,
        _mm512_maskz_mov_epi64, _mm512_maskz_sllv_epi64, _mm512_mullo_epi32, _mm512_or_si512,
        _mm512_permutex2var_epi64, _mm512_permutexvar_epi64, _mm512_set1_epi64, _mm512_slli_epi64,
        _mm512_srl_epi64, _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_testn_epi64_mask,
    },
    array::from_fn,
};

use super::{Asked, FACTORS, Front, Key, LONGEST, SETS};
use crate::encode::{found::Found, packed::Packed};

/// Pieces of a step.
const LANES: usize = 8;

/// Set the keys of pieces, but for the last few, and where they belong. For how many.
#[target_feature(enable = "avx512f")]
pub(super) fn ask(front: &mut Front, text: &[u8], bounds: &[usize]) -> usize {
    let Some(last) = text.len().checked_sub(LONGEST) else { return 0 };
    let last = _mm512_set1_epi64(last as i64);
    let factors = _mm512_set1_epi64((u64::from(FACTORS[1]) << 32 | u64::from(FACTORS[0])) as i64);
    let unused_bits = _mm_cvtsi32_si128((u64::BITS - front.bits) as i32);
    let Asked { keys, sets } = &mut front.asked;
    let asked = keys.as_chunks_mut().0.iter_mut().zip(sets.as_chunks_mut::<LANES>().0);
    let pieces = bounds.as_chunks().0.iter().zip(bounds[1..].as_chunks().0);
    let mut done = 0;
    for ((keys, sets), (starts, ends)) in asked.zip(pieces) {
        let (begin, end) = (lanes(*starts), lanes(*ends));
        if _mm512_cmpgt_epu64_mask(begin, last) != 0 {
            break;
        }
        // SAFETY: At most `last`, as was just compared, so the text has eight bytes from there on.
        let eight = |start| unsafe { text.as_ptr().add(start).cast::<usize>().read_unaligned() };
        let bytes = lanes(starts.map(eight));
        // As `Key::of`: no bits are left if the number is negative, which here is a large one.
        let len = _mm512_sub_epi64(end, begin);
        let unused = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_slli_epi64::<3>(len));
        let has_key = _mm512_test_epi64_mask(bytes, _mm512_set1_epi64(0xFF));
        let key = _mm512_maskz_sllv_epi64(has_key, bytes, unused);
        // As `Key::set`: the sum of both products stands in the high half.
        let products = _mm512_mullo_epi32(key, factors);
        let sum = _mm512_add_epi32(products, _mm512_slli_epi64::<32>(products));
        *keys = bytemuck::cast::<__m512i, [u64; LANES]>(key).map(Key);
        *sets = bytemuck::cast(_mm512_srl_epi64(sum, unused_bits));
        done += LANES;
    }
    done
}

/// Tell the tokens of the first `len` pieces, but for the last few. For how many.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
pub(super) fn answer(front: &Front, len: usize, found: &mut Found) -> usize {
    let keys = front.asked.keys[..len].as_chunks::<LANES>().0;
    let sets = front.asked.sets[..len].as_chunks::<LANES>().0;
    for ((keys, sets), tokens) in keys.iter().zip(sets).zip(found.tokens.as_chunks_mut().0) {
        let key: __m512i = bytemuck::cast(keys.map(|key| key.0));
        let four = |first: usize| -> __m512i {
            let sets = from_fn::<_, 4, _>(|at| &front.sets[sets[first + at] % SETS]);
            let key = _mm512_permutexvar_epi64(lanes(from_fn(|lane| first + lane / 2)), key);
            let keys = bytemuck::cast(sets.map(|set| set.keys.map(|key| key.0)));
            let tokens = bytemuck::cast(sets.map(|set| set.tokens.map(Packed::word)));
            _mm512_maskz_mov_epi64(_mm512_cmpeq_epi64_mask(key, keys), tokens)
        };
        let (low, high) = (four(0), four(4));
        // Of either entry, since the other has nothing.
        let entry =
            |number| _mm512_permutex2var_epi64(low, lanes(from_fn(|lane| 2 * lane + number)), high);
        let eight: [u64; LANES] = bytemuck::cast(_mm512_or_si512(entry(0), entry(1)));
        *tokens = eight.map(Packed::from_word);
    }
    let done = len - len % LANES;
    note_missed(&found.tokens[..done], &mut found.missed, &mut found.missed_len);
    done
}

/// Note the numbers of those that have no tokens: a loop apart, since each round waits for the one
/// before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
fn note_missed(tokens: &[Packed], missed: &mut [u16], missed_len: &mut usize) {
    let (mut at, mut len) = (0, 0);
    for eight in tokens.as_chunks::<LANES>().0 {
        let eight: __m512i = bytemuck::cast(eight.map(Packed::word));
        let is_nothing = _mm512_testn_epi64_mask(eight, eight);
        let numbers = bytemuck::cast(from_fn::<u16, LANES, _>(|lane| lane as u16));
        let numbers = _mm_add_epi16(numbers, _mm_set1_epi16(at));
        // There always is: no more than `at` are missed.
        if let Some(room) = missed[len..].first_chunk_mut::<LANES>() {
            *room = bytemuck::cast::<__m128i, _>(_mm_maskz_compress_epi16(is_nothing, numbers));
        }
        len += is_nothing.count_ones() as usize;
        at += LANES as i16;
    }
    *missed_len = len;
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(numbers: [usize; LANES]) -> __m512i {
    bytemuck::cast(numbers)
}
