//! One bit for each byte of a window.

use std::ops::{Index, IndexMut};

use super::{BLOCK, BLOCKS};

/// The bits of a window, of nothing before it, and of one block more: what stands behind it.
#[derive(Clone, Debug)]
pub(super) struct Bits([u64; 1 + BLOCKS + 1]);

/// So many blocks are worked on together, by vectors.
pub(super) const LANES: usize = 8;
const _: () = assert!(BLOCKS.is_multiple_of(LANES));

impl Default for Bits {
    fn default() -> Self {
        Self([0; 1 + BLOCKS + 1])
    }
}

impl Index<usize> for Bits {
    type Output = u64;

    #[inline(always)]
    fn index(&self, at: usize) -> &u64 {
        &self.0[1 + at]
    }
}

impl IndexMut<usize> for Bits {
    #[inline(always)]
    fn index_mut(&mut self, at: usize) -> &mut u64 {
        &mut self.0[1 + at]
    }
}

impl Bits {
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize) {
        self[at / BLOCK] |= 1 << (at % BLOCK);
    }

    #[inline(always)]
    pub(super) fn clear(&mut self, at: usize) {
        self[at / BLOCK] &= !(1 << (at % BLOCK));
    }

    #[inline(always)]
    pub(super) fn has(&self, at: usize) -> bool {
        self[at / BLOCK] >> (at % BLOCK) & 1 != 0
    }

    /// Set `len` bits, fewer than a block has.
    #[inline(always)]
    pub(super) fn set_run(&mut self, at: usize, len: usize) {
        let run = (1u64 << len) - 1;
        let (block, shift) = (at / BLOCK, at % BLOCK);
        self[block] |= run << shift;
        if shift + len > BLOCK {
            self[block + 1] |= run >> (BLOCK - shift);
        }
    }

    /// Clear all bits from `end` on in its block.
    #[inline(always)]
    pub(super) fn truncate(&mut self, end: usize) {
        self[end / BLOCK] &= (1 << (end % BLOCK)) - 1;
    }

    /// The bits of block `at`, each moved to the byte behind its own.
    #[inline(always)]
    pub(super) fn behind(&self, at: usize) -> u64 {
        self.0[1 + at] << 1 | self.0[at] >> (BLOCK - 1)
    }

    /// The bits of block `at`, each moved to the byte before its own.
    #[inline(always)]
    pub(super) fn before(&self, at: usize) -> u64 {
        self.0[1 + at] >> 1 | self.0[2 + at] << (BLOCK - 1)
    }

    /// The blocks from `first` on.
    #[inline(always)]
    pub(super) fn lanes(&mut self, first: usize) -> &mut [u64; LANES] {
        self.0[1 + first..].first_chunk_mut().expect("blocks of a window")
    }
}

/// `bits` moved to the byte behind each, with that of the block before.
#[inline(always)]
pub(super) fn shifted(bits: u64, before: &mut u64) -> u64 {
    let behind = bits << 1 | *before;
    *before = bits >> (BLOCK - 1);
    behind
}

/// The first bit of the run of set bits that ends at `last`, where `word` gives the bits by block.
#[inline(always)]
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
#[inline(always)]
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
#[inline(always)]
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
    #[inline(always)]
    pub(super) fn add(&mut self, runs: u64, starts: u64) -> u64 {
        let (sum, first) = runs.overflowing_add(starts);
        let (sum, second) = sum.overflowing_add(u64::from(self.carry));
        self.carry = first | second;
        sum
    }
}
