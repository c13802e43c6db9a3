//! Training: count pretokens, then merge the most frequent pair again and again.

mod count;
mod counts;
mod merge;
mod pairs;
mod pretokens;
mod tie_break;

pub use count::Counter;
pub use counts::{Counting, Cutting, Dropped, MemoryBudget, PretokenCounts, cutting_of};
use merge::Merger;
use pairs::{Pair, Pairs};
use pretokens::Pretokens;
use tie_break::Ranking;
pub use tie_break::TieBreak;

use crate::{
    error::{Error, Result},
    vocabulary::{MAX_TOKENS, TokenId},
    watch::Watch,
};

/// The settings of training.
#[derive(Clone, Copy, Debug)]
pub struct TrainOptions {
    /// Tokens to end with, special tokens included.
    pub vocab_size: usize,
    /// How many of them are special tokens.
    pub special_tokens: usize,
    /// Which pair merges first of those with the same count.
    pub tie_break: TieBreak,
    /// Pairs that occur less often do not merge; at least 1.
    pub min_frequency: u64,
    /// The longest token, inclusive; `None` is no limit.
    pub max_token_bytes: Option<usize>,
    /// Whether fewer tokens than asked for are a result, not an error.
    pub allow_fewer: bool,
}

/// A merge, and how often its pair occurred when it merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainedMerge {
    /// The token on the left.
    pub left: TokenId,
    /// The token on the right.
    pub right: TokenId,
    /// Occurrences in the corpus, overlapping ones included.
    pub count: u64,
    /// How often it merged: the tokens by which the corpus became shorter.
    pub applied: u64,
}

/// When the pairs found so far are used up, those with at least this fraction of the last threshold
/// are searched for.
///
/// A higher number searches less often and keeps more pairs.
const THRESHOLD_STEP: u64 = 16;

/// The merges that the counts of a corpus give, in the order of their ranks.
///
/// `watch` counts merges.
pub fn train(
    counts: &PretokenCounts,
    options: &TrainOptions,
    watch: &Watch,
) -> Result<Vec<TrainedMerge>> {
    let wanted = wanted_merges(options)?;
    if counts.is_empty() {
        return Err(Error::corpus("the corpus is empty: there is no text to train on"));
    }
    let mut ranking =
        Ranking::new(options.tie_break, options.max_token_bytes.unwrap_or(usize::MAX));
    let mut pretokens = Pretokens::new(counts)?;
    let mut merger = Merger::default();
    let mut merges = Vec::with_capacity(wanted);
    let floor = options.min_frequency.max(1);
    let mut threshold = pretokens.most_frequent_pair(&ranking) + 1;

    while threshold > floor && merges.len() < wanted {
        threshold = (threshold / THRESHOLD_STEP).max(floor);
        let mut pairs = Pairs::find(&pretokens, &ranking, threshold);
        while merges.len() < wanted {
            let Some(pair) = pairs.pop(&ranking) else { break };
            let merged = ranking.join(pair.left, pair.right);
            let applied = merger.merge(&pair, merged, &mut pretokens, &mut pairs, &ranking);
            let Pair { left, right, count, .. } = pair;
            merges.push(TrainedMerge { left, right, count, applied });
            watch.advance(1)?;
        }
    }
    if merges.len() < wanted && !options.allow_fewer {
        return Err(too_few(merges.len(), options));
    }
    Ok(merges)
}

fn wanted_merges(options: &TrainOptions) -> Result<usize> {
    let TrainOptions { vocab_size, special_tokens, .. } = *options;
    if vocab_size > MAX_TOKENS {
        let message = format!("a vocabulary of {vocab_size} is too large; at most {MAX_TOKENS}");
        return Err(Error::vocabulary(message));
    }
    vocab_size.checked_sub(256 + special_tokens).ok_or_else(|| {
        Error::vocabulary(format!(
            "a vocabulary of {vocab_size} is too small: it holds the 256 bytes and {special_tokens} \
             special tokens, so {} at least",
            256 + special_tokens
        ))
    })
}

fn too_few(found: usize, options: &TrainOptions) -> Error {
    let TrainOptions { vocab_size, special_tokens, min_frequency, .. } = options;
    let reached = 256 + special_tokens + found;
    Error::vocabulary(format!(
        "the corpus cannot fill a vocabulary of {vocab_size}: after {found} merges no pair occurs \
         {min_frequency} times or more, which makes {reached} tokens; ask for {reached} or fewer, \
         allow fewer (allow_fewer), or train on more text"
    ))
}

#[cfg(test)]
mod tests;
