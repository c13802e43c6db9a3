//! The bytes of a file, decompressed, and how much of the file they took.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::{
    error::{Error, Result},
    watch::Watch,
};

/// What the name of a file says that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    JsonLines,
}

impl Format {
    /// By its extension, that of a compressed file left aside.
    pub(super) fn of(path: &Path) -> Self {
        let inner =
            if compression(path).is_some() { path.file_stem().map(Path::new) } else { None };
        match extension(inner.unwrap_or(path)).as_deref() {
            Some("jsonl" | "ndjson") => Self::JsonLines,
            _ => Self::Text,
        }
    }
}

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstandard,
}

fn compression(path: &Path) -> Option<Compression> {
    match extension(path).as_deref() {
        Some("gz") => Some(Compression::Gzip),
        Some("zst") => Some(Compression::Zstandard),
        _ => None,
    }
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(OsStr::to_ascii_lowercase)?.into_string().ok()
}

/// Counts the bytes that pass through.
struct Counted<R> {
    inner: R,
    passed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.passed.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

/// A source of bytes that fills a buffer piece by piece.
pub(super) struct Reader {
    bytes: Box<dyn Read + Send>,
    /// Bytes taken from the file itself.
    passed: Arc<AtomicU64>,
    reported: u64,
    pub(super) at_end: bool,
}

impl Reader {
    /// The bytes of a file, decompressed if its name ends in `.gz` or `.zst`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        let passed = Arc::<AtomicU64>::default();
        let file = Counted { inner: File::open(path).map_err(failed)?, passed: passed.clone() };
        let bytes: Box<dyn Read + Send> = match compression(path) {
            None => Box::new(file),
            Some(Compression::Gzip) => {
                Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(file)))
            }
            Some(Compression::Zstandard) => Box::new(zstd::Decoder::new(file).map_err(failed)?),
        };
        Ok(Self { bytes, passed, reported: 0, at_end: false })
    }

    /// The bytes of a text in memory, which count as read already.
    pub(super) fn of(text: String) -> Self {
        let bytes = Box::new(io::Cursor::new(text.into_bytes()));
        Self { bytes, passed: Arc::default(), reported: 0, at_end: false }
    }

    /// Append up to `wanted` bytes to `buffer`; fewer mean that the end is reached.
    pub(super) fn read(
        &mut self,
        wanted: usize,
        buffer: &mut Vec<u8>,
        path: &Path,
        watch: &Watch,
    ) -> Result<()> {
        buffer.reserve_exact(wanted);
        let read = self.bytes.by_ref().take(wanted as u64).read_to_end(buffer);
        self.at_end = read.map_err(|error| Error::io("read", path, error))? < wanted;
        let passed = self.passed.load(Relaxed);
        let more = passed - std::mem::replace(&mut self.reported, passed);
        watch.advance(more)
    }
}
