//! Four pieces at a time, with AVX2.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_cmpeq_epi64, _mm_cvtsi32_si128, _mm_or_si128,
    _mm_set1_epi64x, _mm_unpackhi_epi64, _mm_unpacklo_epi64, _mm256_add_epi32, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64,
    _mm256_movemask_pd, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set_epi64x, _mm256_set_m128i,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_slli_epi64, _mm256_sllv_epi64,
    _mm256_srl_epi64, _mm256_sub_epi64,
};

use super::{Asked, FACTORS, Front, Key, LONGEST, SETS};
use crate::{
    encode::{found::Found, packed::Packed},
    prefetch::prefetch,
};

/// Pieces of a step.
const LANES: usize = 4;

/// Set the keys of pieces, but for the last few, and ask for the memory of their sets. For how many.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn ask(front: &mut Front, text: &[u8], bounds: &[usize]) -> usize {
    let Some(last) = text.len().checked_sub(LONGEST) else { return 0 };
    let last = _mm256_set1_epi64x(last as i64);
    let factors = _mm256_set1_epi64x((u64::from(FACTORS[1]) << 32 | u64::from(FACTORS[0])) as i64);
    let unused_bits = _mm_cvtsi32_si128((u64::BITS - front.bits) as i32);
    let Asked { keys, sets } = &mut front.asked;
    let asked = keys.as_chunks_mut().0.iter_mut().zip(sets.as_chunks_mut::<LANES>().0);
    let pieces = bounds.as_chunks().0.iter().zip(bounds[1..].as_chunks().0);
    let mut done = 0;
    for ((keys, sets), (starts, ends)) in asked.zip(pieces) {
        let (begin, end) = (lanes(*starts), lanes(*ends));
        // Numbers too large for `i64` have the sign of negative ones.
        let is_behind = _mm256_or_si256(_mm256_cmpgt_epi64(begin, last), begin);
        if signs(is_behind) != 0 {
            break;
        }
        // SAFETY: At most `last`, as was just compared, so the text has eight bytes from there on.
        let eight = |start| unsafe { text.as_ptr().add(start).cast::<i64>().read_unaligned() };
        let bytes = _mm256_set_epi64x(
            eight(starts[3]),
            eight(starts[2]),
            eight(starts[1]),
            eight(starts[0]),
        );
        // As `Key::of`: no bits are left if the number is negative, which here is a large one.
        let len = _mm256_sub_epi64(end, begin);
        let unused = _mm256_sub_epi64(_mm256_set1_epi64x(64), _mm256_slli_epi64::<3>(len));
        let first = _mm256_and_si256(bytes, _mm256_set1_epi64x(0xFF));
        let has_no_key = _mm256_cmpeq_epi64(first, _mm256_setzero_si256());
        let key = _mm256_andnot_si256(has_no_key, _mm256_sllv_epi64(bytes, unused));
        // As `Key::set`: the sum of both products stands in the high half.
        let products = _mm256_mullo_epi32(key, factors);
        let sum = _mm256_add_epi32(products, _mm256_slli_epi64::<32>(products));
        *keys = bytemuck::cast::<__m256i, [u64; LANES]>(key).map(Key);
        *sets = bytemuck::cast(_mm256_srl_epi64(sum, unused_bits));
        for set in *sets {
            prefetch(&front.sets[set % SETS]);
        }
        done += LANES;
    }
    done
}

#[inline]
#[target_feature(enable = "avx2")]
fn lanes(numbers: [usize; LANES]) -> __m256i {
    bytemuck::cast(numbers)
}

/// The signs of all lanes, one bit for each.
#[inline]
#[target_feature(enable = "avx2")]
fn signs(lanes: __m256i) -> usize {
    _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as usize
}

/// Tell the tokens of the first `len` pieces, but for the last few. For how many.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn answer(front: &Front, len: usize, found: &mut Found) -> usize {
    let keys = front.asked.keys[..len].as_chunks::<LANES>().0;
    let sets = front.asked.sets[..len].as_chunks::<LANES>().0;
    let (mut done, mut missed) = (0, 0);
    for ((keys, sets), tokens) in keys.iter().zip(sets).zip(found.tokens.as_chunks_mut().0) {
        let in_set = |at: usize| -> __m128i {
            let set = &front.sets[sets[at] % SETS];
            let key = _mm_set1_epi64x(keys[at].0 as i64);
            let is_key = _mm_cmpeq_epi64(key, bytemuck::cast(set.keys.map(|key| key.0)));
            _mm_and_si128(is_key, bytemuck::cast(set.tokens.map(Packed::word)))
        };
        // Of either entry, since the other has nothing.
        let two = |a, b| _mm_or_si128(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
        let four = _mm256_set_m128i(two(in_set(2), in_set(3)), two(in_set(0), in_set(1)));
        *tokens = bytemuck::cast::<__m256i, [u64; LANES]>(four).map(Packed::from_word);
        let is_nothing = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
        let which = signs(is_nothing);
        // There always is: no more than `done` are missed.
        if let Some(room) = found.missed[missed..].first_chunk_mut::<LANES>() {
            *room = bytemuck::cast(PLACES[which] + EACH * done as u64);
        }
        missed += which.count_ones() as usize;
        done += LANES;
    }
    found.missed_len = missed;
    done
}

/// One in each number of sixteen bits.
const EACH: u64 = 0x0001_0001_0001_0001;

/// The set bits of each number of four bits, as numbers of sixteen bits.
const PLACES: [u64; 1 << LANES] = {
    let mut places = [0; 1 << LANES];
    let mut number = 0;
    while number < places.len() {
        let (mut bit, mut shift) = (0, 0);
        while bit < LANES {
            if number >> bit & 1 == 1 {
                places[number] |= (bit as u64) << shift;
                shift += u16::BITS;
            }
            bit += 1;
        }
        number += 1;
    }
    places
};
