//! What is wrong with a document, and the count of those that are left out for it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use crate::error::{Error, ErrorKind, Result};

/// What to do with a document that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Fail.
    #[default]
    Raise,
    /// Leave it out, and count it.
    Skip,
}

impl OnError {
    /// The choice of that name: `raise` or `skip`.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "skip" => Ok(Self::Skip),
            _ => {
                let message = format!("on_error is {name:?}; it can be \"raise\" or \"skip\"");
                Err(Error::new(ErrorKind::Config, message))
            }
        }
    }
}

/// Why a document cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A line that is not JSON.
    NotJson,
    /// A line without the field of the text.
    NoField,
    /// The field holds something else than a string.
    NotString,
    /// Text that UTF-8 cannot write.
    LoneSurrogate,
    /// A line or a document beyond the limit.
    TooLong,
    /// A row without a value: no document, whatever is to be done with bad ones.
    Null,
}

impl Reason {
    /// The name by which it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotUtf8 => "not_utf8",
            Self::NotJson => "not_json",
            Self::NoField => "no_field",
            Self::NotString => "not_string",
            Self::LoneSurrogate => "lone_surrogate",
            Self::TooLong => "too_long",
            Self::Null => "null",
        }
    }
}

/// A document that cannot be used: why, and a sentence that says where and what was found.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

/// Where a document is: the number of its source, then of its line, byte or item.
pub(crate) type Place = (usize, u64);

/// What was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of documents for each reason that there was.
    pub by_reason: BTreeMap<Reason, u64>,
    /// What was wrong with the first of them.
    pub first: Option<String>,
}

/// Counts what many threads leave out.
#[derive(Debug, Default)]
pub(crate) struct SkipLog(Mutex<(Skipped, Place)>);

impl SkipLog {
    pub(crate) fn add(&self, place: Place, bad: Bad) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (skipped, first_place) = &mut *log;
        *skipped.by_reason.entry(bad.reason).or_default() += 1;
        if skipped.first.is_none() || place < *first_place {
            skipped.first = Some(bad.message);
            *first_place = place;
        }
    }

    pub(crate) fn skipped(&self) -> Skipped {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}
