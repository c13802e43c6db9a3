//! What two neighbouring tokens become, and at which rank.

use crate::{
    hash::spread,
    prefetch::prefetch_item,
    vocabulary::{MAX_TOKENS, Merge, TokenId},
};

/// The rank of a pair that does not merge.
pub(super) const NEVER: u32 = u32::MAX;

/// An open-addressed table and two smaller ones that answer most questions: the large one is seldom
/// in a core's own cache as a whole.
///
/// A slot is one word. A pair is a number of 48 bits, which is multiplied by an odd one: nothing of it
/// is lost. The leading bits of the product say where it belongs. A slot holds all of its bits but the
/// `dropped` leading ones, and then the rank. Two pairs that differ in nothing but these bits belong so
/// far apart that whoever looks for one does not meet the other.
#[derive(Debug)]
pub(super) struct PairRanks {
    slots: Box<[u64]>,
    shift: u32,
    dropped: u32,
    /// Ones where slots hold the rank.
    rank_mask: u64,
    merged: Merged,
    /// At most one bit in eight is set: a pair without a bit does not merge.
    filter: Box<[u64]>,
    filter_shift: u32,
    /// The ranks of two bytes.
    byte_ranks: Box<[u32; 1 << 16]>,
}

const ID_BITS: u32 = 24;
const _: () = assert!(MAX_TOKENS <= 1 << ID_BITS, "no bit of an id is lost");
/// Bits of a slot that a pair leaves free.
const FREE_BITS: u32 = u64::BITS - 2 * ID_BITS;

/// No slot is all ones: no rank is all ones.
const EMPTY: u64 = u64::MAX;

impl PairRanks {
    /// Of merges that join the same two tokens, the last counts.
    pub(super) fn new(merges: &[Merge], byte_ids: &[TokenId; 256]) -> Self {
        let ranks = merges.last().map_or(0, |merge| merge.rank as usize + 1);
        let rank_bits = (ranks + 1).next_power_of_two().trailing_zeros().max(FREE_BITS);
        let filter_bits = (merges.len() * 8).next_power_of_two().max(64);
        let mut pairs = Self {
            slots: Box::default(),
            shift: 0,
            dropped: rank_bits - FREE_BITS,
            rank_mask: (1 << rank_bits) - 1,
            merged: Merged::of(merges, ranks),
            filter: vec![0; filter_bits / 64].into(),
            filter_shift: u64::BITS - filter_bits.trailing_zeros(),
            byte_ranks: vec![NEVER; 1 << 16].try_into().expect("as many"),
        };
        let mut len = (merges.len() * 5 / 4).next_power_of_two().max(2);
        while !pairs.fill(merges, len) {
            len *= 2;
        }
        for merge in merges {
            let bit = (number(merge.left, merge.right) >> pairs.filter_shift) as usize;
            pairs.filter[bit / 64] |= 1 << (bit % 64);
        }
        for at in 0..pairs.byte_ranks.len() {
            pairs.byte_ranks[at] = pairs.get(byte_ids[at >> 8], byte_ids[at & 0xFF]);
        }
        pairs
    }

    /// Put all merges into so many slots. Whether runs of full slots are so short that no two pairs
    /// can be taken for each other.
    fn fill(&mut self, merges: &[Merge], len: usize) -> bool {
        self.shift = u64::BITS - len.trailing_zeros();
        self.slots = vec![EMPTY; len].into();
        for merge in merges {
            let number = number(merge.left, merge.right);
            let tag = number << self.dropped;
            let mut at = (number >> self.shift) as usize;
            while self.slots[at] != EMPTY && self.slots[at] ^ tag > self.rank_mask {
                at = self.next(at);
            }
            self.slots[at] = tag | u64::from(merge.rank);
        }
        let is_empty = |&slot: &u64| slot == EMPTY;
        let runs = self.slots.split(is_empty).map(<[u64]>::len);
        // Together the first and the last may be one.
        runs.max().is_some_and(|longest| 2 * longest < len >> self.dropped)
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

    /// Ask for the memory that [`get`](Self::get) will read.
    #[inline]
    pub(super) fn prefetch(&self, left: TokenId, right: TokenId) {
        let number = number(left, right);
        prefetch_item(&self.filter, (number >> self.filter_shift) as usize / 64);
        prefetch_item(&self.slots, (number >> self.shift) as usize);
    }

    /// The rank at which `left` and `right` merge; `NEVER` if they do not.
    #[inline]
    pub(super) fn get(&self, left: TokenId, right: TokenId) -> u32 {
        let number = number(left, right);
        let bit = (number >> self.filter_shift) as usize;
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return NEVER;
        }
        let tag = number << self.dropped;
        let mut at = (number >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return NEVER;
            }
            if slot ^ tag <= self.rank_mask {
                return (slot & self.rank_mask) as u32;
            }
            at = self.next(at);
        }
    }

    /// The token that the merge of this rank makes.
    #[inline]
    pub(super) fn merged(&self, rank: u32) -> TokenId {
        match &self.merged {
            Merged::Behind(offset) => rank + offset,
            Merged::ByRank(tokens) => tokens[rank as usize],
        }
    }
}

/// The tokens that merges make.
#[derive(Debug)]
enum Merged {
    /// The id is so much more than the rank, as with nearly all vocabularies: one load less to wait
    /// for.
    Behind(u32),
    ByRank(Box<[TokenId]>),
}

impl Merged {
    /// Those of ranks below `ranks`.
    fn of(merges: &[Merge], ranks: usize) -> Self {
        let offset = merges.first().and_then(|merge| merge.merged.checked_sub(merge.rank));
        if let Some(offset) = offset
            && merges.iter().all(|merge| merge.merged == merge.rank + offset)
        {
            return Self::Behind(offset);
        }
        let mut by_rank = vec![0; ranks];
        for merge in merges {
            by_rank[merge.rank as usize] = merge.merged;
        }
        Self::ByRank(by_rank.into())
    }
}

/// The number of a pair, in the leading 48 bits (`hash::spread` multiplies by an odd number).
#[inline]
fn number(left: TokenId, right: TokenId) -> u64 {
    spread((u64::from(left) << ID_BITS | u64::from(right)) << FREE_BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the ids and ranks, also where the slots drop bits of the pair.
        #[test]
        fn every_pair_has_its_rank_and_no_other_has_one(
            pairs in proptest::collection::vec((0u32..1 << 24, 0u32..300), 0..300),
            first_rank in prop::sample::select(vec![0, 1 << 15, 1 << 17, (1 << 20) - 1]),
            others in proptest::collection::vec((0u32..1 << 24, 0u32..300), 0..300),
        ) {
            let mut byte_ids = [0; 256];
            byte_ids.iter_mut().zip((1 << 24) - 256..).for_each(|(id, next)| *id = next);
            let merge = |(&(left, right), rank): (&(_, _), u32)| {
                Merge { left, right, merged: rank + 7, rank }
            };
            let merges: Vec<_> = pairs.iter().zip(first_rank..).map(merge).collect();
            let ranks = PairRanks::new(&merges, &byte_ids);
            let expected: HashMap<_, _> = pairs.iter().zip(first_rank..).collect();
            // Those that differ in few bits, too.
            let near = pairs.iter().map(|&(left, right)| (left ^ 1 << 23, right));
            for pair in pairs.iter().copied().chain(near).chain(others) {
                let rank = expected.get(&pair).copied().unwrap_or(NEVER);
                prop_assert_eq!(ranks.get(pair.0, pair.1), rank);
                if rank != NEVER {
                    prop_assert_eq!(ranks.merged(rank), rank + 7);
                }
            }
        }
    }
}
