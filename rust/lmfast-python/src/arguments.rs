//! What Python passes in, borrowed where it can be.

use std::num::NonZero;

use lmfast_core::special::SpecialSet;
use numpy::PyReadonlyArray1;
use pyo3::{
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
    types::{PyBytes, PyInt, PyString},
};

use crate::errors::raise;

/// `str` or `bytes`, borrowed.
pub(crate) enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
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
        } else {
            Err(wrong_type(object, "text must be str or bytes"))
        }
    }
}

/// A `str` of text alone, where bytes will not do.
pub(crate) struct Str(pub(crate) PyBackedStr);

impl<'py> FromPyObject<'_, 'py> for Str {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            string(object).map(Self)
        } else {
            Err(wrong_type(object, "text must be str"))
        }
    }
}

fn string(object: Borrowed<'_, '_, PyAny>) -> PyResult<PyBackedStr> {
    object.extract().map_err(|_: PyErr| {
        let message = "text holds a lone surrogate (U+D800..U+DFFF), which UTF-8 cannot write; \
                       text.encode('utf-8', 'replace') puts '?' in its place";
        raise(object.py(), "TextError", message)
    })
}

fn wrong_type(object: Borrowed<'_, '_, PyAny>, what: &str) -> PyErr {
    let found = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    raise(object.py(), "InputTypeError", format!("{what}, not {found}"))
}

/// Token ids from a NumPy array or any iterable of integers.
pub(crate) struct Ids(pub(crate) Vec<u32>);

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(ids) = object.extract::<PyReadonlyArray1<'_, u32>>() {
            return Ok(Self(ids.as_array().to_vec()));
        }
        if let Ok(ids) = object.extract::<PyReadonlyArray1<'_, u16>>() {
            return Ok(Self(ids.as_array().iter().map(|&id| u32::from(id)).collect()));
        }
        let items = object.try_iter();
        let items =
            items.map_err(|_| wrong_type(object, "ids must be integers in a list or array"))?;
        items.map(|item| id(item?.as_borrowed())).collect::<PyResult<_>>().map(Self)
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
        if object.is_instance_of::<PyInt>() || object.hasattr("__index__").unwrap_or(false) {
            raise(object.py(), "UnknownTokenError", format!("no token has the id {}", *object))
        } else {
            wrong_type(object, "an id must be an integer")
        }
    })
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
        let items = object.try_iter();
        let items =
            items.map_err(|_| wrong_type(object, "special tokens must be \"all\" or a set"))?;
        let texts: Vec<String> = items
            .map(|item| Ok(Str::extract(item?.as_borrowed())?.0.to_string()))
            .collect::<PyResult<_>>()?;
        Ok(Self(if texts.is_empty() { SpecialSet::None } else { SpecialSet::Some(texts) }))
    }
}

/// A positive count, such as of threads; `None` leaves the choice to lmfast.
pub(crate) struct Count(pub(crate) Option<NonZero<usize>>);

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_none() {
            return Ok(Self(None));
        }
        let count = object.extract::<usize>().ok().and_then(NonZero::new);
        if count.is_none() {
            let message =
                format!("a count must be None or a whole number from 1 on, not {}", *object);
            return Err(raise(object.py(), "ConfigError", message));
        }
        Ok(Self(count))
    }
}
