//! A text file, or a long text in memory, in blocks that end at safe cuts.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use super::{
    Reading, foreign,
    open::Reader,
    skip::{Bad, OnError, Reason},
};
use crate::{
    error::{Error, Result},
    special::Found,
    utf8,
};

/// Text that begins and ends where it may safely be cut.
#[derive(Debug)]
pub(super) struct Text {
    text: String,
    segments: Vec<Segment>,
}

/// A stretch of a document; the document may continue in the first segment of the next block.
#[derive(Clone, Debug)]
struct Segment {
    range: Range<usize>,
    ends_document: bool,
}

impl Text {
    /// The stretches of text between separators, and whether a document ends after each.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&str, bool)> {
        self.segments
            .iter()
            .map(|segment| (&self.text[segment.range.clone()], segment.ends_document))
    }
}

/// The blocks of one text. The end of the text ends its last document.
///
/// Where there are no safe cuts, a document is one block, whatever its length.
pub(super) struct TextBlocks<'a> {
    input: usize,
    path: PathBuf,
    reader: Reader,
    reading: Reading<'a>,
    /// A document that is not UTF-8 is skipped: none of it is used before all of it is known.
    skips: bool,
    /// Read, but not yet part of a block.
    buffer: Vec<u8>,
    /// Bytes of the text before the buffer.
    offset: u64,
}

impl<'a> TextBlocks<'a> {
    pub(super) fn open(input: usize, path: &Path, reading: Reading<'a>) -> Result<Self> {
        let reader = Reader::open(path)?;
        let skips = reading.sources.options.on_error == OnError::Skip;
        let (path, buffer) = (path.to_owned(), Vec::new());
        Ok(Self { input, path, reader, reading, skips, buffer, offset: 0 })
    }

    /// The blocks of a text in memory, which has no path because nothing is wrong with it.
    pub(super) fn of(text: String, reading: Reading<'a>) -> Self {
        let (path, reader, buffer) = (PathBuf::new(), Reader::of(text), Vec::new());
        Self { input: 0, path, reader, reading, skips: false, buffer, offset: 0 }
    }

    fn read_on(&mut self) -> Result<()> {
        if self.reader.at_end {
            return Ok(());
        }
        // Doubling keeps the time linear where a document has no cut for long.
        let wanted = self.reading.sources.limits.block_bytes.max(self.buffer.len());
        self.reader.read(wanted, &mut self.buffer, &self.path, self.reading.watch)
    }

    pub(super) fn next_block(&mut self) -> Result<Option<Text>> {
        loop {
            self.read_on()?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            let (end, separators) = self.end_of_block()?;
            if end > 0 || self.reader.at_end {
                return Ok(Some(self.take(end, &separators)));
            }
            let limit = self.reading.sources.limits.document_bytes;
            if self.skips && self.buffer.len() > limit {
                return Err(Error::corpus(format!(
                    "{}: the document at byte {} is longer than {limit} bytes, the most that can be \
                     checked whole; to skip what is not UTF-8, write a separator between documents",
                    self.path.display(),
                    self.offset,
                )));
            }
        }
    }

    /// The text at the front of the buffer; at the end of the file, all of it.
    fn valid(&self) -> Result<&str> {
        match utf8::valid_start(&self.buffer) {
            (text, None) => Ok(text),
            // A character that the end of the buffer cuts through.
            (text, Some(error)) if error.error_len().is_none() && !self.reader.at_end => Ok(text),
            (text, Some(_)) => Err(Error::corpus(self.no_text(text.len()))),
        }
    }

    /// That the buffer is no text from `at` on, and what the user may do.
    fn no_text(&self, at: usize) -> String {
        let found = not_utf8(&self.path, self.offset + at as u64);
        let start = if self.offset == 0 { &self.buffer[..] } else { &[] };
        format!("{found}; {}", foreign::advice(start))
    }

    /// Where the block ends, 0 if more must be read to tell, and the separators in it.
    fn end_of_block(&self) -> Result<(usize, Vec<Found>)> {
        let separators = self.reading.separators;
        let valid = if self.skips { None } else { Some(self.valid()?) };
        let bytes = valid.map_or(&self.buffer[..], str::as_bytes);
        if self.reader.at_end {
            return Ok((bytes.len(), separators.find_iter(bytes).collect()));
        }
        // A separator that begins further on may be cut through, or be part of a longer one.
        let certain = bytes.len().saturating_sub(separators.longest());
        let found: Vec<Found> =
            separators.find_iter(bytes).take_while(|found| found.start < certain).collect();
        let after_last = found.last().map_or(0, |found| found.end);
        let cut = valid.and_then(|text| {
            let rest = text.get(after_last..text.floor_char_boundary(certain)).unwrap_or("");
            match self.reading.max_document_bytes {
                Some(limit) => Some(end_of_whole(rest, limit.get())),
                None => self.reading.cuts.last(rest),
            }
        });
        Ok((after_last + cut.unwrap_or(0), found))
    }

    fn take(&mut self, end: usize, separators: &[Found]) -> Text {
        // Only what lies behind the block is copied.
        let rest = self.buffer[end..].to_vec();
        let mut bytes = std::mem::replace(&mut self.buffer, rest);
        bytes.truncate(end);
        let at_end = self.reader.at_end;
        let is_whole = self.skips || self.reading.max_document_bytes.is_some();
        let mut segments = Vec::with_capacity(separators.len() + 1);
        let mut done = 0;
        for found in separators {
            segments.push(Segment { range: done..found.start, ends_document: true });
            done = found.end;
        }
        if done < end || at_end {
            segments.push(Segment { range: done..end, ends_document: at_end || is_whole });
        }
        let text = utf8::into_string(bytes)
            .unwrap_or_else(|bytes| self.without_invalid(&bytes, &mut segments));
        self.offset += end as u64;
        Text { text, segments }
    }

    /// The text of the valid segments, which alone remain.
    fn without_invalid(&self, bytes: &[u8], segments: &mut Vec<Segment>) -> String {
        let mut valid = String::with_capacity(bytes.len());
        segments.retain_mut(|segment| match std::str::from_utf8(&bytes[segment.range.clone()]) {
            Ok(text) => {
                segment.range = valid.len()..valid.len() + text.len();
                valid.push_str(text);
                true
            }
            Err(error) => {
                let at = self.offset + (segment.range.start + error.valid_up_to()) as u64;
                let bad = Bad { reason: Reason::NotUtf8, message: not_utf8(&self.path, at) };
                self.reading.sources.skipped.add((self.input, at), bad);
                false
            }
        });
        valid
    }
}

fn not_utf8(path: &Path, at: u64) -> String {
    format!("{} is not UTF-8: invalid at byte {at}", path.display())
}

/// Where the parts end that a document is cut to for its length; 0 if the first is not known yet.
fn end_of_whole(text: &str, limit: usize) -> usize {
    let mut end = 0;
    while text.len() - end > limit {
        match line_end(&text[end..], limit) {
            Some(part) => end += part,
            None => break,
        }
    }
    end
}

/// The last line end within `limit` bytes, or else the first one beyond.
pub(crate) fn line_end(text: &str, limit: usize) -> Option<usize> {
    let within = text[..text.floor_char_boundary(limit)].rfind('\n');
    within.or_else(|| text.find('\n')).map(|at| at + 1)
}
