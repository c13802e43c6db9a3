//! One merge, wherever it applies.

use super::{
    pairs::{Pair, Pairs},
    pretokens::{BOUNDARY, Place, Pretokens, Weights},
    tie_break::Ranking,
};
use crate::vocabulary::TokenId;

/// Merges pairs; its memory is used again from one merge to the next.
///
/// One token of every pair that comes or goes is known during a merge: what is left of the merged
/// token loses a pair with `left` and gains one with the merged token, what is right of it likewise.
/// So changes are added up in plain arrays by the other token.
#[derive(Default)]
pub(super) struct Merger {
    before: Side,
    after: Side,
}

/// What a merge changes on one side of the merged token.
#[derive(Default)]
struct Side {
    /// By the id of the neighbour.
    changes: Vec<Change>,
    neighbours: Vec<TokenId>,
    places: Vec<(TokenId, Place)>,
}

#[derive(Clone, Copy, Default)]
struct Change {
    seen: bool,
    /// Occurrences of the neighbour with the token that was merged.
    lost: u64,
    /// Occurrences of the neighbour with the token that it was merged into.
    gained: u64,
    /// How many places the gained pair has, and where its list stands among the new ones.
    places: usize,
    list: Option<usize>,
}

impl Side {
    fn change(&mut self, neighbour: TokenId) -> &mut Change {
        let index = neighbour as usize;
        if index >= self.changes.len() {
            self.changes.resize(index + 1, Change::default());
        }
        let change = &mut self.changes[index];
        if !change.seen {
            change.seen = true;
            self.neighbours.push(neighbour);
        }
        change
    }

    fn gain(&mut self, neighbour: TokenId, place: usize, count: u64) {
        let change = self.change(neighbour);
        change.gained += count;
        change.places += 1;
        self.places.push((neighbour, place as Place));
    }

    /// The pairs gained, less those below `threshold`; the side forgets all changes.
    fn take_gained(
        &mut self,
        threshold: u64,
        pair_with: impl Fn(TokenId) -> (TokenId, TokenId),
    ) -> Vec<Pair> {
        let mut gained: Vec<Pair> = Vec::new();
        for &neighbour in &self.neighbours {
            let change = &mut self.changes[neighbour as usize];
            if change.gained >= threshold {
                change.list = Some(gained.len());
                let (left, right) = pair_with(neighbour);
                let places = Vec::with_capacity(change.places);
                gained.push(Pair { left, right, count: change.gained, places });
            }
        }
        for (neighbour, place) in self.places.drain(..) {
            if let Some(list) = self.changes[neighbour as usize].list {
                gained[list].places.push(place);
            }
        }
        for neighbour in self.neighbours.drain(..) {
            self.changes[neighbour as usize] = Change::default();
        }
        gained
    }
}

impl Merger {
    /// Put `merged` in every place of `pair`, from left to right, and tell `pairs` what changed.
    ///
    /// Returns how often that was: less than the pair's count where its places overlap (`aaa`).
    pub(super) fn merge(
        &mut self,
        pair: &Pair,
        merged: TokenId,
        pretokens: &mut Pretokens,
        pairs: &mut Pairs,
        ranking: &Ranking,
    ) -> u64 {
        let applied = self.replace(pair, merged, pretokens, ranking);
        for &neighbour in &self.before.neighbours {
            let lost = self.before.changes[neighbour as usize].lost;
            pairs.subtract(neighbour, pair.left, lost);
        }
        for &neighbour in &self.after.neighbours {
            let lost = self.after.changes[neighbour as usize].lost;
            pairs.subtract(pair.right, neighbour, lost);
        }
        let threshold = pairs.threshold();
        let mut gained = self.before.take_gained(threshold, |neighbour| (neighbour, merged));
        gained.extend(self.after.take_gained(threshold, |neighbour| (merged, neighbour)));
        for pair in gained {
            pairs.insert(pair, ranking);
        }
        applied
    }

    fn replace(
        &mut self,
        pair: &Pair,
        merged: TokenId,
        pretokens: &mut Pretokens,
        ranking: &Ranking,
    ) -> u64 {
        let mut applied = 0;
        let (left_len, merged_len) = (ranking.token_len(pair.left), ranking.token_len(merged));
        let mut weights = Weights::default();
        for &place in &pair.places {
            let start = place as usize;
            let (middle, end) = (start + left_len, start + merged_len);
            if pretokens.at(start) != pair.left || pretokens.at(middle) != pair.right {
                continue;
            }
            let count = weights.at(pretokens, place);
            applied += count;
            let (before, after) = (pretokens.at(start - 1), pretokens.at(end));
            if before == merged {
                // The merge just before took `left` for its right neighbour; it is gone now.
                self.after.change(pair.left).gained -= count;
                self.before.gain(merged, start - merged_len, count);
            } else if before != BOUNDARY {
                self.before.change(before).lost += count;
                self.before.gain(before, start - ranking.token_len(before), count);
            }
            if after != BOUNDARY {
                self.after.change(after).lost += count;
                self.after.gain(after, start, count);
            }
            pretokens.join(start, middle, end, merged);
        }
        applied
    }
}
