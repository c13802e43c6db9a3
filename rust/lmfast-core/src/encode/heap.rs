//! Merging with the candidates in a heap: in time O(n log n), whatever the text.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::pairs::{NEVER, PairRanks};
use crate::vocabulary::TokenId;

/// The place of a token that has been merged into the one before it.
const GONE: TokenId = TokenId::MAX;

#[derive(Debug, Default)]
pub(super) struct Workspace {
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

/// Append what `tokens` merge to; their memory is used up.
pub(super) fn merge(
    pairs: &PairRanks,
    tokens: &mut [TokenId],
    workspace: &mut Workspace,
    out: &mut Vec<TokenId>,
) {
    let Workspace { links, candidates } = workspace;
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
