//! A file of JSON lines, in blocks of whole lines. Only the search for line ends is done here; the
//! workers parse.

use std::{path::Path, sync::Arc};

use memchr::{memchr, memchr_iter, memrchr};

use super::{
    Reading, json,
    open::Reader,
    skip::{Bad, OnError, Reason},
};
use crate::error::{Error, Result};

/// Whole lines of a file.
pub(super) struct Lines {
    source: Arc<Source>,
    /// Without the rest of a line that is too long.
    bytes: Vec<u8>,
    first_line: u64,
    is_too_long: bool,
}

struct Source {
    input: usize,
    path: Box<Path>,
}

/// The lines of one file, block by block.
pub(super) struct LineBlocks<'a> {
    source: Arc<Source>,
    reader: Reader,
    reading: Reading<'a>,
    /// Read, but not yet part of a block.
    buffer: Vec<u8>,
    /// The number of the line that the buffer begins with, from 1 on.
    line: u64,
    /// Within a line that is too long.
    is_discarding: bool,
}

impl<'a> LineBlocks<'a> {
    pub(super) fn open(input: usize, path: &Path, reading: Reading<'a>) -> Result<Self> {
        Ok(Self {
            source: Arc::new(Source { input, path: path.into() }),
            reader: Reader::open(path)?,
            reading,
            buffer: Vec::new(),
            line: 1,
            is_discarding: false,
        })
    }

    fn read_on(&mut self) -> Result<()> {
        if self.reader.at_end {
            return Ok(());
        }
        let limits = self.reading.sources.limits;
        // Doubling keeps the time linear in a long line.
        let wanted = limits.block_bytes.max(self.buffer.len().min(limits.document_bytes));
        self.reader.read(wanted, &mut self.buffer, &self.source.path, self.reading.watch)
    }

    /// Drop the rest of a line that is too long; whether its end was found.
    fn discard(&mut self) -> bool {
        match memchr(b'\n', &self.buffer) {
            Some(at) => {
                self.buffer.drain(..=at);
                self.line += 1;
                self.is_discarding = false;
            }
            None => self.buffer.clear(),
        }
        !self.is_discarding
    }

    pub(super) fn next_block(&mut self) -> Result<Option<Lines>> {
        loop {
            self.read_on()?;
            if self.is_discarding && !self.discard() && !self.reader.at_end {
                continue;
            }
            if self.buffer.is_empty() && self.reader.at_end {
                return Ok(None);
            }
            let last_line_end = memrchr(b'\n', &self.buffer).map(|at| at + 1);
            let end = if self.reader.at_end { Some(self.buffer.len()) } else { last_line_end };
            if let Some(end) = end {
                return Ok(Some(self.take(end)));
            }
            if self.buffer.len() > self.reading.sources.limits.document_bytes {
                self.buffer.clear();
                self.is_discarding = true;
                return Ok(Some(self.lines(Vec::new(), true)));
            }
        }
    }

    fn take(&mut self, end: usize) -> Lines {
        // Only what lies behind the last line is copied.
        let rest = self.buffer[end..].to_vec();
        let mut bytes = std::mem::replace(&mut self.buffer, rest);
        bytes.truncate(end);
        let line_ends = memchr_iter(b'\n', &bytes).count() as u64;
        let lines = self.lines(bytes, false);
        self.line += line_ends;
        lines
    }

    fn lines(&self, bytes: Vec<u8>, is_too_long: bool) -> Lines {
        Lines { source: self.source.clone(), bytes, first_line: self.line, is_too_long }
    }
}

impl Lines {
    /// Call `visit` with the text of each document.
    pub(super) fn for_each(
        &self,
        reading: &Reading<'_>,
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let limit = reading.sources.limits.document_bytes;
        if self.is_too_long {
            return self.refuse(reading, self.first_line, too_long(limit));
        }
        let mut rest = &self.bytes[..];
        if self.first_line == 1 {
            rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        }
        for number in self.first_line.. {
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            if line.len() > limit {
                self.refuse(reading, number, too_long(limit))?;
            } else if !line.trim_ascii().is_empty() {
                match json::text_in_field(line, &reading.sources.options.field, &mut *visit) {
                    Ok(visited) => visited?,
                    Err(refused) => self.refuse(reading, number, refused)?,
                }
            }
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => break,
            }
        }
        Ok(())
    }

    fn refuse(&self, reading: &Reading<'_>, line: u64, refused: json::Refused) -> Result<()> {
        let (reason, found) = refused;
        let message = format!("line {line} of {} {found}", self.source.path.display());
        if reading.sources.options.on_error == OnError::Raise {
            return Err(Error::corpus(message));
        }
        reading.sources.skipped.add((self.source.input, line), Bad { reason, message });
        Ok(())
    }
}

fn too_long(limit: usize) -> json::Refused {
    (Reason::TooLong, format!("is longer than {limit} bytes, the most that a line may have"))
}
