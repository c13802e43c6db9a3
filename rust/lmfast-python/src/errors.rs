//! Errors of the core as the exceptions of `lmfast.errors`.

use lmfast_core::{Error, ErrorKind};
use pyo3::{
    exceptions::PyKeyboardInterrupt,
    prelude::*,
    sync::PyOnceLock,
    types::{PyModule, PyType},
};

/// The exception class of that name in `lmfast.errors`, raised with `message`.
pub(crate) fn raise(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || py.import("lmfast.errors").map(Bound::unbind);
    let class = MODULE
        .get_or_try_init(py, import)
        .and_then(|module| module.bind(py).getattr(class))
        .and_then(|class| Ok(class.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, message.into()),
        Err(error) => error,
    }
}

/// The same exception, said of one of several documents; what is not lmfast's own is left.
pub(crate) fn in_document(py: Python<'_>, error: PyErr, index: usize) -> PyErr {
    let class = error.get_type(py);
    let is_own = class.module().is_ok_and(|module| module == "lmfast.errors");
    if !is_own {
        return error;
    }
    PyErr::from_type(class, format!("document {index}: {}", error.value(py)))
}

/// The exception that a caller expects for an error of the core.
pub(crate) fn from_core(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
        ErrorKind::Config => "ConfigError",
        ErrorKind::SpecialToken => "SpecialTokenError",
        ErrorKind::UnknownToken => "UnknownTokenError",
        ErrorKind::Text => "TextError",
        ErrorKind::Corpus => "CorpusError",
        ErrorKind::Missing => "MissingFileError",
        ErrorKind::Io => "FileError",
        _ => "VocabularyError",
    };
    raise(py, class, error.to_string())
}
