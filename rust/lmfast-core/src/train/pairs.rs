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
    tally::GOLDEN_RATIO,
    text::Place,
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
pub(super) struct Pairs {
    threshold: u64,
    kept: Vec<Pair>,
    /// The counts of the pairs in `kept`, which change far more often than the rest is read.
    counts: Vec<u64>,
    unused: Vec<PairIndex>,
    index_of: HashMap<(TokenId, TokenId), PairIndex, FxBuildHasher>,
    sieve: Sieve,
    /// Every pair stands in one level, or in `top`: that of its count, or one that it fell from.
    levels: BTreeMap<u64, Vec<PairIndex>>,
    top_count: u64,
    top: BinaryHeap<(Precedence, PairIndex)>,
    /// How many pairs have the top count.
    ties: u64,
    /// Places in all lists.
    places: usize,
}

impl Pairs {
    /// The pairs of a text of which none that is missing has a count of `threshold` or more.
    pub(super) fn new(pairs: Vec<Pair>, threshold: u64, ranking: &Ranking) -> Self {
        let mut kept = Self {
            threshold,
            kept: Vec::with_capacity(pairs.len()),
            counts: Vec::with_capacity(pairs.len()),
            unused: Vec::new(),
            index_of: HashMap::with_capacity_and_hasher(pairs.len(), FxBuildHasher),
            sieve: Sieve::default(),
            levels: BTreeMap::new(),
            top_count: u64::MAX,
            top: BinaryHeap::new(),
            ties: 0,
            places: 0,
        };
        for pair in pairs {
            kept.insert(pair, ranking);
        }
        kept
    }

    /// Pairs below this count are not kept.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The number of places in all lists.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// Keep a pair, unless its count is below the threshold.
    pub(super) fn insert(&mut self, pair: Pair, ranking: &Ranking) {
        if pair.count < self.threshold || !ranking.may_join(pair.left, pair.right) {
            return;
        }
        let index = self.unused.pop().unwrap_or(self.kept.len() as PairIndex);
        self.places += pair.places.len();
        self.sieve.insert(pair.left, pair.right);
        self.index_of.insert((pair.left, pair.right), index);
        if let Some(slot) = self.kept.get_mut(index as usize) {
            self.counts[index as usize] = pair.count;
            *slot = pair;
        } else {
            self.counts.push(pair.count);
            self.kept.push(pair);
        }
        self.queue(index, ranking);
    }

    /// Count a pair `by` less often, if it is kept.
    #[inline]
    pub(super) fn subtract(&mut self, left: TokenId, right: TokenId, by: u64) {
        if !self.sieve.may_hold(left, right) {
            return;
        }
        if let Some(&index) = self.index_of.get(&(left, right)) {
            let count = &mut self.counts[index as usize];
            self.ties -= u64::from(*count == self.top_count);
            *count -= by;
        }
    }

    /// The pair of the highest count, and how many pairs have that count, itself included. Of
    /// several, it is the one that takes precedence.
    pub(super) fn pop(&mut self, ranking: &Ranking) -> Option<(Pair, u64)> {
        loop {
            if let Some((_, index)) = self.top.pop() {
                if self.counts[index as usize] == self.top_count {
                    self.ties -= 1;
                    return Some((self.remove(index), self.ties + 1));
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
        let count = self.counts[index as usize];
        if count == self.top_count {
            self.ties += 1;
            let Pair { left, right, .. } = self.kept[index as usize];
            self.top.push((ranking.precedence(left, right), index));
        } else if count >= self.threshold {
            self.levels.entry(count).or_default().push(index);
        } else {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: PairIndex) -> Pair {
        let pair = std::mem::take(&mut self.kept[index as usize]);
        let pair = Pair { count: self.counts[index as usize], ..pair };
        self.places -= pair.places.len();
        self.index_of.remove(&(pair.left, pair.right));
        self.unused.push(index);
        pair
    }
}

/// Which pairs may be kept: small enough for the processor's cache, which the map is not, and most
/// pairs that are asked for are not kept.
struct Sieve(Box<[u64]>);

impl Default for Sieve {
    fn default() -> Self {
        Self(vec![0; 1 << (SIEVE_BITS - u64::BITS.trailing_zeros())].into())
    }
}

const SIEVE_BITS: u32 = 20;

impl Sieve {
    fn insert(&mut self, left: TokenId, right: TokenId) {
        let bit = cell(left, right, SIEVE_BITS);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    #[inline]
    fn may_hold(&self, left: TokenId, right: TokenId) -> bool {
        let bit = cell(left, right, SIEVE_BITS);
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// One of `2^bits` cells, the same for the same pair.
#[inline]
pub(super) fn cell(left: TokenId, right: TokenId, bits: u32) -> usize {
    (key(left, right).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - bits)) as usize
}

/// A pair as one number.
#[inline]
pub(super) fn key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
