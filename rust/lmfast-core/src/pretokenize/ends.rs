//! Where pretokens end, told to whoever asks.

/// Is told where each pretoken ends, in order. Each starts where the one before ends, and none is
/// empty.
pub(crate) trait Ends {
    /// A pretoken ends here.
    fn push(&mut self, end: usize);

    /// Pretokens end as many bytes behind `base` as each bit of `places` is above the lowest.
    #[inline(always)]
    fn push_all(&mut self, base: usize, mut places: u64) {
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
