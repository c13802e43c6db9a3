//! Merging the bytes of one pretoken into tokens.
//!
//! The rule is that of byte-pair encoding: as long as any neighbours merge, the pair of the lowest
//! rank does, the leftmost first. Short pieces are merged in a `lane`, long ones in short windows by
//! `stitch`.

use super::{
    lane::{self, Lane, merge_together},
    pairs::PairRanks,
    stitch,
};
use crate::vocabulary::{TokenId, Vocabulary};

/// What is merged by.
#[derive(Clone, Copy)]
pub(super) struct Merger<'a> {
    pub(super) pairs: &'a PairRanks,
    pub(super) vocabulary: &'a Vocabulary,
}

/// Append the tokens of a piece of text to `out`.
pub(super) fn merge(
    merger: Merger<'_>,
    piece: &[u8],
    workspace: &mut stitch::Workspace,
    out: &mut Vec<TokenId>,
) {
    if piece.len() <= lane::LONGEST {
        out.extend_from_slice(merge_short(merger, piece, &mut Lane::default()));
    } else {
        stitch::merge(merger, piece, workspace, out);
    }
}

/// The tokens of a short piece.
pub(super) fn merge_short<'l>(
    merger: Merger<'_>,
    piece: &[u8],
    lane: &'l mut Lane<{ lane::LONGEST }, usize>,
) -> &'l [TokenId] {
    lane.begin(merger, piece);
    merge_together(merger.pairs, std::slice::from_mut(lane));
    lane.finish()
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encode::{heap, pairs::NEVER};

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
            let pairs = PairRanks::new(vocabulary.merges(), vocabulary.byte_ids());
            let bytes: Vec<TokenId> = text.iter().copied().map(TokenId::from).collect();
            let expected = oracle(&pairs, bytes.clone());

            let merger = Merger { pairs: &pairs, vocabulary: &vocabulary };
            let pieces = text.chunks(lane::LONGEST.min(text.len().div_ceil(3)));
            let merge_lanes = || {
                let lanes = (0..).zip(pieces.clone()).map(|(key, piece)| {
                    let mut lane = Lane::<{ lane::LONGEST }, usize>::default();
                    lane.key = key;
                    lane.begin(merger, piece);
                    lane
                });
                let mut lanes: Vec<_> = lanes.collect();
                merge_together(&pairs, &mut lanes);
                lanes.sort_by_key(|lane| lane.key);
                lanes.iter_mut().map(|lane| lane.finish().to_vec()).collect::<Vec<_>>()
            };
            let alone: Vec<_> = pieces
                .clone()
                .map(|piece| oracle(&pairs, piece.iter().copied().map(TokenId::from).collect()))
                .collect();
            prop_assert_eq!(&merge_lanes(), &alone);
            #[cfg(target_arch = "x86_64")]
            crate::x86::limit::on_each(|| assert_eq!(&merge_lanes(), &alone));

            let (mut long, mut out) = (bytes, Vec::new());
            heap::merge(&pairs, &mut long, &mut heap::Workspace::default(), &mut out);
            prop_assert_eq!(&out, &expected);

            let mut stitched = vec![7];
            stitch::merge(merger, &text, &mut stitch::Workspace::default(), &mut stitched);
            prop_assert_eq!(&stitched[1..], &expected);
        }
    }
}
