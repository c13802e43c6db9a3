//! `Tokenizer`: the core's tokenizer, method by method.

use std::{iter::once, sync::Arc};

use lmfast_core::{
    Result, Tokenizer as Core, Watch,
    encode::{Batch, Side, Unit},
    format::{Template, gpt2, kind, tekken, tiktoken, tokenizer_json},
    pretokenize::{Pretokenizer, UNICODE_VERSION},
    special::{AddedToken, Flags, SpecialPolicy, SpecialTokens},
    vocabulary::Vocabulary,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    arguments::{
        self, Count, FilePath, Id, IdLists, Ids, PretokenizerName, Ranks, Separator, Special,
        SpecialIds, SpecialNames, Str, Text, require_numpy,
    },
    documents::{Documents, Kept},
    door::{Supply, detached, fed, watched},
};

/// What is longer is worked on by a thread of its own, so that Ctrl-C interrupts.
const LONG: usize = 1 << 20;

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct Tokenizer {
    pub(crate) core: Arc<Core>,
}

impl Tokenizer {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: Arc::new(core) }
    }

    fn ids(&self, py: Python<'_>, text: &Text, policy: &SpecialPolicy) -> PyResult<Vec<u32>> {
        let bytes = text.as_bytes().len();
        sized(py, bytes, None, |watch| {
            if bytes < LONG {
                return self.core.encode(text.as_core(), policy);
            }
            let chunks = once([text.as_core()]);
            Ok(self.core.encode_batch(chunks, bytes, policy, None, watch)?.ids)
        })
    }

    fn made(py: Python<'_>, make: impl FnOnce() -> Result<Core> + Send) -> PyResult<Self> {
        detached(py, make).map(Self::new)
    }
}

/// The pretokenizer of a name or a pattern; `None` does not cut.
pub(crate) fn pretokenizer(name: Option<&str>) -> Result<Pretokenizer> {
    name.map_or(Ok(Pretokenizer::None), Pretokenizer::new)
}

type IdsAndOffsets<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

fn arrays(py: Python<'_>, batch: Batch) -> IdsAndOffsets<'_> {
    (batch.ids.into_pyarray(py), batch.offsets.into_pyarray(py))
}

fn policy(allowed: Special, disallowed: Special) -> SpecialPolicy {
    SpecialPolicy { allowed: allowed.0, disallowed: disallowed.0 }
}

/// Work on so many bytes or ids: on the caller's thread, or watched where it may take long or somebody
/// wants to know how far it is.
fn sized<T: Send>(
    py: Python<'_>,
    size: usize,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    if size < LONG && on_progress.is_none() {
        detached(py, || work(&Watch::default()))
    } else {
        watched(py, on_progress, work)
    }
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

    /// What kind of tokenizer file is at `path`.
    #[staticmethod]
    fn kind_of_file(py: Python<'_>, path: FilePath) -> PyResult<&'static str> {
        let found = detached(py, || kind::of(&path.0))?;
        Ok(match found {
            kind::Kind::TokenizerJson => "tokenizer.json",
            kind::Kind::Tekken => "tekken.json",
            kind::Kind::Ranks => "tiktoken",
            kind::Kind::Gpt2 => "gpt2",
        })
    }

    #[staticmethod]
    fn load_tekken(py: Python<'_>, path: FilePath) -> PyResult<Self> {
        Self::made(py, || tekken::load(&path.0))
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
        vocab: FilePath,
        merges: FilePath,
        pretokenizer: PretokenizerName,
        special_tokens: SpecialNames,
        more_tokens: SpecialIds,
    ) -> PyResult<Self> {
        Self::made(py, || {
            let pretokenizer = self::pretokenizer(pretokenizer.name())?;
            let files = [&*vocab.0, &*merges.0];
            gpt2::load(files, pretokenizer, &special_tokens.0, more_tokens.0)
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
            Core::new(Vocabulary::from_ranks(&ranks.0)?, special, pretokenizer)
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

    /// Refuse a tokenizer that tiktoken has no counterpart of.
    fn check_ranks(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || tiktoken::check(&self.core))
    }

    fn save_gpt2(&self, py: Python<'_>, folder: FilePath) -> PyResult<()> {
        detached(py, || gpt2::save(&self.core, &folder.0))
    }

    #[getter]
    fn n_vocab(&self) -> usize {
        self.core.n_vocab()
    }

    #[getter]
    fn n_tokens(&self) -> usize {
        self.core.n_tokens()
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
    #[expect(clippy::unused_self, reason = "a property")]
    fn unicode_version(&self) -> &'static str {
        UNICODE_VERSION
    }

    /// Those whose flag `special` is set.
    #[getter]
    fn special_tokens(&self) -> Vec<(&str, u32)> {
        let special = self.core.special_tokens().added().iter().filter(|t| t.flags.special);
        special.map(|token| (token.text.as_str(), token.id)).collect()
    }

    /// Text, id, and the flags `special`, `normalized`, `lstrip`, `rstrip` and `single_word`.
    #[getter]
    fn added_tokens(&self) -> Vec<(&str, u32, [bool; 5])> {
        let tokens = self.core.special_tokens().added().iter();
        let with_flags = tokens.map(|AddedToken { text, id, flags }| {
            let Flags { special, normalized, lstrip, rstrip, single_word } = *flags;
            (text.as_str(), *id, [special, normalized, lstrip, rstrip, single_word])
        });
        with_flags.collect()
    }

    /// The names of the normal forms that text is given first.
    #[getter]
    fn normalizer(&self) -> Vec<&'static str> {
        self.core.special_tokens().normalizer().forms().iter().map(|form| form.name()).collect()
    }

    /// The ids that the file puts before and behind one text.
    #[getter]
    fn template(&self) -> (Vec<u32>, Vec<u32>) {
        let Template { before, after, .. } = self.core.template();
        (before.clone(), after.clone())
    }

    /// Whether the ids of a text always stand for all of it.
    #[getter]
    fn keeps_text(&self) -> bool {
        self.core.special_tokens().keep_text()
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
        let (text, cut) = detached(py, || {
            let text = self.core.special_tokens().normalizer().normalize(text.as_bytes());
            let mut ends = Vec::new();
            self.core.pretokenizer().for_each_bytes(&text, |pretoken| {
                ends.push(ends.last().copied().unwrap_or(0) + pretoken.len());
            })?;
            Ok((text, ends))
        })?;
        let starts = std::iter::once(0).chain(cut.iter().copied());
        let pieces = starts.zip(cut.iter().copied());
        Ok(pieces.map(|(start, end)| PyBytes::new(py, &text[start..end])).collect())
    }

    fn truncated_to(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::n_vocab)] n_vocab: u64,
    ) -> PyResult<Self> {
        let n_vocab = usize::try_from(n_vocab).unwrap_or(usize::MAX);
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
        self.ids(py, &text, &policy(allowed_special, disallowed_special))
    }

    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: Special,
        disallowed_special: Special,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        require_numpy(py)?;
        let ids = self.ids(py, &text, &policy(allowed_special, disallowed_special))?;
        Ok(ids.into_boxed_slice().into_pyarray(py))
    }

    fn count_tokens(
        &self,
        py: Python<'_>,
        text: Text,
        allowed_special: Special,
        disallowed_special: Special,
    ) -> PyResult<usize> {
        let policy = policy(allowed_special, disallowed_special);
        sized(py, text.as_bytes().len(), None, |watch| {
            self.core.count_tokens(text.as_bytes(), &policy, watch)
        })
    }

    fn truncate<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        #[pyo3(from_py_with = arguments::max_tokens)] max_tokens: u64,
        left: bool,
        allowed_special: Special,
        disallowed_special: Special,
    ) -> PyResult<Bound<'py, PyAny>> {
        let policy = policy(allowed_special, disallowed_special);
        let most = usize::try_from(max_tokens).unwrap_or(usize::MAX);
        let side = if left { Side::Left } else { Side::Right };
        let kept = sized(py, text.as_bytes().len(), None, |watch| {
            self.core.truncate(text.as_bytes(), most, side, &policy, watch)
        })?;
        Ok(text.part(py, kept))
    }

    #[expect(clippy::type_complexity, reason = "starts and ends")]
    fn spans<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        ids: Ids,
        characters: bool,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let unit = if characters { Unit::Character } else { Unit::Byte };
        let spans = detached(py, || self.core.spans(text.as_bytes(), &ids.0, unit))?;
        Ok((spans.starts.into_pyarray(py), spans.ends.into_pyarray(py)))
    }

    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        documents: &Bound<'py, PyAny>,
        allowed_special: Special,
        disallowed_special: Special,
        #[pyo3(from_py_with = arguments::threads)] threads: Count,
        on_progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<IdsAndOffsets<'py>> {
        let policy = policy(allowed_special, disallowed_special);
        require_numpy(py)?;
        let kept = Kept::new();
        let (mut documents, chunks) = Documents::new(documents, &kept)?;
        documents.step_to(py, LONG)?;
        let bytes = documents.expected_bytes();
        let encode = |watch: &Watch| self.core.encode_batch(chunks, bytes, &policy, threads, watch);
        let batch = if documents.has_more() || on_progress.is_some() {
            fed(py, on_progress.as_ref(), documents, encode)?
        } else {
            let batch = detached(py, || encode(&Watch::default()))?;
            documents.raised().map_or(Ok(batch), Err)?
        };
        Ok(arrays(py, batch))
    }

    #[expect(clippy::too_many_arguments, reason = "those of Python")]
    fn encode_documents<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        separator: Separator,
        allowed_special: Special,
        disallowed_special: Special,
        #[pyo3(from_py_with = arguments::threads)] threads: Count,
        on_progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<IdsAndOffsets<'py>> {
        let policy = policy(allowed_special, disallowed_special);
        require_numpy(py)?;
        let bytes = text.as_bytes().len();
        let batch = sized(py, bytes, on_progress.as_ref(), |watch| {
            let chunks = once(text.as_core().split(&separator.0));
            self.core.encode_batch(chunks, bytes, &policy, threads, watch)
        })?;
        Ok(arrays(py, batch))
    }

    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: Ids,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || {
            let ids = if skip_special { self.core.without_special(ids.0) } else { ids.0 };
            self.core.decode_bytes(&ids)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        ids: PyReadonlyArray1<'py, u32>,
        offsets: PyReadonlyArray1<'py, u64>,
        skip_special: bool,
        #[pyo3(from_py_with = arguments::threads)] threads: Count,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let (ids, offsets) = (ids.as_array().to_vec(), offsets.as_array().to_vec());
        let texts = sized(py, ids.len(), None, |watch| {
            self.core.decode_batch(&ids, &offsets, skip_special, threads, watch)
        })?;
        Ok(texts.iter().map(|text| PyBytes::new(py, text)).collect())
    }

    fn spelling(&self, py: Python<'_>, id: Id) -> PyResult<String> {
        detached(py, || self.core.spelling(id.0))
    }

    fn id_of_spelling(&self, spelling: Str) -> Option<u32> {
        self.core.id_of_spelling(&spelling.0)
    }

    fn spellings(&self) -> Vec<(String, u32)> {
        self.core.spellings().collect()
    }
}

/// The ids of many texts, end to end, and where each begins and the last one ends.
#[pyfunction]
pub(crate) fn flatten_ids(py: Python<'_>, lists: IdLists) -> PyResult<IdsAndOffsets<'_>> {
    require_numpy(py)?; // of no lists, none has asked for it
    Ok((lists.ids.into_pyarray(py), lists.offsets.into_pyarray(py)))
}
