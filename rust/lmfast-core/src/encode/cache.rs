//! The tokens of short pretokens seen before.
//!
//! A two-way set-associative table: both entries of a set share a cache line, so that a look costs
//! one line whether it finds or not. It doubles as long as entries push others out, up to a limit;
//! from then on a pretoken is found again until two others have taken its set. Memory is bounded.

use std::hint::select_unpredictable;

use super::{
    found::{AT_ONCE, Found},
    front,
    packed::{self, Packed},
};
use crate::{hash::Short, huge_table::HugeTable, prefetch::prefetch_item, vocabulary::TokenId};

/// Each set is a line of 64 bytes: 1 MiB of them to begin with, and no more than 64 MiB.
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
    /// As many as there will ever be; those that are not in use yet are not in memory.
    sets: HugeTable<Set>,
    /// So many bits of a hash say where a pretoken belongs.
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
        let mut sets = HugeTable::new(1 << MOST_BITS);
        for bits in (FIRST_BITS..MOST_BITS).rev() {
            // Where there is no room for so many, there may be for half of them.
            sets = sets.or_else(|_| HugeTable::new(1 << bits));
        }
        let sets = sets?;
        Ok(Self {
            sets,
            bits: FIRST_BITS,
            pushed_out: 0,
            apart: Vec::new(),
            last_apart: 0,
            generation: 0,
        })
    }

    /// Look up the missed ones of the pieces of `text` between each two neighbours of `bounds`. Those
    /// are left that are not known, or have too many tokens for one word.
    #[inline(always)]
    pub(super) fn look_up(&self, text: &[u8], bounds: &[usize; AT_ONCE + 1], found: &mut Found) {
        let Found { tokens, missed, missed_len, keys, words, unknown, unknown_len, told, told_len } =
            found;
        let missed = &mut missed[..*missed_len];
        // The remainder is the number itself, and tells the compiler that there is a piece.
        let piece = |index: u16| usize::from(index) % AT_ONCE;
        for (&index, (key, hash)) in missed.iter().zip(&mut *keys) {
            let index = piece(index);
            *key = Short::or_no_key(text, bounds[index], bounds[index + 1]);
            *hash = key.hash();
            prefetch_item(&self.sets, set_of(*hash, self.bits));
        }
        let (mut left, mut left_unknown, mut left_told) = (0, 0, 0);
        for at in 0..missed.len() {
            let (key, hash) = keys[at];
            let [first, second] = find(&self.sets[set_of(hash, self.bits)], key);
            let word = Packed::from_word(select_unpredictable(second == 0, first, 0));
            let index = missed[at];
            tokens[piece(index)] = word;
            // All three are written in any case: which of them count cannot be foreseen.
            told[left_told % AT_ONCE] = (key, word);
            left_told += usize::from(!word.is_nothing() & (key.len() <= front::LONGEST));
            (missed[left], keys[left], words[left]) = (index, (key, hash), [first, second]);
            unknown[left_unknown] = left as u16;
            left += usize::from(word.is_nothing());
            left_unknown += usize::from(first | second == 0);
        }
        (*missed_len, *unknown_len, *told_len) = (left, left_unknown, left_told);
    }

    /// Whether the tokens of a pretoken are known.
    #[inline]
    pub(super) fn knows(&self, key: Short, hash: u32) -> bool {
        let [first, second] = find(&self.sets[set_of(hash, self.bits)], key);
        first != 0 || second != 0 && Apart::from_word(second).generation == self.generation
    }

    /// Append the tokens of a pretoken to `out`, if it is known.
    #[inline(always)]
    pub(super) fn get(&self, key: Short, hash: u32, out: &mut Vec<TokenId>) -> bool {
        self.append(find(&self.sets[set_of(hash, self.bits)], key), out)
    }

    /// Append the tokens that these words tell, which [`look_up`](Self::look_up) found. Whether there are
    /// any: words may tell of what was forgotten since.
    #[inline(always)]
    pub(super) fn append(&self, [first, second]: [u64; 2], out: &mut Vec<TokenId>) -> bool {
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
            if self.pushed_out > (1 << self.bits) / 8 && 1 << self.bits < self.sets.len() {
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
        let at = set_of(hash, self.bits);
        let set = &mut self.sets[at];
        let full = set[5] != 0;
        set.copy_within(0..4, 4);
        set[..4].copy_from_slice(&entry);
        full
    }

    /// Take as many sets more into use: each gives those away that belong there now.
    #[cold]
    fn grow(&mut self) {
        self.pushed_out = 0;
        self.bits += 1;
        for at in 0..1 << (self.bits - 1) {
            let set = std::mem::take(&mut self.sets[at]);
            for entry in [[set[4], set[5], set[6], set[7]], [set[0], set[1], set[2], set[3]]] {
                if entry[1] != 0 {
                    self.put(Short::from_words(entry[0], entry[1]).hash(), entry);
                }
            }
        }
    }
}

#[inline(always)]
fn set_of(hash: u32, bits: u32) -> usize {
    (hash & ((1 << bits) - 1)) as usize
}

/// The two words for the tokens of a pretoken; zeros if the set does not have it.
#[inline(always)]
fn find(set: &Set, key: Short) -> [u64; 2] {
    let (low, high) = key.words();
    let is_newer = (set[0] ^ low) | (set[1] ^ high) == 0;
    let is_older = (set[4] ^ low) | (set[5] ^ high) == 0;
    let older = |word| select_unpredictable(is_older, word, 0);
    [
        select_unpredictable(is_newer, set[2], older(set[6])),
        select_unpredictable(is_newer, set[3], older(set[7])),
    ]
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
                assert_eq!(found, cache.knows(key, key.hash()));
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
            look_up_all(&cache, &words, |word| get(&cache, word).1);
        }
    }

    /// Ask for many at once: the answers are those to single questions.
    fn look_up_all(cache: &Cache, words: &[u32], get: impl Fn(u32) -> Vec<TokenId>) {
        let (mut text, mut bounds, mut found) =
            (Vec::new(), [0; AT_ONCE + 1], Box::<Found>::default());
        for (word, bound) in words.iter().zip(&mut bounds[1..]) {
            text.extend(word.to_string().into_bytes());
            *bound = text.len();
        }
        // All but each fifth one.
        for index in (0..words.len()).filter(|index| index % 5 != 0) {
            found.missed[found.missed_len] = index as u16;
            found.missed_len += 1;
        }
        cache.look_up(&text, &bounds, &mut found);
        let mut told = found.told[..found.told_len].iter();
        let (mut missed, mut unknown) = (Vec::new(), Vec::new());
        for (index, &word) in words.iter().enumerate().filter(|(index, _)| index % 5 != 0) {
            let tokens = get(word);
            if let Some(packed) = Packed::of(&tokens) {
                assert_eq!(found.tokens[index], packed);
                let (key, tokens) = told.next().unwrap();
                assert_eq!(&key.bytes()[..key.len()], word.to_string().as_bytes());
                assert_eq!(*tokens, packed);
                continue;
            }
            assert!(found.tokens[index].is_nothing());
            let place = missed.len();
            assert_eq!(
                &found.keys[place].0.bytes()[..found.keys[place].0.len()],
                word.to_string().as_bytes()
            );
            missed.push(index as u16);
            if tokens.is_empty() {
                unknown.push(place as u16);
            }
        }
        assert!(told.next().is_none());
        assert_eq!(&found.missed[..found.missed_len], &missed[..]);
        // Those that stood apart and were forgotten are not told from others.
        let told_unknown = &found.unknown[..found.unknown_len];
        assert!(told_unknown.iter().all(|place| unknown.contains(place)));
    }
}
