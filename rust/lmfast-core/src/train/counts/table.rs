//! A hash table from pretokens to counts, small and quick for pretokens, which are mostly short.
//!
//! The pretokens lie in an [`Arena`]. A slot of the open-addressed table holds 32 bits of the hash
//! and the place in the arena. So growing never hashes again, a pretoken that differs is told apart
//! without a look at the arena nearly always, and the arena alone is all that reading needs.

use super::{
    arena::{Address, Arena},
    sum::SortedArena,
};
use crate::hash::hash;

/// How full slots may become, in parts of 16; linear probing gets slow beyond.
const FULL: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Table {
    /// The hash without the bits that all share, then the place + 1; 0 is empty.
    slots: Vec<u64>,
    arena: Arena,
    len: usize,
    /// Leading bits of the hash that are the same for all pretokens of this table.
    shared_bits: u32,
}

impl Table {
    /// An empty table, for pretokens whose hashes share their first bits.
    pub(super) fn new(shared_bits: u32) -> Self {
        Self { shared_bits, ..Self::default() }
    }

    /// The same without what occurs less often than `min_count`.
    pub(super) fn without_rare(&self, min_count: u64) -> Self {
        let mut table = Self::new(self.shared_bits);
        for (pretoken, count) in self.iter().filter(|&(_, count)| count >= min_count) {
            table.add(hash(pretoken), pretoken, count);
        }
        table
    }

    /// Count `pretoken` `times` more often.
    #[inline]
    pub(super) fn add(&mut self, hash: u32, pretoken: &[u8], times: u64) {
        if self.slots.is_empty() {
            self.index();
        }
        let key = self.key(hash);
        let mut at = home(key, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if (slot ^ key) & self.key_mask() == 0 {
                let place = self.place(slot);
                if self.arena.holds(place, pretoken) {
                    return self.arena.add(place, times);
                }
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
        self.slots[at] = key | (self.arena.push(pretoken, times) + 1);
        self.len += 1;
        if self.len * 16 > self.slots.len() * FULL {
            self.grow();
        }
    }

    /// What a slot holds of the hash.
    #[inline]
    fn key(&self, hash: u32) -> u64 {
        u64::from(hash) << (32 + self.shared_bits)
    }

    #[inline]
    fn key_mask(&self) -> u64 {
        u64::MAX << (32 + self.shared_bits)
    }

    #[inline]
    fn place(&self, slot: u64) -> Address {
        (slot & !self.key_mask()) - 1
    }

    /// Slots lie in the order of their hashes, so this goes through old and new memory once.
    fn grow(&mut self) {
        let slots = self.slots.len() * 3 / 2;
        let old = std::mem::replace(&mut self.slots, vec![0; slots]);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            put(&mut self.slots, slot);
        }
    }

    /// Make the slots anew, from the arena.
    #[cold]
    fn index(&mut self) {
        self.slots = vec![0; self.len * 16 / FULL + 16];
        for place in self.arena.places() {
            let key = self.key(hash(self.arena.get(place).0));
            put(&mut self.slots, key | (place + 1));
        }
    }

    /// Each pretoken with its count, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.arena.places().map(|place| self.arena.get(place))
    }

    /// Each pretoken with its count, in the order of the bytes.
    pub(super) fn sorted(&self) -> SortedArena<'_> {
        SortedArena::new(&self.arena)
    }

    /// Hash, pretoken and count of each, nearly in the order of the hashes, of which all bits must
    /// be kept.
    pub(super) fn by_hash(&self) -> impl Iterator<Item = (u32, &[u8], u64)> {
        debug_assert_eq!(self.shared_bits, 0);
        self.slots.iter().filter(|&&slot| slot != 0).map(|&slot| {
            let (pretoken, count) = self.arena.get(self.place(slot));
            ((slot >> 32) as u32, pretoken, count)
        })
    }

    /// Forget all pretokens and keep some memory.
    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.arena.clear();
        self.len = 0;
    }

    /// The number of pretokens.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory that the table takes.
    pub(super) fn allocated(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.arena.allocated()
    }

    /// Give back the memory that only adding needs; adding makes it anew.
    pub(super) fn shrink(&mut self) {
        self.slots = Vec::new();
    }
}

/// Where the search for a key begins in so many slots. It rises with the key.
#[inline]
fn home(key: u64, slots: usize) -> usize {
    (((key >> 32) * slots as u64) >> 32) as usize
}

fn put(slots: &mut [u64], slot: u64) {
    let mut at = home(slot, slots.len());
    while slots[at] != 0 {
        at = if at + 1 == slots.len() { 0 } else { at + 1 };
    }
    slots[at] = slot;
}
