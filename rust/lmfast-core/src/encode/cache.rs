//! The tokens of short pretokens seen before.
//!
//! A two-way set-associative table: both entries of a set share a cache line, so that a look costs
//! one line whether it finds or not. It doubles as long as entries push others out, up to a limit;
//! from then on a pretoken is found again until two others have taken its set. Memory is bounded.

use std::hint::select_unpredictable;

use super::packed::{self, Packed};
use crate::{hash::Short, huge_table::HugeTable, prefetch::prefetch, vocabulary::TokenId};

/// Each set is a line of 64 bytes: 1 MiB to begin with, and no more than 64 MiB.
const FIRST_BITS: u32 = if cfg!(test) { 2 } else { 14 };
const MOST_BITS: u32 = if cfg!(test) { 5 } else { 20 };

/// Tokens that stand apart, before all of them are forgotten: 16 MiB.
const MOST_APART: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// Two entries: the words of a key, then two words that say what its tokens are. These are the
/// first tokens and the rest of them, packed, or nothing and where they stand apart. The newer entry
/// stands first.
type Set = [u64; 8];

#[derive(Debug)]
pub(super) struct Cache {
    sets: HugeTable<Set>,
    bits: u32,
    /// Entries pushed out since the table was as large as it is.
    pushed_out: usize,
    apart: Vec<TokenId>,
    /// How many of these are the last pretoken's; behind them stand zeros.
    last_apart: usize,
    /// How often those that stand apart were forgotten.
    generation: u32,
}

impl Cache {
    pub(super) fn new() -> crate::Result<Self> {
        let sets = HugeTable::new(1 << FIRST_BITS)?;
        Ok(Self {
            sets,
            bits: FIRST_BITS,
            pushed_out: 0,
            apart: Vec::new(),
            last_apart: 0,
            generation: 0,
        })
    }

    #[inline(always)]
    fn set_of(&self, hash: u32) -> usize {
        (hash >> (u32::BITS - self.bits)) as usize
    }

    /// Ask for the memory that [`get`](Self::get) will read.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u32) {
        prefetch(&self.sets[self.set_of(hash)]);
    }

    /// The two words for the tokens of a pretoken; zeros if it is not known.
    #[inline(always)]
    fn find(&self, key: Short, hash: u32) -> [u64; 2] {
        let set = &self.sets[self.set_of(hash)];
        let (low, high) = key.words();
        let is_newer = (set[0] ^ low) | (set[1] ^ high) == 0;
        let is_older = (set[4] ^ low) | (set[5] ^ high) == 0;
        let older = |word| select_unpredictable(is_older, word, 0);
        [
            select_unpredictable(is_newer, set[2], older(set[6])),
            select_unpredictable(is_newer, set[3], older(set[7])),
        ]
    }

    /// The tokens of a pretoken; nothing if it is not known, or has too many for one word.
    #[inline(always)]
    pub(super) fn get_packed(&self, key: Short, hash: u32) -> Packed {
        let [first, second] = self.find(key, hash);
        Packed::from_word(select_unpredictable(second == 0, first, 0))
    }

    /// Append the tokens of a pretoken to `out`, if it is known.
    #[inline(always)]
    pub(super) fn get(&self, key: Short, hash: u32, out: &mut Vec<TokenId>) -> bool {
        let [first, second] = self.find(key, hash);
        let end = if first != 0 {
            let (first, second) = (Packed::from_word(first), Packed::from_word(second));
            let (tokens, count) = second.tokens();
            let end = out.len() + first.tokens().1 + count;
            out.extend_from_slice(&first.tokens().0);
            out.extend_from_slice(&tokens);
            end
        } else {
            let Apart { generation, start, len } = Apart::from_word(second);
            if second == 0 || generation != self.generation {
                return false;
            }
            let end = out.len() + len;
            out.extend_from_slice(&self.apart[start..start + Short::LONGEST]);
            end
        };
        out.truncate(end);
        true
    }

    /// Remember the tokens of a pretoken that is not known, in the place of the older entry of its
    /// set.
    pub(super) fn insert(&mut self, key: Short, hash: u32, tokens: &[TokenId]) {
        let (low, high) = key.words();
        let (first, rest) = tokens.split_at(tokens.len().min(packed::TOKENS));
        let [first, second] = match (Packed::of(first), Packed::of(rest)) {
            (Some(first), None) if rest.is_empty() => [first.word(), 0],
            (Some(first), Some(rest)) => [first.word(), rest.word()],
            _ => [0, self.put_apart(tokens).word()],
        };
        if self.put(hash, [low, high, first, second]) {
            self.pushed_out += 1;
            if self.pushed_out > self.sets.len() / 8 && self.bits < MOST_BITS {
                self.grow();
            }
        }
    }

    fn put_apart(&mut self, tokens: &[TokenId]) -> Apart {
        let room = Short::LONGEST; // so that as many are copied each time
        if self.apart.len() + room > MOST_APART {
            self.apart.clear();
            self.generation = self.generation.wrapping_add(1);
        }
        let start = self.apart.len().saturating_sub(room - self.last_apart);
        self.apart.truncate(start);
        self.apart.extend_from_slice(tokens);
        self.apart.resize(start + room, 0);
        self.last_apart = tokens.len();
        Apart { generation: self.generation, start, len: tokens.len() }
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

/// Where tokens stand apart, and since when.
struct Apart {
    generation: u32,
    start: usize,
    len: usize,
}

impl Apart {
    const LEN_BITS: u32 = 8;

    /// Not 0: there is a token.
    fn word(&self) -> u64 {
        u64::from(self.generation) << 32 | (self.start << Self::LEN_BITS | self.len) as u64
    }

    fn from_word(word: u64) -> Self {
        let place = word as u32 as usize;
        let (start, len) = (place >> Self::LEN_BITS, place % (1 << Self::LEN_BITS));
        Self { generation: (word >> 32) as u32, start, len }
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
            // Some are too large for a word.
            let tokens_of =
                |word: u32| (0..=word % 8).map(|n| (n + word) << (word % 3 * 5)).collect::<Vec<_>>();
            let get = |cache: &Cache, word: u32| {
                let text = word.to_string();
                let key = Short::of(text.as_bytes(), 0, text.len()).unwrap();
                let mut out = Vec::new();
                let found = cache.get(key, key.hash(), &mut out);
                assert_eq!(found, !out.is_empty());
                let (packed, count) = cache.get_packed(key, key.hash()).tokens();
                let as_packed = if Packed::of(&out).is_some() { &out[..] } else { &[] };
                assert_eq!(&packed[..count], as_packed);
                (key, out)
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
