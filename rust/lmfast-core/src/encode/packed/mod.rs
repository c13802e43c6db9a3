//! One to three tokens in one word, as the tables hold them.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;

use std::mem::MaybeUninit;

use crate::vocabulary::TokenId;

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

/// Write the tokens of all words from the beginning of `room` on. How many they are.
#[inline(always)]
pub(super) fn unpack(words: &[Packed], room: &mut [MaybeUninit<TokenId>]) -> usize {
    let mut count = 0;
    for word in words {
        let (tokens, len) = word.tokens();
        let place = room[count..].first_chunk_mut().expect("room for all");
        *place = tokens.map(MaybeUninit::new);
        count += len;
    }
    count
}

/// Append the tokens of all words.
///
/// # Safety
///
/// `unpack` does what [`unpack`] does: it writes as many of the first places as it says.
#[inline(always)]
pub(super) unsafe fn append(
    words: &[Packed],
    out: &mut Vec<TokenId>,
    unpack: impl Fn(&[Packed], &mut [MaybeUninit<TokenId>]) -> usize,
) {
    let most = TOKENS * words.len() + WRITTEN_IN_VAIN;
    if out.capacity() - out.len() < most {
        out.reserve(most);
    }
    let room = &mut out.spare_capacity_mut()[..most];
    let count = unpack(words, room);
    // SAFETY: So many of the first places of the room are written, as the caller says.
    unsafe { out.set_len(out.len() + count) };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::x86::Level;

    fn assert_appended(
        packed: &[Packed],
        ids: &[TokenId],
        unpack: impl Fn(&[Packed], &mut [MaybeUninit<TokenId>]) -> usize,
    ) {
        let mut out = vec![7];
        // SAFETY: All of them do what `unpack` does.
        unsafe { append(packed, &mut out, unpack) };
        assert_eq!((out[0], &out[1..]), (7, ids));
    }

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
            let ids = words.concat();
            assert_appended(&packed, &ids, unpack);
            #[cfg(target_arch = "x86_64")]
            {
                if crate::x86::level() >= Level::Avx2 {
                    // SAFETY: The processor has what it is compiled for.
                    assert_appended(&packed, &ids, |words, room| unsafe { avx2::unpack(words, room) });
                }
                if crate::x86::level() == Level::Avx512 {
                    // SAFETY: The processor has what it is compiled for.
                    assert_appended(&packed, &ids, |words, room| unsafe { avx512::unpack(words, room) });
                }
            }
        }
    }
}
