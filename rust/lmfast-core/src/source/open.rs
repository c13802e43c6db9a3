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
    progress: Progress,
    pub(super) at_end: bool,
}

/// Which bytes count as read.
enum Progress {
    /// Those that are read.
    Bytes,
    /// Those of a compressed file, which were taken from it since the last time.
    Compressed(Arc<AtomicU64>),
    /// None: they count already.
    Done,
}

impl Reader {
    /// The bytes of a file, decompressed if its name ends in `.gz` or `.zst`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        let file = File::open(path).map_err(failed)?;
        let Some(compression) = compression(path) else {
            return Ok(Self { bytes: Box::new(file), progress: Progress::Bytes, at_end: false });
        };
        let passed = Arc::<AtomicU64>::default();
        let file = Counted { inner: file, passed: passed.clone() };
        let bytes: Box<dyn Read + Send> = match compression {
            Compression::Gzip => {
                Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(file)))
            }
            Compression::Zstandard => Box::new(zstd::Decoder::new(file).map_err(failed)?),
        };
        Ok(Self { bytes, progress: Progress::Compressed(passed), at_end: false })
    }

    /// The bytes of a text in memory, which count as read already.
    pub(super) fn of(text: String) -> Self {
        let bytes = Box::new(io::Cursor::new(text.into_bytes()));
        Self { bytes, progress: Progress::Done, at_end: false }
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
        let read = read.map_err(|error| Error::io("read", path, error))?;
        self.at_end = read < wanted;
        watch.advance(match &self.progress {
            Progress::Bytes => read as u64,
            Progress::Compressed(passed) => passed.swap(0, Relaxed),
            Progress::Done => 0,
        })
    }
}
