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

use crate::{
    hash::{first_bytes, spread},
    vocabulary::Vocabulary,
};

/// Places inside of characters are not asked about: they are no help.
pub(super) fn begins_character(byte: u8) -> bool {
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
        // One bit in eight or fewer is set, unless there are very many.
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

    #[inline(always)]
    fn quad_bit(&self, quad: u32) -> usize {
        (spread(u64::from(quad)) >> self.shift) as usize
    }

    /// Whether a merge may reach across the place between these two bytes and those two.
    ///
    /// Bytes beside the pretoken do no harm: a token that reaches across either has all four, so that
    /// they lie in the pretoken, or is known by its pair.
    #[inline(always)]
    fn may_join(&self, four: [u8; 4]) -> bool {
        let four = u32::from_le_bytes(four);
        let (pair, quad) = (usize::from((four >> 8) as u16), self.quad_bit(four));
        // Without branches: the answer cannot be foreseen.
        (self.pairs[pair / 64] >> (pair % 64) | self.quads[quad / 64] >> (quad % 64)) & 1 != 0
    }

    /// The parts of pretokens.
    pub(super) fn parts<'a>(
        &'a self,
        text: &'a [u8],
        start: usize,
        ends: &'a [usize],
    ) -> Parts<'a> {
        Parts { seams: self, text, ends, at: start + 1 }
    }
}

/// The parts of the pretokens that end at `ends`, all of which begin with characters, or of one
/// pretoken.
pub(super) struct Parts<'a> {
    seams: &'a Seams,
    text: &'a [u8],
    ends: &'a [usize],
    at: usize,
}

impl Parts<'_> {
    /// Write where parts end into `out`, which has room for eight or more, until it has no room for
    /// as many. How many they are; none are left if there still is room for eight.
    #[inline(always)]
    pub(super) fn next_ends(&mut self, out: &mut [usize]) -> usize {
        let Self { seams, text, ref mut ends, ref mut at } = *self;
        let Some(&last) = ends.last() else { return 0 };
        let mut len = 0;
        while *at < last && len + 8 <= out.len() {
            let padded;
            let before = at.checked_sub(2);
            let around: &[u8; 11] =
                if let Some(around) = before.and_then(|before| text[before..].first_chunk()) {
                    around
                } else {
                    padded = padded_around(text, *at);
                    &padded
                };
            let mut places = first_of_characters(around);
            if last - *at < 8 {
                places &= (1 << (8 * (last - *at))) - 1;
            }
            while places != 0 {
                let place = (places.trailing_zeros() / 8) as usize % 8;
                places &= places - 1;
                let four = around[place..place + 4].try_into().expect("four bytes");
                let is_pretoken_end = *at + place == ends[0];
                *ends = &ends[usize::from(is_pretoken_end)..];
                // Written in any case: whether a part ends cannot be foreseen.
                out[len] = *at + place;
                len += usize::from(is_pretoken_end | !seams.may_join(four));
            }
            *at += 8;
        }
        if *at >= last && len < out.len() {
            *ends = &[];
            out[len] = last;
            len += 1;
        }
        len
    }
}

/// The bytes around eight places, zeros where the text has none.
#[cold]
fn padded_around(text: &[u8], at: usize) -> [u8; 11] {
    let from = at.saturating_sub(2);
    let bytes: [u8; 11] = first_bytes(text, from);
    let mut around = [0; 11];
    let missing = from + 2 - at;
    around[missing..].copy_from_slice(&bytes[..11 - missing]);
    around
}

/// The highest bit of each of the eight bytes in the middle that is the first of its character.
#[inline(always)]
fn first_of_characters(around: &[u8; 11]) -> u64 {
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let [_, _, eight @ .., _] = *around;
    let bytes = u64::from_le_bytes(eight);
    !(bytes & !(bytes << 1)) & HIGHEST
}

/// The places in a token that are asked about.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    (1..bytes.len()).filter(|&at| begins_character(bytes[at]))
}

fn pair_bit(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at - 1]) | usize::from(bytes[at]) << 8
}

/// The two bytes before and behind, if there are as many, and one next to the place is not ASCII:
/// ASCII has more quads in tokens than a small set could hold, and comes apart where it must by its
/// pairs.
fn quad(bytes: &[u8], at: usize) -> Option<u32> {
    if (bytes[at - 1] | bytes[at]).is_ascii() {
        return None;
    }
    let four = bytes.get(at.checked_sub(2)?..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}
