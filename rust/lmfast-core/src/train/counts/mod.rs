//! How often each pretoken occurs.
//!
//! Threads count into shared tables in memory ([`shards`]). Where a memory budget is set and runs
//! out, the tables are written as a sorted run ([`file`]) and emptied; in the end all runs are
//! added up ([`sum`]). So the counts are the same whatever the budget.

mod arena;
mod file;
mod record;
mod runs;
mod shards;
mod sum;
mod table;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

pub(crate) use file::MAGIC as COUNT_FILE_START;
use file::{CountWriter, Totals, too_much};
pub use file::{Cutting, Dropped};
use runs::{Run, Runs};
pub(crate) use shards::Front;
use shards::Shards;
use sum::{Sorted, SortedArena};
use table::Table;

use crate::{
    error::{Error, ErrorKind, Result},
    files::write_whole,
    watch::Watch,
};

/// How much memory counting may take.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    /// Bytes for tables, blocks of text and what adding up needs; the process needs some more.
    pub bytes: u64,
    /// Where the temporary files go.
    pub folder: PathBuf,
}

/// What each thread needs: blocks of text, and its front table.
const BYTES_PER_THREAD: u64 = 4 << 20;

/// What adding up runs needs, which may happen while counting goes on.
const SUM_BYTES: u64 = 32 << 20;

/// The least that tables are useful with.
const LEAST_FOR_TABLES: u64 = 16 << 20;

/// How the text of a count file was cut; of the file, no more than that is checked.
pub fn cutting_of(path: &Path) -> Result<Cutting> {
    Run::open(path)?.cutting()
}

impl MemoryBudget {
    /// What tables may take until they are written to disk. Meanwhile others are filled; the rest
    /// is for what the allocator cannot use.
    fn for_tables(&self, threads: usize) -> Result<usize> {
        let fixed = SUM_BYTES + BYTES_PER_THREAD * threads as u64;
        let least = fixed + LEAST_FOR_TABLES;
        if self.bytes < least {
            let message = format!(
                "a memory budget of {} MiB is too small for {threads} threads: it takes {} MiB at \
                 least; give more, or use fewer threads",
                self.bytes >> 20,
                least >> 20,
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(usize::try_from((self.bytes - fixed) / 5 * 2).unwrap_or(usize::MAX))
    }
}

/// Counting that goes on: many threads may add to it.
#[derive(Debug, Default)]
pub struct Counting {
    shards: Shards,
    runs: Mutex<Runs>,
    budget: Option<MemoryBudget>,
    /// Instead of what the budget leaves for tables.
    #[cfg(test)]
    spill_above: Option<usize>,
}

impl Counting {
    /// Nothing counted yet; `None` takes the memory that it needs.
    pub fn new(budget: Option<MemoryBudget>) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Add what count files hold, of text that was cut in the same way.
    pub fn add_counts(&self, paths: &[PathBuf], cutting: &Cutting, watch: &Watch) -> Result<()> {
        let mut runs = self.lock_runs();
        for path in paths {
            let run = Run::open(path)?;
            run.check_cutting(cutting)?;
            runs.push(run, &self.folder(), watch)?;
        }
        Ok(())
    }

    /// What one thread adds pretokens through.
    pub(crate) fn front(&self) -> Front<'_> {
        Front::new(&self.shards)
    }

    /// How many bytes tables may take, for [`Self::relieve`]; an error if the budget is too small.
    pub(super) fn limit(&self, threads: usize) -> Result<usize> {
        #[cfg(test)]
        if let Some(limit) = self.spill_above {
            return Ok(limit);
        }
        self.budget.as_ref().map_or(Ok(usize::MAX), |budget| budget.for_tables(threads))
    }

    /// Write the tables to disk if they take more than `limit`; meanwhile other threads may go on,
    /// until they reach the limit again.
    pub(super) fn relieve(&self, limit: usize, watch: &Watch) -> Result<()> {
        if self.shards.allocated() <= limit {
            return Ok(());
        }
        let mut runs = self.lock_runs();
        if self.shards.allocated() <= limit {
            return Ok(());
        }
        self.spill(&mut runs, watch)
    }

    fn spill(&self, runs: &mut Runs, watch: &Watch) -> Result<()> {
        let mut tables = self.shards.take();
        tables.iter_mut().for_each(Table::shrink);
        if tables.iter().all(|table| table.len() == 0) {
            return Ok(());
        }
        let folder = self.folder();
        let run = Run::of(&mut sorted(&tables), 1, &folder, watch)?;
        drop(tables);
        runs.push(run, &folder, watch)
    }

    fn folder(&self) -> PathBuf {
        self.budget.as_ref().map_or_else(std::env::temp_dir, |budget| budget.folder.clone())
    }

    /// The counts, without the pretokens that occur less often than `min_count`.
    pub fn finish(self, min_count: u64, watch: &Watch) -> Result<PretokenCounts> {
        let folder = self.folder();
        let mut runs = std::mem::take(&mut *self.lock_runs());
        if runs.is_empty() {
            let (tables, totals) = frequent(self.shards.take(), min_count)?;
            return Ok(PretokenCounts { held: Held::InMemory(tables), totals });
        }
        self.spill(&mut runs, watch)?;
        let mut run = runs.into_one(min_count, &folder, watch)?;
        let totals = run.totals(watch)?;
        Ok(PretokenCounts { held: Held::OnDisk(run), totals })
    }

    fn lock_runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tables without what occurs less often than `min_count`, made for reading.
fn frequent(tables: Vec<Table>, min_count: u64) -> Result<(Vec<Table>, Totals)> {
    let mut totals = Totals::default();
    let mut sift = |table: Table| {
        let mut rare = 0;
        for (pretoken, count) in table.iter() {
            if count >= min_count {
                totals.add(pretoken, count)?;
            } else {
                totals.drop(pretoken, count)?;
                rare += 1;
            }
        }
        let mut kept = if rare == 0 { table } else { table.without_rare(min_count) };
        kept.shrink();
        Some(kept)
    };
    let tables = tables.into_iter().map(&mut sift).collect::<Option<_>>();
    Ok((tables.ok_or_else(too_much)?, totals))
}

fn sorted(tables: &[Table]) -> Vec<SortedArena<'_>> {
    tables.iter().map(Table::sorted).collect()
}

/// Every pretoken of a text with the number of times that it occurs.
#[derive(Debug)]
pub struct PretokenCounts {
    held: Held,
    totals: Totals,
}

#[derive(Debug)]
enum Held {
    InMemory(Vec<Table>),
    OnDisk(Run),
}

impl Default for PretokenCounts {
    fn default() -> Self {
        Self { held: Held::InMemory(Vec::new()), totals: Totals::default() }
    }
}

impl PretokenCounts {
    /// Call `visit` with each pretoken and its count, once, in an order that is the same each time
    /// for the same value.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        match &self.held {
            Held::InMemory(tables) => {
                let mut entries = tables.iter().flat_map(Table::iter);
                entries.try_for_each(|(pretoken, count)| visit(pretoken, count))
            }
            Held::OnDisk(run) => {
                let mut reader = run.reader()?;
                while let Some(count) = reader.advance()? {
                    visit(reader.pretoken(), count)?;
                }
                Ok(())
            }
        }
    }

    /// Write all to a count file, whole or not at all.
    pub fn save(&self, path: &Path, cutting: &Cutting, watch: &Watch) -> Result<()> {
        write_whole(path, |out| {
            let mut writer = CountWriter::new(out, cutting, path)?;
            match &self.held {
                Held::InMemory(tables) => {
                    writer.write_sum(&mut sorted(tables), 1, watch)?;
                    writer.note_dropped(self.dropped())?;
                }
                Held::OnDisk(run) => writer.write_sum(&mut [run.reader()?], 1, watch)?,
            }
            writer.finish().map(|_| ())
        })
    }

    /// The bytes of the text that was counted, with what was dropped.
    pub fn text_bytes(&self) -> u64 {
        self.totals.text_bytes
    }

    /// The number of different pretokens.
    pub fn len(&self) -> usize {
        self.totals.pretokens as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often all of them occur together.
    pub fn occurrences(&self) -> u64 {
        self.totals.occurrences
    }

    /// What was left out, since it occurs too rarely.
    pub fn dropped(&self) -> Dropped {
        self.totals.dropped
    }

    #[cfg(test)]
    pub(crate) fn add(&mut self, pretoken: &[u8], times: u64) {
        let counting = Counting::default();
        let mut add = |pretoken: &[u8], count| {
            counting.shards.add_all(std::iter::once((
                crate::hash::hash(pretoken),
                pretoken,
                count,
            )));
            Ok(())
        };
        self.for_each(&mut add).and_then(|()| add(pretoken, times)).expect("in memory");
        *self = counting.finish(1, &Watch::default()).expect("in memory");
    }
}

#[cfg(test)]
mod tests;
