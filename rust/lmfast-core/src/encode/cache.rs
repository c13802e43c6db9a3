//! The tokens of short pretokens seen before.
//!
//! A two-way set-associative table: both entries of a set share a cache line, so that a look costs
//! one line whether it finds or not. It doubles as long as entries push others out, up to a limit;
//! from then on a pretoken is found again until two others have taken its set. Memory is bounded.

use std::hint::select_unpredictable;

use super::prefetch::prefetch;
use crate::{hash::Short, huge_table::HugeTable, vocabulary::TokenId};

/// Tokens that stand in an entry; where there are more, they stand apart.
const TOKENS: usize = 4;

/// Each set is a line of 64 bytes: 1 MiB to begin with, and no more than 64 MiB.
const FIRST_BITS: u32 = if cfg!(test) { 2 } else { 14 };
const MOST_BITS: u32 = if cfg!(test) { 5 } else { 20 };

/// Tokens that stand apart, before all of them are forgotten: 16 MiB.
const MOST_APART: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// The number of tokens stands above the first of them, since ids are below 2^24.
const COUNT_SHIFT: u32 = 24;
const ID_MASK: TokenId = (1 << COUNT_SHIFT) - 1;

/// Two entries: the words of a key, then two words that say what its tokens are. The newer entry
/// stands first.
type Set = [u64; 8];

#[derive(Debug)]
pub(super) struct Cache {
    sets: HugeTable<Set>,
    bits: u32,
    /// Entries pushed out since the table was as large as it is.
    pushed_out: usize,
    apart: Vec<TokenId>,
    /// How often those that stand apart were forgotten.
    generation: u32,
}

impl Cache {
    pub(super) fn new() -> crate::Result<Self> {
        let sets = HugeTable::new(1 << FIRST_BITS)?;
        Ok(Self { sets, bits: FIRST_BITS, pushed_out: 0, apart: Vec::new(), generation: 0 })
    }

    #[inline]
    fn set_of(&self, hash: u32) -> usize {
        (hash >> (u32::BITS - self.bits)) as usize
    }

    /// Ask for the memory that [`get`](Self::get) will read.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        prefetch(&self.sets[self.set_of(hash)]);
    }

    /// Put the tokens of a pretoken at the beginning of `out`, which has room for as many as it has
    /// bytes, and for four. How many they are, or 0 if the pretoken is not known.
    #[inline]
    pub(super) fn get(&self, key: Short, hash: u32, out: &mut [TokenId]) -> usize {
        let set = &self.sets[self.set_of(hash)];
        let (low, high) = key.words();
        let is_newer = (set[0] ^ low) | (set[1] ^ high) == 0;
        let is_older = (set[4] ^ low) | (set[5] ^ high) == 0;
        if !(is_newer | is_older) {
            return 0;
        }
        let first = select_unpredictable(is_newer, set[2], set[6]);
        let second = select_unpredictable(is_newer, set[3], set[7]);
        let count = (first as u32 >> COUNT_SHIFT) as usize;
        if count == 0 {
            return self.get_apart(first, second, out);
        }
        let tokens =
            [first as u32 & ID_MASK, (first >> 32) as u32, second as u32, (second >> 32) as u32];
        out[..TOKENS].copy_from_slice(&tokens);
        count
    }

    fn get_apart(&self, first: u64, second: u64, out: &mut [TokenId]) -> usize {
        if (first >> 32) as u32 != self.generation {
            return 0;
        }
        let (place, count) = (second as u32 as usize, (second >> 32) as usize);
        out[..count].copy_from_slice(&self.apart[place..place + count]);
        count
    }

    /// Remember the tokens of a pretoken that is not known, in the place of the older entry of its
    /// set.
    pub(super) fn insert(&mut self, key: Short, hash: u32, tokens: &[TokenId]) {
        let (low, high) = key.words();
        let (first, second) = if tokens.len() <= TOKENS {
            let mut lanes = [0u64; TOKENS];
            for (lane, &token) in lanes.iter_mut().zip(tokens) {
                *lane = token.into();
            }
            let count = (tokens.len() as u64) << COUNT_SHIFT;
            (lanes[0] | count | lanes[1] << 32, lanes[2] | lanes[3] << 32)
        } else {
            self.put_apart(tokens)
        };
        if self.put(hash, [low, high, first, second]) {
            self.pushed_out += 1;
            if self.pushed_out > self.sets.len() / 8 && self.bits < MOST_BITS {
                self.grow();
            }
        }
    }

    fn put_apart(&mut self, tokens: &[TokenId]) -> (u64, u64) {
        if self.apart.len() + tokens.len() > MOST_APART {
            self.apart.clear();
            self.generation = self.generation.wrapping_add(1);
        }
        let place = self.apart.len() as u64;
        self.apart.extend_from_slice(tokens);
        (u64::from(self.generation) << 32, place | (tokens.len() as u64) << 32)
    }

    /// Whether an entry is pushed out by this one.
    fn put(&mut self, hash: u32, entry: [u64; 4]) -> bool {
        let at = self.set_of(hash);
        let set = &mut self.sets[at];
        let full = set[5] != 0;
        set.copy_within(0..4, 4);
        set[..4].copy_from_slice(&entry);
        full
    }

    /// Without memory for a larger table, the one there is stays.
    #[cold]
    fn grow(&mut self) {
        self.pushed_out = 0;
        let Ok(larger) = HugeTable::new(self.sets.len() * 2) else { return };
        let old = std::mem::replace(&mut self.sets, larger);
        self.bits += 1;
        for set in old.iter() {
            for entry in [[set[4], set[5], set[6], set[7]], [set[0], set[1], set[2], set[3]]] {
                if entry[1] != 0 {
                    self.put(Short::from_words(entry[0], entry[1]).hash(), entry);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is found is what was put in; what was just put in is found.
        #[test]
        fn entries_are_found_or_forgotten_never_changed(
            words in proptest::collection::vec(0u32..2000, 1..400),
        ) {
            let mut cache = Cache::new().unwrap();
            let tokens_of = |word: u32| (0..=word % 7).map(|n| n + word).collect::<Vec<_>>();
            let get = |cache: &Cache, word: u32| {
                let text = word.to_string();
                let key = Short::of(text.as_bytes(), 0, text.len()).unwrap();
                let mut out = [0; 16];
                let count = cache.get(key, key.hash(), &mut out);
                (key, out[..count].to_vec())
            };
            for &word in &words {
                let (key, found) = get(&cache, word);
                if found.is_empty() {
                    cache.insert(key, key.hash(), &tokens_of(word));
                }
                prop_assert_eq!(get(&cache, word).1, tokens_of(word));
            }
            for &word in &words {
                let (_, found) = get(&cache, word);
                prop_assert!(found.is_empty() || found == tokens_of(word));
            }
        }
    }
}
