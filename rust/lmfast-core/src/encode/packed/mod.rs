//! One to three tokens in one word, as the tables hold them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::mem::MaybeUninit;

use crate::vocabulary::TokenId;
#[cfg(target_arch = "x86_64")]
use crate::x86::Level;

/// Tokens that a word holds.
pub(super) const TOKENS: usize = 3;

const COUNT_BITS: u32 = 2;
const ID_BITS: u32 = 20;
const ID_MASK: u64 = (1 << ID_BITS) - 1;

/// Ids that [`unpack`] writes in vain behind the tokens of the last word.
pub(super) const WRITTEN_IN_VAIN: usize = 4;

/// One to three tokens and their number, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Packed(u64);

impl Packed {
    /// `None` if there are too many tokens, or too large ones, or none.
    #[inline]
    pub(super) fn of(tokens: &[TokenId]) -> Option<Self> {
        if !(1..=TOKENS).contains(&tokens.len()) || tokens.iter().any(|&id| u64::from(id) > ID_MASK)
        {
            return None;
        }
        let ids = tokens.iter().rev().fold(0, |ids, &id| ids << ID_BITS | u64::from(id));
        Some(Self(ids << COUNT_BITS | tokens.len() as u64))
    }

    /// What [`word`](Self::word) gave.
    #[inline(always)]
    pub(super) fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// Not 0 unless this is nothing.
    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// The tokens are the first so many of these.
    #[inline(always)]
    pub(super) fn tokens(self) -> ([TokenId; TOKENS], usize) {
        let ids = self.0 >> COUNT_BITS;
        let id = |at: u32| (ids >> (ID_BITS * at) & ID_MASK) as TokenId;
        ([id(0), id(1), id(2)], self.len())
    }

    #[inline(always)]
    fn len(self) -> usize {
        (self.0 & ((1 << COUNT_BITS) - 1)) as usize
    }

    #[inline(always)]
    pub(super) fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

/// Append the tokens of all words.
pub(super) fn unpack(words: &[Packed], out: &mut Vec<TokenId>) {
    let most = TOKENS * words.len() + WRITTEN_IN_VAIN;
    if out.capacity() - out.len() < most {
        out.reserve(most);
    }
    let room = &mut out.spare_capacity_mut()[..most];
    let count = unpack_into(words, room);
    // SAFETY: So many of the first places of the room are written.
    unsafe { out.set_len(out.len() + count) };
}

/// Write the tokens of all words from the beginning of `room` on. How many they are.
#[inline(always)]
fn unpack_into(words: &[Packed], room: &mut [MaybeUninit<TokenId>]) -> usize {
    #[cfg(target_arch = "x86_64")]
    match crate::x86::level() {
        // SAFETY: The processor has what it is compiled for.
        Level::Avx512 => return unsafe { avx512::unpack_into(words, room) },
        // SAFETY: The processor has what it is compiled for.
        Level::Avx2 => return unsafe { avx2::unpack_into(words, room) },
        Level::Base => {}
    }
    let mut count = 0;
    for word in words {
        let (tokens, len) = word.tokens();
        let place = room[count..].first_chunk_mut().expect("room for all");
        *place = tokens.map(MaybeUninit::new);
        count += len;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_are_packed_or_refused() {
        for tokens in [&[7][..], &[0, 1], &[(1 << 20) - 1, 0, (1 << 20) - 1], &[0], &[0, 0, 0]] {
            let packed = Packed::of(tokens).unwrap();
            assert!(!packed.is_nothing());
            let (ids, count) = Packed::from_word(packed.word()).tokens();
            assert_eq!(&ids[..count], tokens);
        }
        for tokens in [&[][..], &[1 << 20], &[1, 2, 3, 4]] {
            assert_eq!(Packed::of(tokens), None);
        }
    }

    proptest! {
        #[test]
        fn words_are_unpacked_one_behind_the_other(
            words in proptest::collection::vec(
                proptest::collection::vec(0u32..1 << 20, 0..4), 0..50,
            ),
        ) {
            let packed: Vec<_> =
                words.iter().map(|tokens| Packed::of(tokens).unwrap_or_default()).collect();
            let mut out = vec![7];
            unpack(&packed, &mut out);
            prop_assert_eq!(&out[1..], &words.concat()[..]);
            #[cfg(target_arch = "x86_64")]
            crate::x86::limit::on_each(|| {
                out.truncate(1);
                unpack(&packed, &mut out);
                assert_eq!(&out[1..], &words.concat()[..]);
            });
        }
    }
}
