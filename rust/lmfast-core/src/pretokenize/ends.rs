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
