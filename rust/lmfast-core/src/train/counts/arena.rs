//! Records of pretokens and their counts, one behind the other in chunks of memory.
//!
//! A record is a length (one byte), a count (two bytes) and the pretoken. Chunks stay where they
//! are, so growing copies nothing and leaves no holes behind.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::hash::same;

/// A length that does not fit into one byte: eight bytes with it follow the count.
const LONG: u8 = u8::MAX;

/// Bytes of a record before those of a pretoken with a short length.
const HEAD: usize = 3;

/// Bytes of a chunk; a record that is longer has one of its own.
const CHUNK_BYTES: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 12;

#[derive(Debug, Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// Bytes of memory that the chunks take.
    allocated: usize,
    /// What of a count does not fit into its two bytes, by place.
    carried: HashMap<u64, u64, FxBuildHasher>,
}

/// Where a record begins: the number of its chunk, and the offset in the chunk.
pub(super) type Address = u64;

#[inline]
fn parts(place: Address) -> (usize, usize) {
    ((place >> CHUNK_BITS) as usize, place as usize % CHUNK_BYTES)
}

impl Arena {
    /// Put in a pretoken that is not there yet.
    pub(super) fn push(&mut self, pretoken: &[u8], count: u64) -> Address {
        let long = pretoken.len() >= LONG.into();
        let room = HEAD + if long { size_of::<u64>() } else { 0 } + pretoken.len();
        if self.chunks.last().is_none_or(|chunk| chunk.capacity() - chunk.len() < room) {
            let chunk = Vec::with_capacity(room.max(CHUNK_BYTES));
            self.allocated += chunk.capacity() + size_of::<Vec<u8>>();
            self.chunks.push(chunk);
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let place = (number as Address) << CHUNK_BITS | chunk.len() as Address;
        if long {
            chunk.extend_from_slice(&[LONG, 0, 0]);
            chunk.extend_from_slice(&(pretoken.len() as u64).to_le_bytes());
        } else {
            chunk.extend_from_slice(&[pretoken.len() as u8, 0, 0]);
        }
        chunk.extend_from_slice(pretoken);
        self.add(place, count);
        place
    }

    /// Whether the record at `place` is of `pretoken`.
    #[inline]
    pub(super) fn holds(&self, place: Address, pretoken: &[u8]) -> bool {
        let (number, at) = parts(place);
        let (chunk, len) = (&self.chunks[number], pretoken.len());
        let found = chunk[at];
        if found == LONG {
            return len >= LONG.into() && self.get(place).0 == pretoken;
        }
        usize::from(found) == len && same(&chunk[at + HEAD..at + HEAD + len], pretoken)
    }

    /// Count the pretoken at `place` so many `times` more.
    #[inline]
    pub(super) fn add(&mut self, place: Address, times: u64) {
        let (number, at) = parts(place);
        let count: &mut [u8; 2] =
            (&mut self.chunks[number][at + 1..at + HEAD]).try_into().expect("two bytes");
        let sum = u64::from(u16::from_le_bytes(*count)).saturating_add(times);
        *count = (sum as u16).to_le_bytes();
        if sum > u16::MAX.into() {
            self.carry(place, sum & !u64::from(u16::MAX));
        }
    }

    /// Saturating is exact: the text for a greater count would have more than 2^64 bytes.
    #[cold]
    fn carry(&mut self, place: Address, times: u64) {
        let carried = self.carried.entry(place).or_default();
        *carried = carried.saturating_add(times);
    }

    /// The pretoken at `place` and its count.
    #[inline]
    pub(super) fn get(&self, place: Address) -> (&[u8], u64) {
        let (number, at) = parts(place);
        let chunk = &self.chunks[number];
        let (start, end) = extent(chunk, at);
        let mut count = u64::from(u16::from_le_bytes([chunk[at + 1], chunk[at + 2]]));
        if !self.carried.is_empty() {
            count = count.saturating_add(self.carried.get(&place).copied().unwrap_or(0));
        }
        (&chunk[start..end], count)
    }

    /// The places of all records, in the order in which they came.
    pub(super) fn places(&self) -> impl Iterator<Item = Address> {
        self.chunks.iter().enumerate().flat_map(|(number, chunk)| {
            let mut next = 0;
            std::iter::from_fn(move || {
                let at = next;
                (at < chunk.len()).then(|| {
                    next = extent(chunk, at).1;
                    (number as Address) << CHUNK_BITS | at as Address
                })
            })
        })
    }

    /// Forget everything, and keep the memory of a chunk.
    pub(super) fn clear(&mut self) {
        self.chunks.truncate(1);
        self.chunks.iter_mut().for_each(Vec::clear);
        self.allocated =
            self.chunks.iter().map(|chunk| chunk.capacity() + size_of::<Vec<u8>>()).sum();
        self.carried.clear();
    }

    /// Bytes of memory taken.
    pub(super) fn allocated(&self) -> usize {
        self.allocated + self.carried.capacity() * size_of::<(u64, u64, u8)>()
    }
}

/// Where the pretoken of the record at `at` begins and ends.
fn extent(chunk: &[u8], at: usize) -> (usize, usize) {
    let start = at + HEAD;
    if chunk[at] != LONG {
        return (start, start + usize::from(chunk[at]));
    }
    let len = chunk[start..start + 8].try_into().expect("eight bytes");
    (start + 8, start + 8 + u64::from_le_bytes(len) as usize)
}
