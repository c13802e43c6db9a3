//! The pairs of a compact text that occur often enough.
//!
//! Memory that is reached in no order is what takes the time here, so all tables are small enough
//! for the processor's own cache. A first pass adds up counts in cells. Where each pair has a cell
//! to itself, and few of them reach the threshold, their places are listed at once. Else the
//! places of all cells that reach it are dealt out, and one share after the other is counted, some
//! hundreds of shares at a time.
//!
//! Tests have small numbers for all limits, so that small texts reach them.

use std::ops::Range;

use rayon::prelude::*;

use super::{
    cells::{Cells, Layout, Own, Shared, places},
    lists::Lists,
    pairs::{Pair, key},
    symbol::Symbol,
    tally::{NO_LIST, Tally},
    text::{Place, Text},
};
use crate::vocabulary::TokenId;

/// At most so many pairs have their places listed without being counted.
const MOST_LISTS: usize = if cfg!(test) { 8 } else { 1 << 12 };

/// At most so many shares are dealt out at a time, each of about so many places.
pub(super) const SHARES: usize = if cfg!(test) { 4 } else { 1 << 9 };
pub(super) const PLACES_PER_SHARE: usize = if cfg!(test) { 8 } else { 1 << 15 };

/// Two rounds take half the memory of one, and no more time that could be told from noise.
const FEWEST_ROUNDS: usize = 2;

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
    if let Some(own) = cells.exact().filter(|_| full.len() <= MOST_LISTS) {
        return list(text, ranges, own, cells, &full, most_places);
    }
    let wanted = Wanted { threshold, most_places };
    match cells.own() {
        Some(own) => count_by_shares(text, ranges, own, full, dealt, wanted),
        None => count_by_shares(text, ranges, Shared, full, dealt, wanted),
    }
}

/// Which pairs are kept, and how many places a worker may keep in all.
#[derive(Clone, Copy)]
struct Wanted {
    threshold: u64,
    most_places: usize,
}

/// The pairs of the cells that are `full`, each its own.
fn list<S: Symbol>(
    text: &Text<S>,
    ranges: Vec<Range<usize>>,
    own: Own,
    cells: &Cells,
    full: &[usize],
    most_places: usize,
) -> Option<Vec<Pair>> {
    let mut list_of = vec![0u16; own.len()];
    full.iter().zip(1..).for_each(|(&cell, list)| list_of[cell] = list);
    let list = |range: Range<usize>| {
        let mut lists = Lists::new(full.len(), most_places, 0);
        let wanted = |left, right| list_of[own.cell(left, right)];
        text.for_each_listed(range, wanted, |list, place, _, _| {
            lists.push(usize::from(list) - 1, place);
        });
        lists.all().map(std::mem::take)
    };
    let listed: Vec<Vec<Vec<Place>>> = ranges.into_par_iter().map(list).collect::<Option<_>>()?;
    let mut pairs: Vec<Pair> = full
        .iter()
        .map(|&cell| {
            let (left, right) = own.pair(cell);
            Pair { left, right, count: cells.count(cell), places: Vec::new() }
        })
        .collect();
    for lists in listed {
        pairs.par_iter_mut().zip(lists).for_each(|(pair, mut places)| {
            if pair.places.is_empty() {
                pair.places = places;
            } else {
                pair.places.append(&mut places);
            }
        });
    }
    Some(pairs)
}

/// A place of a pair, to be counted with all others of its share.
#[derive(Clone, Copy)]
struct Dealt<S> {
    left: S,
    right: S,
    place: Place,
}

/// Which cells are dealt out, and to which shares, in so many rounds.
struct Deal {
    /// In rising order.
    full: Vec<usize>,
    /// By full cell: the round and the share, as one number.
    share_of: Vec<usize>,
    rounds: usize,
    /// In each round.
    shares: usize,
}

impl Deal {
    /// About as many places to each share, and about `dealt` in a round.
    fn new(places: &[u32], full: Vec<usize>, dealt: usize) -> Self {
        let total: usize = full.iter().map(|&cell| places[cell] as usize).sum();
        let rounds = total.div_ceil(dealt).max(FEWEST_ROUNDS);
        let shares = (total / rounds / PLACES_PER_SHARE).next_power_of_two().clamp(2, SHARES);
        let mut before = 0;
        let share_of = |&cell: &usize| {
            let share = u128::from(before) * (rounds * shares) as u128 / total as u128;
            before += u64::from(places[cell]);
            share as usize
        };
        let share_of = full.iter().map(share_of).collect();
        Self { full, share_of, rounds, shares }
    }

    /// Write by cell the number of its share in this round, from 1 on, or 0 if it has none.
    fn number_shares(&self, round: usize, list_of: &mut [u16]) {
        list_of.fill(0);
        for (&cell, share) in self.full.iter().zip(&self.share_of) {
            if share / self.shares == round {
                list_of[cell] = (share % self.shares + 1) as u16;
            }
        }
    }
}

/// What one worker has dealt out of its part of the text: used again, since fresh memory is slow.
struct Dealer<S> {
    range: Range<usize>,
    shares: Lists<Dealt<S>>,
}

impl<S: Symbol> Dealer<S> {
    fn new(range: Range<usize>, shares: usize) -> Self {
        let none = Dealt { left: S::BOUNDARY, right: S::BOUNDARY, place: 0 };
        Self { range, shares: Lists::new(shares, usize::MAX, none) }
    }

    fn deal(&mut self, text: &Text<S>, layout: impl Layout, list_of: &[u16]) -> &[Vec<Dealt<S>>] {
        self.shares.clear();
        let wanted = |left, right| list_of[layout.cell(left, right)];
        text.for_each_listed(self.range.clone(), wanted, |share, place, left, right| {
            self.shares.push(usize::from(share) - 1, Dealt { left, right, place });
        });
        self.shares.all().expect("no limit")
    }
}

fn count_by_shares<S: Symbol>(
    text: &Text<S>,
    ranges: Vec<Range<usize>>,
    layout: impl Layout,
    full: Vec<usize>,
    dealt: usize,
    wanted: Wanted,
) -> Option<Vec<Pair>> {
    let deal = Deal::new(&places(text, layout), full, dealt);
    let mut dealers: Vec<Dealer<S>> =
        ranges.into_iter().map(|range| Dealer::new(range, deal.shares)).collect();
    let mut counters: Vec<ShareCounter> = Vec::new();
    counters.resize_with(dealers.len(), ShareCounter::default);
    let shares_per_counter = deal.shares.div_ceil(counters.len());
    let (mut pairs, mut list_of) = (Vec::new(), vec![0; layout.len()]);
    for round in 0..deal.rounds {
        deal.number_shares(round, &mut list_of);
        let dealt: Vec<&[Vec<Dealt<S>>]> =
            dealers.par_iter_mut().map(|dealer| dealer.deal(text, layout, &list_of)).collect();
        let count = |(index, counter): (usize, &mut ShareCounter)| {
            let first = index * shares_per_counter;
            (first..deal.shares).take(shares_per_counter).try_for_each(|share| {
                counter.count(text, dealt.iter().map(|shares| &shares[share]), wanted)
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
