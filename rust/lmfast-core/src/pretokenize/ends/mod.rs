//! Where pretokens end, told to whoever asks.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;

/// Is told where each pretoken ends, in order. Each starts where the one before ends, and none is
/// empty.
pub(crate) trait Ends {
    /// A pretoken ends here.
    fn push(&mut self, end: usize);

    /// Pretokens end as many bytes behind `base` as each bit of `places` is above the lowest. `write`
    /// does what [`write_places`] does.
    #[inline(always)]
    fn push_all(&mut self, base: usize, mut places: u64, write: impl Fn(usize, u64, &mut [usize])) {
        _ = write;
        while places != 0 {
            self.push(base + places.trailing_zeros() as usize);
            places &= places - 1;
        }
    }
}

impl<F: FnMut(usize)> Ends for F {
    #[inline(always)]
    fn push(&mut self, end: usize) {
        self(end);
    }
}

/// Write the set bits of `places` as numbers behind `base`, and others behind them.
#[inline(always)]
pub(crate) fn write_places(base: usize, mut places: u64, out: &mut [usize]) {
    // Eight at a time: how many there are cannot be foreseen.
    let groups = places.count_ones().div_ceil(8) as usize;
    for group in out.as_chunks_mut::<8>().0.iter_mut().take(groups) {
        for place in group {
            *place = base + places.trailing_zeros() as usize;
            places &= places.wrapping_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_written(base: usize, places: u64, write: impl Fn(usize, u64, &mut [usize])) {
        let mut out = [7; u64::BITS as usize];
        write(base, places, &mut out);
        let expected = (0..64).filter(|place| places >> place & 1 == 1).map(|place| base + place);
        assert!(expected.eq(out[..places.count_ones() as usize].iter().copied()), "{places:#x}");
    }

    proptest! {
        #[test]
        fn places_are_written_in_order(some in any::<[u64; 3]>(), base in 0usize..1 << 40) {
            let [a, b, c] = some;
            for places in [0, u64::MAX, a, a & b, a & b & c, a | b, 1 << (a % 64)] {
                assert_written(base, places, write_places);
                #[cfg(target_arch = "x86_64")]
                if crate::x86::level() == crate::x86::Level::Avx512 {
                    // SAFETY: The processor has what it is compiled for.
                    assert_written(base, places, |base, places, out| unsafe {
                        avx512::write_places(base, places, out);
                    });
                }
            }
        }
    }
}
