//! The tokens of the pretokens that occur most, in a table that a core's own cache holds.
//!
//! Most of any text is words of up to eight bytes and three tokens. An entry for these is sixteen
//! bytes, so thousands of them fit where a look costs next to nothing.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::hint::select_unpredictable;

use super::{
    found::{AT_ONCE, Found},
    packed::Packed,
};
use crate::{
    hash::{Short, first_bytes},
    prefetch::prefetch,
};

/// Sets of two entries, the newer one first: 128 KiB.
const SET_BITS: u32 = if cfg!(test) { 3 } else { 12 };
const SETS: usize = 1 << SET_BITS;

/// Up to eight bytes, behind zeros. The first is not zero, so that the length is known too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
struct Key(u64);

/// Odd numbers without a pattern, for the two halves of a key.
const FACTORS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA77];

impl Key {
    const LONGEST: usize = 8;

    /// The first `len` of these bytes; nothing if there are more than eight, or the first is zero.
    #[inline(always)]
    fn of(bytes: [u8; 8], len: usize) -> Self {
        let unused = (u64::BITS as usize).wrapping_sub(8 * len) as u32;
        let key = u64::from_le_bytes(bytes).wrapping_shl(unused);
        Self(select_unpredictable(len <= Self::LONGEST && bytes[0] != 0, key, 0))
    }

    #[inline(always)]
    fn set(self) -> usize {
        let [low, high] = [self.0 as u32, (self.0 >> 32) as u32];
        let hash = low.wrapping_mul(FACTORS[0]).wrapping_add(high.wrapping_mul(FACTORS[1]));
        (hash >> (u32::BITS - SET_BITS)) as usize
    }
}

/// Two entries in one cache line. No key stands twice; where there is none, there are no tokens.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Set {
    keys: [Key; 2],
    tokens: [Packed; 2],
}

#[derive(Debug)]
pub(super) struct Front {
    sets: Box<[Set; SETS]>,
    asked: Asked,
}

/// The keys of the pieces that are being looked up, and where they belong.
#[derive(Debug)]
struct Asked {
    keys: [Key; AT_ONCE],
    sets: [usize; AT_ONCE],
}

impl Default for Front {
    fn default() -> Self {
        let sets = vec![Set::default(); SETS].into_boxed_slice();
        Self {
            sets: sets.try_into().expect("as many"),
            asked: Asked { keys: [Key::default(); AT_ONCE], sets: [0; AT_ONCE] },
        }
    }
}

impl Front {
    /// Look up the pieces of `text` between each two neighbours of `bounds`.
    pub(super) fn look_up(&mut self, text: &[u8], bounds: &[usize], found: &mut Found) {
        let mut done = 0;
        #[cfg(target_arch = "x86_64")]
        if crate::x86::is_supported() {
            // SAFETY: The processor has what it is compiled for.
            done = unsafe { x86::ask(&self.sets, text, bounds, &mut self.asked) };
        }
        let asked = self.asked.keys.iter_mut().zip(&mut self.asked.sets);
        for ((key, set), piece) in asked.zip(bounds.windows(2)).skip(done) {
            *key = Key::of(first_bytes(text, piece[0]), piece[1] - piece[0]);
            *set = key.set();
            prefetch(&self.sets[*set]);
        }
        let len = bounds.len() - 1;
        done = 0;
        found.missed_len = 0;
        #[cfg(target_arch = "x86_64")]
        if crate::x86::is_supported() {
            // SAFETY: The processor has what it is compiled for.
            done = unsafe { x86::answer(&self.sets, &self.asked, len, found) };
        }
        for index in done..len {
            let tokens = self.get(self.asked.keys[index], self.asked.sets[index]);
            found.tokens[index] = tokens;
            // Written in any case: whether it is known cannot be foreseen. The remainder is the
            // number itself, and tells the compiler that there is room.
            found.missed[found.missed_len % AT_ONCE] = index as u16;
            found.missed_len += usize::from(tokens.is_nothing());
        }
    }

    /// The tokens of a piece, or nothing; no key is nothing too.
    #[inline(always)]
    fn get(&self, key: Key, set: usize) -> Packed {
        let Set { keys, tokens } = &self.sets[set];
        let if_older = select_unpredictable(keys[1] == key, tokens[1], Packed::default());
        select_unpredictable(keys[0] == key, tokens[0], if_older)
    }

    /// Remember the tokens of a piece, if it has a key.
    #[inline]
    pub(super) fn insert(&mut self, key: Short, tokens: Packed) {
        if key.len() > Key::LONGEST {
            return;
        }
        let key = Key::of(key.words().0.to_le_bytes(), key.len());
        let set = &mut self.sets[key.set()];
        if key != Key(0) && set.keys[0] != key {
            *set = Set { keys: [key, set.keys[0]], tokens: [tokens, set.tokens[0]] };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        let text: Vec<u8> = (1..=255).collect();
        let key = |at: usize| Key::of([text[at], 0, 0, 0, 0, 0, 0, 0], 1);
        let mut same_set = (0..text.len()).filter(|&at| key(at).set() == key(0).set());
        let [a, b, c] = [(); 3].map(|()| same_set.next().unwrap());
        let insert = |front: &mut Front, at: usize, id| {
            front.insert(Short::of(&text, at, at + 1).unwrap(), Packed::of(&[id]).unwrap());
        };
        let get = |front: &Front, at: usize| front.get(key(at), key(at).set());
        let packed = |id| Packed::of(&[id]).unwrap();
        insert(&mut front, a, 1);
        insert(&mut front, b, 2);
        assert_eq!([a, b, c].map(|at| get(&front, at)), [packed(1), packed(2), Packed::default()]);
        insert(&mut front, c, 3);
        assert_eq!([a, b, c].map(|at| get(&front, at)), [Packed::default(), packed(2), packed(3)]);
    }

    proptest! {
        /// However many there are, wherever they stand, with zeros or too long.
        #[test]
        fn pieces_are_found_by_their_bytes(
            text in proptest::collection::vec(prop::sample::select(&b"ab\0c"[..]), 1..120),
            lens in proptest::collection::vec(1usize..11, 1..40),
            known in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut bounds = vec![0];
            for len in lens {
                bounds.push((bounds[bounds.len() - 1] + len).min(text.len()));
            }
            bounds.dedup();
            let pieces: Vec<_> = bounds.windows(2).map(|piece| (piece[0], piece[1])).collect();
            let mut front = Front::default();
            for at in known {
                let (start, end) = pieces[at.index(pieces.len())];
                if let Some(key) = Short::of(&text, start, end) {
                    front.insert(key, Packed::of(&[start as u32 + 1]).unwrap());
                }
            }
            let mut found = Found::default();
            front.look_up(&text, &bounds, &mut found);
            #[cfg(target_arch = "x86_64")]
            {
                let mut portable = Found::default();
                crate::x86::portable::only(|| front.look_up(&text, &bounds, &mut portable));
                let len = bounds.len() - 1;
                prop_assert_eq!(&portable.tokens[..len], &found.tokens[..len]);
                prop_assert_eq!(&portable.missed[..portable.missed_len], &found.missed[..found.missed_len]);
            }
            let mut missed = Vec::new();
            for (index, &(start, end)) in pieces.iter().enumerate() {
                let mut bytes = [0; 8];
                let len = (end - start).min(8);
                bytes[..len].copy_from_slice(&text[start..start + len]);
                let key = Key::of(bytes, end - start);
                let tokens = front.get(key, key.set());
                prop_assert_eq!(found.tokens[index], tokens);
                if let ([id, ..], 1) = tokens.tokens() {
                    let (from, to) = pieces.iter().copied().find(|&(at, _)| at as u32 + 1 == id).unwrap();
                    prop_assert_eq!(&text[from..to], &text[start..end]);
                } else {
                    missed.push(index as u16);
                }
            }
            prop_assert_eq!(&found.missed[..found.missed_len], &missed[..]);
        }
    }
}
