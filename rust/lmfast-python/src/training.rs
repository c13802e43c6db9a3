//! `PretokenCounts`: count the pretokens of a corpus, then train on the counts.

use std::{
    num::NonZero,
    sync::{Mutex, MutexGuard, PoisonError},
};

use lmfast_core::{
    Tokenizer as Core,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    train::{Counter, PretokenCounts as Counts, TieBreak, TrainOptions, train},
    vocabulary::Vocabulary,
};
use pyo3::prelude::*;

use crate::{
    arguments::{Count, PretokenizerName, Size, SpecialNames, Str},
    door::{detached, fed, watched},
    sources::Sources,
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
        Ok(Self { counter, counts: Mutex::default() })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || Ok(self.lock().len()))
    }

    #[getter]
    fn text_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        detached(py, || Ok(self.lock().text_bytes()))
    }

    fn add(
        &self,
        py: Python<'_>,
        sources: &Bound<'_, Sources>,
        threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let sources = sources.get();
        let more = fed(py, on_progress.as_ref(), sources.pump(py), |watch| {
            self.counter.count(sources.core(), threads.0, watch)
        })?;
        detached(py, || {
            let mut counts = self.lock();
            *counts = std::mem::take(&mut *counts).merged_with(more);
            Ok(())
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
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Tokenizer, Vec<(u64, u64)>)> {
        let special_tokens = &self.counter.special_tokens;
        let (core, counts) = watched(py, on_progress.as_ref(), |watch| {
            let options = TrainOptions {
                vocab_size: usize::try_from(vocab_size.0).unwrap_or(usize::MAX),
                special_tokens: special_tokens.len(),
                tie_break: TieBreak::from_name(&tie_break.0)?,
                min_frequency: min_frequency.0,
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
