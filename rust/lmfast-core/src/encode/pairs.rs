//! What two neighbouring tokens become, and at which rank.

use crate::{
    hash::spread,
    vocabulary::{Merge, TokenId},
};

/// The rank of a pair that does not merge.
pub(super) const NEVER: u32 = u32::MAX;

/// An open-addressed table, at most half full, and two smaller ones that answer most questions: the
/// large one is seldom in a core's own cache.
#[derive(Debug)]
pub(super) struct PairRanks {
    slots: Box<[Slot]>,
    shift: u32,
    /// One bit or more of eight is unset: a pair without a bit does not merge.
    filter: Box<[u64]>,
    filter_shift: u32,
    /// The ranks of two bytes.
    byte_ranks: Box<[u32; 1 << 16]>,
}

/// Sixteen bytes, so that four share a cache line and none lies across two.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Slot {
    pair: u64,
    rank: u32,
    merged: TokenId,
}

/// No pair: ids are below 2^24.
const EMPTY: Slot = Slot { pair: u64::MAX, rank: NEVER, merged: 0 };

impl PairRanks {
    /// Of merges that join the same two tokens, the last counts.
    pub(super) fn new(merges: &[Merge], byte_ids: &[TokenId; 256]) -> Self {
        let len = (merges.len() * 2).next_power_of_two().max(2);
        let filter_bits = (len * 4).max(64);
        let mut pairs = Self {
            slots: vec![EMPTY; len].into(),
            shift: u64::BITS - len.trailing_zeros(),
            filter: vec![0; filter_bits / 64].into(),
            filter_shift: u64::BITS - filter_bits.trailing_zeros(),
            byte_ranks: vec![NEVER; 1 << 16].try_into().expect("as many"),
        };
        for merge in merges {
            let pair = pair(merge.left, merge.right);
            let hash = spread(pair);
            let mut at = (hash >> pairs.shift) as usize;
            while ![pair, EMPTY.pair].contains(&pairs.slots[at].pair) {
                at = pairs.next(at);
            }
            pairs.slots[at] = Slot { pair, rank: merge.rank, merged: merge.merged };
            let bit = (hash >> pairs.filter_shift) as usize;
            pairs.filter[bit / 64] |= 1 << (bit % 64);
        }
        for at in 0..pairs.byte_ranks.len() {
            pairs.byte_ranks[at] = pairs.get(byte_ids[at >> 8], byte_ids[at & 0xFF]).0;
        }
        pairs
    }

    /// The rank at which the tokens of two bytes merge.
    #[inline]
    pub(super) fn of_bytes(&self, left: u8, right: u8) -> u32 {
        self.byte_ranks[usize::from(left) << 8 | usize::from(right)]
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    /// The rank at which `left` and `right` merge, and into what; `NEVER` if they do not.
    #[inline]
    pub(super) fn get(&self, left: TokenId, right: TokenId) -> (u32, TokenId) {
        let pair = pair(left, right);
        let hash = spread(pair);
        let bit = (hash >> self.filter_shift) as usize;
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return (NEVER, 0);
        }
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at];
            if slot.pair == pair || slot.pair == EMPTY.pair {
                return (slot.rank, slot.merged);
            }
            at = self.next(at);
        }
    }
}

fn pair(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
