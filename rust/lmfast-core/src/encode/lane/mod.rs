//! Merging short pieces, several in step.
//!
//! For each merge, all candidates are searched for the lowest: with vectors that takes less time than
//! to keep them in order. What merges stays at its place, so that nothing has to move; bits tell at
//! which places there are tokens.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::{
    merge::Merger,
    pairs::{NEVER, PairRanks},
};
use crate::vocabulary::{MAX_RANKS, TokenId};
#[cfg(target_arch = "x86_64")]
use crate::x86::Level;

/// The longest piece of a lane.
pub(super) const LONGEST: usize = 32;

const PLACE_BITS: u32 = LONGEST.trailing_zeros();
const _: () =
    assert!(MAX_RANKS <= (u32::MAX >> PLACE_BITS) as usize, "the last one is for `NEVER`");

/// From here on, a candidate is none.
const NONE: u32 = candidate(NEVER, 0);

/// Lower ones merge first: those of the lowest rank, and of these the leftmost.
#[inline(always)]
const fn candidate(rank: u32, place: u32) -> u32 {
    rank << PLACE_BITS | place
}

/// A piece of up to `N` bytes that is being merged.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Lane<const N: usize, K> {
    /// By place, the candidate of the token there and the next one.
    candidates: [u32; N],
    tokens: [TokenId; N],
    /// Ones at the places of tokens.
    places: u32,
    /// The place of the token that was made last.
    last: u32,
    /// Which one it is, for those who want to know.
    pub(super) key: K,
}

impl<const N: usize, K: Default> Default for Lane<N, K> {
    fn default() -> Self {
        const { assert!(N <= LONGEST) };
        Self { candidates: [NONE; N], tokens: [0; N], places: 0, last: 0, key: K::default() }
    }
}

/// Merge what each lane has begun with, and put the lanes into another order. They go in step, so that
/// a processor waits for the memory of all of them together.
pub(super) fn merge_together<const N: usize, K>(pairs: &PairRanks, lanes: &mut [Lane<N, K>]) {
    #[cfg(target_arch = "x86_64")]
    if crate::x86::level() >= Level::Avx2 {
        // SAFETY: The processor has what the code is made for.
        return unsafe { x86::merge_together(pairs, lanes) };
    }
    merge_in_step(pairs, lanes);
}

#[inline(always)]
fn merge_in_step<const N: usize, K>(pairs: &PairRanks, lanes: &mut [Lane<N, K>]) {
    let mut open = lanes.len();
    while open > 0 {
        let mut index = 0;
        while index < open {
            if lanes[index].merge_lowest(pairs) {
                lanes[index].ask_for_neighbours(pairs);
                index += 1;
            } else {
                open -= 1;
                lanes.swap(index, open);
            }
        }
        for lane in &mut lanes[..open] {
            lane.rank_neighbours(pairs);
        }
    }
}

impl<const N: usize, K> Lane<N, K> {
    /// Begin with the bytes of `piece`.
    #[inline]
    pub(super) fn begin(&mut self, Merger { pairs, vocabulary }: Merger<'_>, piece: &[u8]) {
        let byte_ids = vocabulary.byte_ids();
        for (token, &byte) in self.tokens[..piece.len()].iter_mut().zip(piece) {
            *token = byte_ids[usize::from(byte)];
        }
        self.candidates = [NONE; N];
        for ((place, to), pair) in (0..).zip(&mut self.candidates).zip(piece.windows(2)) {
            *to = candidate(pairs.of_bytes(pair[0], pair[1]), place);
        }
        self.places = ((1u64 << piece.len()) - 1) as u32;
    }

    /// The tokens, moved to the beginning, once nothing merges any more.
    #[inline]
    pub(super) fn finish(&mut self) -> &[TokenId] {
        let mut len = 0;
        while self.places != 0 {
            self.tokens[len] = self.tokens[self.places.trailing_zeros() as usize];
            self.places &= self.places - 1;
            len += 1;
        }
        &self.tokens[..len]
    }

    /// Merge the leftmost pair of the lowest rank. Whether there is one.
    #[inline(always)]
    fn merge_lowest(&mut self, pairs: &PairRanks) -> bool {
        let lowest = self.candidates.iter().fold(NONE, |lowest, &other| lowest.min(other));
        if lowest >= NONE {
            return false;
        }
        self.last = lowest % LONGEST as u32;
        self.tokens[self.last as usize % N] = pairs.merged(lowest >> PLACE_BITS);
        let gone = self.next().expect("it had a neighbour to merge with");
        self.candidates[gone as usize % N] = NONE;
        self.places &= !(1 << gone);
        true
    }

    /// The place of the token behind the last one made.
    #[inline(always)]
    fn next(&self) -> Option<u32> {
        let behind = u64::from(self.places) >> (self.last + 1);
        (behind != 0).then(|| self.last + 1 + behind.trailing_zeros())
    }

    /// The place of the token before the last one made.
    #[inline(always)]
    fn previous(&self) -> Option<u32> {
        (self.places & ((1 << self.last) - 1)).checked_ilog2()
    }

    /// Ask for the memory that `rank_neighbours` will read.
    #[inline(always)]
    fn ask_for_neighbours(&self, pairs: &PairRanks) {
        let token = |place: u32| self.tokens[place as usize % N];
        if let Some(previous) = self.previous() {
            pairs.prefetch(token(previous), token(self.last));
        }
        if let Some(next) = self.next() {
            pairs.prefetch(token(self.last), token(next));
        }
    }

    /// Find out whether, and at which ranks, what was made last merges with its neighbours.
    #[inline(always)]
    fn rank_neighbours(&mut self, pairs: &PairRanks) {
        let token = |place: u32| self.tokens[place as usize % N];
        if let Some(previous) = self.previous() {
            let rank = pairs.get(token(previous), token(self.last));
            self.candidates[previous as usize % N] = candidate(rank, previous);
        }
        let rank = self.next().map_or(NEVER, |next| pairs.get(token(self.last), token(next)));
        self.candidates[self.last as usize % N] = candidate(rank, self.last);
    }
}
