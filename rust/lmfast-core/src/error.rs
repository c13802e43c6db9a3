//! The one error type of the crate.

use std::{fmt, io, path::Path};

/// What went wrong, and a sentence that says where, what was found and what is accepted.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The kinds a caller may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting that does not exist.
    Config,
    /// A vocabulary cannot be built, read or used as asked.
    Vocabulary,
    /// Text holds a special token that was not allowed.
    SpecialToken,
    /// An id or a token that the vocabulary does not have.
    UnknownToken,
    /// A pretokenizer that is not known, or a regular expression that does not work.
    Pattern,
    /// Text that a caller passes in and that is not Unicode.
    Text,
    /// Text that cannot be used, such as invalid UTF-8 in a corpus.
    Corpus,
    /// A file is not there.
    Missing,
    /// A file cannot be read or written.
    Io,
    /// The caller asked to stop.
    Interrupted,
}

impl Error {
    /// An error of that kind, with a sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn vocabulary(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Vocabulary, message)
    }

    pub(crate) fn corpus(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corpus, message)
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    /// The same error, said of a file that cannot be loaded.
    pub(crate) fn while_loading(self, path: &Path) -> Self {
        let message = format!("cannot load {}: {}", path.display(), self.message);
        Self { message, ..self }
    }

    /// The same error, said of one of several documents.
    pub(crate) fn in_document(self, index: usize) -> Self {
        let message = format!("document {index}: {}", self.message);
        Self { message, ..self }
    }

    /// `action` completes "cannot ... PATH", as in "read".
    pub(crate) fn io(action: &str, path: &Path, source: io::Error) -> Self {
        let (kind, reason) = match source.kind() {
            io::ErrorKind::NotFound => (ErrorKind::Missing, "there is no such file".to_owned()),
            _ => (ErrorKind::Io, source.to_string()),
        };
        let message = format!("cannot {action} {}: {reason}", path.display());
        Self { kind, message, source: Some(Box::new(source)) }
    }

    /// Which kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}
