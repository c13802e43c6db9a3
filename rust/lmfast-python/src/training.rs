//! `PretokenCounts`: count the pretokens of a corpus, then train on the counts.

use std::{
    num::NonZero,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lmfast_core::{
    Error, ErrorKind, Result, Tokenizer as Core,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    train::{
        Counter, Counting, PretokenCounts as Counts, TieBreak, TrainOptions, TrainedMerge,
        tokens_of, train,
    },
    vocabulary::Vocabulary,
};
use pyo3::prelude::*;

use crate::{
    arguments::{Count, FilePaths, PretokenizerName, Size, SpecialNames, Str},
    door::{detached, watched},
    tokenizer::{Tokenizer, pretokenizer},
};

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct PretokenCounts {
    counter: Counter,
    state: Mutex<State>,
}

enum State {
    Counting(Counting),
    Counted(Counts),
    /// Counting failed: what is there is not what was asked for.
    Broken,
}

impl PretokenCounts {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn options(
        &self,
        vocab_size: Size,
        tie_break: &Str,
        min_frequency: Size,
        max_token_bytes: Count,
        allow_fewer: bool,
    ) -> Result<TrainOptions> {
        Ok(TrainOptions {
            vocab_size: usize::try_from(vocab_size.0).unwrap_or(usize::MAX),
            special_tokens: self.counter.special_tokens.len(),
            tie_break: TieBreak::from_name(&tie_break.0)?,
            min_frequency: min_frequency.0,
            max_token_bytes: max_token_bytes.0.map(NonZero::get),
            allow_fewer,
        })
    }
}

/// How often a merge's pair occurred, how often it applied, and how many pairs had its count.
type MergeCounts = (u64, u64, u64);

fn parts(merge: &TrainedMerge) -> ((u32, u32), MergeCounts) {
    ((merge.left, merge.right), (merge.count, merge.applied, merge.ties))
}

impl State {
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Broken)
    }

    /// Count more. If that fails, so does everything after it.
    fn count(&mut self, count: impl FnOnce(&Counting) -> Result<()>) -> Result<()> {
        let counting = match self.take() {
            Self::Counting(counting) => counting,
            Self::Counted(counts) => counts.reopen(),
            Self::Broken => return Err(broken()),
        };
        count(&counting)?;
        *self = Self::Counting(counting);
        Ok(())
    }

    fn counts(&mut self) -> Result<&mut Counts> {
        *self = match self.take() {
            Self::Counting(counting) => Self::Counted(counting.finish()?),
            state => state,
        };
        match self {
            Self::Counted(counts) => Ok(counts),
            _ => Err(broken()),
        }
    }
}

fn broken() -> Error {
    Error::new(ErrorKind::Corpus, "these counts are incomplete, since counting failed before")
}

#[pymethods]
impl PretokenCounts {
    #[new]
    fn new(
        py: Python<'_>,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialNames,
    ) -> PyResult<Self> {
        let counter = detached(py, || {
            let pretokenizer = self::pretokenizer(pretokenizer.name())?;
            let numbered = special_tokens.0.into_iter().zip(256..).collect();
            let special_tokens = SpecialTokens::new(numbered)?;
            // Fail now, not after hours of counting, on special tokens that a trained vocabulary
            // cannot have.
            Core::new(Vocabulary::from_training(&[])?, special_tokens.clone(), Pretokenizer::None)?;
            Ok(Counter { pretokenizer, special_tokens })
        })?;
        Ok(Self { counter, state: Mutex::new(State::Counting(Counting::default())) })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || Ok(self.lock().counts()?.len()))
    }

    #[getter]
    fn text_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || Ok(self.lock().counts()?.text_bytes()))
    }

    fn add_texts(&self, py: Python<'_>, texts: Vec<Str>, threads: Count) -> PyResult<()> {
        watched(py, None, |watch| {
            let texts: Vec<&str> = texts.iter().map(|text| &*text.0).collect();
            self.lock()
                .count(|counting| self.counter.count_texts(counting, &texts, threads.0, watch))
        })
    }

    fn add_files(
        &self,
        py: Python<'_>,
        files: FilePaths,
        threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        watched(py, on_progress.as_ref(), |watch| {
            self.lock()
                .count(|counting| self.counter.count_files(counting, &files.0, threads.0, watch))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "one for each option of training")]
    fn train(
        &self,
        py: Python<'_>,
        vocab_size: Size,
        tie_break: Str,
        min_frequency: Size,
        max_token_bytes: Count,
        allow_fewer: bool,
        threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Tokenizer, Vec<MergeCounts>)> {
        let special_tokens = &self.counter.special_tokens;
        let (core, counts) = watched(py, on_progress.as_ref(), |watch| {
            let options =
                self.options(vocab_size, &tie_break, min_frequency, max_token_bytes, allow_fewer)?;
            let trained = train(self.lock().counts()?, &options, None, threads.0, watch)?;
            let (merges, counts): (Vec<_>, Vec<_>) = trained.iter().map(parts).unzip();
            let vocabulary = Vocabulary::from_training(&merges)?;
            let ids = vocabulary.len() as u32..;
            let special = special_tokens.iter().map(|(text, _)| text.to_owned()).zip(ids).collect();
            let pretokenizer = pretokenizer(self.counter.pretokenizer.pattern())?;
            Ok((Core::new(vocabulary, SpecialTokens::new(special)?, pretokenizer)?, counts))
        })?;
        Ok((Tokenizer::new(core), counts))
    }

    /// Continue the merges of `tokenizer`; the number is that of the tokens it makes of the text.
    #[expect(clippy::too_many_arguments, reason = "one for each option of training")]
    fn extend(
        &self,
        py: Python<'_>,
        tokenizer: &Bound<'_, Tokenizer>,
        vocab_size: Size,
        tie_break: Str,
        min_frequency: Size,
        max_token_bytes: Count,
        allow_fewer: bool,
        threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Tokenizer, Vec<MergeCounts>, u64)> {
        let start = &tokenizer.get().core;
        let (core, counts, tokens) = watched(py, on_progress.as_ref(), |watch| {
            let options =
                self.options(vocab_size, &tie_break, min_frequency, max_token_bytes, allow_fewer)?;
            let mut state = self.lock();
            let counted = state.counts()?;
            let trained = train(counted, &options, Some(start), threads.0, watch)?;
            let (merges, counts): (Vec<_>, Vec<_>) = trained.iter().map(parts).unzip();
            Ok((start.extended(&merges)?, counts, tokens_of(counted, start)?))
        })?;
        Ok((Tokenizer::new(core), counts, tokens))
    }
}
