//! The count file: sorted pretokens with their counts, which can be added up with others.
//!
//! A line that names the format; a line of JSON that says how the text was cut; the records
//! ([`super::record`]) as one zstd frame; a line of JSON with totals; a line with the SHA-256 of
//! everything before it, in hexadecimal. Sorted runs on disk have the same form.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    record::{RecordReader, RecordWriter},
    sum::{Sorted, sum_of},
};
use crate::{
    error::{Error, Result},
    files::hexadecimal,
    pretokenize::UNICODE_VERSION,
    watch::Watch,
};

/// How a count file begins; the version follows.
pub(crate) const MAGIC: &str = "lmfast pretoken counts, version ";
const VERSION: &str = "1";

/// Runs are written once and read once or a few times: quick counts for more than small.
const LEVEL: i32 = 1;

/// What reading takes in memory is about this window, 2^18 bytes; many files are read at once.
const WINDOW_LOG: u32 = 18;

/// No line of the file is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// How text was cut before it was counted: counts belong together only where this is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cutting {
    /// The regular expression of the pretokenizer; `None` where nothing was cut.
    pub pretokenizer: Option<String>,
    /// The text that ends a document and is not counted, in the order of the ids.
    pub special_tokens: Vec<String>,
    /// The version of Unicode whose classes the pretokenizer used.
    pub unicode: String,
}

impl Cutting {
    /// As this version of the crate cuts.
    pub fn new(pretokenizer: Option<&str>, special_tokens: Vec<String>) -> Self {
        let pretokenizer = pretokenizer.map(str::to_owned);
        Self { pretokenizer, special_tokens, unicode: UNICODE_VERSION.to_owned() }
    }

    /// What differs from `other`, in words.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let differ = |what: &str, found: &str, wanted: &str| {
            (found != wanted).then(|| format!("its {what} {found}, not {wanted}"))
        };
        let pattern = |cutting: &Self| match &cutting.pretokenizer {
            Some(pattern) => format!("{pattern:?}"),
            None => "none".to_owned(),
        };
        let special = |cutting: &Self| format!("{:?}", cutting.special_tokens);
        differ("pretokenizer is", &pattern(self), &pattern(other))
            .or_else(|| differ("special tokens are", &special(self), &special(other)))
            .or_else(|| differ("Unicode version is", &self.unicode, &other.unicode))
    }
}

/// What a lossy count left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    /// Different pretokens.
    pub pretokens: u64,
    /// Their occurrences.
    pub occurrences: u64,
    /// The bytes of the text that these are. The count of any pair is too low by at most the bytes
    /// less the occurrences, since a pretoken of n bytes holds n - 1 pairs.
    pub bytes: u64,
}

/// What is known at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Totals {
    pub(super) pretokens: u64,
    pub(super) occurrences: u64,
    /// Bytes of the text, with what was dropped.
    pub(super) text_bytes: u64,
    pub(super) dropped: Dropped,
}

impl Totals {
    /// Take in a pretoken; `None` beyond 64 bits.
    pub(super) fn add(&mut self, pretoken: &[u8], count: u64) -> Option<()> {
        self.pretokens += 1;
        self.occurrences = self.occurrences.checked_add(count)?;
        self.text_bytes = self.text_bytes.checked_add(count.checked_mul(pretoken.len() as u64)?)?;
        Some(())
    }

    /// Take in a pretoken that is left out; `None` beyond 64 bits.
    pub(super) fn drop(&mut self, pretoken: &[u8], count: u64) -> Option<()> {
        let bytes = count.checked_mul(pretoken.len() as u64)?;
        self.add_dropped(Dropped { pretokens: 1, occurrences: count, bytes })
    }

    /// Take in what was left out before; `None` beyond 64 bits.
    pub(super) fn add_dropped(&mut self, more: Dropped) -> Option<()> {
        let Dropped { pretokens, occurrences, bytes } = &mut self.dropped;
        *pretokens = pretokens.checked_add(more.pretokens)?;
        *occurrences = occurrences.checked_add(more.occurrences)?;
        *bytes = bytes.checked_add(more.bytes)?;
        self.text_bytes = self.text_bytes.checked_add(more.bytes)?;
        Some(())
    }
}

pub(super) fn too_much() -> Error {
    Error::corpus("the text is beyond what can be counted: it has 2^64 bytes or more")
}

/// Passes bytes on and takes their checksum.
struct Hashed<T> {
    inner: T,
    sha: Sha256,
    bytes: u64,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self { inner, sha: Sha256::new(), bytes: 0 }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sha.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashed<BufReader<R>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Hashed<BufReader<R>> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.sha.update(&self.inner.buffer()[..amount]);
        self.bytes += amount as u64;
        self.inner.consume(amount);
    }
}

/// Writes a count file; the pretokens must come sorted.
pub(super) struct CountWriter<'a, W: Write> {
    records: RecordWriter<zstd::Encoder<'static, Hashed<W>>>,
    totals: Totals,
    path: &'a Path,
}

impl<'a, W: Write> CountWriter<'a, W> {
    /// `path` is for messages.
    pub(super) fn new(out: W, cutting: &Cutting, path: &'a Path) -> Result<Self> {
        let begin = || {
            let mut out = Hashed::new(out);
            let cutting = serde_json::to_string(cutting)?;
            out.write_all(format!("{MAGIC}{VERSION}\n{cutting}\n").as_bytes())?;
            let mut encoder = zstd::Encoder::new(out, LEVEL)?;
            encoder.window_log(WINDOW_LOG)?;
            Ok(RecordWriter::new(encoder))
        };
        let records = begin().map_err(|error| Error::io("write", path, error))?;
        Ok(Self { records, totals: Totals::default(), path })
    }

    /// Write the sum of `sources`, without the pretokens that occur less often than `min_count`.
    pub(super) fn write_sum<S: Sorted>(
        &mut self,
        sources: &mut [S],
        min_count: u64,
        watch: &Watch,
    ) -> Result<()> {
        sum_of(sources, watch, &mut |pretoken, count| {
            if count >= min_count {
                return self.write(pretoken, count);
            }
            self.totals.drop(pretoken, count).ok_or_else(too_much)
        })?;
        sources.iter().try_for_each(|source| self.note_dropped(source.dropped()))
    }

    /// Say what was left out before.
    pub(super) fn note_dropped(&mut self, dropped: Dropped) -> Result<()> {
        self.totals.add_dropped(dropped).ok_or_else(too_much)
    }

    fn write(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        self.totals.add(pretoken, count).ok_or_else(too_much)?;
        let written = self.records.write(pretoken, count);
        written.map_err(|error| Error::io("write", self.path, error))
    }

    /// End the file, and hand back what it was written to.
    pub(super) fn finish(self) -> Result<(W, Totals)> {
        let Self { records, totals, path } = self;
        let end = || {
            let mut out = records.finish()?.finish()?;
            out.write_all(format!("{}\n", serde_json::to_string(&totals)?).as_bytes())?;
            let Hashed { mut inner, sha, .. } = out;
            inner.write_all(format!("{}\n", hexadecimal(sha)).as_bytes())?;
            inner.flush()?;
            Ok((inner, totals))
        };
        end().map_err(|error| Error::io("write", path, error))
    }
}

/// Reads a count file and checks all of it on the way.
pub(super) struct CountReader<'a, R: Read> {
    records: RecordReader<Frame<R>>,
    cutting: Cutting,
    found: Totals,
    /// What the file says at its end, once that is read.
    totals: Option<Totals>,
    path: &'a Path,
}

/// The one zstd frame of a file.
type Frame<R> = zstd::Decoder<'static, Hashed<BufReader<R>>>;

impl<'a, R: Read> CountReader<'a, R> {
    /// Read as far as the records; `path` is for messages.
    pub(super) fn new(input: R, path: &'a Path) -> Result<Self> {
        let mut input = Hashed::new(BufReader::with_capacity(32 << 10, input));
        let mut line = || {
            let mut line = Vec::new();
            let read = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line);
            read.map_err(|error| Error::io("read", path, error))?;
            Ok::<_, Error>(String::from_utf8_lossy(line.trim_ascii_end()).into_owned())
        };
        let first = line()?;
        let Some(version) = first.strip_prefix(MAGIC) else {
            let message = format!(
                "{} is no file of pretoken counts: it does not begin with {MAGIC:?}; such files \
                 are written by 'lmfast tokenizer count'",
                path.display()
            );
            return Err(Error::corpus(message));
        };
        if version != VERSION {
            let message = format!(
                "{} has version {version:?} of pretoken counts, and this lmfast reads {VERSION:?}",
                path.display()
            );
            return Err(Error::corpus(message));
        }
        let cutting = serde_json::from_str(&line()?)
            .map_err(|error| damaged(path, &format!("its second line: {error}")))?;
        let frame = || {
            let mut frame = zstd::Decoder::with_buffer(input)?.single_frame();
            frame.window_log_max(WINDOW_LOG)?;
            Ok(RecordReader::new(frame))
        };
        let records = frame().map_err(|error| Error::io("read", path, error))?;
        Ok(Self { records, cutting, found: Totals::default(), totals: None, path })
    }

    pub(super) fn cutting(&self) -> &Cutting {
        &self.cutting
    }

    /// Read to the end; the totals.
    pub(super) fn check(mut self, watch: &Watch) -> Result<Totals> {
        sum_of(std::slice::from_mut(&mut self), watch, &mut |_, _| Ok(()))?;
        Ok(self.totals.expect("at the end"))
    }

    /// Read and check what follows the records.
    fn read_end(&mut self) -> Result<Totals> {
        let input = self.records.get_mut().get_mut();
        let mut line = Vec::new();
        let failed = |error| Error::io("read", self.path, error);
        input.take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        let expected = format!("{}\n", hexadecimal(input.sha.clone()));
        let mut rest = Vec::new();
        input.take(expected.len() as u64 + 1).read_to_end(&mut rest).map_err(failed)?;
        if rest != expected.as_bytes() {
            return Err(damaged(self.path, "its checksum is that of other bytes"));
        }
        let totals: Totals = serde_json::from_slice(&line)
            .map_err(|error| damaged(self.path, &format!("the line after the records: {error}")))?;
        self.found.add_dropped(totals.dropped).ok_or_else(too_much)?;
        if self.found != totals {
            return Err(damaged(self.path, "its totals are not those of its records"));
        }
        Ok(totals)
    }

    fn failed(&mut self, error: io::Error) -> Error {
        let at = self.records.get_mut().get_mut().bytes;
        match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(self.path, &format!("it ends at byte {at}")),
            // What zstd finds wrong has no kind of its own.
            io::ErrorKind::InvalidData | io::ErrorKind::Other => {
                damaged(self.path, &format!("near byte {at}: {error}"))
            }
            _ => Error::io("read", self.path, error),
        }
    }
}

impl<R: Read> Sorted for CountReader<'_, R> {
    fn advance(&mut self) -> Result<Option<u64>> {
        if self.totals.is_some() {
            return Ok(None);
        }
        match self.records.read() {
            Ok(Some(count)) => {
                self.found.add(self.records.pretoken(), count).ok_or_else(too_much)?;
                Ok(Some(count))
            }
            Ok(None) => {
                self.totals = Some(self.read_end()?);
                Ok(None)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn pretoken(&self) -> &[u8] {
        self.records.pretoken()
    }

    fn dropped(&self) -> Dropped {
        self.totals.unwrap_or_default().dropped
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::corpus(format!(
        "{} is damaged or cut off: {what}; count this part again",
        path.display()
    ))
}
