//! `Tokenizer`: the core's tokenizer, method by method.

use std::sync::Arc;

use lmfast_core::{
    Result, Tokenizer as Core,
    format::{gpt2, tiktoken, tokenizer_json},
    pretokenize::{Pretokenizer, UNICODE_VERSION},
    special::{SpecialPolicy, SpecialTokens},
    vocabulary::Vocabulary,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    arguments::{
        Count, FilePath, Id, Ids, PretokenizerName, Ranks, Size, Special, SpecialIds, SpecialNames,
        Text, Texts,
    },
    door::{detached, watched},
};

/// Longer texts are encoded on a thread of their own, so that Ctrl-C interrupts.
const LONG: usize = 1 << 20;

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct Tokenizer {
    pub(crate) core: Arc<Core>,
}

impl Tokenizer {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: Arc::new(core) }
    }

    fn made(py: Python<'_>, make: impl FnOnce() -> Result<Core> + Send) -> PyResult<Self> {
        detached(py, make).map(Self::new)
    }
}

/// The pretokenizer of a name or a pattern; `None` does not cut.
pub(crate) fn pretokenizer(name: Option<&str>) -> Result<Pretokenizer> {
    name.map_or(Ok(Pretokenizer::None), Pretokenizer::new)
}

#[pymethods]
impl Tokenizer {
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        Self::made(py, || tokenizer_json::from_json(text))
    }

    #[staticmethod]
    fn load_json(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        Self::made(py, || tokenizer_json::load(&path.0))
    }

    #[staticmethod]
    fn load_tiktoken(
        py: Python<'_>,
        path: FilePath,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialIds,
    ) -> PyResult<Self> {
        Self::made(py, || {
            let special = SpecialTokens::new(special_tokens.0)?;
            tiktoken::load(&path.0, special, self::pretokenizer(pretokenizer.name())?)
        })
    }

    #[staticmethod]
    fn load_gpt2(
        py: Python<'_>,
        folder: FilePath,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialNames,
    ) -> PyResult<Self> {
        Self::made(py, || {
            gpt2::load(&folder.0, self::pretokenizer(pretokenizer.name())?, &special_tokens.0)
        })
    }

    #[staticmethod]
    fn from_ranks(
        py: Python<'_>,
        ranks: Ranks,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialIds,
    ) -> PyResult<Self> {
        Self::made(py, || {
            let special = SpecialTokens::new(special_tokens.0)?;
            let pretokenizer = self::pretokenizer(pretokenizer.name())?;
            Core::new(Vocabulary::from_ranks(ranks.0)?, special, pretokenizer)
        })
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(tokenizer_json::to_json(&self.core)))
    }

    fn save_json(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        detached(py, || tokenizer_json::save(&self.core, &path.0))
    }

    fn save_tiktoken(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        detached(py, || tiktoken::save(&self.core, &path.0))
    }

    fn save_gpt2(&self, py: Python<'_>, folder: FilePath) -> PyResult<()> {
        detached(py, || gpt2::save(&self.core, &folder.0))
    }

    #[getter]
    fn n_vocab(&self) -> usize {
        self.core.n_vocab()
    }

    #[getter]
    fn identity(&self, py: Python<'_>) -> PyResult<String> {
        detached(py, || Ok(self.core.identity()))
    }

    #[getter]
    fn pretokenizer(&self) -> Option<String> {
        self.core.pretokenizer().pattern().map(|_| self.core.pretokenizer().to_string())
    }

    #[getter]
    fn pattern(&self) -> Option<&str> {
        self.core.pretokenizer().pattern()
    }

    #[getter]
    fn pretokenizer_engine(&self) -> &'static str {
        self.core.pretokenizer().engine().name()
    }

    #[getter]
    fn unicode_version(&self) -> &'static str {
        UNICODE_VERSION
    }

    #[getter]
    fn special_tokens(&self) -> Vec<(&str, u32)> {
        self.core.special_tokens().iter().collect()
    }

    fn tokens<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, u32)> {
        let tokens = self.core.vocabulary().tokens();
        tokens.map(|(id, bytes)| (PyBytes::new(py, bytes), id)).collect()
    }

    /// Left, right, merged and rank, lowest rank first.
    fn merges(&self) -> Vec<(u32, u32, u32, u32)> {
        let merges = self.core.vocabulary().merges().iter();
        merges.map(|merge| (merge.left, merge.right, merge.merged, merge.rank)).collect()
    }

    #[getter]
    fn whole_pretokens_first(&self) -> bool {
        self.core.vocabulary().whole_pretokens_first()
    }

    fn pretokens<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let cut = detached(py, || {
            let mut ends = Vec::new();
            self.core.pretokenizer().for_each_bytes(text.as_bytes(), |pretoken| {
                ends.push(ends.last().copied().unwrap_or(0) + pretoken.len());
            })?;
            Ok(ends)
        })?;
        let starts = std::iter::once(0).chain(cut.iter().copied());
        let pieces = starts.zip(cut.iter().copied());
        Ok(pieces.map(|(start, end)| PyBytes::new(py, &text.as_bytes()[start..end])).collect())
    }

    fn truncated_to(&self, py: Python<'_>, n_vocab: Size) -> PyResult<Self> {
        let n_vocab = usize::try_from(n_vocab.0).unwrap_or(usize::MAX);
        Self::made(py, || self.core.truncated_to(n_vocab))
    }

    fn token_bytes(&self, py: Python<'_>, id: Id) -> PyResult<Py<PyBytes>> {
        let bytes = detached(py, || self.core.token_bytes(id.0))?;
        Ok(PyBytes::new(py, bytes).unbind())
    }

    fn token_id(&self, py: Python<'_>, token: Text) -> PyResult<u32> {
        detached(py, || self.core.token_id(token.as_bytes()))
    }

    fn encode(
        &self,
        py: Python<'_>,
        text: Text,
        allowed_special: Special,
        disallowed_special: Special,
    ) -> PyResult<Vec<u32>> {
        let policy = SpecialPolicy { allowed: allowed_special.0, disallowed: disallowed_special.0 };
        let encode = || self.core.encode(text.as_bytes(), &policy);
        if text.as_bytes().len() < LONG {
            detached(py, encode)
        } else {
            watched(py, None, |_| encode())
        }
    }

    #[expect(clippy::type_complexity, reason = "ids and offsets")]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Texts,
        allowed_special: Special,
        disallowed_special: Special,
        threads: Count,
        on_progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>)> {
        let policy = SpecialPolicy { allowed: allowed_special.0, disallowed: disallowed_special.0 };
        let batch = watched(py, on_progress.as_ref(), |watch| {
            let texts: Vec<&[u8]> = texts.0.iter().map(Text::as_bytes).collect();
            self.core.encode_batch(&texts, &policy, threads.0, watch)
        })?;
        Ok((batch.ids.into_pyarray(py), batch.offsets.into_pyarray(py)))
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || self.core.decode_bytes(&ids.0))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
