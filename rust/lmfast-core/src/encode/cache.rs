//! The tokens of pretokens seen before.
//!
//! A two-way set-associative table of fixed size: memory is bounded, nothing is ever wiped, and a
//! pretoken is found again until two others have taken its set. The size has not been tuned.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::vocabulary::TokenId;

const KEY_BYTES: usize = 15;
const TOKENS: usize = 3;
const SETS: usize = 1 << 15;

/// A pretoken of up to 15 bytes, padded with zeros, and its length; 0 marks an empty entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key(u128);

impl Key {
    #[inline]
    pub(super) fn new(pretoken: &[u8]) -> Option<Self> {
        if pretoken.len() > KEY_BYTES {
            return None;
        }
        let mut bytes = [0; KEY_BYTES + 1];
        bytes[..pretoken.len()].copy_from_slice(pretoken);
        bytes[KEY_BYTES] = pretoken.len() as u8;
        Some(Self(u128::from_le_bytes(bytes)))
    }

    fn set(self) -> usize {
        let hash = FxBuildHasher.hash_one(self.0);
        (hash >> (u64::BITS - SETS.trailing_zeros())) as usize
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Key,
    tokens: [TokenId; TOKENS],
    len: u32,
}

/// The newer entry of a set stands first.
#[derive(Debug)]
pub(super) struct Cache {
    sets: Box<[[Entry; 2]]>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { sets: vec![[Entry::default(); 2]; SETS].into_boxed_slice() }
    }
}

impl Cache {
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&[TokenId]> {
        let set = &self.sets[key.set()];
        let entry = set.iter().find(|entry| entry.key == key)?;
        Some(&entry.tokens[..entry.len as usize])
    }

    /// Remember the tokens of a pretoken, in the place of the older one of its set. More tokens
    /// than an entry holds are not remembered.
    pub(super) fn insert(&mut self, key: Key, tokens: &[TokenId]) {
        if tokens.len() > TOKENS {
            return;
        }
        let mut entry = Entry { key, tokens: [0; TOKENS], len: tokens.len() as u32 };
        entry.tokens[..tokens.len()].copy_from_slice(tokens);
        let set = &mut self.sets[key.set()];
        set[1] = set[0];
        set[0] = entry;
    }
}
