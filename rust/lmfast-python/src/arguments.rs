//! What Python passes in, borrowed where it can be.

use std::{num::NonZero, ops::Range, path::PathBuf};

use lmfast_core::special::SpecialSet;
use numpy::PyReadonlyArray1;
use pyo3::{
    buffer::PyBuffer,
    exceptions::{PyTypeError, PyUnicodeEncodeError},
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
    types::{PyBytes, PyInt, PyIterator, PyMapping, PyString},
};

use crate::errors::raise;

/// `str` or `bytes`, borrowed, or a copy of the bytes in another buffer, which may change any time.
pub(crate) enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
    Copied(Vec<u8>),
}

impl Text {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }

    pub(crate) fn as_core(&self) -> lmfast_core::encode::Text<'_> {
        match self {
            Self::Str(text) => (&**text).into(),
            Self::Bytes(_) | Self::Copied(_) => self.as_bytes().into(),
        }
    }

    /// A part of the text, of the kind that the text is.
    pub(crate) fn part<'py>(&self, py: Python<'py>, range: Range<usize>) -> Bound<'py, PyAny> {
        match self {
            Self::Str(text) => PyString::new(py, &text[range]).into_any(),
            Self::Bytes(_) | Self::Copied(_) => {
                PyBytes::new(py, &self.as_bytes()[range]).into_any()
            }
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            string(object).map(Self::Str)
        } else if object.is_instance_of::<PyBytes>() {
            Ok(Self::Bytes(object.extract()?))
        } else if let Some(bytes) = copied(object)? {
            Ok(Self::Copied(bytes))
        } else {
            Err(wrong_type(object, "text must be str or bytes"))
        }
    }
}

/// The bytes of a `bytearray`, a `memoryview` or an array of `uint8`; `None` for all else.
fn copied(object: Borrowed<'_, '_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    let Ok(buffer) = PyBuffer::<u8>::get(&object) else {
        return Ok(None);
    };
    if buffer.dimensions() == 1 { buffer.to_vec(object.py()).map(Some) } else { Ok(None) }
}

/// A `str`, where bytes are not accepted.
pub(crate) struct Str(pub(crate) PyBackedStr);

impl Str {
    fn named(object: Borrowed<'_, '_, PyAny>, what: &str) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            string(object).map(Self)
        } else {
            Err(wrong_type(object, &format!("{what} must be str")))
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Str {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Self::named(object, "text")
    }
}

fn string(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBackedStr> {
    let py = object.py();
    object.extract().map_err(|error: PyErr| {
        if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
            return error; // no memory for the bytes, for one
        }
        let message = "text holds a lone surrogate (U+D800..U+DFFF), which UTF-8 cannot write; \
                       pass errors=\"replace\" to encode U+FFFD in its place";
        raise(py, "TextError", message)
    })
}

pub(crate) fn wrong_type(object: Borrowed<'_, '_, PyAny>, what: &str) -> PyErr {
    let found = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    raise(object.py(), "InputTypeError", format!("{what}, not {found}"))
}

/// What stands between documents: a `str` that is not empty.
pub(crate) struct Separator(pub(crate) PyBackedStr);

impl<'py> FromPyObject<'_, 'py> for Separator {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !object.is_instance_of::<PyString>() {
            return Err(wrong_type(object, "separator must be str"));
        }
        let separator: PyBackedStr = object.extract().map_err(|_| {
            let message = "separator holds a lone surrogate, which no text can hold";
            raise(object.py(), "ConfigError", message)
        })?;
        if separator.is_empty() {
            let message = "separator must be the text between two documents, not an empty one";
            return Err(raise(object.py(), "ConfigError", message));
        }
        Ok(Self(separator))
    }
}

fn special_token(item: PyResult<Bound<'_, PyAny>>) -> PyResult<String> {
    Ok(Str::named(item?.as_borrowed(), "a special token")?.0.to_string())
}

/// The names of special tokens, in order.
pub(crate) struct SpecialNames(pub(crate) Vec<String>);

impl<'py> FromPyObject<'_, 'py> for SpecialNames {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let names = iterator(object, "special tokens must be a sequence of str")?;
        names.map(special_token).collect::<PyResult<_>>().map(Self)
    }
}

/// What `object` iterates over; `str` and `bytes` are refused.
pub(crate) fn iterator<'py>(
    object: Borrowed<'_, 'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyIterator>> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(wrong_type(object, what));
    }
    any_iterator(object, what)
}

/// The same, but `str` and `bytes` are taken.
fn any_iterator<'py>(
    object: Borrowed<'_, 'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyIterator>> {
    object.try_iter().map_err(|error| {
        let is_no_iterable = error.is_instance_of::<PyTypeError>(object.py());
        if is_no_iterable { wrong_type(object, what) } else { error }
    })
}

fn items<'py, T>(object: Borrowed<'_, 'py, PyAny>, what: &str) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    iterator(object, what)?.map(|item| item?.as_borrowed().extract()).collect()
}

/// Special tokens with their ids.
pub(crate) struct SpecialIds(pub(crate) Vec<(String, u32)>);

impl<'py> FromPyObject<'_, 'py> for SpecialIds {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let numbered = entries::<Str>(object, "special tokens must be a dict of ids by text")?;
        Ok(Self(numbered.into_iter().map(|(text, id)| (text.0.to_string(), id)).collect()))
    }
}

/// The ids of tokens, as tiktoken takes them.
pub(crate) struct Ranks(pub(crate) Vec<(Box<[u8]>, u32)>);

impl<'py> FromPyObject<'_, 'py> for Ranks {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let ranks = entries::<Bytes>(object, "mergeable ranks must be a dict of ids by bytes")?;
        Ok(Self(ranks.into_iter().map(|(bytes, id)| (bytes.0[..].into(), id)).collect()))
    }
}

struct Bytes(PyBackedBytes);

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bytes = object.extract();
        bytes.map(Self).map_err(|_| wrong_type(object, "a token must be bytes"))
    }
}

fn entries<'py, K>(object: Borrowed<'_, 'py, PyAny>, what: &str) -> PyResult<Vec<(K, u32)>>
where
    K: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let mapping = object.cast::<PyMapping>().map_err(|_| wrong_type(object, what))?;
    let entry = |item: Bound<'py, PyAny>| {
        let (key, id) = (item.get_item(0)?, item.get_item(1)?);
        let number = id.extract().map_err(|_: PyErr| {
            if !is_integer(id.as_borrowed()) {
                return wrong_type(id.as_borrowed(), "an id must be an integer");
            }
            let message = format!("{key:?} has the id {id}; an id is a number from 0 to 2^32 - 1");
            raise(item.py(), "VocabularyError", message)
        });
        Ok((key.as_borrowed().extract()?, number?))
    };
    mapping.items()?.iter().map(entry).collect()
}

/// A file or a folder.
pub(crate) struct FilePath(pub(crate) PathBuf);

impl<'py> FromPyObject<'_, 'py> for FilePath {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let path = object.extract().map(Self);
        path.map_err(|_: PyErr| wrong_type(object, "a path must be str or os.PathLike"))
    }
}

/// Files and folders.
pub(crate) struct FilePaths(pub(crate) Vec<PathBuf>);

impl<'py> FromPyObject<'_, 'py> for FilePaths {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let paths: Vec<FilePath> = items(object, "paths must be a sequence of paths")?;
        Ok(Self(paths.into_iter().map(|path| path.0).collect()))
    }
}

/// The name or the pattern of a pretokenizer; `None` does not cut.
pub(crate) struct PretokenizerName(Option<PyBackedStr>);

impl PretokenizerName {
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'py> FromPyObject<'_, 'py> for PretokenizerName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Self(None));
        }
        if !object.is_instance_of::<PyString>() {
            return Err(wrong_type(object, "a pretokenizer must be None or str"));
        }
        string(object).map(|name| Self(Some(name)))
    }
}

/// Import NumPy where it may fail or be interrupted: the first array that is made or taken imports it
/// too, but panics then. To be called before the work that the arrays are for.
pub(crate) fn require_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop)
}

/// Token ids from a NumPy array or any iterable of integers.
pub(crate) struct Ids(pub(crate) Vec<u32>);

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        require_numpy(object.py())?;
        if let Ok(ids) = object.extract::<PyReadonlyArray1<'_, u32>>() {
            return Ok(Self(ids.as_array().to_vec()));
        }
        if let Ok(ids) = object.extract::<PyReadonlyArray1<'_, u16>>() {
            return Ok(Self(ids.as_array().iter().map(|&id| u32::from(id)).collect()));
        }
        let items = any_iterator(object, "ids must be integers in a list or array")?;
        items.map(|item| id(item?.as_borrowed())).collect::<PyResult<_>>().map(Self)
    }
}

/// The ids of many texts, end to end, and where each begins and the last one ends.
pub(crate) struct IdLists {
    pub(crate) ids: Vec<u32>,
    pub(crate) offsets: Vec<u64>,
}

impl<'py> FromPyObject<'_, 'py> for IdLists {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let lists: Vec<Ids> = items(object, "ids must be a sequence of lists or arrays of ids")?;
        let (mut ids, mut offsets) = (Vec::new(), vec![0]);
        for list in lists {
            ids.extend_from_slice(&list.0);
            offsets.push(ids.len() as u64);
        }
        Ok(Self { ids, offsets })
    }
}

/// One token id.
pub(crate) struct Id(pub(crate) u32);

impl<'py> FromPyObject<'_, 'py> for Id {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        id(object).map(Self)
    }
}

fn id(object: Borrowed<'_, '_, PyAny>) -> PyResult<u32> {
    object.extract().map_err(|_: PyErr| {
        if is_integer(object) {
            raise(object.py(), "UnknownTokenError", format!("no token has the id {}", *object))
        } else {
            wrong_type(object, "an id must be an integer")
        }
    })
}

/// Arrays of any shape have `__index__`, but it only works for those of one number.
fn is_integer(object: Borrowed<'_, '_, PyAny>) -> bool {
    object.call_method0("__index__").is_ok_and(|number| number.is_instance_of::<PyInt>())
}

/// `"all"`, or the special tokens of a collection.
pub(crate) struct Special(pub(crate) SpecialSet);

impl<'py> FromPyObject<'_, 'py> for Special {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            if object.extract::<PyBackedStr>().is_ok_and(|text| &*text == "all") {
                return Ok(Self(SpecialSet::All));
            }
            let message =
                format!("special tokens must be \"all\" or a set of them, not {object:?}");
            return Err(raise(object.py(), "InputTypeError", message));
        }
        let items = any_iterator(object, "special tokens must be \"all\" or a set")?;
        let texts: Vec<String> = items.map(special_token).collect::<PyResult<_>>()?;
        Ok(Self(if texts.is_empty() { SpecialSet::None } else { SpecialSet::Some(texts) }))
    }
}

/// A positive count, such as of threads; `None` leaves the choice to lmfast.
pub(crate) type Count = Option<NonZero<usize>>;

/// For each argument that is a count, what reads it and names it in errors.
macro_rules! counts {
    ($($name:ident),+) => {
        $(pub(crate) fn $name(object: &Bound<'_, PyAny>) -> PyResult<Count> {
            count(object, concat!(stringify!($name), " must be None or a whole number"))
        })+
    };
}

/// The same for sizes.
macro_rules! sizes {
    ($($name:ident),+) => {
        $(pub(crate) fn $name(object: &Bound<'_, PyAny>) -> PyResult<u64> {
            size(object, concat!(stringify!($name), " must be a whole number"), 0)
        })+
    };
}

counts!(held_out_one_in, max_document_bytes, max_token_bytes, memory_budget, shard_tokens, threads);
sizes!(max_tokens, min_count, min_frequency, n_vocab, vocab_size);

fn count(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Count> {
    if object.is_none() {
        return Ok(None);
    }
    // Beyond what fits there is no difference to the greatest count that does.
    let number = usize::try_from(size(object, what, 1)?).unwrap_or(usize::MAX);
    Ok(NonZero::new(number))
}

/// A whole number from `least` on; one beyond 64 bits is capped, which is still more than any limit.
fn size(object: &Bound<'_, PyAny>, what: &str, least: u64) -> PyResult<u64> {
    let number = object.call_method0("__index__");
    let number = number.map_err(|_| wrong_type(object.as_borrowed(), what))?;
    if number.lt(least)? {
        let message = format!("{what} from {least} on, not {object}");
        return Err(raise(object.py(), "ConfigError", message));
    }
    Ok(number.extract().unwrap_or(u64::MAX))
}
