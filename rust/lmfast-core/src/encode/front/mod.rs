//! The tokens of the pretokens that occur most, in a table that a core's own cache holds.
//!
//! Most of any text is words of up to eight bytes and three tokens. An entry for these is sixteen
//! bytes, so thousands of them fit where a look costs next to nothing.

use std::hint::select_unpredictable;

use super::packed::Packed;
use crate::{
    hash::{Short, spread},
    prefetch::prefetch,
};

/// Sets of two entries, the newer one first: 128 KiB.
const SET_BITS: u32 = if cfg!(test) { 3 } else { 12 };

/// Up to eight bytes, behind zeros. The first is not zero, so that the length is known too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key(u64);

impl Key {
    const LONGEST: usize = 8;

    /// The first `len` of these bytes; nothing if there are more than eight, or the first is zero.
    #[inline(always)]
    pub(super) fn of(bytes: [u8; 8], len: usize) -> Self {
        let unused = (u64::BITS as usize).wrapping_sub(8 * len) as u32;
        let key = u64::from_le_bytes(bytes).wrapping_shl(unused);
        Self(select_unpredictable(len <= Self::LONGEST && bytes[0] != 0, key, 0))
    }

    /// The same for a key of the cache.
    #[inline(always)]
    pub(super) fn of_short(key: Short) -> Self {
        Self::of(key.words().0.to_le_bytes(), key.len())
    }

    #[inline(always)]
    fn set(self) -> usize {
        (spread(self.0) >> (u64::BITS - SET_BITS)) as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    tokens: Packed,
}

/// In one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Set([Entry; 2]);

#[derive(Debug)]
pub(super) struct Front {
    sets: Box<[Set; 1 << SET_BITS]>,
}

impl Default for Front {
    fn default() -> Self {
        let nothing = Entry { key: Key(0), tokens: Packed::default() };
        let sets = vec![Set([nothing; 2]); 1 << SET_BITS].into_boxed_slice();
        Self { sets: sets.try_into().expect("as many") }
    }
}

impl Front {
    /// Ask for the memory that [`get`](Self::get) will read.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Key) {
        prefetch(&self.sets[key.set()]);
    }

    /// The tokens of a pretoken, or nothing; no key is nothing too.
    #[inline(always)]
    pub(super) fn get(&self, key: Key) -> Packed {
        let Set([newer, older]) = &self.sets[key.set()];
        let if_older = select_unpredictable(older.key == key, older.tokens, Packed::default());
        select_unpredictable(newer.key == key, newer.tokens, if_older)
    }

    /// Remember the tokens of a pretoken, if it has a key.
    #[inline]
    pub(super) fn insert(&mut self, key: Key, tokens: Packed) {
        let Set(set) = &mut self.sets[key.set()];
        if key != Key(0) && set[0].key != key {
            *set = [Entry { key, tokens }, set[0]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_all_texts_apart() {
        let text = b"ab\0c\0\0defghijk";
        let mut seen = std::collections::HashMap::new();
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                let word = &text[start..end];
                let mut bytes = [b'!'; 8];
                bytes[..word.len().min(8)].copy_from_slice(&word[..word.len().min(8)]);
                let key = Key::of(bytes, word.len());
                if key == Key(0) {
                    assert!(word.len() > 8 || word.starts_with(b"\0"));
                } else {
                    assert_eq!(*seen.entry(key.0).or_insert(word), word);
                }
            }
        }
    }

    #[test]
    fn an_entry_stays_until_two_others_take_its_set() {
        let mut front = Front::default();
        let keys = (0u64..).map(|n| Key(n << 1 | 1)).filter(|key| key.set() == 0);
        let [a, b, c] = *keys.take(3).collect::<Vec<_>>() else { unreachable!() };
        let packed = |id| Packed::of(&[id]).unwrap();
        front.insert(a, packed(1));
        front.insert(b, packed(2));
        assert_eq!([a, b, c].map(|key| front.get(key)), [packed(1), packed(2), Packed::default()]);
        front.insert(c, packed(3));
        assert_eq!([a, b, c].map(|key| front.get(key)), [Packed::default(), packed(2), packed(3)]);
    }
}
