//! Many sorted sources of pretokens as one, in which equal pretokens are added up.

use std::cmp::Ordering;

use super::{
    arena::{Address, Arena},
    file::Dropped,
};
use crate::{
    error::{Error, Result},
    watch::Watch,
};

/// Pretokens in rising order, each once, with their counts.
pub(super) trait Sorted {
    /// Step to the next pretoken; its count, or `None` at the end.
    fn advance(&mut self) -> Result<Option<u64>>;

    /// The pretoken stepped to last.
    fn pretoken(&self) -> &[u8];

    /// What was left out of it, which is known at the end.
    fn dropped(&self) -> Dropped {
        Dropped::default()
    }
}

/// What a table holds, in order.
pub(super) struct SortedArena<'a> {
    arena: &'a Arena,
    places: std::vec::IntoIter<Address>,
    pretoken: &'a [u8],
}

impl<'a> SortedArena<'a> {
    pub(super) fn new(arena: &'a Arena) -> Self {
        // Most comparisons end within the first bytes, which are at hand here.
        let mut keyed: Vec<(u64, Address)> =
            arena.places().map(|place| (first_bytes(arena.get(place).0), place)).collect();
        keyed.sort_unstable_by(|&(a, at), &(b, bt)| {
            a.cmp(&b).then_with(|| arena.get(at).0.cmp(arena.get(bt).0))
        });
        let places: Vec<Address> = keyed.into_iter().map(|(_, place)| place).collect();
        Self { arena, places: places.into_iter(), pretoken: &[] }
    }
}

impl Sorted for SortedArena<'_> {
    fn advance(&mut self) -> Result<Option<u64>> {
        Ok(self.places.next().map(|place| {
            let (pretoken, count) = self.arena.get(place);
            self.pretoken = pretoken;
            count
        }))
    }

    fn pretoken(&self) -> &[u8] {
        self.pretoken
    }
}

/// The first eight bytes as a number that rises with them.
fn first_bytes(pretoken: &[u8]) -> u64 {
    let len = pretoken.len().min(8);
    let mut first = [0; 8];
    first[..len].copy_from_slice(&pretoken[..len]);
    u64::from_be_bytes(first)
}

/// A source that has stepped to a pretoken.
struct Head<'a, S> {
    source: &'a mut S,
    first_bytes: u64,
    count: u64,
}

impl<S: Sorted> Head<'_, S> {
    fn compare(&self, other: &Self) -> Ordering {
        let first = self.first_bytes.cmp(&other.first_bytes);
        first.then_with(|| self.source.pretoken().cmp(other.source.pretoken()))
    }

    /// Whether there is a next pretoken.
    fn advance(&mut self) -> Result<bool> {
        let count = self.source.advance()?;
        self.first_bytes = first_bytes(self.source.pretoken());
        self.count = count.unwrap_or(0);
        Ok(count.is_some())
    }
}

/// How many pretokens pass between two looks at whether to stop.
const CHECK_EVERY: u32 = 4096;

/// Call `visit` with every pretoken of `sources` and the sum of its counts, in order.
pub(super) fn sum_of<S: Sorted>(
    sources: &mut [S],
    watch: &Watch,
    visit: &mut dyn FnMut(&[u8], u64) -> Result<()>,
) -> Result<()> {
    let mut heap = Vec::with_capacity(sources.len());
    for source in sources {
        let mut head = Head { source, first_bytes: 0, count: 0 };
        if head.advance()? {
            heap.push(head);
        }
    }
    for at in (0..heap.len() / 2).rev() {
        sift_down(&mut heap, at);
    }
    let mut pretoken = Vec::new();
    let mut passed = 0u32;
    while let Some(least) = heap.first() {
        pretoken.clear();
        pretoken.extend_from_slice(least.source.pretoken());
        let mut count = 0u64;
        while let Some(least) = heap.first_mut() {
            if least.source.pretoken() != pretoken {
                break;
            }
            count = count.checked_add(least.count).ok_or_else(|| too_often(&pretoken))?;
            if !least.advance()? {
                heap.swap_remove(0);
            }
            sift_down(&mut heap, 0);
        }
        visit(&pretoken, count)?;
        passed = passed.wrapping_add(1);
        if passed.is_multiple_of(CHECK_EVERY) {
            watch.check()?;
        }
    }
    Ok(())
}

fn sift_down<S: Sorted>(heap: &mut [Head<'_, S>], mut at: usize) {
    loop {
        let children = 2 * at + 1..(2 * at + 3).min(heap.len());
        let least = children.min_by(|&a, &b| heap[a].compare(&heap[b]));
        let Some(least) = least.filter(|&least| heap[least].compare(&heap[at]).is_lt()) else {
            return;
        };
        heap.swap(least, at);
        at = least;
    }
}

fn too_often(pretoken: &[u8]) -> Error {
    Error::corpus(format!(
        "the pretoken {:?} occurs 2^64 times or more, which is beyond what can be counted",
        String::from_utf8_lossy(pretoken)
    ))
}
