//! The different pretokens of a corpus, as one flat text of tokens that merge in place.
//!
//! Each pretoken stands once, slot by slot, between two boundaries. A token that is n slots wide
//! keeps its n slots and its id stands in the first and in the last of them, so that both
//! neighbours are found by arithmetic: the next token begins n slots on, and the id just before a
//! token is that of the previous one. Ids only grow, so a slot that once began a token never seems
//! to begin it again. From time to time the text is made compact: then every token is one slot
//! wide, and pretokens that have become a single token are gone.

use std::{collections::BTreeMap, ops::Range};

use rayon::prelude::*;

use super::{room::Room, symbol::Symbol};
use crate::{
    error::{Error, Result},
    huge_table::HugeTable,
    vocabulary::TokenId,
};

/// An index into the text. Four bytes, since most of the memory of training is places.
pub(super) type Place = u32;

/// Slots that are looked at together.
const BLOCK: usize = if cfg!(test) { 4 } else { 256 };

/// A worker scans at least this many slots, so that its tables are no larger than its text.
const SLOTS_PER_WORKER: usize = if cfg!(test) { 16 } else { 1 << 21 };

pub(super) struct Text<S> {
    symbols: HugeTable<S>,
    /// The slots in use; the table may be longer.
    len: usize,
    /// Where the pretokens of each count begin; the counts fall from one to the next.
    stretches: Vec<Stretch>,
    /// By token: how many slots it takes.
    widths: Vec<Place>,
    is_compact: bool,
}

#[derive(Clone, Copy)]
struct Stretch {
    start: usize,
    count: u64,
}

impl<S: Symbol> Text<S> {
    /// The text of the pretokens that `for_each` visits, each with its count; it is called twice.
    ///
    /// `tokenize` appends the tokens that a pretoken begins with, all of them below `tokens`.
    pub(super) fn new(
        mut for_each: impl FnMut(&mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()>,
        mut tokenize: impl FnMut(&[u8], &mut Vec<S>),
        tokens: usize,
        room: &Room,
    ) -> Result<Self> {
        let mut symbols = Vec::new();
        let mut slots = ByCount::default();
        for_each(&mut |pretoken, count| {
            symbols.clear();
            tokenize(pretoken, &mut symbols);
            // A single token holds no pair.
            if symbols.len() > 1 {
                *slots.of(count) += symbols.len() + 1;
            }
            Ok(())
        })?;
        let len = 1 + slots.iter_mut().map(|(_, slots)| *slots).sum::<usize>();
        if Place::try_from(len).is_err() {
            return Err(Error::corpus(format!(
                "the corpus has {len} bytes in pretokens that differ, and at most {} can be \
                 trained on; train on a sample, or cut the text finer",
                Place::MAX
            )));
        }

        let mut text = table(len, room)?;
        text[0] = S::BOUNDARY;
        let (mut stretches, mut start) = (Vec::new(), 1);
        for (count, slots) in slots.iter_mut() {
            if *slots > 0 {
                stretches.push(Stretch { start, count });
            }
            (*slots, start) = (start, start + *slots);
        }
        let mut next = slots;
        for_each(&mut |pretoken, count| {
            symbols.clear();
            tokenize(pretoken, &mut symbols);
            if symbols.len() > 1 {
                symbols.push(S::BOUNDARY);
                let next = next.of(count);
                text[*next..][..symbols.len()].copy_from_slice(&symbols);
                *next += symbols.len();
            }
            Ok(())
        })?;
        Ok(Self { symbols: text, len, stretches, widths: vec![1; tokens], is_compact: true })
    }

    /// The number of slots, boundaries included.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// What stands in each slot.
    pub(super) fn slots(&self) -> &[S] {
        &self.symbols[..self.len]
    }

    /// By token: how many slots it takes.
    pub(super) fn widths(&self) -> &[Place] {
        &self.widths
    }

    /// Make room in the tables for the token that `left` and `right` become.
    pub(super) fn join(&mut self, left: TokenId, right: TokenId) {
        self.is_compact = false;
        self.widths.push(self.widths[left as usize] + self.widths[right as usize]);
    }

    /// The counts of places, from the first on.
    pub(super) fn weights(&self) -> Weights<'_> {
        Weights { stretches: &self.stretches, stretch: 0 }
    }

    /// The occurrences of all slots: no less than those of all pairs.
    pub(super) fn mass(&self) -> u64 {
        self.stretches_in(0..self.len)
            .map(|(range, count)| range.len() as u64 * count)
            .fold(0, u64::saturating_add)
    }

    /// Call `visit` with every two slots that follow each other in the pretokens of `range`, of a
    /// compact text, from left to right: the place of the first, what stands there, boundaries
    /// included, and the count.
    #[inline]
    pub(super) fn for_each_two(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(Place, S, S, u64),
    ) {
        for (range, count) in self.stretches_in(range) {
            let start = range.start;
            for (at, two) in self.slots()[range].windows(2).enumerate() {
                visit((start + at) as Place, two[0], two[1], count);
            }
        }
    }

    /// Call `visit` with the list, the place and what stands in both slots, for every two slots of
    /// the pretokens of `range`, of a compact text, for which `list_of` has a list. Lists are
    /// numbered from 1; 0 is none.
    ///
    /// Which have one can hardly be foreseen, so that a branch would cost more than all else.
    #[inline]
    pub(super) fn for_each_listed(
        &self,
        range: Range<usize>,
        list_of: impl Fn(S, S) -> u16,
        mut visit: impl FnMut(u16, Place, S, S),
    ) {
        let slots = self.slots();
        let mut listed = [(0u16, 0u16); BLOCK];
        for start in range.clone().step_by(BLOCK) {
            // The last slot of a range is a boundary, or its pair is none of the range's.
            let block = &slots[start..(start + BLOCK + 1).min(range.end)];
            let mut len = 0;
            for (at, two) in block.windows(2).enumerate() {
                let list = list_of(two[0], two[1]);
                listed[len] = (list, at as u16);
                len += usize::from(list != 0);
            }
            for &(list, at) in &listed[..len] {
                let at = usize::from(at);
                visit(list, (start + at) as Place, block[at], block[at + 1]);
            }
        }
    }

    /// The parts of `range` that lie in one stretch each, and the counts of their pretokens.
    fn stretches_in(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, u64)> {
        let first = self
            .stretches
            .partition_point(|stretch| stretch.start <= range.start)
            .saturating_sub(1);
        let ends =
            self.stretches.iter().skip(first + 1).map(|stretch| stretch.start).chain([self.len]);
        self.stretches[first.min(self.stretches.len())..]
            .iter()
            .zip(ends)
            .map(move |(stretch, end)| {
                (stretch.start.max(range.start)..end.min(range.end), stretch.count)
            })
            .take_while(|(part, _)| part.start < part.end)
    }

    /// Ranges of whole pretokens that together are the text, one for each worker.
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        let len = self.len;
        let workers = rayon::current_num_threads().min(len / SLOTS_PER_WORKER).max(1);
        let mut ranges = Vec::with_capacity(workers);
        let mut start = 1;
        for worker in 1..=workers {
            let end = self.pretoken_end((len / workers * worker).max(start));
            let end = if worker == workers { len } else { end };
            ranges.push(start..end);
            start = end;
        }
        ranges
    }

    /// Where the pretoken that holds `place`, or the one before it, has ended and the next begins.
    pub(super) fn pretoken_end(&self, place: usize) -> usize {
        let rest = self.slots().get(place..).unwrap_or_default();
        rest.iter().position(|&symbol| symbol == S::BOUNDARY).map_or(self.len, |n| place + n + 1)
    }

    /// The slots in parts that end at `ends`, to be changed independently of each other.
    pub(super) fn parts_mut(&mut self, ends: &[usize]) -> (Vec<&mut [S]>, Weights<'_>, &[Place]) {
        let mut rest = &mut self.symbols[..self.len];
        let (mut parts, mut start) = (Vec::with_capacity(ends.len()), 0);
        for &end in ends {
            let (part, after) = rest.split_at_mut(end - start);
            parts.push(part);
            (rest, start) = (after, end);
        }
        (parts, Weights { stretches: &self.stretches, stretch: 0 }, &self.widths)
    }

    /// The same text, with room for more ids.
    pub(super) fn widened<W: Symbol>(self, room: &Room) -> Result<Text<W>> {
        let Self { len, stretches, widths, is_compact, .. } = self;
        let mut symbols = table(len, room)?;
        for (wide, &symbol) in symbols.iter_mut().zip(&*self.symbols) {
            *wide = match symbol {
                _ if symbol == S::BOUNDARY => W::BOUNDARY,
                _ if symbol == S::INSIDE => W::INSIDE,
                _ => W::of(symbol.id()),
            };
        }
        Ok(Text { symbols, len, stretches, widths, is_compact })
    }

    /// Make every token one slot wide, and leave out pretokens that are a single token.
    pub(super) fn compact(&mut self) {
        if self.is_compact {
            return;
        }
        let ranges = self.ranges();
        let ends: Vec<usize> = ranges.iter().map(|range| range.end).collect();
        let (parts, weights, widths) = self.parts_mut(&ends);
        let stretches = weights.stretches;
        let compacted: Vec<Compacted> = parts
            .into_par_iter()
            .zip(&ranges)
            .map(|(part, range)| {
                let base = range.end - part.len();
                compact_part(part, base, range.start, stretches, widths)
            })
            .collect();
        let (mut len, mut base, mut stretches) = (0, 0, Vec::<Stretch>::new());
        for (part, end) in compacted.into_iter().zip(ends) {
            self.symbols.copy_within(base..base + part.len, len);
            for stretch in part.stretches {
                if stretches.last().is_none_or(|last| last.count != stretch.count) {
                    stretches
                        .push(Stretch { start: stretch.start - base + len, count: stretch.count });
                }
            }
            (len, base) = (len + part.len, end);
        }
        self.len = len;
        self.stretches = stretches;
        self.widths.fill(1);
        self.is_compact = true;
    }
}

fn table<S: Symbol>(len: usize, room: &Room) -> Result<HugeTable<S>> {
    if len * size_of::<S>() <= room.text {
        HugeTable::new(len)
    } else {
        HugeTable::on_disk(len, &room.folder)
    }
}

/// A number for each count of pretokens; most counts are low.
struct ByCount {
    low: Vec<usize>,
    high: BTreeMap<u64, usize>,
}

impl Default for ByCount {
    fn default() -> Self {
        Self { low: vec![0; 1 << 12], high: BTreeMap::new() }
    }
}

impl ByCount {
    #[inline]
    fn of(&mut self, count: u64) -> &mut usize {
        if count < self.low.len() as u64 {
            &mut self.low[count as usize]
        } else {
            self.high.entry(count).or_default()
        }
    }

    /// Highest counts first.
    fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut usize)> {
        let high = self.high.iter_mut().map(|(&count, number)| (count, number));
        high.rev()
            .chain(self.low.iter_mut().enumerate().map(|(n, number)| (n as u64, number)).rev())
    }
}

struct Compacted {
    len: usize,
    /// Starts as if the part were not moved.
    stretches: Vec<Stretch>,
}

/// Compact the pretokens of `part`, which stands at `base` of the text, from `start` on.
fn compact_part<S: Symbol>(
    part: &mut [S],
    base: usize,
    start: usize,
    stretches: &[Stretch],
    widths: &[Place],
) -> Compacted {
    let mut compacted = Compacted { len: start - base, stretches: Vec::new() };
    let first = stretches.partition_point(|stretch| stretch.start <= start).saturating_sub(1);
    let mut at = start - base;
    for (index, stretch) in stretches.iter().enumerate().skip(first) {
        let end =
            stretches.get(index + 1).map_or(usize::MAX, |next| next.start).min(base + part.len());
        if stretch.start >= base + part.len() {
            break;
        }
        let start_of_stretch = compacted.len;
        while at < end - base {
            let start_of_pretoken = compacted.len;
            while part[at] != S::BOUNDARY {
                let token = part[at];
                part[compacted.len] = token;
                compacted.len += 1;
                at += widths[token.id() as usize] as usize;
            }
            at += 1;
            if compacted.len == start_of_pretoken + 1 {
                compacted.len = start_of_pretoken;
            } else {
                part[compacted.len] = S::BOUNDARY;
                compacted.len += 1;
            }
        }
        if compacted.len > start_of_stretch {
            compacted
                .stretches
                .push(Stretch { start: base + start_of_stretch, count: stretch.count });
        }
    }
    compacted
}

/// The counts of places that are asked for in rising order: the stretch of the last place is
/// remembered, since the next one is most often in the same.
#[derive(Clone)]
pub(super) struct Weights<'a> {
    stretches: &'a [Stretch],
    stretch: usize,
}

impl Weights<'_> {
    /// How often the pretoken at `place` occurs.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> u64 {
        let mut step = 1;
        while self.begins_by(self.stretch + step, place) {
            self.stretch += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.begins_by(self.stretch + step, place) {
                self.stretch += step;
            }
        }
        self.stretches[self.stretch].count
    }

    fn begins_by(&self, stretch: usize, place: usize) -> bool {
        self.stretches.get(stretch).is_some_and(|stretch| stretch.start <= place)
    }
}
