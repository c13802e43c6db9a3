//! Training: count pretokens, then merge the most frequent pair again and again.

mod count;
mod counts;
mod merge;
mod pairs;
mod search;
mod start;
mod table;
mod tally;
mod text;
mod tie_break;

pub use count::Counter;
pub use counts::{Counting, PretokenCounts};
use merge::Merger;
use pairs::{Pair, Pairs};
use search::Cells;
pub use start::tokens_of;
use text::Text;
use tie_break::Ranking;
pub use tie_break::TieBreak;

use std::num::NonZero;

use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    threads,
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
    /// How many pairs had this count, itself included.
    pub ties: u64,
}

/// When the pairs found so far are used up, those with at least this fraction of the last threshold
/// are searched for.
///
/// A higher number searches less often, keeps more pairs, and lets the text grow looser.
const THRESHOLD_STEP: u64 = 8;

/// The merges that the counts of a corpus give, in the order of their ranks; the same for any
/// number of threads.
///
/// With `start` the merges continue those of a tokenizer: the new tokens have the ids that follow
/// all of its own, and none has the bytes of another. `watch` counts merges.
pub fn train(
    counts: &PretokenCounts,
    options: &TrainOptions,
    start: Option<&Tokenizer>,
    threads: Option<NonZero<usize>>,
    watch: &Watch,
) -> Result<Vec<TrainedMerge>> {
    let wanted = wanted_merges(options, start)?;
    if counts.is_empty() {
        return Err(Error::corpus("the corpus is empty: there is no text to train on"));
    }
    let merges = threads::run(threads::count(threads), || {
        let ranking = Ranking::new(options.tie_break, options.max_token_bytes, start);
        let text = text(counts, start)?;
        merge_all(text, ranking, wanted, options.min_frequency.max(1), watch)
    })??;
    if merges.len() < wanted && !options.allow_fewer {
        return Err(too_few(merges.len(), options, start));
    }
    Ok(merges)
}

fn text(counts: &PretokenCounts, start: Option<&Tokenizer>) -> Result<Text> {
    let for_each = |visit: &mut dyn FnMut(&[u8], u64) -> Result<()>| counts.for_each(visit);
    match start {
        None => Text::new(
            for_each,
            |pretoken, tokens| tokens.extend(pretoken.iter().map(|&byte| TokenId::from(byte))),
            256,
        ),
        Some(start) => Text::new(for_each, start.pretoken_encoder(), start.n_vocab()),
    }
}

fn merge_all(
    mut text: Text,
    mut ranking: Ranking,
    wanted: usize,
    min_frequency: u64,
    watch: &Watch,
) -> Result<Vec<TrainedMerge>> {
    let mut merger = Merger::default();
    let mut merges = Vec::with_capacity(wanted);
    let mut cells = Cells::of(&text);
    let mut threshold = cells.highest().unwrap_or(text.mass()).saturating_add(1);
    while threshold > min_frequency && merges.len() < wanted {
        threshold = (threshold / THRESHOLD_STEP).max(min_frequency);
        if !merges.is_empty() {
            text.compact();
            cells = Cells::of(&text);
        }
        let found = search::frequent_pairs(&text, &cells, threshold);
        let mut pairs = Pairs::new(found, threshold, &ranking);
        while merges.len() < wanted {
            let Some((pair, ties)) = pairs.pop(&ranking) else { break };
            let Pair { left, right, count, .. } = pair;
            if !ranking.may_join(left, right) {
                continue;
            }
            let merged = ranking.join(left, right);
            text.join(left, right);
            let applied = merger.merge(&pair, merged, &mut text, &mut pairs, &ranking);
            merges.push(TrainedMerge { left, right, count, applied, ties });
            watch.advance(1)?;
        }
    }
    Ok(merges)
}

fn wanted_merges(options: &TrainOptions, start: Option<&Tokenizer>) -> Result<usize> {
    let TrainOptions { vocab_size, special_tokens, .. } = *options;
    if vocab_size > MAX_TOKENS {
        let message = format!("a vocabulary of {vocab_size} is too large; at most {MAX_TOKENS}");
        return Err(Error::vocabulary(message));
    }
    let least = start.map_or(256 + special_tokens, Tokenizer::n_vocab);
    vocab_size.checked_sub(least).ok_or_else(|| {
        let holds = match start {
            None => format!("the 256 bytes and {special_tokens} special tokens"),
            Some(_) => "all tokens of the tokenizer that it extends".to_owned(),
        };
        Error::vocabulary(format!(
            "a vocabulary of {vocab_size} is too small: it holds {holds}, so {least} at least"
        ))
    })
}

fn too_few(found: usize, options: &TrainOptions, start: Option<&Tokenizer>) -> Error {
    let TrainOptions { vocab_size, special_tokens, min_frequency, .. } = options;
    let reached = start.map_or(256 + special_tokens, Tokenizer::n_vocab) + found;
    Error::vocabulary(format!(
        "the corpus cannot fill a vocabulary of {vocab_size}: after {found} merges no pair occurs \
         {min_frequency} times or more, which makes {reached} tokens; ask for {reached} or fewer, \
         allow fewer (allow_fewer), or train on more text"
    ))
}

#[cfg(test)]
mod tests;
