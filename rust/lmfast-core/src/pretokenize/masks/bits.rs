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
