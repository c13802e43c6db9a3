//! Documents out of a Python iterable, converted while others are encoded.

use std::{
    iter::Map,
    slice,
    sync::mpsc::{Sender, channel},
    time::Instant,
};

use lmfast_core::encode;
use pyo3::{
    exceptions::PyException,
    prelude::*,
    types::{PyIterator, PyList, PyTuple},
};
use typed_arena::Arena;

use crate::{
    arguments::{Text, iterator},
    door::{POLL, Supply},
    errors::in_document,
};

/// So many bytes are handed on at once.
const CHUNK_BYTES: usize = 1 << 18;

/// Documents may be so many times as long as the first ones before the array of their ids has to move.
const LONGER: usize = 4;

/// The same for all bytes where the number of documents is not known.
const MANY_BYTES: usize = 1 << 26;

/// The documents that were handed on: those who encode them borrow them.
pub(crate) type Kept = Arena<Box<[Text]>>;

type Chunk<'a> = Map<slice::Iter<'a, Text>, fn(&'a Text) -> encode::Text<'a>>;

/// Hands on the documents of an iterable, but not the characters of a single text.
pub(crate) struct Documents<'a, 'py> {
    iterator: Bound<'py, PyIterator>,
    kept: &'a Kept,
    /// What is converted and not handed on yet.
    chunk: Vec<Text>,
    /// `None` once there are no more.
    sender: Option<Sender<&'a [Text]>>,
    /// How many there are in all, if the iterable tells.
    len: Option<usize>,
    /// Whether it may take long to give the next one.
    may_wait: bool,
    /// Documents converted, and their bytes.
    count: usize,
    bytes: usize,
    raised: Option<PyErr>,
}

impl<'a, 'py> Documents<'a, 'py> {
    /// The supply, and the chunks of texts that it hands on.
    pub(crate) fn new(
        documents: &Bound<'py, PyAny>,
        kept: &'a Kept,
    ) -> PyResult<(Self, impl Iterator<Item = Chunk<'a>> + Send)> {
        let what = "documents must be a sequence of str or bytes";
        let iterator = iterator(documents.as_borrowed(), what)?;
        let len = match documents.len() {
            Ok(len) => Some(len),
            Err(error) if error.is_instance_of::<PyException>(documents.py()) => None,
            Err(error) => return Err(error),
        };
        let may_wait = !documents.is_exact_instance_of::<PyList>()
            && !documents.is_exact_instance_of::<PyTuple>();
        let (sender, receiver) = channel::<&[Text]>();
        let this = Self {
            iterator,
            kept,
            chunk: Vec::new(),
            sender: Some(sender),
            len,
            may_wait,
            count: 0,
            bytes: 0,
            raised: None,
        };
        Ok((this, receiver.into_iter().map(|chunk| chunk.iter().map(Text::as_core as _))))
    }

    /// Bytes converted; empty documents take room, too, so each counts for one more.
    pub(crate) fn size(&self) -> usize {
        self.bytes + self.count
    }

    /// How many bytes the documents have: of those that were handed on if they are all, else more than
    /// is likely.
    pub(crate) fn expected_bytes(&self) -> usize {
        let like_the_first =
            |len: usize| len.saturating_mul(LONGER * self.bytes) / self.count.max(1);
        if self.has_more() { self.len.map_or(MANY_BYTES, like_the_first) } else { self.bytes }
    }

    /// Hand on documents up to this size, but not for long.
    pub(crate) fn step_to(&mut self, py: Python<'py>, size: usize) -> PyResult<()> {
        let start = Instant::now();
        while self.has_more() && self.size() < size && start.elapsed() < POLL {
            self.step(py)?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Convert a chunk of documents, or what comes in time; whether there may be more.
    fn gather(&mut self) -> PyResult<bool> {
        let (enough, start) = (self.size() + CHUNK_BYTES, Instant::now());
        while self.size() < enough && !(self.may_wait && start.elapsed() >= POLL) {
            let Some(document) = self.iterator.next() else { return Ok(false) };
            match Text::extract(document?.as_borrowed()) {
                Ok(text) => {
                    self.count += 1;
                    self.bytes += text.as_bytes().len();
                    self.chunk.push(text);
                }
                // The one text of a batch has no number.
                Err(error) if self.len == Some(1) => return Err(error),
                Err(error) => return Err(in_document(self.iterator.py(), error, self.count)),
            }
        }
        Ok(true)
    }
}

impl<'py> Supply<'py> for Documents<'_, 'py> {
    fn has_more(&self) -> bool {
        self.sender.is_some()
    }

    fn step(&mut self, py: Python<'py>) -> PyResult<()> {
        let gathered = self.gather();
        if gathered.is_err() && self.count > 0 {
            // What failed was a document, too: those before it are not the only ones.
            self.chunk.push(Text::Copied(Vec::new()));
        }
        let chunk = self.kept.alloc(self.chunk.drain(..).collect());
        // Nobody takes it if encoding has failed.
        let is_taken = self.sender.as_ref().is_some_and(|sender| sender.send(chunk).is_ok());
        if !matches!(gathered, Ok(true) if is_taken) {
            self.close();
        }
        match gathered {
            Err(error) if error.is_instance_of::<PyException>(py) => self.raised = Some(error),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        Ok(())
    }

    fn close(&mut self) {
        self.sender = None;
    }

    fn raised(self) -> Option<PyErr> {
        self.raised
    }
}
