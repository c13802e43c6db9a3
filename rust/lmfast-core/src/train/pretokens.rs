//! The different pretokens of a corpus, as one flat text of tokens that merge in place.
//!
//! Each pretoken stands once, byte by byte, between two boundaries. A token of n bytes keeps its n
//! places and its id stands in the first and in the last of them, so that both neighbours are found
//! by arithmetic: the next token begins n places on, and the id just before a token is that of the
//! previous one. Ids only grow, so a place that once began a token never seems to begin it again.

use super::{counts::PretokenCounts, tie_break::Ranking};
use crate::{
    error::{Error, Result},
    vocabulary::TokenId,
};

/// Stands between two pretokens.
pub(super) const BOUNDARY: TokenId = TokenId::MAX;

/// Stands where a token began that has been merged into the one before it.
const INSIDE: TokenId = TokenId::MAX - 1;

/// An index into the text. Four bytes, since most of the memory of training is places.
pub(super) type Place = u32;

pub(super) struct Pretokens {
    symbols: Vec<TokenId>,
    /// Where the pretokens of each count begin; the counts fall from one to the next.
    runs: Vec<Run>,
}

#[derive(Clone, Copy)]
struct Run {
    start: Place,
    count: u64,
}

impl Pretokens {
    /// Pretokens of a single byte hold no pair and are left out.
    pub(super) fn new(counts: &PretokenCounts) -> Result<Self> {
        let mut pretokens: Vec<(&[u8], u64)> =
            counts.iter().filter(|(pretoken, _)| pretoken.len() > 1).collect();
        pretokens.sort_unstable_by_key(|&(_, count)| std::cmp::Reverse(count));

        let places = 1 + pretokens.iter().map(|(pretoken, _)| pretoken.len() + 1).sum::<usize>();
        if Place::try_from(places).is_err() {
            return Err(Error::corpus(format!(
                "the corpus has {places} bytes in pretokens that differ, and at most {} can be \
                 trained on; train on a sample, or cut the text finer",
                Place::MAX
            )));
        }
        let mut symbols = Vec::with_capacity(places);
        let mut runs: Vec<Run> = Vec::new();
        symbols.push(BOUNDARY);
        for (pretoken, count) in pretokens {
            if runs.last().is_none_or(|run| run.count != count) {
                runs.push(Run { start: symbols.len() as Place, count });
            }
            symbols.extend(pretoken.iter().map(|&byte| TokenId::from(byte)));
            symbols.push(BOUNDARY);
        }
        Ok(Self { symbols, runs })
    }

    /// What stands at a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> TokenId {
        self.symbols[place]
    }

    /// The highest count of a pair of bytes.
    pub(super) fn most_frequent_pair(&self, ranking: &Ranking) -> u64 {
        let mut counts = vec![0u64; 1 << 16];
        self.for_each_pair(
            |id| ranking.token_len(id),
            |_, left, right, count| counts[(left << 8 | right) as usize] += count,
        );
        counts.into_iter().max().unwrap_or(0)
    }

    /// Put `merged` in the place of two neighbours, of which the right one begins at `middle`.
    #[inline]
    pub(super) fn join(&mut self, start: usize, middle: usize, end: usize, merged: TokenId) {
        self.symbols[middle] = INSIDE;
        self.symbols[start] = merged;
        self.symbols[end - 1] = merged;
    }

    /// Call `visit` with the place, the two tokens and the count of every pair, from left to right.
    pub(super) fn for_each_pair(
        &self,
        token_len: impl Fn(TokenId) -> usize,
        mut visit: impl FnMut(Place, TokenId, TokenId, u64),
    ) {
        let mut weights = Weights::default();
        let mut at = 1;
        while at < self.symbols.len() {
            let left = self.symbols[at];
            if left == BOUNDARY {
                at += 1;
                continue;
            }
            let next = at + token_len(left);
            let right = self.symbols[next];
            if right != BOUNDARY {
                visit(at as Place, left, right, weights.at(self, at as Place));
            }
            at = next;
        }
    }
}

/// The counts of places that are asked for in rising order: the run of the last place is remembered,
/// since the next one is most often in the same.
#[derive(Default)]
pub(super) struct Weights {
    run: usize,
}

impl Weights {
    /// How often the pretoken at `place` occurs.
    #[inline]
    pub(super) fn at(&mut self, pretokens: &Pretokens, place: Place) -> u64 {
        let runs = &pretokens.runs;
        if runs.get(self.run + 1).is_some_and(|next| next.start <= place) {
            let ahead = &runs[self.run + 1..];
            self.run += ahead.partition_point(|run| run.start <= place);
        }
        runs[self.run].count
    }
}
