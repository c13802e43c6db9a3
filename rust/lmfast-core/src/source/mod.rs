//! Documents out of files and out of what a caller feeds.
//!
//! A file is text, in which separators end documents, or holds a document in each line of JSON.
//! Reading gives blocks in order; workers take them one by one, and what is wrong with a document
//! is found and counted there. Memory holds a few blocks per worker, or the longest document
//! where that is more and has no safe cut.

mod blocks;
mod expand;
mod feed;
mod foreign;
mod json;
mod lines;
mod open;
mod skip;
#[cfg(test)]
mod tests;
mod text;
mod texts;

use std::{num::NonZero, path::PathBuf};

pub(crate) use blocks::{Block, Blocks, fold};
pub use expand::expand;
pub use feed::{Batch, Fed, Feed, Feeder, Pushed};
use json::FieldPath;
use skip::SkipLog;
pub use skip::{OnError, Reason, Skipped};
pub(crate) use text::line_end;
pub use texts::{Stretches, texts_of};

use crate::{pretokenize::SafeCuts, special::Matcher, watch::Watch};

/// One source of documents.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file: text, or JSON lines if its name ends in `.jsonl` or `.ndjson`; decompressed if its
    /// name goes on with `.gz` or `.zst`.
    File(PathBuf),
    /// Documents that the caller feeds.
    Items,
    /// Rows of this file, which the caller feeds.
    Rows(PathBuf),
}

/// How sources are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    field: FieldPath,
    on_error: OnError,
}

impl ReadOptions {
    /// `text_field` holds the text in a line of JSON; a dot in it leads into an object.
    pub fn new(text_field: &str, on_error: OnError) -> Self {
        Self { field: FieldPath::new(text_field), on_error }
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new("text", OnError::Raise)
    }
}

/// Sizes that bound memory.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// What is read at once.
    block_bytes: usize,
    /// The longest line of JSON, and the longest document that can be checked before it is used.
    document_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block_bytes: 1 << 18, document_bytes: 1 << 30 }
    }
}

/// Where documents come from, in order, and what was wrong with some.
#[derive(Debug, Default)]
pub struct Sources {
    inputs: Vec<Input>,
    options: ReadOptions,
    limits: Limits,
    feed: Feed,
    skipped: SkipLog,
}

impl Sources {
    /// These sources, read like that. What the caller feeds can be read once.
    pub fn new(inputs: Vec<Input>, options: ReadOptions) -> Self {
        Self { inputs, options, ..Self::default() }
    }

    /// Files of text and of JSON lines, of which no document may be bad.
    pub fn of_files(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self::new(files.into_iter().map(Input::File).collect(), ReadOptions::default())
    }

    /// The queue that the workers take from what the caller feeds.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// What gathers the documents of the source of that number.
    pub fn feeder(&self, input: usize) -> Feeder<'_> {
        Feeder::new(self, input)
    }

    /// What was left out so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped.skipped()
    }

    /// All documents, in blocks that end at one of `cuts`. With `max_document_bytes` no block ends within a part that is to
    /// be a document of its own.
    pub(crate) fn blocks<'a>(
        &'a self,
        separators: &'a Matcher,
        cuts: SafeCuts,
        max_document_bytes: Option<NonZero<usize>>,
        watch: &'a Watch,
    ) -> Blocks<'a> {
        let sources = self;
        Blocks::new(Reading { sources, separators, cuts, max_document_bytes, watch })
    }
}

/// What reading needs to know.
#[derive(Clone, Copy)]
struct Reading<'a> {
    sources: &'a Sources,
    separators: &'a Matcher,
    cuts: SafeCuts,
    max_document_bytes: Option<NonZero<usize>>,
    watch: &'a Watch,
}
