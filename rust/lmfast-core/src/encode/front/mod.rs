//! The tokens of the pretokens that occur most, in a table that a core's own cache holds.
//!
//! Most of any text is words of up to eight bytes and three tokens. An entry for these is sixteen
//! bytes, so thousands of them fit where a look costs next to nothing.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::hint::select_unpredictable;

use super::{
    found::{AT_ONCE, Found},
    packed::Packed,
};
#[cfg(target_arch = "x86_64")]
use crate::x86::Level;
use crate::{
    hash::{Short, first_bytes},
    prefetch::prefetch,
};

/// Sets of two entries, the newer one first: 256 KiB.
const MOST_BITS: u32 = if cfg!(test) { 3 } else { 13 };
const SETS: usize = 1 << MOST_BITS;

/// The longest piece that has a key.
pub(super) const LONGEST: usize = 8;

/// Up to eight bytes, behind zeros. The first is not zero, so that the length is known too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
struct Key(u64);

/// Odd numbers without a pattern, for the two halves of a key.
const FACTORS: [u32; 2] = [0x9E37_79B1, 0x85EB_CA77];

impl Key {
    /// The first `len` of these bytes; nothing if there are more than eight, or the first is zero.
    #[inline(always)]
    fn of(bytes: [u8; 8], len: usize) -> Self {
        let unused = (u64::BITS as usize).wrapping_sub(8 * len) as u32;
        let key = u64::from_le_bytes(bytes).wrapping_shl(unused);
        Self(select_unpredictable(len <= LONGEST && bytes[0] != 0, key, 0))
    }

    #[inline(always)]
    fn hash(self) -> u32 {
        let [low, high] = [self.0 as u32, (self.0 >> 32) as u32];
        low.wrapping_mul(FACTORS[0]).wrapping_add(high.wrapping_mul(FACTORS[1]))
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
    /// So many bits of a hash say where a key belongs.
    bits: u32,
    asked: Asked,
}

/// The keys of the pieces that are being looked up, and where they belong.
#[derive(Debug)]
struct Asked {
    keys: [Key; AT_ONCE],
    sets: [usize; AT_ONCE],
}

/// Processors with AVX-512 have a megabyte of cache for each core, where twice as many entries are
/// worth their room; others have half of it or less.
fn bits() -> u32 {
    #[cfg(target_arch = "x86_64")]
    if crate::x86::level() == Level::Avx512 {
        return MOST_BITS;
    }
    MOST_BITS - 1
}

impl Default for Front {
    fn default() -> Self {
        let sets = vec![Set::default(); SETS].into_boxed_slice();
        Self {
            sets: sets.try_into().expect("as many"),
            bits: bits(),
            asked: Asked { keys: [Key::default(); AT_ONCE], sets: [0; AT_ONCE] },
        }
    }
}

impl Front {
    /// Look up the pieces of `text` between each two neighbours of `bounds`.
    pub(super) fn look_up(&mut self, text: &[u8], bounds: &[usize], found: &mut Found) {
        let len = bounds.len() - 1;
        for index in self.ask(text, bounds)..len {
            let (start, end) = (bounds[index], bounds[index + 1]);
            let key = Key::of(first_bytes(text, start), end - start);
            let set = self.set_of(key);
            (self.asked.keys[index], self.asked.sets[index]) = (key, set);
            prefetch(&self.sets[set % SETS]);
        }
        found.missed_len = 0;
        for index in self.answer(len, found)..len {
            let tokens = self.get(self.asked.keys[index], self.asked.sets[index]);
            found.tokens[index] = tokens;
            // Written in any case: whether it is known cannot be foreseen. The remainder is the
            // number itself, and tells the compiler that there is room.
            found.missed[found.missed_len % AT_ONCE] = index as u16;
            found.missed_len += usize::from(tokens.is_nothing());
        }
    }

    /// Ask for the first so many pieces by vectors.
    #[inline(always)]
    fn ask(&mut self, text: &[u8], bounds: &[usize]) -> usize {
        #[cfg(target_arch = "x86_64")]
        match crate::x86::level() {
            // SAFETY: The processor has what it is compiled for.
            Level::Avx512 => return unsafe { avx512::ask(self, text, bounds) },
            // SAFETY: The processor has what it is compiled for.
            Level::Avx2 => return unsafe { avx2::ask(self, text, bounds) },
            Level::Base => {}
        }
        let _ = (text, bounds);
        0
    }

    /// Tell the tokens of the first so many pieces by vectors.
    #[inline(always)]
    fn answer(&self, len: usize, found: &mut Found) -> usize {
        #[cfg(target_arch = "x86_64")]
        match crate::x86::level() {
            // SAFETY: The processor has what it is compiled for.
            Level::Avx512 => return unsafe { avx512::answer(self, len, found) },
            // SAFETY: The processor has what it is compiled for.
            Level::Avx2 => return unsafe { avx2::answer(self, len, found) },
            Level::Base => {}
        }
        let _ = (len, found);
        0
    }

    #[inline(always)]
    fn set_of(&self, key: Key) -> usize {
        (key.hash() >> (u32::BITS - self.bits)) as usize
    }

    /// The tokens of a piece, or nothing; no key is nothing too.
    #[inline(always)]
    fn get(&self, key: Key, set: usize) -> Packed {
        let Set { keys, tokens } = &self.sets[set % SETS];
        let if_older = select_unpredictable(keys[1] == key, tokens[1], Packed::default());
        select_unpredictable(keys[0] == key, tokens[0], if_older)
    }

    /// Remember the tokens of a piece, if it has a key.
    #[inline]
    pub(super) fn insert(&mut self, key: Short, tokens: Packed) {
        if key.len() > LONGEST {
            return;
        }
        let key = Key::of(key.words().0.to_le_bytes(), key.len());
        let set = &mut self.sets[self.set_of(key) % SETS];
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
        let mut same_set =
            (0..text.len()).filter(|&at| front.set_of(key(at)) == front.set_of(key(0)));
        let [a, b, c] = [(); 3].map(|()| same_set.next().unwrap());
        let insert = |front: &mut Front, at: usize, id| {
            front.insert(Short::of(&text, at, at + 1).unwrap(), Packed::of(&[id]).unwrap());
        };
        let get = |front: &Front, at: usize| front.get(key(at), front.set_of(key(at)));
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
            crate::x86::limit::on_each(|| {
                let mut other = Found::default();
                front.look_up(&text, &bounds, &mut other);
                let (len, missed) = (bounds.len() - 1, other.missed_len);
                assert_eq!(&other.tokens[..len], &found.tokens[..len]);
                assert_eq!(&other.missed[..missed], &found.missed[..found.missed_len]);
            });
            let mut missed = Vec::new();
            for (index, &(start, end)) in pieces.iter().enumerate() {
                let mut bytes = [0; 8];
                let len = (end - start).min(8);
                bytes[..len].copy_from_slice(&text[start..start + len]);
                let key = Key::of(bytes, end - start);
                let tokens = front.get(key, front.set_of(key));
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
