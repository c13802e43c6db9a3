//! The set bits of a word as numbers, with AVX-512.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_maskz_compress_epi8, _mm512_maskz_permutexvar_epi8,
    _mm512_set1_epi64,
};

/// Numbers of a vector.
const LANES: usize = 8;
const GROUPS: usize = u64::BITS as usize / LANES;

/// Groups that are written in any case: how many there are cannot be foreseen.
const AT_LEAST: usize = 3;

/// Write the set bits of `places` as numbers behind `base`, and others behind them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(crate) fn write_places(base: usize, places: u64, out: &mut [usize]) {
    let numbers = _mm512_maskz_compress_epi8(places, bytemuck::cast(NUMBERS));
    let base = _mm512_set1_epi64(base as i64);
    let write = |group: &mut [usize; LANES], bytes: [u8; 64]| {
        // Of each eight bytes, the lowest.
        let lowest = 0x0101_0101_0101_0101;
        let apart = _mm512_maskz_permutexvar_epi8(lowest, bytemuck::cast(bytes), numbers);
        *group = bytemuck::cast::<__m512i, _>(_mm512_add_epi64(apart, base));
    };
    let groups = places.count_ones().div_ceil(LANES as u32) as usize;
    let (out, _) = out.as_chunks_mut();
    for (group, bytes) in out.iter_mut().zip(BYTES).take(AT_LEAST) {
        write(group, bytes);
    }
    if groups > AT_LEAST {
        for (group, bytes) in out.iter_mut().zip(BYTES).take(groups).skip(AT_LEAST) {
            write(group, bytes);
        }
    }
}

const NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut at = 0;
    while at < numbers.len() {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// Which byte stands first in each eight of a group.
const BYTES: [[u8; 64]; GROUPS] = {
    let mut bytes = [[0; 64]; GROUPS];
    let mut at = 0;
    while at < 64 {
        bytes[at / LANES][at % LANES * 8] = at as u8;
        at += 1;
    }
    bytes
};
