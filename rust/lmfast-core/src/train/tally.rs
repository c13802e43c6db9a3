//! Counts by key, in a table that grows with what it holds.
//!
//! Most merges have few neighbours, and what is small enough stays in the processor's own cache.
//! So the table begins small after each use, and what it holds lies side by side.

/// What is counted for one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: u64,
    pub(super) count: u64,
    pub(super) places: u32,
    /// Where the list of places stands, if one is kept.
    pub(super) list: u32,
}

pub(super) const NO_LIST: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Tally {
    entries: Vec<Entry>,
    /// By hash: one more than the index of an entry, or 0. The length is a power of two.
    slots: Vec<u32>,
}

const FEWEST_SLOTS: usize = 64;

impl Default for Tally {
    fn default() -> Self {
        Self { entries: Vec::new(), slots: vec![0; FEWEST_SLOTS] }
    }
}

impl Tally {
    /// Count `key` `count` more often, at so many places; returns the index of its entry.
    #[inline]
    pub(super) fn add(&mut self, key: u64, places: u32, count: u64) -> usize {
        let index = self.index_of(key).unwrap_or_else(|slot| self.insert(slot, key));
        let entry = &mut self.entries[index];
        entry.count += count;
        entry.places += places;
        index
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&Entry> {
        self.index_of(key).ok().map(|index| &self.entries[index])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut Entry> {
        self.index_of(key).ok().map(|index| &mut self.entries[index])
    }

    /// In the order in which keys came first.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.slots.truncate(FEWEST_SLOTS);
        self.slots.fill(0);
    }

    /// The index of the entry, or the slot where it would stand.
    #[inline]
    fn index_of(&self, key: u64) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(key) & mask;
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                index if self.entries[index as usize - 1].key == key => {
                    return Ok(index as usize - 1);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    #[inline(never)]
    fn insert(&mut self, mut slot: usize, key: u64) -> usize {
        if self.entries.len() >= self.slots.len() / 2 {
            self.grow();
            slot = self.index_of(key).expect_err("not there before");
        }
        self.entries.push(Entry { key, count: 0, places: 0, list: NO_LIST });
        self.slots[slot] = self.entries.len() as u32;
        self.entries.len() - 1
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(len, 0);
        for (entry, index) in self.entries.iter().zip(1..) {
            let mut slot = hash(entry.key) & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index;
        }
    }
}

/// 2^64 over the golden ratio: multiplied by it, keys that are close come to lie far apart (Knuth,
/// The Art of Computer Programming, volume 3, section 6.4).
pub(super) const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn hash(key: u64) -> usize {
    (key.wrapping_mul(GOLDEN_RATIO) >> 32) as usize
}
