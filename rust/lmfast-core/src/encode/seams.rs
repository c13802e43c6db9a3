//! Where a pretoken may be cut because no merge can reach across.
//!
//! A merge makes a token, and that token then covers the place where its two parts met. So if no
//! token of the vocabulary occurs in the text across a place, no merge ever crosses it, and the two
//! sides are encoded one by one to the same ids. Whether one occurs is asked of the two bytes on
//! either side: a set of all such contexts that tokens have says "maybe" at times for nothing, and
//! never "no" wrongly.
//!
//! Runs of letters in scripts without spaces come apart at nearly every character that a vocabulary
//! has no longer tokens for, so that a small cache holds all their parts.

use crate::{hash::spread, vocabulary::Vocabulary};

/// Places inside of characters are not asked about: they are no help.
#[inline]
fn begins_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[derive(Debug)]
pub(super) struct Seams {
    /// By the bytes before and behind: some token has these there, and no quad.
    pairs: Box<[u64; 1 << 10]>,
    /// By a hash of the quad.
    quads: Box<[u64]>,
    shift: u32,
}

impl Seams {
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        let quads =
            vocabulary.tokens().flat_map(|(_, bytes)| places(bytes).map(|at| quad(bytes, at)));
        // One bit in eight or fewer is set.
        let bits = (quads.flatten().count() * 8).next_power_of_two().clamp(1 << 6, 1 << 24);
        let mut seams = Self {
            pairs: Box::new([0; 1 << 10]),
            quads: vec![0; bits / 64].into(),
            shift: u64::BITS - bits.trailing_zeros(),
        };
        for (_, bytes) in vocabulary.tokens() {
            for at in places(bytes) {
                if let Some(quad) = quad(bytes, at) {
                    let bit = seams.quad_bit(quad);
                    seams.quads[bit / 64] |= 1 << (bit % 64);
                } else {
                    let bit = pair_bit(bytes, at);
                    seams.pairs[bit / 64] |= 1 << (bit % 64);
                }
            }
        }
        seams
    }

    #[inline]
    fn quad_bit(&self, quad: u32) -> usize {
        (spread(u64::from(quad)) >> self.shift) as usize
    }

    /// Whether a merge may reach across the place before `bytes[at]`.
    #[inline]
    fn may_join(&self, bytes: &[u8], at: usize) -> bool {
        // Without branches: the answer cannot be foreseen.
        let pair = pair_bit(bytes, at);
        let by_pair = self.pairs[pair / 64] >> (pair % 64) & 1 != 0;
        let bit = self.quad_bit(quad(bytes, at).unwrap_or(0));
        let by_quad = self.quads[bit / 64] >> (bit % 64) & 1 != 0;
        by_pair | by_quad
    }

    /// Call `visit` with the end of each character of `pretoken`, and whether a part ends there.
    #[inline(always)]
    pub(super) fn for_each_end(&self, pretoken: &[u8], mut visit: impl FnMut(usize, bool)) {
        for at in 1..pretoken.len() {
            if begins_character(pretoken[at]) {
                visit(at, !self.may_join(pretoken, at));
            }
        }
        visit(pretoken.len(), true);
    }
}

/// The places in a token that are asked about.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    (1..bytes.len()).filter(|&at| begins_character(bytes[at]))
}

#[inline]
fn pair_bit(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at - 1]) << 8 | usize::from(bytes[at])
}

/// The two bytes before and behind, if there are as many, and one next to the place is not ASCII:
/// ASCII has more pairs in tokens than a small set could hold, and seams enough without it.
#[inline]
fn quad(bytes: &[u8], at: usize) -> Option<u32> {
    if (bytes[at - 1] | bytes[at]).is_ascii() {
        return None;
    }
    let four = bytes.get(at.checked_sub(2)?..at + 2)?;
    Some(u32::from_le_bytes(four.try_into().expect("four bytes")))
}
