//! `PretokenCounts`: count the pretokens of a corpus, then train on the counts.

use std::{
    num::NonZero,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lmfast_core::{
    Tokenizer as Core,
    special::SpecialTokens,
    train::{Counter, PretokenCounts as Counts, TieBreak, TrainOptions, train},
    vocabulary::Vocabulary,
};
use pyo3::prelude::*;

use crate::{
    arguments::{Count, Str},
    door::{detached, watched},
    tokenizer::{Tokenizer, pretokenizer},
};

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct PretokenCounts {
    counter: Counter,
    counts: Mutex<Counts>,
}

impl PretokenCounts {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, more: Counts) {
        let mut counts = self.lock();
        *counts = std::mem::take(&mut *counts).merged_with(more);
    }
}

#[pymethods]
impl PretokenCounts {
    #[new]
    fn new(
        py: Python<'_>,
        pretokenizer: Option<&str>,
        special_tokens: Vec<String>,
    ) -> PyResult<Self> {
        let counter = detached(py, || {
            let numbered = special_tokens.into_iter().zip(0..).collect();
            Ok(Counter {
                pretokenizer: self::pretokenizer(pretokenizer)?,
                special_tokens: SpecialTokens::new(numbered)?,
            })
        })?;
        Ok(Self { counter, counts: Mutex::default() })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || Ok(self.lock().len()))
    }

    #[getter]
    fn text_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || Ok(self.lock().text_bytes()))
    }

    fn add_texts(&self, py: Python<'_>, texts: Vec<Str>, threads: Count) -> PyResult<()> {
        let more = watched(py, None, |watch| {
            let texts: Vec<&str> = texts.iter().map(|text| &*text.0).collect();
            self.counter.count_texts(&texts, threads.0, watch)
        })?;
        detached(py, || Ok(self.add(more)))
    }

    fn add_files(
        &self,
        py: Python<'_>,
        files: Vec<PathBuf>,
        threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let more = watched(py, on_progress.as_ref(), |watch| {
            self.counter.count_files(&files, threads.0, watch)
        })?;
        detached(py, || Ok(self.add(more)))
    }

    #[expect(clippy::too_many_arguments, reason = "one for each option of training")]
    fn train(
        &self,
        py: Python<'_>,
        vocab_size: usize,
        tie_break: &str,
        min_frequency: u64,
        max_token_bytes: Count,
        allow_fewer: bool,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Tokenizer, Vec<(u64, u64)>)> {
        let special_tokens = &self.counter.special_tokens;
        let (core, counts) = watched(py, on_progress.as_ref(), |watch| {
            let options = TrainOptions {
                vocab_size,
                special_tokens: special_tokens.len(),
                tie_break: TieBreak::from_name(tie_break)?,
                min_frequency,
                max_token_bytes: max_token_bytes.0.map(NonZero::get),
                allow_fewer,
            };
            let trained = train(&self.lock(), &options, watch)?;
            let merges: Vec<_> = trained.iter().map(|merge| (merge.left, merge.right)).collect();
            let counts: Vec<_> = trained.iter().map(|merge| (merge.count, merge.applied)).collect();
            let vocabulary = Vocabulary::from_training(&merges)?;
            let ids = vocabulary.len() as u32..;
            let special = special_tokens.iter().map(|(text, _)| text.to_owned()).zip(ids).collect();
            let pretokenizer = pretokenizer(self.counter.pretokenizer.pattern())?;
            Ok((Core::new(vocabulary, SpecialTokens::new(special)?, pretokenizer)?, counts))
        })?;
        Ok((Tokenizer::new(core), counts))
    }
}
