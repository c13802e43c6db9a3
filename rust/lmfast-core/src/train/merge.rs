//! One merge, wherever it applies.
//!
//! One token of every pair that comes or goes is known during a merge: what is left of the merged
//! token loses a pair with `left` and gains one with the merged token, what is right of it
//! likewise. So changes are added up by the other token alone.

use rayon::prelude::*;

use super::{
    pairs::{Pair, Pairs},
    symbol::Symbol,
    tally::Tally,
    text::{Place, Text, Weights},
    tie_break::Ranking,
};
use crate::{prefetch::prefetch, vocabulary::TokenId};

/// A pair with more places than this is merged by several workers.
const PLACES_PER_WORKER: usize = if cfg!(test) { 2 } else { 1 << 11 };

/// So many places are asked for ahead of their turn, so that the processor waits for all of them at
/// once and not for one after the other.
const PLACES_AHEAD: usize = 32;

/// Where a pair with no more places than this merged is remembered, so that the text is not read
/// again.
const REMEMBERED: usize = if cfg!(test) { 4 } else { 1 << 20 };

/// Merges pairs; its memory is used again from one merge to the next.
#[derive(Default)]
pub(super) struct Merger {
    workers: Vec<Worker>,
}

/// What changes in one part of the text.
#[derive(Default)]
struct Worker {
    before: Side,
    after: Side,
    applied: u64,
    /// Occurrences of the merged token followed by `left` that the next merge took for its own.
    overlapped: u64,
    /// Where the pair merged, unless its places are so many that they are visited again instead.
    merged: Vec<Merged>,
}

/// A place where a pair merged, and what stood beside it then.
#[derive(Clone, Copy)]
struct Merged {
    place: Place,
    before: TokenId,
    after: TokenId,
}

/// What a merge changes on one side of the merged token: how often each neighbour stands there.
#[derive(Default)]
struct Side(Tally);

impl Side {
    #[inline]
    fn add(&mut self, neighbour: TokenId, count: u64) {
        self.0.add(u64::from(neighbour), 1, count);
    }

    fn counts(&self) -> impl Iterator<Item = (TokenId, u64)> {
        self.0.entries().iter().map(|entry| (entry.key as TokenId, entry.count))
    }

    fn absorb(&mut self, other: &mut Self) {
        for entry in other.0.entries() {
            self.0.add(entry.key, entry.places, entry.count);
        }
        other.0.clear();
    }

    /// The pairs gained that reach `threshold`, with room for their places.
    fn open_lists(
        &mut self,
        threshold: u64,
        pair_with: impl Fn(TokenId) -> (TokenId, TokenId),
    ) -> Vec<Pair> {
        let mut gained: Vec<Pair> = Vec::new();
        for entry in self.0.entries_mut().iter_mut().filter(|entry| entry.count >= threshold) {
            entry.list = gained.len() as u32;
            let (left, right) = pair_with(entry.key as TokenId);
            let places = Vec::with_capacity(entry.places as usize);
            gained.push(Pair { left, right, count: entry.count, places });
        }
        gained
    }

    #[inline]
    fn list<'a>(&self, neighbour: TokenId, gained: &'a mut [Pair]) -> Option<&'a mut Vec<Place>> {
        let list = self.0.get(u64::from(neighbour))?.list;
        gained.get_mut(list as usize).map(|pair| &mut pair.places)
    }
}

impl Merger {
    /// Put `merged` in every place of `pair`, from left to right, and tell `pairs` what changed.
    ///
    /// Returns how often that was: less than the pair's count where its places overlap (`aaa`).
    pub(super) fn merge(
        &mut self,
        pair: &Pair,
        merged: TokenId,
        text: &mut Text<impl Symbol>,
        pairs: &mut Pairs,
        ranking: &Ranking,
    ) -> u64 {
        let workers = self.replace(pair, merged, text);
        let (total, others) = self.workers[..workers].split_first_mut().expect("one at least");
        for other in others {
            total.absorb(other);
        }
        for (neighbour, count) in total.before.counts() {
            pairs.subtract(neighbour, pair.left, count);
        }
        for (neighbour, count) in total.after.counts() {
            pairs.subtract(pair.right, neighbour, count);
        }
        if let Some(after) = total.after.0.get_mut(u64::from(pair.left)) {
            after.count -= std::mem::take(&mut total.overlapped);
        }
        let applied = std::mem::take(&mut total.applied);
        for gained in gained(&mut self.workers[..workers], pair, merged, text, pairs.threshold()) {
            pairs.insert(gained, ranking);
        }
        let total = &mut self.workers[0];
        total.before.0.clear();
        total.after.0.clear();
        applied
    }

    /// Merge in the text; returns how many workers have changes.
    fn replace(&mut self, pair: &Pair, merged: TokenId, text: &mut Text<impl Symbol>) -> usize {
        let (ends, places) = parts(pair, text);
        let parts = places.len();
        if self.workers.len() < parts {
            self.workers.resize_with(parts, Worker::default);
        }
        let (slots, weights, widths) = text.parts_mut(&ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let work = |(((worker, slots), start), places): (((&mut Worker, _), _), _)| {
            let part = Part { slots, start, widths };
            worker.replace(pair, merged, places, part, weights.clone());
        };
        let all = self.workers.iter_mut().zip(slots).zip(starts).zip(places);
        if parts == 1 {
            all.for_each(work);
        } else {
            all.collect::<Vec<_>>().into_par_iter().for_each(work);
        }
        parts
    }
}

/// Where to cut the text for several workers, and the places of the pair in each part.
fn parts<'a>(pair: &'a Pair, text: &Text<impl Symbol>) -> (Vec<usize>, Vec<&'a [Place]>) {
    let workers = rayon::current_num_threads().min(pair.places.len() / PLACES_PER_WORKER).max(1);
    let (mut ends, mut parts) = (Vec::with_capacity(workers), Vec::with_capacity(workers));
    let mut rest = &pair.places[..];
    for left in (2..=workers).rev() {
        let Some(&middle) = rest.get(rest.len() / left) else { break };
        let end = text.pretoken_end(middle as usize);
        let (part, after) = rest.split_at(rest.partition_point(|&place| (place as usize) < end));
        ends.push(end);
        parts.push(part);
        rest = after;
    }
    ends.push(text.len());
    parts.push(rest);
    (ends, parts)
}

/// Whole pretokens that one worker changes.
struct Part<'a, S> {
    slots: &'a mut [S],
    /// Where in the text they begin.
    start: usize,
    widths: &'a [Place],
}

impl Worker {
    fn replace<S: Symbol>(
        &mut self,
        pair: &Pair,
        merged: TokenId,
        places: &[Place],
        part: Part<'_, S>,
        mut weights: Weights<'_>,
    ) {
        let Part { slots, start: offset, widths } = part;
        let (left_width, merged_width) =
            (widths[pair.left as usize] as usize, widths[merged as usize] as usize);
        let [left, right, joined] = [pair.left, pair.right, merged].map(S::of);
        let remember = pair.places.len() <= REMEMBERED;
        // The pair stood there once, so what follows it lies in the same part.
        let fetch = |place: Place, slots: &[S]| {
            let start = place as usize - offset;
            prefetch(&slots[start.saturating_sub(1)]);
            prefetch(&slots[start + merged_width]);
        };
        let mut ahead = places.iter();
        ahead.by_ref().take(PLACES_AHEAD).for_each(|&place| fetch(place, slots));
        for &place in places {
            if let Some(&next) = ahead.next() {
                fetch(next, slots);
            }
            let start = place as usize - offset;
            let (middle, end) = (start + left_width, start + merged_width);
            if slots[start] != left || slots[middle] != right {
                continue;
            }
            let count = weights.at(place as usize);
            self.applied += count;
            // A part begins where a pretoken does.
            let before = if start == 0 { S::BOUNDARY } else { slots[start - 1] };
            let after = slots[end];
            if before == joined {
                // The merge just before took `left` for its right neighbour; it is gone now.
                self.overlapped += count;
            }
            if before != S::BOUNDARY {
                self.before.add(before.id(), count);
            }
            if after != S::BOUNDARY {
                self.after.add(after.id(), count);
            }
            slots[middle] = S::INSIDE;
            slots[start] = joined;
            slots[end - 1] = joined;
            if remember {
                self.merged.push(Merged { place, before: before.id(), after: after.id() });
            }
        }
    }

    fn absorb(&mut self, other: &mut Self) {
        self.before.absorb(&mut other.before);
        self.after.absorb(&mut other.after);
        self.applied += std::mem::take(&mut other.applied);
        self.overlapped += std::mem::take(&mut other.overlapped);
    }
}

/// The pairs of the merged token whose count is at least `threshold`, in what the first of
/// `workers` has counted.
///
/// Their places are collected when all is counted, since before it is not known which pairs are
/// worth it; most often none is.
fn gained(
    workers: &mut [Worker],
    pair: &Pair,
    merged: TokenId,
    text: &Text<impl Symbol>,
    threshold: u64,
) -> Vec<Pair> {
    let total = &mut workers[0];
    let mut before = total.before.open_lists(threshold, |neighbour| (neighbour, merged));
    let mut after = total.after.open_lists(threshold, |neighbour| (merged, neighbour));
    if !before.is_empty() || !after.is_empty() {
        let total = &workers[0];
        let widths = text.widths();
        let collect = |Merged { place, before: left, after: right }: Merged| {
            if let Some(places) = total.before.list(left, &mut before) {
                places.push(place - widths[left as usize]);
            }
            if let Some(places) = total.after.list(right, &mut after) {
                places.push(place);
            }
        };
        if pair.places.len() <= REMEMBERED {
            workers.iter().flat_map(|worker| &worker.merged).copied().for_each(collect);
        } else {
            merged_places(&pair.places, merged, text).for_each(collect);
        }
    }
    for worker in workers {
        worker.merged.clear();
    }
    before.append(&mut after);
    before
}

/// Where `merged` stands now, of `places`.
fn merged_places<S: Symbol>(
    places: &[Place],
    merged: TokenId,
    text: &Text<S>,
) -> impl Iterator<Item = Merged> {
    let (slots, width) = (text.slots(), text.widths()[merged as usize] as usize);
    let (mut last_end, joined) = (0, S::of(merged));
    places.iter().filter_map(move |&place| {
        let start = place as usize;
        // In `aaa`, a place may lie within the token that the place before it gave.
        (slots[start] == joined && start >= last_end).then(|| {
            last_end = start + width;
            Merged { place, before: slots[start - 1].id(), after: slots[last_end].id() }
        })
    })
}
