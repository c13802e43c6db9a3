//! The pairs of a compact text that occur often enough.
//!
//! Memory that is reached in no order is what takes the time here, so all tables are small enough
//! for the processor's own cache. A first pass adds up counts in cells that pairs share: a pair
//! whose cell stays below the threshold is itself below it. Where the cells left over hold few
//! pairs, these are counted at once. Else their places are dealt out by the hash of the pair, and
//! one share after the other is counted, some hundred shares at a time.
//!
//! Tests have small numbers for all limits, so that small texts reach them.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    pairs::{Pair, cell, key},
    symbol::Symbol,
    tally::{NO_LIST, Tally},
    text::{Place, Text},
};
use crate::vocabulary::TokenId;

/// Cells of 4 bytes: half of what the second-level cache of common processors holds.
const CELL_BITS: u32 = if cfg!(test) { 6 } else { 16 };

/// So many pairs are counted together without dealing them out.
const FEW_CELLS: usize = if cfg!(test) { 8 } else { 1 << 10 };

/// At most so many shares are dealt out at a time, each of about so many places.
pub(super) const SHARES: usize = if cfg!(test) { 4 } else { 1 << 8 };
pub(super) const PLACES_PER_SHARE: usize = if cfg!(test) { 8 } else { 1 << 15 };

/// The counts of pairs, added up in cells that pairs share, as far as a cell can count.
pub(super) struct Cells(Vec<u32>);

impl Cells {
    pub(super) fn of(text: &Text<impl Symbol>) -> Self {
        let add = |range| {
            let mut counts = vec![0u32; 1 << CELL_BITS];
            text.for_each_pair(range, |_, left, right, count| {
                let cell = &mut counts[cell(left, right, CELL_BITS)];
                *cell = cell.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            });
            counts
        };
        let sum = |mut sum: Vec<u32>, counts: Vec<u32>| {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
            sum
        };
        Self(text.ranges().into_par_iter().map(add).reduce_with(sum).unwrap_or_default())
    }

    /// A count that no pair exceeds, or `None` where a cell has not counted all.
    pub(super) fn highest(&self) -> Option<u64> {
        let highest = self.0.iter().copied().max().unwrap_or(0);
        (highest < u32::MAX).then_some(u64::from(highest))
    }

    /// The cells that hold as many.
    fn reach(&self, threshold: u64) -> Full {
        let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
        let bits = |cells: &[u32]| {
            (0..).zip(cells).fold(0, |bits, (n, &count)| bits | u64::from(count >= threshold) << n)
        };
        Full(self.0.chunks(64).map(bits).collect())
    }
}

/// The cells whose counts reach the threshold, a bit for each.
struct Full(Vec<u64>);

impl Full {
    fn len(&self) -> usize {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    #[inline]
    fn holds(&self, left: TokenId, right: TokenId) -> bool {
        let cell = cell(left, right, CELL_BITS);
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }
}

/// Every pair of `text` whose count is at least `threshold`, with its places; `None` if there are
/// more than `most_places` of them.
pub(super) fn frequent_pairs(
    text: &Text<impl Symbol>,
    cells: &Cells,
    threshold: u64,
    most_places: usize,
    dealt: usize,
) -> Option<Vec<Pair>> {
    let full = cells.reach(threshold);
    let ranges = text.ranges();
    let most_places = most_places / ranges.len();
    // Where nearly all cells are full, looking them up would only take time.
    let sieve = (full.len() < cells.0.len() / 2).then_some(&full);
    let at_once = (full.len() <= FEW_CELLS)
        .then(|| count_at_once(text, ranges.clone(), &full, most_places))
        .flatten();
    let mut pairs = if let Some(pairs) = at_once {
        pairs
    } else {
        let rounds = text.len().div_ceil(dealt).next_power_of_two();
        count_by_shares(text, ranges, sieve, rounds, Wanted { threshold, most_places })?
    };
    pairs.retain(|pair| pair.count >= threshold);
    Some(pairs)
}

/// The pairs of the cells that are full, each worker by itself; `None` if their places, those of
/// pairs that only share a cell included, are too many.
fn count_at_once(
    text: &Text<impl Symbol>,
    ranges: Vec<Range<usize>>,
    full: &Full,
    most_places: usize,
) -> Option<Vec<Pair>> {
    let count = |range: Range<usize>| {
        let (mut tally, mut pairs, mut places) = (Tally::default(), Vec::<Pair>::new(), 0);
        text.for_each_pair(range, |place, left, right, count| {
            if places <= most_places && full.holds(left, right) {
                places += 1;
                let index = tally.add(key(left, right), 1, count);
                if index == pairs.len() {
                    pairs.push(Pair { left, right, ..Pair::default() });
                }
                pairs[index].count += count;
                pairs[index].places.push(place);
            }
        });
        (places <= most_places).then_some((tally, pairs))
    };
    let counted: Option<Vec<_>> = ranges.into_par_iter().map(count).collect();
    let followed_by = |(mut tally, mut pairs): (Tally, Vec<Pair>),
                       (_, next): (Tally, Vec<Pair>)| {
        for pair in next {
            let index = tally.add(key(pair.left, pair.right), 0, 0);
            if index == pairs.len() {
                pairs.push(pair);
            } else {
                pairs[index].count += pair.count;
                pairs[index].places.extend(pair.places);
            }
        }
        (tally, pairs)
    };
    counted?.into_iter().reduce(followed_by).map(|(_, pairs)| pairs)
}

/// A place of a pair, to be counted with all others of its share.
#[derive(Clone, Copy)]
struct Dealt<S> {
    left: S,
    right: S,
    place: Place,
}

/// What one worker has dealt out of its part of the text: used again, since fresh memory is slow.
struct Dealer<S> {
    range: Range<usize>,
    shares: Vec<Vec<Dealt<S>>>,
}

impl<S: Symbol> Dealer<S> {
    fn new(range: Range<usize>, shares: usize) -> Self {
        Self { range, shares: vec![Vec::new(); shares] }
    }

    fn deal(&mut self, text: &Text<S>, full: Option<&Full>, round: usize, bits: u32) {
        self.shares.iter_mut().for_each(Vec::clear);
        text.for_each_pair(self.range.clone(), |place, left, right, _| {
            let share = cell(left, right, bits);
            let is_wanted = share / self.shares.len() == round
                && full.is_none_or(|full| full.holds(left, right));
            if is_wanted {
                let (left, right) = (S::of(left), S::of(right));
                let share = share % self.shares.len();
                self.shares[share].push(Dealt { left, right, place });
            }
        });
    }
}

/// Which pairs are kept, and how many places a worker may keep in all.
#[derive(Clone, Copy)]
struct Wanted {
    threshold: u64,
    most_places: usize,
}

fn count_by_shares<S: Symbol>(
    text: &Text<S>,
    ranges: Vec<Range<usize>>,
    full: Option<&Full>,
    rounds: usize,
    wanted: Wanted,
) -> Option<Vec<Pair>> {
    let shares = (text.len() / PLACES_PER_SHARE).next_power_of_two().clamp(2, SHARES);
    let bits = rounds.ilog2() + shares.ilog2();
    let mut dealers: Vec<Dealer<S>> =
        ranges.into_iter().map(|range| Dealer::new(range, shares)).collect();
    let mut counters: Vec<ShareCounter> = Vec::new();
    counters.resize_with(dealers.len(), ShareCounter::default);
    let shares_per_counter = shares.div_ceil(counters.len());
    let mut pairs = Vec::new();
    for round in 0..rounds {
        dealers.par_iter_mut().for_each(|dealer| dealer.deal(text, full, round, bits));
        let count = |(index, counter): (usize, &mut ShareCounter)| {
            let first = index * shares_per_counter;
            (first..shares).take(shares_per_counter).try_for_each(|share| {
                let parts = dealers.iter().map(|dealer| &dealer.shares[share]);
                counter.count(text, parts, wanted)
            })
        };
        counters.par_iter_mut().enumerate().map(count).collect::<Option<()>>()?;
        for counter in &mut counters {
            pairs.append(&mut counter.pairs);
        }
    }
    Some(pairs)
}

#[derive(Default)]
struct ShareCounter {
    tally: Tally,
    /// The entry in the tally of each place.
    entries: Vec<u32>,
    pairs: Vec<Pair>,
    /// Places of all pairs so far.
    places: usize,
}

impl ShareCounter {
    /// Add the pairs of one share that occur often enough, unless their places are too many; its
    /// parts follow each other in the text.
    fn count<'a, S: Symbol>(
        &mut self,
        text: &Text<S>,
        parts: impl Iterator<Item = &'a Vec<Dealt<S>>> + Clone,
        Wanted { threshold, most_places }: Wanted,
    ) -> Option<()> {
        let Self { tally, entries, pairs, places } = self;
        tally.clear();
        entries.clear();
        for part in parts.clone() {
            let mut weights = text.weights();
            entries.extend(part.iter().map(|&Dealt { left, right, place }| {
                let key = key(left.id(), right.id());
                tally.add(key, 1, weights.at(place as usize)) as u32
            }));
        }
        for entry in tally.entries_mut().iter_mut().filter(|entry| entry.count >= threshold) {
            *places += entry.places as usize;
            if *places > most_places {
                return None;
            }
            entry.list = pairs.len() as u32;
            let (left, right) = ((entry.key >> 32) as TokenId, entry.key as TokenId);
            let places = Vec::with_capacity(entry.places as usize);
            pairs.push(Pair { left, right, count: entry.count, places });
        }
        for (dealt, &entry) in parts.flatten().zip(&*entries) {
            let list = tally.entries()[entry as usize].list;
            if list != NO_LIST {
                pairs[list as usize].places.push(dealt.place);
            }
        }
        Some(())
    }
}
