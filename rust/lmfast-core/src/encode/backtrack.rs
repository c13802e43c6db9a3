//! Merging a long piece in linear time.
//!
//! Tokens are the result of merging exactly if each two neighbours are: no merge can reach across
//! where two tokens meet if none does so in those two tokens alone. So a piece is read from left to
//! right. The longest token that follows and that fits its left neighbour is taken; where none
//! fits, the left neighbour is given back and the next shorter one is tried. A place that was found
//! to lead nowhere is not tried again, so the time is linear in the length of the piece, times that
//! of the longest token.
//!
//! The idea is that of the `bpe` crate (github/rust-gems, 2024).
//!
//! That holds for merges whose ranks are all different, each of parts that were made before it and
//! each the only one that makes its token, as training finds them. Others are left to `merge`.

use super::{
    merge::{self, Workspace},
    pairs::{NEVER, PairRanks},
};
use crate::{
    hash::spread,
    vocabulary::{TokenId, Vocabulary},
};

/// The place of a token that has no shorter one within it, and of a node without a token.
const NONE: TokenId = TokenId::MAX;

/// Pairs of tokens whose fit is remembered.
const REMEMBERED: usize = 1 << 12;

/// The tokens of a vocabulary as a tree of their bytes, and how each is made.
#[derive(Debug)]
pub(super) struct Backtracker {
    children: Children,
    /// The token that ends at each node.
    tokens: Vec<TokenId>,
    /// What is known of each token, by id.
    made: Vec<Made>,
}

#[derive(Clone, Copy, Debug)]
struct Made {
    left: TokenId,
    right: TokenId,
    /// That of the merge that makes it; nothing for a byte.
    rank: Option<u32>,
    /// The longest token that it begins with.
    shorter: TokenId,
    len: u32,
}

impl Backtracker {
    /// `None` if the merges are not as training finds them.
    pub(super) fn new(vocabulary: &Vocabulary, pairs: &PairRanks) -> Option<Self> {
        let nothing = Made { left: NONE, right: NONE, rank: None, shorter: NONE, len: 0 };
        let mut made = vec![nothing; vocabulary.len()];
        let mut is_known = vec![false; vocabulary.len()];
        for &id in vocabulary.byte_ids() {
            is_known[id as usize] = true;
        }
        let mut last_rank = None;
        for merge in vocabulary.merges() {
            let [left, right, merged] =
                [merge.left, merge.right, merge.merged].map(|id| id as usize);
            let in_order = last_rank.is_none_or(|last| last < merge.rank);
            if !in_order || !is_known[left] || !is_known[right] || is_known[merged] {
                return None;
            }
            is_known[merged] = true;
            last_rank = Some(merge.rank);
            made[merged] = Made {
                left: merge.left,
                right: merge.right,
                rank: Some(merge.rank),
                ..made[merged]
            };
        }
        let mut tree = Self { children: Children::new(vocabulary)?, tokens: vec![NONE], made };
        let (mut workspace, mut merged) = (Workspace::default(), Vec::new());
        for (id, bytes) in vocabulary.tokens() {
            merged.clear();
            merge::merge(pairs, vocabulary.byte_ids(), bytes, &mut workspace, &mut merged);
            // Others never come of merging.
            if merged == [id] {
                tree.add(id, bytes);
            }
        }
        for (id, bytes) in vocabulary.tokens() {
            let (mut node, mut shorter) = (0, NONE);
            for &byte in &bytes[..bytes.len() - 1] {
                let Some(child) = tree.children.get(node, byte) else { break };
                node = child;
                let token = tree.tokens[node as usize];
                shorter = if token == NONE { shorter } else { token };
            }
            tree.made[id as usize].shorter = shorter;
            tree.made[id as usize].len = bytes.len() as u32;
        }
        Some(tree)
    }

    fn add(&mut self, id: TokenId, bytes: &[u8]) {
        let mut node = 0;
        for &byte in bytes {
            node = self.children.get_or_insert(node, byte, self.tokens.len() as u32);
            if node as usize == self.tokens.len() {
                self.tokens.push(NONE);
            }
        }
        self.tokens[node as usize] = id;
    }

    /// The longest token that `bytes` begin with; none where there are none.
    fn longest(&self, bytes: &[u8]) -> TokenId {
        let (mut node, mut longest) = (0, NONE);
        for &byte in bytes {
            let Some(child) = self.children.get(node, byte) else { break };
            node = child;
            let token = self.tokens[node as usize];
            longest = if token == NONE { longest } else { token };
        }
        longest
    }

    /// Whether two tokens stay two when their bytes are merged.
    ///
    /// Their merges are undone, the last one first. As long as two tokens stood next to each other
    /// across the place where the two meet, they must not have merged, so their rank is no lower
    /// than that of the merge that took one of them away; if that lies to their right, not the same
    /// either, since the leftmost merges first.
    fn fit(&self, pairs: &PairRanks, mut left: TokenId, mut right: TokenId) -> bool {
        if pairs.get(left, right) != NEVER {
            return false;
        }
        loop {
            let (a, b) = (self.made[left as usize], self.made[right as usize]);
            // Of equal merges the one on the right was the later.
            if a.rank > b.rank {
                left = a.right;
                if pairs.get(left, right) < a.rank.unwrap_or(NEVER) {
                    return false;
                }
            } else if let Some(rank) = b.rank {
                right = b.left;
                if pairs.get(left, right) <= rank {
                    return false;
                }
            } else {
                return true;
            }
        }
    }

    /// Append the tokens of `piece`, which is not empty, to `out`.
    pub(super) fn merge(&self, pairs: &PairRanks, piece: &[u8], out: &mut Vec<TokenId>) {
        let first = out.len();
        // Runs of the same few tokens ask for the same few pairs.
        let mut remembered = vec![(NONE, NONE, false); REMEMBERED];
        let mut fit = |left: TokenId, right: TokenId| {
            let at = (left.wrapping_mul(0x9E37_79B1) ^ right) as usize % REMEMBERED;
            if (remembered[at].0, remembered[at].1) != (left, right) {
                remembered[at] = (left, right, self.fit(pairs, left, right));
            }
            remembered[at].2
        };
        let mut leads_nowhere = vec![0u64; piece.len() / 64 + 1];
        let (mut at, mut next) = (0, self.longest(piece));
        while at < piece.len() {
            let left = out[first..].last().copied();
            let mut fits = |token: TokenId| {
                let end = at + self.made[token as usize].len as usize;
                let is_open = leads_nowhere[end / 64] >> (end % 64) & 1 == 0;
                is_open && left.is_none_or(|left| fit(left, token))
            };
            while next != NONE && !fits(next) {
                next = self.made[next as usize].shorter;
            }
            if next == NONE {
                leads_nowhere[at / 64] |= 1 << (at % 64);
                let last = out.pop().expect("some way leads to the end");
                at -= self.made[last as usize].len as usize;
                next = self.made[last as usize].shorter;
            } else {
                out.push(next);
                at += self.made[next as usize].len as usize;
                next = self.longest(&piece[at..]);
            }
        }
    }
}

/// From a node and a byte to a node; the root is 0. An open-addressed table, at most half full.
#[derive(Debug)]
struct Children {
    /// The node and the byte + 1, then the child.
    slots: Box<[u64]>,
    shift: u32,
}

/// Bits of the number of a node.
const NODE_BITS: u32 = 27;

impl Children {
    /// Room for the tree of a vocabulary; `None` if that is too large.
    fn new(vocabulary: &Vocabulary) -> Option<Self> {
        let nodes: usize = vocabulary.tokens().map(|(_, bytes)| bytes.len()).sum();
        let len = (nodes * 2).next_power_of_two();
        (nodes < 1 << NODE_BITS)
            .then(|| Self { slots: vec![0; len].into(), shift: u64::BITS - len.trailing_zeros() })
    }

    /// Where the child is or belongs, and what is there.
    #[inline]
    fn find(&self, node: u32, byte: u8) -> (usize, u64, u64) {
        let key = (u64::from(node) << 9 | (u64::from(byte) + 1)) << NODE_BITS;
        let mut at = (spread(key) >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == 0 || slot >> NODE_BITS == key >> NODE_BITS {
                return (at, key, slot);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn get(&self, node: u32, byte: u8) -> Option<u32> {
        let (_, _, slot) = self.find(node, byte);
        (slot != 0).then_some((slot & ((1 << NODE_BITS) - 1)) as u32)
    }

    fn get_or_insert(&mut self, node: u32, byte: u8, child: u32) -> u32 {
        let (at, key, slot) = self.find(node, byte);
        if slot == 0 {
            self.slots[at] = key | u64::from(child);
            return child;
        }
        (slot & ((1 << NODE_BITS) - 1)) as u32
    }
}
