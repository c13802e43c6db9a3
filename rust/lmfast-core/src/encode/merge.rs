//! Merging the bytes of one pretoken into tokens.
//!
//! The rule is that of byte-pair encoding: as long as any neighbours merge, the pair of the lowest
//! rank does, the leftmost first. Short pretokens are searched from end to end for each merge; long
//! ones keep their candidates in a heap, so that the time is O(n log n) for any input; very long
//! ones go to `backtrack`, where the vocabulary allows it.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::pairs::{NEVER, PairRanks};
use crate::{hash::Short, vocabulary::TokenId};

/// The longest pretoken searched from end to end; longer ones use the heap. Not tuned yet.
const SHORT: usize = 64;

/// Memory that is used again from one pretoken to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    tokens: Vec<TokenId>,
    long: LongWorkspace,
}

/// Append the tokens of a piece of text to `out`.
pub(super) fn merge(
    pairs: &PairRanks,
    byte_ids: &[TokenId; 256],
    piece: &[u8],
    workspace: &mut Workspace,
    out: &mut Vec<TokenId>,
) {
    if piece.len() <= SHORT {
        merge_short(pairs, byte_ids, piece, out);
    } else {
        workspace.tokens.clear();
        workspace.tokens.extend(piece.iter().map(|&byte| byte_ids[usize::from(byte)]));
        merge_long(pairs, &mut workspace.tokens, &mut workspace.long, out);
    }
}

fn merge_short(pairs: &PairRanks, byte_ids: &[TokenId; 256], piece: &[u8], out: &mut Vec<TokenId>) {
    let mut lane = Lane::<SHORT>::default();
    lane.begin(pairs, byte_ids, piece);
    while lane.merge_lowest(pairs) {
        lane.rank_neighbours(pairs);
    }
    out.extend_from_slice(lane.tokens());
}

/// Merge what each lane has begun with, and put the lanes into another order. They go in step, so that
/// a processor waits for the memory of all of them together.
pub(super) fn merge_together<const N: usize>(pairs: &PairRanks, lanes: &mut [Lane<N>]) {
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

/// A piece of up to `N` bytes that is being merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane<const N: usize> {
    /// Which one it is, for those who want to know.
    pub(super) key: Short,
    tokens: [TokenId; N],
    /// `ranks[i]` is the rank at which `tokens[i]` and `tokens[i + 1]` merge.
    ranks: [u32; N],
    len: usize,
    /// Where the token stands that was made last.
    at: usize,
}

impl<const N: usize> Default for Lane<N> {
    fn default() -> Self {
        Self { key: Short::default(), tokens: [0; N], ranks: [NEVER; N], len: 0, at: 0 }
    }
}

impl<const N: usize> Lane<N> {
    /// Begin with the bytes of `piece`.
    #[inline]
    pub(super) fn begin(&mut self, pairs: &PairRanks, byte_ids: &[TokenId; 256], piece: &[u8]) {
        self.len = piece.len();
        for (token, &byte) in self.tokens[..piece.len()].iter_mut().zip(piece) {
            *token = byte_ids[usize::from(byte)];
        }
        for (rank, pair) in self.ranks.iter_mut().zip(piece.windows(2)) {
            *rank = pairs.of_bytes(pair[0], pair[1]);
        }
    }

    #[inline]
    pub(super) fn tokens(&self) -> &[TokenId] {
        &self.tokens[..self.len]
    }

    /// Merge the leftmost pair of the lowest rank. Whether there is one.
    #[inline]
    fn merge_lowest(&mut self, pairs: &PairRanks) -> bool {
        let Self { tokens, ranks, len, at, .. } = self;
        let Some((&first, rest)) = ranks[..len.saturating_sub(1)].split_first() else {
            return false;
        };
        let mut lowest = first;
        *at = 0;
        for (index, &rank) in (1..).zip(rest) {
            (*at, lowest) = if rank < lowest { (index, rank) } else { (*at, lowest) };
        }
        if lowest == NEVER {
            return false;
        }
        *len -= 1;
        tokens[*at] = pairs.merged(lowest);
        for index in *at + 1..*len {
            (tokens[index], ranks[index - 1]) = (tokens[index + 1], ranks[index]);
        }
        true
    }

    /// Ask for the memory that `rank_neighbours` will read.
    #[inline]
    fn ask_for_neighbours(&self, pairs: &PairRanks) {
        let (tokens, at) = (&self.tokens, self.at);
        if at > 0 {
            pairs.prefetch(tokens[at - 1], tokens[at]);
        }
        if at + 1 < self.len {
            pairs.prefetch(tokens[at], tokens[at + 1]);
        }
    }

    /// Set the ranks at which what was merged last merges with its neighbours.
    #[inline]
    fn rank_neighbours(&mut self, pairs: &PairRanks) {
        let Self { tokens, ranks, len, at, .. } = self;
        if *at > 0 {
            ranks[*at - 1] = pairs.get(tokens[*at - 1], tokens[*at]);
        }
        if *at + 1 < *len {
            ranks[*at] = pairs.get(tokens[*at], tokens[*at + 1]);
        }
    }
}

/// The place of a token that has been merged into the one before it.
const GONE: TokenId = TokenId::MAX;

#[derive(Debug, Default)]
struct LongWorkspace {
    /// Where the neighbours of the token at each place stand.
    links: Vec<Link>,
    candidates: BinaryHeap<Reverse<Candidate>>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
}

/// Ordered by rank, then by place. The two tokens tell whether the candidate is still true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    at: u32,
    left: TokenId,
    right: TokenId,
}

fn merge_long(
    pairs: &PairRanks,
    tokens: &mut [TokenId],
    workspace: &mut LongWorkspace,
    out: &mut Vec<TokenId>,
) {
    let LongWorkspace { links, candidates } = workspace;
    let end = tokens.len() as u32;
    links.clear();
    links.extend((0..end).map(|at| Link { previous: at.wrapping_sub(1), next: at + 1 }));
    candidates.clear();

    let candidate = |tokens: &[TokenId], at: u32, next: u32| {
        let (left, right) = (tokens[at as usize], tokens[next as usize]);
        let rank = pairs.get(left, right);
        (rank != NEVER).then_some(Reverse(Candidate { rank, at, left, right }))
    };
    candidates.extend((0..end - 1).filter_map(|at| candidate(tokens, at, at + 1)));

    while let Some(Reverse(Candidate { rank, at, left, right })) = candidates.pop() {
        let gone = links[at as usize].next;
        let stale = tokens[at as usize] != left || gone == end || tokens[gone as usize] != right;
        if stale {
            continue;
        }
        tokens[at as usize] = pairs.merged(rank);
        tokens[gone as usize] = GONE;
        let Link { previous, .. } = links[at as usize];
        let Link { next, .. } = links[gone as usize];
        links[at as usize].next = next;
        if next != end {
            links[next as usize].previous = at;
            candidates.extend(candidate(tokens, at, next));
        }
        if previous != u32::MAX {
            candidates.extend(candidate(tokens, previous, at));
        }
    }
    out.extend(tokens.iter().filter(|&&token| token != GONE));
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{encode::backtrack::Backtracker, vocabulary::Vocabulary};

    /// The rule, word for word.
    pub(in crate::encode) fn oracle(pairs: &PairRanks, mut tokens: Vec<TokenId>) -> Vec<TokenId> {
        loop {
            let ranked = (1..tokens.len()).map(|at| (pairs.get(tokens[at - 1], tokens[at]), at));
            match ranked.min() {
                Some((rank, at)) if rank != NEVER => {
                    tokens.splice(at - 1..=at, [pairs.merged(rank)]);
                }
                _ => return tokens,
            }
        }
    }

    /// Merges of any two tokens that exist by then, over a small alphabet.
    fn merges() -> impl Strategy<Value = Vec<(TokenId, TokenId)>> {
        proptest::collection::vec((any::<u16>(), any::<u16>()), 0..40).prop_map(|seeds| {
            let token = |seed: u16, known: usize| match seed as usize % (4 + known) {
                letter @ 0..4 => 97 + letter as TokenId,
                merged => 256 + (merged - 4) as TokenId,
            };
            let pairs = seeds.iter().enumerate();
            let mut merges: Vec<_> =
                pairs.map(|(known, &(a, b))| (token(a, known), token(b, known))).collect();
            // Two paths to the same bytes would be a clash of ids.
            let mut kept = Vec::new();
            merges.retain(|&merge| {
                kept.push(merge);
                let fits = Vocabulary::from_training(&kept).is_ok();
                if !fits {
                    kept.pop();
                }
                fits
            });
            kept
        })
    }

    proptest! {
        #[test]
        fn short_and_long_follow_the_rule(
            merges in merges(),
            text in proptest::collection::vec(97u8..101, 1..200),
        ) {
            let Ok(vocabulary) = Vocabulary::from_training(&merges) else { return Ok(()) };
            let byte_ids = vocabulary.byte_ids();
            let pairs = PairRanks::new(vocabulary.merges(), byte_ids);
            let bytes: Vec<TokenId> = text.iter().copied().map(TokenId::from).collect();
            let expected = oracle(&pairs, bytes.clone());

            if text.len() <= SHORT {
                let mut short = Vec::new();
                merge_short(&pairs, byte_ids, &text, &mut short);
                prop_assert_eq!(&short, &expected);
            }

            let pieces = text.chunks(SHORT.min(text.len().div_ceil(3)));
            let mut lanes: Vec<_> = pieces.clone().map(|_| Lane::<SHORT>::default()).collect();
            for (lane, piece) in lanes.iter_mut().zip(pieces.clone()) {
                lane.begin(&pairs, byte_ids, piece);
            }
            merge_together(&pairs, &mut lanes);
            let mut together: Vec<_> = lanes.iter().map(|lane| lane.tokens().to_vec()).collect();
            let mut alone: Vec<_> = pieces
                .map(|piece| oracle(&pairs, piece.iter().copied().map(TokenId::from).collect()))
                .collect();
            together.sort();
            alone.sort();
            prop_assert_eq!(together, alone);

            let (mut long, mut out) = (bytes, Vec::new());
            merge_long(&pairs, &mut long, &mut LongWorkspace::default(), &mut out);
            prop_assert_eq!(&out, &expected);

            if let Some(backtracker) = Backtracker::new(&vocabulary, &pairs) {
                let mut tracked = vec![7];
                backtracker.merge(&pairs, &text, &mut tracked);
                prop_assert_eq!(&tracked[1..], &expected);
            }
        }
    }
}
