//! Documents that a caller feeds, while workers take them: a queue of bounded size.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    Input, Sources,
    skip::{Bad, OnError, Reason},
};
use crate::error::{Error, ErrorKind, Result};

/// A batch is full at this many bytes.
const BATCH_BYTES: usize = 1 << 20;
/// The queue is full at this many bytes; a longer document waits in it alone.
const QUEUE_BYTES: usize = 8 << 20;
/// What a document costs beside its text.
const DOCUMENT_BYTES: usize = size_of::<usize>();

/// Documents, one after the other.
#[derive(Debug, Default)]
pub struct Batch {
    text: String,
    ends: Vec<usize>,
    progress: u64,
}

impl Batch {
    fn size(&self) -> usize {
        self.text.len() + DOCUMENT_BYTES * self.ends.len()
    }

    /// How much reading it counts for.
    pub(super) fn progress(&self) -> u64 {
        self.progress
    }

    pub(super) fn documents(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    /// The text of the only document.
    pub(super) fn into_single(self) -> std::result::Result<String, Self> {
        if self.ends.len() == 1 { Ok(self.text) } else { Err(self) }
    }

    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }
}

/// What is fed.
#[derive(Debug)]
pub enum Fed {
    /// Documents.
    Batch(Batch),
    /// The end of one source.
    End,
    /// There is no more, because a document cannot be used.
    Refused(Error),
    /// There is no more, because the caller failed and knows why: the work counts as interrupted.
    Broken,
}

impl Fed {
    fn size(&self) -> usize {
        if let Self::Batch(batch) = self { batch.size() } else { 0 }
    }
}

/// What became of something fed.
#[derive(Debug)]
pub enum Pushed {
    /// It waits for a worker.
    Taken,
    /// There was no room in time.
    Full(Fed),
    /// Nobody is going to take anything any more.
    Closed,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Fed>,
    bytes: usize,
    is_closed: bool,
}

/// The queue between the caller and the workers.
#[derive(Debug, Default)]
pub struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Put `fed` into the queue, once there is room, but within `patience`.
    pub fn push(&self, fed: Fed, patience: Duration) -> Pushed {
        let size = fed.size();
        let is_full = |state: &mut State| {
            state.bytes > 0 && state.bytes + size > QUEUE_BYTES && !state.is_closed
        };
        let waited = self.changed.wait_timeout_while(self.lock(), patience, is_full);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return Pushed::Closed;
        }
        if timeout.timed_out() {
            return Pushed::Full(fed);
        }
        state.bytes += size;
        state.waiting.push_back(fed);
        self.changed.notify_all();
        Pushed::Taken
    }

    /// The next batch of the source; `None` at its end.
    pub(super) fn pop(&self) -> Result<Option<Batch>> {
        let wait = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_while(self.lock(), wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let fed = state.waiting.pop_front();
        state.bytes -= fed.as_ref().map_or(0, Fed::size);
        self.changed.notify_all();
        match fed {
            Some(Fed::Batch(batch)) => Ok(Some(batch)),
            Some(Fed::End) => Ok(None),
            Some(Fed::Refused(error)) => Err(error),
            Some(Fed::Broken) | None => Err(Error::interrupted()),
        }
    }

    /// Wake up both sides: nothing is to be fed or taken any more.
    pub fn close(&self) {
        let mut state = self.lock();
        *state = State { is_closed: true, ..State::default() };
        self.changed.notify_all();
    }
}

/// Gathers the documents of one source into batches.
#[derive(Debug)]
pub struct Feeder<'a> {
    sources: &'a Sources,
    input: usize,
    /// Documents so far.
    index: u64,
    batch: Batch,
}

impl<'a> Feeder<'a> {
    pub(super) fn new(sources: &'a Sources, input: usize) -> Self {
        Self { sources, input, index: 0, batch: Batch::default() }
    }

    /// Whether the documents are rows of a file.
    pub fn is_of_rows(&self) -> bool {
        matches!(self.sources.inputs.get(self.input), Some(Input::Rows(_)))
    }

    /// The documents that came before.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Take the next document; an error, or one skipped, if it is not UTF-8.
    pub fn add(&mut self, document: &[u8]) -> Result<()> {
        match std::str::from_utf8(document) {
            Ok(text) => {
                self.batch.text.push_str(text);
                self.batch.ends.push(self.batch.text.len());
                self.index += 1;
                Ok(())
            }
            Err(error) => {
                let found = format!("is not UTF-8: invalid at byte {}", error.valid_up_to());
                self.refuse(Reason::NotUtf8, &found)
            }
        }
    }

    /// The next document cannot be used, as `found` says; an error, or one skipped.
    pub fn refuse(&mut self, reason: Reason, found: &str) -> Result<()> {
        let (kind, place) = match self.sources.inputs.get(self.input) {
            Some(Input::Rows(path)) => {
                (ErrorKind::Corpus, format!("row {} of {}", self.index, path.display()))
            }
            _ => (ErrorKind::Text, format!("item {} of the iterator", self.index)),
        };
        let message = format!("{place} (counted from 0) {found}");
        if self.sources.options.on_error == OnError::Raise && reason != Reason::Null {
            return Err(Error::new(kind, message));
        }
        self.sources.skipped.add((self.input, self.index), Bad { reason, message });
        self.index += 1;
        Ok(())
    }

    /// Whether it is time to pass the batch on.
    pub fn is_full(&self) -> bool {
        self.batch.size() >= BATCH_BYTES
    }

    /// Whether there is nothing to pass on.
    pub fn is_empty(&self) -> bool {
        self.batch.ends.is_empty()
    }

    /// What was gathered; it counts as `progress` bytes read, or as those of its text.
    pub fn take(&mut self, progress: Option<u64>) -> Fed {
        let batch = std::mem::take(&mut self.batch);
        let progress = progress.unwrap_or(batch.text.len() as u64);
        Fed::Batch(Batch { progress, ..batch })
    }
}
