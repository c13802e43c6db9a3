//! How often each pretoken occurs.

use hashbrown::{HashTable, hash_table::Entry};
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// Pretokens and their counts. The bytes of all pretokens lie in one arena.
#[derive(Clone, Debug, Default)]
pub struct PretokenCounts {
    bytes: Vec<u8>,
    table: HashTable<Counted>,
}

#[derive(Clone, Copy, Debug)]
struct Counted {
    start: usize,
    len: u32,
    count: u64,
}

impl Counted {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + self.len as usize]
    }
}

impl PretokenCounts {
    /// Count `pretoken` `times` more often.
    #[inline]
    pub fn add(&mut self, pretoken: &[u8], times: u64) {
        let Self { bytes, table } = self;
        let hash = hash(pretoken);
        let same = |counted: &Counted| counted.of(bytes) == pretoken;
        match table.entry(hash, same, |counted| self::hash(counted.of(bytes))) {
            Entry::Occupied(mut entry) => entry.get_mut().count += times,
            Entry::Vacant(entry) => {
                let (start, len) = (bytes.len(), pretoken.len() as u32);
                entry.insert(Counted { start, len, count: times });
                bytes.extend_from_slice(pretoken);
            }
        }
    }

    /// Add the counts of `other`.
    #[must_use]
    pub fn merged_with(mut self, mut other: Self) -> Self {
        if self.len() < other.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for (pretoken, count) in other.iter() {
            self.add(pretoken, count);
        }
        self
    }

    /// Each pretoken with its count, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter().map(|counted| (counted.of(&self.bytes), counted.count))
    }

    /// The bytes of the text that was counted.
    pub fn text_bytes(&self) -> u64 {
        self.iter().map(|(pretoken, count)| pretoken.len() as u64 * count).sum()
    }

    /// The number of different pretokens.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

fn hash(pretoken: &[u8]) -> u64 {
    FxBuildHasher.hash_one(pretoken)
}
