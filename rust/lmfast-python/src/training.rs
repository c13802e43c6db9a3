//! `PretokenCounts`: count the pretokens of a corpus, then train on the counts.

use std::num::NonZero;

use lmfast_core::{
    Error, ErrorKind, Result, Tokenizer as Core,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    train::{
        Counter, Counting, Dropped, MemoryBudget, PretokenCounts as Counts, TieBreak, TrainOptions,
        TrainedMerge, cutting_of, tokens_of, train,
    },
    vocabulary::{TokenId, Vocabulary},
};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    arguments::{self, Count, FilePath, FilePaths, PretokenizerName, SpecialNames, Str},
    door::{detached, fed, watched},
    sources::Sources,
    tokenizer::{Tokenizer, pretokenizer},
};

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct PretokenCounts {
    counter: Counter,
    counts: Counts,
}

impl PretokenCounts {
    /// The tokenizer of these merges, with the special tokens behind them.
    fn tokenizer(&self, merges: &[(TokenId, TokenId)]) -> Result<Core> {
        let vocabulary = Vocabulary::from_training(merges)?;
        let ids = vocabulary.len() as TokenId..;
        let names = self.counter.special_tokens.iter().map(|(text, _)| text.to_owned());
        let special_tokens = SpecialTokens::new(names.zip(ids).collect())?;
        Core::new(vocabulary, special_tokens, pretokenizer(self.counter.pretokenizer.pattern())?)
    }
}

/// By merge: how often its pair occurred, how often it applied, and how many pairs had its count.
type MergeCounts = (Vec<u64>, Vec<u64>, Vec<u64>);

fn counts_of(merges: &[TrainedMerge]) -> MergeCounts {
    let column = |number: fn(&TrainedMerge) -> u64| merges.iter().map(number).collect();
    (column(|merge| merge.count), column(|merge| merge.applied), column(|merge| merge.ties))
}

fn counter(pretokenizer: Option<&str>, special_tokens: Vec<String>) -> Result<Counter> {
    let pretokenizer = self::pretokenizer(pretokenizer)?;
    let numbered = special_tokens.into_iter().zip(256..).collect();
    let special_tokens = SpecialTokens::new(numbered)?;
    // Fail now, not after hours of counting, on special tokens that a trained vocabulary cannot
    // have.
    Core::new(Vocabulary::from_training(&[])?, special_tokens.clone(), Pretokenizer::None)?;
    Ok(Counter { pretokenizer, special_tokens })
}

fn budget(bytes: Count, folder: Option<FilePath>) -> Option<MemoryBudget> {
    let folder = folder.map_or_else(std::env::temp_dir, |folder| folder.0);
    bytes.map(|bytes| MemoryBudget { bytes: bytes.get() as u64, folder })
}

#[pymethods]
impl PretokenCounts {
    /// The counts of a corpus.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "one for each option of counting")]
    fn count(
        py: Python<'_>,
        sources: &Bound<'_, Sources>,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialNames,
        #[pyo3(from_py_with = arguments::min_count)] min_count: u64,
        #[pyo3(from_py_with = arguments::memory_budget)] memory_budget: Count,
        temporary_folder: Option<FilePath>,
        #[pyo3(from_py_with = arguments::threads)] threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let budget = budget(memory_budget, temporary_folder);
        let counter = detached(py, || counter(pretokenizer.name(), special_tokens.0))?;
        let sources = sources.get();
        let counts = fed(py, on_progress.as_ref(), sources.pump(py), |watch| {
            let counting = Counting::new(budget);
            counter.count(&counting, sources.core(), threads, watch)?;
            counting.finish(min_count, watch)
        })?;
        Ok(Self { counter, counts })
    }

    /// The sum of count files, which say themselves how text was cut.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        files: FilePaths,
        #[pyo3(from_py_with = arguments::min_count)] min_count: u64,
        temporary_folder: Option<FilePath>,
    ) -> PyResult<Self> {
        watched(py, None, |watch| {
            let first = files.0.first().ok_or_else(|| {
                Error::new(ErrorKind::Config, "there is no count file to read: name one at least")
            })?;
            let cutting = cutting_of(first)?;
            let counter = counter(cutting.pretokenizer.as_deref(), cutting.special_tokens)?;
            let folder = temporary_folder.map_or_else(std::env::temp_dir, |folder| folder.0);
            let counting = Counting::new(Some(MemoryBudget { bytes: u64::MAX, folder }));
            counting.add_counts(&files.0, &counter.cutting(), watch)?;
            Ok(Self { counts: counting.finish(min_count, watch)?, counter })
        })
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    #[getter]
    fn text_bytes(&self) -> u64 {
        self.counts.text_bytes()
    }

    #[getter]
    fn occurrences(&self) -> u64 {
        self.counts.occurrences()
    }

    /// Pretokens, occurrences and bytes that were dropped.
    #[getter]
    fn dropped(&self) -> (u64, u64, u64) {
        let Dropped { pretokens, occurrences, bytes } = self.counts.dropped();
        (pretokens, occurrences, bytes)
    }

    #[getter]
    fn pattern(&self) -> Option<&str> {
        self.counter.pretokenizer.pattern()
    }

    #[getter]
    fn special_tokens(&self) -> Vec<&str> {
        self.counter.special_tokens.iter().map(|(text, _)| text).collect()
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let items = detached(py, || {
            let mut items = Vec::with_capacity(self.counts.len());
            self.counts.for_each(&mut |pretoken, count| {
                items.push((pretoken.to_vec(), count));
                Ok(())
            })?;
            Ok(items)
        })?;
        Ok(items.into_iter().map(|(bytes, count)| (PyBytes::new(py, &bytes), count)).collect())
    }

    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        watched(py, None, |watch| self.counts.save(&path.0, &self.counter.cutting(), watch))
    }

    /// The vocabulary, what each merge counted, and the tokens that the text had before the first.
    ///
    /// With `start`, the merges continue those of a tokenizer, keeping all of its ids.
    #[expect(clippy::too_many_arguments, reason = "one for each option of training")]
    fn train(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::vocab_size)] vocab_size: u64,
        tie_break: Str,
        #[pyo3(from_py_with = arguments::min_frequency)] min_frequency: u64,
        #[pyo3(from_py_with = arguments::max_token_bytes)] max_token_bytes: Count,
        allow_fewer: bool,
        start: Option<Bound<'_, Tokenizer>>,
        #[pyo3(from_py_with = arguments::memory_budget)] memory_budget: Count,
        temporary_folder: Option<FilePath>,
        #[pyo3(from_py_with = arguments::threads)] threads: Count,
        on_progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Tokenizer, MergeCounts, u64)> {
        let budget = budget(memory_budget, temporary_folder);
        let start = start.as_ref().map(|start| &*start.get().core);
        let special_tokens =
            start.map_or(&self.counter.special_tokens, |start| start.special_tokens());
        let (core, counts, tokens) = watched(py, on_progress.as_ref(), |watch| {
            let options = TrainOptions {
                vocab_size: usize::try_from(vocab_size).unwrap_or(usize::MAX),
                special_tokens: special_tokens.len(),
                tie_break: TieBreak::from_name(&tie_break.0)?,
                min_frequency,
                max_token_bytes: max_token_bytes.map(NonZero::get),
                allow_fewer,
            };
            let (counts, budget) = (&self.counts, budget.as_ref());
            let trained = train(counts, &options, special_tokens, start, budget, threads, watch)?;
            let merges: Vec<_> = trained.iter().map(|merge| (merge.left, merge.right)).collect();
            let (core, tokens) = match start {
                Some(start) => (start.extended(&merges)?, tokens_of(counts, start)?),
                None => (self.tokenizer(&merges)?, counts.text_bytes() - counts.dropped().bytes),
            };
            Ok((core, counts_of(&trained), tokens))
        })?;
        Ok((Tokenizer::new(core), counts, tokens))
    }
}
