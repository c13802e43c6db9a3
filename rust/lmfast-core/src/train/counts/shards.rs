//! One table for many threads: shards by hash, and a small table in front for each thread.
//!
//! A thread counts into a front table of its own, of under a mebibyte. When that is full, its
//! pretokens move to the shards in the order of their hashes, so that each shard is locked once and
//! all that goes into it comes at once. All threads share the shards: their number costs no memory, and there
//! is nothing to add up in the end.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::table::Table;
use crate::hash::{Short, hash};

/// Leading bits of the hash that choose a shard.
const SHARD_BITS: u32 = 8;

/// Slots of a front table for short pretokens, of 24 bytes.
const FRONT_SLOTS: usize = 1 << 15;

/// Pretokens in a front table for long ones.
const FRONT_LONG: usize = 4096;

/// Longer pretokens go to their shard at once.
const FRONT_LONGEST: usize = 256;

#[derive(Debug)]
pub(super) struct Shards {
    tables: Vec<Mutex<Table>>,
    /// Bytes of memory that all tables take.
    allocated: AtomicUsize,
}

impl Default for Shards {
    fn default() -> Self {
        let tables = (0..1 << SHARD_BITS).map(|_| Mutex::new(Table::new(SHARD_BITS))).collect();
        Self { tables, allocated: AtomicUsize::new(0) }
    }
}

impl Shards {
    /// Bytes of memory that all tables take.
    pub(super) fn allocated(&self) -> usize {
        self.allocated.load(Relaxed)
    }

    /// The tables, after which all is empty; other threads may go on counting meanwhile.
    pub(super) fn take(&self) -> Vec<Table> {
        let take = |shard| std::mem::replace(&mut *self.lock(shard), Table::new(SHARD_BITS));
        let tables: Vec<Table> = (0..self.tables.len()).map(take).collect();
        let allocated = tables.iter().map(Table::allocated).sum();
        self.allocated.fetch_sub(allocated, Relaxed);
        tables
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Table> {
        self.tables[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Add pretokens that come in the order of their hashes.
    pub(super) fn add_all<'a>(&self, pretokens: impl Iterator<Item = (u32, &'a [u8], u64)>) {
        let mut pretokens = pretokens.peekable();
        while let Some(&(hash, ..)) = pretokens.peek() {
            let shard = shard_of(hash);
            let mut table = self.lock(shard);
            let before = table.allocated();
            while let Some((hash, pretoken, count)) =
                pretokens.next_if(|&(hash, ..)| shard_of(hash) == shard)
            {
                table.add(hash, pretoken, count);
            }
            // Tables that are not emptied only grow.
            self.allocated.fetch_add(table.allocated() - before, Relaxed);
        }
    }
}

fn shard_of(hash: u32) -> usize {
    (hash >> (u32::BITS - SHARD_BITS)) as usize
}

/// What one thread counts into; what it holds reaches the shards when it is dropped at the latest.
pub(crate) struct Front<'a> {
    shards: &'a Shards,
    /// Short pretokens in the order of their hashes, open-addressed; empty where the length is 0.
    short: Vec<(Short, u64)>,
    shorts: usize,
    long: Table,
}

impl<'a> Front<'a> {
    pub(super) fn new(shards: &'a Shards) -> Self {
        let short = vec![Default::default(); FRONT_SLOTS];
        Self { shards, short, shorts: 0, long: Table::new(0) }
    }

    /// Count the pretoken `text[start..end]` once more.
    #[inline]
    pub(crate) fn add(&mut self, text: &[u8], start: usize, end: usize) {
        let Some(pretoken) = Short::of(text, start, end) else {
            return self.add_long(&text[start..end]);
        };
        let mut at = slot_of(pretoken.hash());
        loop {
            let (found, count) = &mut self.short[at];
            if *found == pretoken {
                *count += 1;
                return;
            }
            if found.len() == 0 {
                break;
            }
            at = (at + 1) % FRONT_SLOTS;
        }
        self.short[at] = (pretoken, 1);
        self.shorts += 1;
        if self.shorts > FRONT_SLOTS / 3 * 2 {
            self.flush_short();
        }
    }

    fn add_long(&mut self, pretoken: &[u8]) {
        let hash = hash(pretoken);
        if pretoken.len() > FRONT_LONGEST {
            return self.shards.add_all(std::iter::once((hash, pretoken, 1)));
        }
        self.long.add(hash, pretoken, 1);
        if self.long.len() == FRONT_LONG {
            self.flush_long();
        }
    }

    fn flush_short(&mut self) {
        let held = self.short.iter().filter(|(pretoken, _)| pretoken.len() > 0);
        let bytes: Vec<_> =
            held.map(|&(pretoken, count)| (pretoken.hash(), pretoken.bytes(), count)).collect();
        self.shards.add_all(
            bytes.iter().map(|(hash, bytes, count)| (*hash, &bytes[..bytes[15] as usize], *count)),
        );
        self.short.fill(Default::default());
        self.shorts = 0;
    }

    fn flush_long(&mut self) {
        self.shards.add_all(self.long.by_hash());
        self.long.clear();
    }
}

/// Where the search for a short pretoken begins. It rises with the hash.
#[inline]
fn slot_of(hash: u32) -> usize {
    (hash >> (u32::BITS - FRONT_SLOTS.ilog2())) as usize
}

impl Drop for Front<'_> {
    fn drop(&mut self) {
        self.flush_short();
        self.flush_long();
    }
}
