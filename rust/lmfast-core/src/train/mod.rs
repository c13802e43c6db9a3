//! Training: count pretokens, then merge the most frequent pair again and again.

mod cells;
mod count;
mod counts;
mod lists;
mod merge;
mod pairs;
mod room;
mod search;
mod start;
mod symbol;
mod tally;
mod text;
mod tie_break;

use cells::Cells;
pub use count::Counter;
pub(crate) use counts::COUNT_FILE_START;
pub use counts::{Counting, Cutting, Dropped, MemoryBudget, PretokenCounts, cutting_of};
use merge::Merger;
use pairs::{Pair, Pairs};
use room::Room;
pub use start::tokens_of;
use symbol::Symbol;
use text::Text;
use tie_break::Ranking;
pub use tie_break::TieBreak;

use std::num::NonZero;

use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    special::SpecialTokens,
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
/// all of its own, and none has the bytes of another. None is spelled like one of `reserved`, which
/// tokenizer files could not hold beside it. `watch` counts merges.
pub fn train(
    counts: &PretokenCounts,
    options: &TrainOptions,
    reserved: &SpecialTokens,
    start: Option<&Tokenizer>,
    budget: Option<&MemoryBudget>,
    threads: Option<NonZero<usize>>,
    watch: &Watch,
) -> Result<Vec<TrainedMerge>> {
    let wanted = wanted_merges(options, start)?;
    if counts.is_empty() {
        return Err(nothing_to_train_on(counts.dropped()));
    }
    let ranking = Ranking::new(options.tie_break, options.max_token_bytes, reserved, start);
    let min_frequency = options.min_frequency.max(1);
    let room = Room::new(budget);
    let mut training = Training::new(ranking, wanted, min_frequency, &room, watch);
    threads::run(threads::count(threads), || {
        if training.ranking.len() >= u16::TOKENS {
            return training.merge(&mut text::<u32>(counts, start, &room)?);
        }
        let mut text = text::<u16>(counts, start, &room)?;
        training.merge(&mut text)?;
        if training.is_done { Ok(()) } else { training.merge(&mut text.widened::<u32>(&room)?) }
    })??;
    let merges = training.merges;
    if merges.len() < wanted && !options.allow_fewer {
        return Err(too_few(merges.len(), options, start));
    }
    Ok(merges)
}

/// The text of the pretokens, cut into the tokens that training starts from.
fn text<S: Symbol>(
    counts: &PretokenCounts,
    start: Option<&Tokenizer>,
    room: &Room,
) -> Result<Text<S>> {
    let for_each = |visit: &mut dyn FnMut(&[u8], u64) -> Result<()>| counts.for_each(visit);
    let Some(start) = start else {
        let bytes = |pretoken: &[u8], symbols: &mut Vec<S>| {
            symbols.extend(pretoken.iter().map(|&byte| S::of(byte.into())));
        };
        return Text::new(for_each, bytes, 256, room);
    };
    let (mut encode, mut ids) = (start.pretoken_encoder()?, Vec::new());
    let encoded = |pretoken: &[u8], symbols: &mut Vec<S>| {
        ids.clear();
        encode(pretoken, &mut ids);
        symbols.extend(ids.iter().map(|&id| S::of(id)));
    };
    Text::new(for_each, encoded, start.n_vocab(), room)
}

/// The merges found so far, and what it takes to go on.
struct Training<'a> {
    ranking: Ranking,
    merger: Merger,
    merges: Vec<TrainedMerge>,
    wanted: usize,
    min_frequency: u64,
    room: &'a Room,
    watch: &'a Watch,
    /// Where it is known, no pair that is left occurs more often, or as often.
    threshold: Option<u64>,
    is_done: bool,
    /// By what the threshold falls next: less than usual where there is no room.
    step: u64,
}

impl<'a> Training<'a> {
    fn new(
        ranking: Ranking,
        wanted: usize,
        min_frequency: u64,
        room: &'a Room,
        watch: &'a Watch,
    ) -> Self {
        let (merger, merges) = (Merger::default(), Vec::with_capacity(wanted));
        let (threshold, is_done, step) = (None, false, THRESHOLD_STEP);
        Self {
            ranking,
            merger,
            merges,
            wanted,
            min_frequency,
            room,
            watch,
            threshold,
            is_done,
            step,
        }
    }

    /// Merge until all is done, or until there are as many tokens as the text has room for.
    fn merge<S: Symbol>(&mut self, text: &mut Text<S>) -> Result<()> {
        loop {
            text.compact();
            let cells = Cells::of(text);
            let highest = cells.highest().unwrap_or(text.mass()).saturating_add(1);
            let above = self.threshold.map_or(highest, |above| above.min(highest));
            self.is_done = above <= self.min_frequency || self.merges.len() == self.wanted;
            if self.is_done || self.ranking.len() == S::TOKENS {
                return Ok(());
            }
            let pairs = self.pairs_below(above, text, &cells)?;
            self.threshold = Some(self.merge_above(pairs, text)?);
        }
    }

    /// The pairs that occur less often than `above`, down to a threshold that leaves room for them.
    fn pairs_below<S: Symbol>(
        &mut self,
        mut above: u64,
        text: &Text<S>,
        cells: &Cells,
    ) -> Result<Pairs> {
        // The highest threshold at which there are too many places.
        let mut too_low = None;
        loop {
            self.watch.advance(0)?;
            let threshold = match too_low {
                None => (above / self.step).clamp(self.min_frequency, above - 1),
                Some(too_low) => too_low + (above - too_low) / 2,
            };
            // Where the next threshold has no pair, those of this one must be taken, however many.
            let is_only_choice = too_low == Some(threshold);
            let most_places = if is_only_choice { usize::MAX } else { self.room.places };
            match search::frequent_pairs(text, cells, threshold, most_places, self.room.dealt) {
                None => {
                    too_low = Some(threshold);
                    self.step = (self.step / 2).max(2);
                }
                Some(found) if found.is_empty() && threshold > self.min_frequency => {
                    above = threshold;
                }
                Some(found) => {
                    let pairs = Pairs::new(found, threshold, &self.ranking);
                    if pairs.places() < self.room.places / 2 {
                        self.step = (2 * self.step).min(THRESHOLD_STEP);
                    }
                    return Ok(pairs);
                }
            }
        }
    }

    /// Merge the pairs at and above a threshold; returns a count above all that are left.
    fn merge_above<S: Symbol>(&mut self, mut pairs: Pairs, text: &mut Text<S>) -> Result<u64> {
        while let Some((pair, ties)) = pairs.pop(&self.ranking) {
            let Pair { left, right, count, .. } = pair;
            if self.merges.len() == self.wanted || self.ranking.len() == S::TOKENS {
                return Ok(count + 1);
            }
            if !self.ranking.may_join(left, right) {
                continue;
            }
            let merged = self.ranking.join(left, right);
            text.join(left, right);
            let applied = self.merger.merge(&pair, merged, text, &mut pairs, &self.ranking);
            self.merges.push(TrainedMerge { left, right, count, applied, ties });
            self.watch.advance(1)?;
            if pairs.places() > self.room.places {
                return Ok(count + 1);
            }
        }
        Ok(pairs.threshold())
    }
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

fn nothing_to_train_on(dropped: Dropped) -> Error {
    Error::corpus(match dropped.pretokens {
        0 => "the corpus is empty: there is no text to train on".to_owned(),
        pretokens => format!(
            "there is no text to train on: min_count dropped all {pretokens} pretokens, which \
             occur {} times together; count with a lower one",
            dropped.occurrences
        ),
    })
}

fn too_few(found: usize, options: &TrainOptions, start: Option<&Tokenizer>) -> Error {
    let TrainOptions { vocab_size, special_tokens, min_frequency, max_token_bytes, .. } = options;
    let within = max_token_bytes.map_or_else(String::new, |most| {
        format!(" and makes a token of max_token_bytes={most} or fewer")
    });
    let reached = start.map_or(256 + special_tokens, Tokenizer::n_vocab) + found;
    Error::vocabulary(format!(
        "the corpus cannot fill a vocabulary of {vocab_size}: after {found} merges no pair occurs \
         {min_frequency} times or more{within}, which makes {reached} tokens; ask for {reached} \
         or fewer, allow fewer (allow_fewer), or train on more text"
    ))
}

#[cfg(test)]
mod tests;
