//! The tokens of longer pretokens seen before.
//!
//! Bytes and tokens lie in one arena that is emptied when it is full.

use crate::{hash::same, vocabulary::TokenId};

/// Longer ones are not remembered: they hardly ever occur again.
const LONGEST: usize = 256;
const SLOTS: usize = if cfg!(test) { 1 << 4 } else { 1 << 17 };
const ARENA_WORDS: usize = if cfg!(test) { 1 << 8 } else { 1 << 21 };

/// An entry of the arena: a word with the numbers of bytes and of tokens, the bytes in whole words,
/// the tokens.
#[derive(Debug, Default)]
pub(super) struct LongCache {
    /// The hash, then the place in the arena + 1; 0 is empty. Made when the first entry comes.
    slots: Vec<u64>,
    arena: Vec<u32>,
    len: usize,
}

impl LongCache {
    pub(super) fn get(&self, hash: u32, pretoken: &[u8]) -> Option<&[TokenId]> {
        if self.slots.is_empty() || pretoken.len() > LONGEST {
            return None;
        }
        let mut at = hash as usize % SLOTS;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if (slot >> 32) as u32 == hash {
                let place = slot as u32 as usize - 1;
                let head = self.arena[place];
                if head >> 16 == pretoken.len() as u32 {
                    let (text, tokens) =
                        self.arena[place + 1..].split_at(pretoken.len().div_ceil(4));
                    let text: &[u8] = bytemuck::cast_slice(text);
                    if same(&text[..pretoken.len()], pretoken) {
                        return Some(&tokens[..(head & 0xFFFF) as usize]);
                    }
                }
            }
            at = (at + 1) % SLOTS;
        }
    }

    /// Remember the tokens of a pretoken that is not known.
    pub(super) fn insert(&mut self, hash: u32, pretoken: &[u8], tokens: &[TokenId]) {
        if pretoken.len() > LONGEST {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS];
        }
        let words = 1 + pretoken.len().div_ceil(4) + tokens.len();
        if self.len >= SLOTS / 2 || self.arena.len() + words > ARENA_WORDS {
            self.slots.fill(0);
            self.arena.clear();
            self.len = 0;
        }
        let place = self.arena.len();
        self.arena.push((pretoken.len() << 16 | tokens.len()) as u32);
        let word = |bytes: &[u8]| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_ne_bytes(word)
        };
        self.arena.extend(pretoken.chunks(4).map(word));
        self.arena.extend_from_slice(tokens);
        let mut at = hash as usize % SLOTS;
        while self.slots[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        self.slots[at] = u64::from(hash) << 32 | (place as u64 + 1);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_are_found_or_forgotten_never_changed(
            words in proptest::collection::vec((0usize..24, 0u32..3), 1..100),
        ) {
            let mut cache = LongCache::default();
            for (len, hash) in words {
                let text = vec![hash as u8; len];
                let tokens: Vec<TokenId> = (0..len as TokenId).map(|n| n + hash).collect();
                match cache.get(hash, &text) {
                    Some(found) => prop_assert_eq!(found, &tokens[..]),
                    None => cache.insert(hash, &text, &tokens),
                }
                prop_assert_eq!(cache.get(hash, &text), Some(&tokens[..]));
            }
        }
    }
}
