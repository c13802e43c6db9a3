//! Several steps, one after the other, as in the `tokenizer.json` of Hugging Face tokenizers: each
//! cuts the pieces that the step before has made, as if each were a text.

use serde::{Deserialize, Serialize};

use super::{Engine, Pretokenizer, SafeCuts, UserPattern};
use crate::error::Result;

/// A step as a `tokenizer.json` spells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Step {
    Split {
        pattern: SplitPattern,
        behavior: Behavior,
        #[serde(default)]
        invert: bool,
    },
    Digits {
        #[serde(default)]
        individual_digits: bool,
    },
    Punctuation {
        #[serde(default)]
        behavior: Behavior,
    },
    ByteLevel {
        #[serde(default = "yes")]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        trim_offsets: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SplitPattern {
    Regex(String),
    String(String),
}

/// What becomes of a match and of the text between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Behavior {
    Removed,
    /// Each is a piece.
    #[default]
    Isolated,
    /// A match belongs to the piece before it.
    MergedWithPrevious,
    /// A match belongs to the piece after it.
    MergedWithNext,
    /// Adjacent matches are one piece.
    Contiguous,
}

/// Steps, ready to cut.
#[derive(Debug)]
pub struct Steps {
    spelling: String,
    cuts: Vec<Cut>,
}

#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) finds: Finds,
    pub(crate) behavior: Behavior,
    /// Whether what lies between matches is taken for matches.
    pub(crate) invert: bool,
}

#[derive(Debug)]
pub(crate) enum Finds {
    /// Of every piece it is a match.
    Everything(Pretokenizer),
    Matches(Box<UserPattern>),
}

impl Steps {
    pub(crate) fn new(spelling: String, cuts: Vec<Cut>) -> Self {
        Self { spelling, cuts }
    }

    pub(crate) fn spelling(&self) -> &str {
        &self.spelling
    }

    pub(crate) fn engine(&self) -> Engine {
        let engine = |cut: &Cut| match &cut.finds {
            Finds::Everything(pretokenizer) => pretokenizer.engine(),
            Finds::Matches(pattern) => pattern.engine(),
        };
        self.cuts.iter().map(engine).max().unwrap_or(Engine::None)
    }

    /// Where the first step always cuts, the others see the same pieces whether the text was cut
    /// there or not. Of the others nothing is known: they see pieces, not the text.
    pub(crate) fn safe_cuts(&self) -> SafeCuts {
        match self.cuts.first() {
            Some(Cut { finds: Finds::Everything(first), .. }) => SafeCuts::of(first),
            _ => SafeCuts::NONE,
        }
    }

    pub(crate) fn for_each(&self, text: &str, visit: &mut dyn FnMut(usize, usize)) -> Result<()> {
        apply(&self.cuts, text, 0, visit)
    }
}

/// Cut `text`, which begins at `offset` of the whole.
fn apply(
    cuts: &[Cut],
    text: &str,
    offset: usize,
    visit: &mut dyn FnMut(usize, usize),
) -> Result<()> {
    let Some((first, others)) = cuts.split_first() else {
        if !text.is_empty() {
            visit(offset, offset + text.len());
        }
        return Ok(());
    };
    // A closure cannot return an error through the engines: the first is kept for the end.
    let mut outcome = Ok(());
    first.for_each(text, &mut |start, end| {
        if outcome.is_ok() {
            outcome = apply(others, &text[start..end], offset + start, visit);
        }
    })?;
    outcome
}

impl Cut {
    fn for_each(&self, text: &str, visit: &mut dyn FnMut(usize, usize)) -> Result<()> {
        let pattern = match &self.finds {
            Finds::Everything(pretokenizer) => return pretokenizer.for_each_cut(text, visit),
            Finds::Matches(pattern) => pattern,
        };
        let mut pieces = Vec::new();
        pattern.for_each(text, &mut |start, end, is_match| {
            pieces.push((start, end, is_match != self.invert));
        })?;
        for (start, end) in self.behavior.joined(&pieces) {
            visit(start, end);
        }
        Ok(())
    }
}

impl Behavior {
    /// The pieces that are left of matches and what lies between.
    fn joined(self, pieces: &[(usize, usize, bool)]) -> Vec<(usize, usize)> {
        let mut joined: Vec<(usize, usize)> = Vec::new();
        let mut was_match = false;
        if self == Self::MergedWithNext {
            for &(start, end, is_match) in pieces.iter().rev() {
                match joined.last_mut() {
                    Some(next) if is_match && !was_match => next.0 = start,
                    _ => joined.push((start, end)),
                }
                was_match = is_match;
            }
            joined.reverse();
            return joined;
        }
        for &(start, end, is_match) in pieces {
            let joins = match self {
                Self::MergedWithPrevious => is_match && !was_match,
                Self::Contiguous => is_match == was_match,
                _ => false,
            };
            match joined.last_mut() {
                Some(last) if joins => last.1 = end,
                _ => joined.push((start, end)),
            }
            was_match = is_match;
        }
        joined
    }
}
