//! The pairs that may merge: their counts, their places, and the one that merges next.
//!
//! Three facts keep this small. The places of a pair are all known when the newer of its tokens is
//! made, so a list of places is written once. From then on its count only falls, so a pair below
//! the threshold need not be kept: it cannot rise above it again. And no pair made by a merge has
//! a higher count than the merge, so the highest count also falls: pairs wait in levels of equal
//! count, and ties need an order only within the level that is at the top.

use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{
    pretokens::{Place, Pretokens},
    tie_break::{Precedence, Ranking},
};
use crate::vocabulary::TokenId;

#[derive(Debug, Default)]
pub(super) struct Pair {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: u64,
    /// In rising order; some may no longer hold the pair.
    pub(super) places: Vec<Place>,
}

type PairIndex = u32;

/// Pairs whose count is at least the threshold.
#[derive(Default)]
pub(super) struct Pairs {
    threshold: u64,
    kept: Vec<Pair>,
    unused: Vec<PairIndex>,
    index_of: HashMap<(TokenId, TokenId), PairIndex, FxBuildHasher>,
    /// Every pair stands in one level, or in `top`: that of its count, or one that it fell from.
    levels: BTreeMap<u64, Vec<PairIndex>>,
    top_count: u64,
    top: BinaryHeap<(Precedence, PairIndex)>,
}

impl Pairs {
    /// Every pair of the pretokens whose count is at least `threshold`.
    ///
    /// A first pass adds up counts in a table in which pairs may share a cell. A pair whose cell
    /// stays below the threshold is itself below it, so the exact second pass skips most pairs.
    pub(super) fn find(pretokens: &Pretokens, ranking: &Ranking, threshold: u64) -> Self {
        let mut cells = vec![0u64; CELLS];
        let token_len = |id| ranking.token_len(id);
        pretokens.for_each_pair(token_len, |_, left, right, count| {
            cells[cell(left, right)] += count;
        });
        let mut found: HashMap<(TokenId, TokenId), (u64, Vec<Place>), FxBuildHasher> =
            HashMap::default();
        pretokens.for_each_pair(token_len, |place, left, right, count| {
            if cells[cell(left, right)] >= threshold {
                let (total, places) = found.entry((left, right)).or_default();
                *total += count;
                places.push(place);
            }
        });
        let mut pairs = Self { threshold, top_count: u64::MAX, ..Self::default() };
        for ((left, right), (count, places)) in found {
            pairs.insert(Pair { left, right, count, places }, ranking);
        }
        pairs
    }

    /// Pairs below this count are not kept.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Keep a pair, unless its count is below the threshold.
    pub(super) fn insert(&mut self, pair: Pair, ranking: &Ranking) {
        if pair.count < self.threshold || !ranking.may_join(pair.left, pair.right) {
            return;
        }
        let index = self.unused.pop().unwrap_or(self.kept.len() as PairIndex);
        self.index_of.insert((pair.left, pair.right), index);
        match self.kept.get_mut(index as usize) {
            Some(slot) => *slot = pair,
            None => self.kept.push(pair),
        }
        self.queue(index, ranking);
    }

    /// Count a pair `by` less often, if it is kept.
    pub(super) fn subtract(&mut self, left: TokenId, right: TokenId, by: u64) {
        if let Some(&index) = self.index_of.get(&(left, right)) {
            self.kept[index as usize].count -= by;
        }
    }

    /// The pair of the highest count; of several, the one that takes precedence.
    pub(super) fn pop(&mut self, ranking: &Ranking) -> Option<Pair> {
        loop {
            if let Some((_, index)) = self.top.pop() {
                if self.kept[index as usize].count == self.top_count {
                    return Some(self.remove(index));
                }
                self.queue(index, ranking);
            } else {
                let (count, level) = self.levels.pop_last()?;
                self.top_count = count;
                for index in level {
                    self.queue(index, ranking);
                }
            }
        }
    }

    /// Put a pair where its count says, or drop it if that has fallen below the threshold.
    fn queue(&mut self, index: PairIndex, ranking: &Ranking) {
        let Pair { left, right, count, .. } = self.kept[index as usize];
        if count == self.top_count {
            self.top.push((ranking.precedence(left, right), index));
        } else if count >= self.threshold {
            self.levels.entry(count).or_default().push(index);
        } else {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: PairIndex) -> Pair {
        let pair = std::mem::take(&mut self.kept[index as usize]);
        self.index_of.remove(&(pair.left, pair.right));
        self.unused.push(index);
        pair
    }
}

const CELLS: usize = 1 << 22;

fn cell(left: TokenId, right: TokenId) -> usize {
    let key = u64::from(left) << 32 | u64::from(right);
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - CELLS.trailing_zeros())) as usize
}
