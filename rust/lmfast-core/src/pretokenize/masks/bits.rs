//! One bit for each byte of a window.

use std::ops::{Index, IndexMut};

use super::{BLOCK, BLOCKS};

/// The bits of a window and one block more: what stands behind it.
#[derive(Clone, Debug)]
pub(super) struct Bits([u64; BLOCKS + 1]);

impl Default for Bits {
    fn default() -> Self {
        Self([0; BLOCKS + 1])
    }
}

impl Index<usize> for Bits {
    type Output = u64;

    #[inline]
    fn index(&self, at: usize) -> &u64 {
        &self.0[at]
    }
}

impl IndexMut<usize> for Bits {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut u64 {
        &mut self.0[at]
    }
}

impl Bits {
    #[inline]
    pub(super) fn set(&mut self, at: usize) {
        self.0[at / BLOCK] |= 1 << (at % BLOCK);
    }

    #[inline]
    pub(super) fn clear(&mut self, at: usize) {
        self.0[at / BLOCK] &= !(1 << (at % BLOCK));
    }

    #[inline]
    pub(super) fn has(&self, at: usize) -> bool {
        self.0[at / BLOCK] >> (at % BLOCK) & 1 != 0
    }

    /// Set `len` bits, fewer than a block has.
    #[inline]
    pub(super) fn set_run(&mut self, at: usize, len: usize) {
        let run = (1u64 << len) - 1;
        let (block, shift) = (at / BLOCK, at % BLOCK);
        self.0[block] |= run << shift;
        if shift + len > BLOCK {
            self.0[block + 1] |= run >> (BLOCK - shift);
        }
    }

    /// Clear all bits from `end` on in its block.
    #[inline]
    pub(super) fn truncate(&mut self, end: usize) {
        self.0[end / BLOCK] &= (1 << (end % BLOCK)) - 1;
    }

    /// The bits of block `at`, each moved to the byte behind its own.
    #[inline]
    pub(super) fn behind(&self, at: usize) -> u64 {
        let carry = if at == 0 { 0 } else { self.0[at - 1] >> (BLOCK - 1) };
        self.0[at] << 1 | carry
    }

    /// The bits of block `at`, each moved to the byte before its own.
    #[inline]
    pub(super) fn before(&self, at: usize) -> u64 {
        self.0[at] >> 1 | self.0[at + 1] << (BLOCK - 1)
    }
}

/// `bits` moved to the byte behind each, with that of the block before.
#[inline]
pub(super) fn shifted(bits: u64, before: &mut u64) -> u64 {
    let behind = bits << 1 | *before;
    *before = bits >> (BLOCK - 1);
    behind
}

/// The first bit of the run of set bits that ends at `last`, where `word` gives the bits by block.
#[inline]
pub(super) fn run_start(last: usize, word: impl Fn(usize) -> u64) -> usize {
    let (mut block, shift) = (last / BLOCK, last % BLOCK);
    let mut ones = (word(block) << (BLOCK - 1 - shift)).leading_ones() as usize;
    if ones <= shift {
        return last + 1 - ones;
    }
    while block > 0 {
        ones = word(block - 1).leading_ones() as usize;
        if ones < BLOCK {
            return block * BLOCK - ones;
        }
        block -= 1;
    }
    0
}

/// The end of the run of set bits that begins at `first`, where `word` gives the bits by block.
#[inline]
pub(super) fn run_end(first: usize, word: impl Fn(usize) -> u64) -> usize {
    let (mut block, shift) = (first / BLOCK, first % BLOCK);
    let mut ones = (word(block) >> shift).trailing_ones() as usize;
    if ones < BLOCK - shift {
        return first + ones;
    }
    while block < BLOCKS {
        block += 1;
        ones = word(block).trailing_ones() as usize;
        if ones < BLOCK {
            break;
        }
    }
    block * BLOCK + ones
}

/// The set bits of `word`, which is that of block `at`, as places in the window.
#[inline]
pub(super) fn places(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = at * BLOCK + word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            place
        })
    })
}

/// Adds numbers that are longer than a block, from their lowest block on.
#[derive(Default)]
pub(super) struct Adder {
    carry: bool,
}

impl Adder {
    /// The next block of the sum.
    ///
    /// A run of set bits in `runs` to which one of its own bits is added becomes unset from that bit
    /// on, and the bit behind the run is set.
    #[inline]
    pub(super) fn add(&mut self, runs: u64, starts: u64) -> u64 {
        let (sum, first) = runs.overflowing_add(starts);
        let (sum, second) = sum.overflowing_add(u64::from(self.carry));
        self.carry = first | second;
        sum
    }
}
