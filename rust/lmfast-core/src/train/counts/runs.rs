//! Sorted runs of counts on disk: written when memory is short, added up when there are many.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read},
    path::{Path, PathBuf},
};

use super::{
    file::{CountReader, CountWriter, Cutting, Totals},
    sum::Sorted,
};
use crate::{
    error::{Error, Result},
    watch::Watch,
};

/// Runs that are read at once: each takes a file handle and about half a mebibyte.
const FAN_IN: usize = 32;

/// Counts in a file, sorted: a count file of the user's, or a temporary one, which has no name, so
/// that nothing is left of it however the process ends.
#[derive(Debug)]
pub(super) struct Run {
    file: File,
    /// The file, or the folder of one without a name.
    path: PathBuf,
    /// `None` for a file that is still to be checked.
    totals: Option<Totals>,
}

impl Run {
    /// A count file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("read", path, error);
        // Opening a pipe would wait for someone to write.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            let message = format!("{} is not a file, which counts are read from", path.display());
            return Err(Error::corpus(message));
        }
        let file = File::open(path).map_err(failed)?;
        Ok(Self { file, path: path.to_owned(), totals: None })
    }

    /// How its text was cut.
    pub(super) fn cutting(&self) -> Result<Cutting> {
        Ok(self.reader()?.cutting().clone())
    }

    /// An error if its text was cut in another way.
    pub(super) fn check_cutting(&self, cutting: &Cutting) -> Result<()> {
        self.cutting()?.difference(cutting).map_or(Ok(()), |difference| {
            Err(Error::corpus(format!(
                "{} cannot be used: {difference}; counts belong together only if text was cut in \
                 the same way",
                self.path.display()
            )))
        })
    }

    /// The sum of `sources`, without what occurs less often than `min_count`.
    pub(super) fn of<S: Sorted>(
        sources: &mut [S],
        min_count: u64,
        folder: &Path,
        watch: &Watch,
    ) -> Result<Self> {
        let failed = |error| Error::io("write a temporary file in", folder, error);
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        let out = BufWriter::with_capacity(128 << 10, file);
        let mut writer = CountWriter::new(out, &Cutting::default(), folder)?;
        writer.write_sum(sources, min_count, watch)?;
        let (out, totals) = writer.finish()?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Self { file, path: folder.to_owned(), totals: Some(totals) })
    }

    /// Reads it from the beginning; several readers do not disturb each other.
    pub(super) fn reader(&self) -> Result<CountReader<'_, FromStart<'_>>> {
        CountReader::new(FromStart { file: &self.file, at: 0 }, &self.path)
    }

    /// What its end says. A file of the user's is read whole and checked first.
    pub(super) fn totals(&mut self, watch: &Watch) -> Result<Totals> {
        if let Some(totals) = self.totals {
            return Ok(totals);
        }
        let totals = self.reader()?.check(watch)?;
        self.totals = Some(totals);
        Ok(totals)
    }
}

/// A file from its start on, whatever others do with its position.
pub(super) struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Runs by how often what is in them was added up, so that each is read few times.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<Vec<Run>>);

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Add a run; as soon as there are many of a kind they become one.
    pub(super) fn push(&mut self, mut run: Run, folder: &Path, watch: &Watch) -> Result<()> {
        for level in 0.. {
            if level == self.0.len() {
                self.0.push(Vec::new());
            }
            self.0[level].push(run);
            if self.0[level].len() < FAN_IN {
                break;
            }
            run = sum(&std::mem::take(&mut self.0[level]), 1, folder, watch)?;
        }
        Ok(())
    }

    /// All of them as one run, without what occurs less often than `min_count`; there is one at
    /// least.
    pub(super) fn into_one(self, min_count: u64, folder: &Path, watch: &Watch) -> Result<Run> {
        let mut runs: Vec<Run> = self.0.into_iter().flatten().collect();
        while runs.len() > FAN_IN {
            // The first ones are the smallest.
            let first: Vec<Run> = runs.drain(..FAN_IN).collect();
            runs.push(sum(&first, 1, folder, watch)?);
        }
        if min_count <= 1 && runs.len() == 1 {
            return Ok(runs.remove(0));
        }
        sum(&runs, min_count, folder, watch)
    }
}

fn sum(runs: &[Run], min_count: u64, folder: &Path, watch: &Watch) -> Result<Run> {
    let mut readers = runs.iter().map(Run::reader).collect::<Result<Vec<_>>>()?;
    Run::of(&mut readers, min_count, folder, watch)
}
