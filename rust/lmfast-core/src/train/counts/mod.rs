//! How often each pretoken occurs.

mod arena;
mod hash;
mod shards;
mod table;

pub(crate) use shards::Front;
use shards::Shards;
use table::Table;

use crate::error::Result;

/// Counting that goes on: many threads may add to it.
#[derive(Debug, Default)]
pub struct Counting {
    shards: Shards,
}

impl Counting {
    /// What one thread adds pretokens through.
    pub(crate) fn front(&self) -> Front<'_> {
        Front::new(&self.shards)
    }

    /// The counts.
    pub fn finish(self) -> Result<PretokenCounts> {
        let text_bytes = self.shards.text_bytes();
        let mut tables = self.shards.take();
        tables.iter_mut().for_each(Table::shrink);
        Ok(PretokenCounts { tables, text_bytes })
    }
}

/// Every pretoken of a text with the number of times that it occurs.
#[derive(Debug, Default)]
pub struct PretokenCounts {
    tables: Vec<Table>,
    text_bytes: u64,
}

impl PretokenCounts {
    /// Call `visit` with each pretoken and its count, once, in an order that is the same each time
    /// for the same value.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|(pretoken, count)| visit(pretoken, count))
    }

    /// Each pretoken with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.tables.iter().flat_map(Table::iter)
    }

    /// The bytes of the text that was counted.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// The number of different pretokens.
    pub fn len(&self) -> usize {
        self.tables.iter().map(Table::len).sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Add more to the same counts.
    pub fn reopen(self) -> Counting {
        if self.tables.is_empty() {
            return Counting::default();
        }
        Counting { shards: Shards::from_tables(self.tables, self.text_bytes) }
    }

    #[cfg(test)]
    pub(crate) fn add(&mut self, pretoken: &[u8], times: u64) {
        let counting = std::mem::take(self).reopen();
        counting.shards.add_all(std::iter::once((hash::hash(pretoken), pretoken, times)));
        *self = counting.finish().expect("in memory");
    }
}
