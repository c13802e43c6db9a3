//! The tokens of the pretokens that occur most, in a table that a core's own cache holds.
//!
//! Most of any text is words of up to eight bytes and three tokens. An entry for these is sixteen
//! bytes, so thousands of them fit where a look costs next to nothing.

use std::hint::select_unpredictable;

use crate::{hash::spread, vocabulary::TokenId};

pub(super) const TOKENS: usize = 3;

/// Sets of two entries, the newer one first: 128 KiB.
const SET_BITS: u32 = if cfg!(test) { 3 } else { 12 };

const ID_BITS: u32 = 20;
const COUNT_BITS: u32 = 2;
const ID_MASK: u64 = (1 << ID_BITS) - 1;

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

    #[inline]
    pub(super) fn is_nothing(self) -> bool {
        self.0 == 0
    }

    #[inline]
    fn set(self) -> usize {
        (spread(self.0) >> (u64::BITS - SET_BITS)) as usize
    }
}

/// One to three tokens and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed(u64);

impl Packed {
    /// `None` if there are too many tokens, or too large ones.
    pub(super) fn of(tokens: &[TokenId]) -> Option<Self> {
        if tokens.len() > TOKENS || tokens.iter().any(|&id| u64::from(id) > ID_MASK) {
            return None;
        }
        let ids = tokens.iter().rev().fold(0, |ids, &id| ids << ID_BITS | u64::from(id));
        Some(Self(ids << COUNT_BITS | tokens.len() as u64))
    }

    /// The tokens are the first so many of these.
    #[inline(always)]
    pub(super) fn tokens(self) -> ([TokenId; TOKENS], usize) {
        let ids = self.0 >> COUNT_BITS;
        let id = |at: u32| (ids >> (ID_BITS * at) & ID_MASK) as TokenId;
        ([id(0), id(1), id(2)], (self.0 & ((1 << COUNT_BITS) - 1)) as usize)
    }

    #[inline]
    pub(super) fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    tokens: Packed,
}

#[derive(Debug)]
pub(super) struct Front {
    sets: Box<[[Entry; 2]]>,
}

impl Default for Front {
    fn default() -> Self {
        let nothing = Entry { key: Key(0), tokens: Packed(0) };
        Self { sets: vec![[nothing; 2]; 1 << SET_BITS].into() }
    }
}

impl Front {
    /// The tokens of a pretoken, or nothing; no key is nothing too.
    #[inline(always)]
    pub(super) fn get(&self, key: Key) -> Packed {
        let [newer, older] = &self.sets[key.set()];
        let if_older = select_unpredictable(older.key == key, older.tokens, Packed(0));
        select_unpredictable(newer.key == key, newer.tokens, if_older)
    }

    /// Remember the tokens of a pretoken that is not there.
    pub(super) fn insert(&mut self, key: Key, tokens: Packed) {
        let set = &mut self.sets[key.set()];
        if set[0].key != key {
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
                if key.is_nothing() {
                    assert!(word.len() > 8 || word.starts_with(b"\0"));
                } else {
                    assert_eq!(*seen.entry(key.0).or_insert(word), word);
                }
            }
        }
    }

    #[test]
    fn tokens_are_packed_or_refused() {
        for tokens in [&[7][..], &[0, 1], &[(1 << 20) - 1, 0, (1 << 20) - 1], &[0, 0, 0]] {
            let (ids, count) = Packed::of(tokens).unwrap().tokens();
            assert_eq!(&ids[..count], tokens);
        }
        assert_eq!(Packed::of(&[1 << 20]), None);
        assert_eq!(Packed::of(&[1, 2, 3, 4]), None);
    }

    #[test]
    fn an_entry_stays_until_two_others_take_its_set() {
        let mut front = Front::default();
        let keys = (0u64..).map(|n| Key(n << 1 | 1)).filter(|key| key.set() == 0);
        let [a, b, c] = *keys.take(3).collect::<Vec<_>>() else { unreachable!() };
        let packed = |id| Packed::of(&[id]).unwrap();
        front.insert(a, packed(1));
        front.insert(b, packed(2));
        assert_eq!([a, b, c].map(|key| front.get(key).0), [packed(1).0, packed(2).0, 0]);
        front.insert(c, packed(3));
        assert_eq!([a, b, c].map(|key| front.get(key).0), [0, packed(2).0, packed(3).0]);
    }
}
