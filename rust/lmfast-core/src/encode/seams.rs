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

use crate::{hash::spread, pretokenize::write_places, vocabulary::Vocabulary};
#[cfg(target_arch = "x86_64")]
use crate::{pretokenize::avx512, x86::Level};

/// Places inside of characters are not asked about: they are no help.
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

/// The parts of the pretokens that end at `ends`.
pub(super) struct Parts<'a> {
    seams: &'a Seams,
    text: &'a [u8],
    ends: &'a [usize],
    at: usize,
}

/// Places that are looked at together.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// The bytes of a block, two before and two behind.
type Around = [u8; BLOCK + 4];

impl Parts<'_> {
    /// Write where parts end into `out`, which has room for a block, until it has no room for as many.
    /// How many they are; none are left if there still is room for a block.
    #[inline]
    pub(super) fn next_ends(&mut self, out: &mut [usize]) -> usize {
        #[cfg(target_arch = "x86_64")]
        match crate::x86::level() {
            // SAFETY: The processor has what it is compiled for.
            Level::Avx512 => return unsafe { self.next_ends_by_avx512(out) },
            // SAFETY: The processor has what it is compiled for.
            Level::Avx2 => return unsafe { self.next_ends_by_bits(out) },
            Level::Base => {}
        }
        self.next_ends_by(out, write_places)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn next_ends_by_avx512(&mut self, out: &mut [usize]) -> usize {
        self.next_ends_by(out, |base, places, out| avx512::write_places(base, places, out))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn next_ends_by_bits(&mut self, out: &mut [usize]) -> usize {
        self.next_ends_by(out, write_places)
    }

    /// The same, compiled for what the processor of whoever calls it has.
    #[inline(always)]
    fn next_ends_by(
        &mut self,
        out: &mut [usize],
        write_places: impl Fn(usize, u64, &mut [usize]),
    ) -> usize {
        let Some(&last) = self.ends.last() else { return 0 };
        let mut len = 0;
        while self.at < last && len + BLOCK <= out.len() {
            let places = self.places_in_block(last);
            write_places(self.at, places, &mut out[len..]);
            len += places.count_ones() as usize;
            self.at += BLOCK;
        }
        if self.at >= last && len < out.len() {
            self.ends = &[];
            out[len] = last;
            len += 1;
        }
        len
    }

    /// Where parts end in the next block, but for the last one.
    #[inline(always)]
    fn places_in_block(&mut self, last: usize) -> u64 {
        let Self { seams, text, ref mut ends, at } = *self;
        let padded;
        let before = at.checked_sub(2);
        let around: &Around =
            if let Some(around) = before.and_then(|before| text[before..].first_chunk()) {
                around
            } else {
                padded = padded_around(text, at);
                &padded
            };
        let mut ends_here = 0;
        while ends[0] < last && ends[0] - at < BLOCK {
            ends_here |= 1 << (ends[0] - at);
            *ends = &ends[1..];
        }
        let mut asked = first_of_characters(around) & !ends_here;
        if last - at < BLOCK {
            asked &= (1 << (last - at)) - 1;
        }
        let mut places = ends_here;
        while asked != 0 {
            let place = asked.trailing_zeros() as usize % BLOCK;
            asked &= asked - 1;
            let four = around[place..place + 4].try_into().expect("four bytes");
            places |= u64::from(!seams.may_join(four)) << place;
        }
        places
    }
}

/// The bytes around a block, zeros where the text has none.
#[cold]
fn padded_around(text: &[u8], at: usize) -> Around {
    let from = at.saturating_sub(2);
    let bytes = &text[from..text.len().min(at + BLOCK + 2)];
    let mut around = [0; BLOCK + 4];
    around[from + 2 - at..][..bytes.len()].copy_from_slice(bytes);
    around
}

/// A bit for each byte of the block that is the first of its character.
#[inline(always)]
fn first_of_characters(around: &Around) -> u64 {
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let [_, _, block @ .., _, _] = around;
    let eights = block.as_chunks().0.iter().map(|&eight| u64::from_le_bytes(eight));
    eights.rev().fold(0, |bits, bytes| {
        let highest = !(bytes & !(bytes << 1)) & HIGHEST;
        // Each of the eight bits comes to stand in the last byte of the product.
        bits << 8 | (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Parts end where pretokens do, and at those first bytes of characters where no token of the
        /// vocabulary reaches across; the set may say "maybe" for nothing.
        #[test]
        fn parts_end_at_pretokens_and_at_places_that_may_not_join(
            chars in proptest::collection::vec(
                prop::sample::select(vec!['a', 'b', 'é', '中', '文', '字', '😀']), 1..120,
            ),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..30),
            first in any::<prop::sample::Index>(),
            words in proptest::collection::btree_set("[ab中文é]{2,4}", 0..20),
            room in BLOCK + 1..3 * BLOCK,
        ) {
            let bytes = (0..=255u8).map(|byte| Box::from([byte]));
            let tokens = bytes.chain(words.iter().map(|word| word.as_bytes().into())).zip(0..);
            let vocabulary =
                Vocabulary::from_tokens_and_merges(&tokens.collect::<Vec<_>>(), &[], false).unwrap();
            let text: String = chars.into_iter().collect();
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let start = starts[first.index(starts.len())];
            let mut ends: Vec<usize> = cuts.iter().map(|at| at.index(text.len())).collect();
            ends.push(text.len());
            ends.retain(|&end| end > start);
            ends.sort_unstable();
            ends.dedup();

            let seams = Seams::of(&vocabulary);
            let mut parts = seams.parts(text.as_bytes(), start, &ends);
            let mut found = Vec::new();
            loop {
                let mut out = vec![0; room];
                let len = parts.next_ends(&mut out);
                found.extend_from_slice(&out[..len]);
                if len + BLOCK <= room {
                    break;
                }
            }
            let byte = |at: usize| text.as_bytes().get(at).copied().unwrap_or(0);
            let expected: Vec<usize> = (start + 1..=text.len())
                .filter(|&at| ends.contains(&at) || text.is_char_boundary(at) && {
                    let before = if at < 2 { 0 } else { byte(at - 2) };
                    !seams.may_join([before, byte(at - 1), byte(at), byte(at + 1)])
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
