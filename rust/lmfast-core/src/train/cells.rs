//! The counts of pairs, added up in cells.
//!
//! Where there are few tokens, each pair has a cell to itself, and its count is known at once. Else
//! pairs share the cells, and one whose cell stays below a threshold is itself below it.

use rayon::prelude::*;

use super::{pairs, symbol::Symbol, text::Text};
use crate::vocabulary::TokenId;

/// At most so many cells, 2 MiB, are for one pair each: more than that cache holds, but few of them
/// are used often.
const MOST_OWN: usize = if cfg!(test) { 260 * 260 } else { 1 << 19 };

/// At least so many slots for each cell: those of one worker take an eighth of the text's memory at
/// most, those of all workers half.
const SLOTS_PER_OWN: usize = if cfg!(test) { 0 } else { 16 };

/// Two to this many cells of 4 bytes: half of the second-level cache of common processors.
const SHARED_BITS: u32 = if cfg!(test) { 6 } else { 16 };

/// Which cell a pair belongs to; two slots that hold no pair have cells that no pair has.
pub(super) trait Layout: Copy + Send + Sync {
    /// The number of cells.
    fn len(self) -> usize;

    /// The cell of what stands in two slots of a compact text.
    fn cell<S: Symbol>(self, left: S, right: S) -> usize;

    /// The cells of what is no pair.
    fn unused(self) -> impl Iterator<Item = usize>;
}

/// A row of cells for each token on the left, a column for each on the right, and one more of each.
#[derive(Clone, Copy)]
pub(super) struct Own {
    tokens: TokenId,
}

impl Own {
    /// Cells for the tokens of a text, unless they would be too many.
    fn of(text: &Text<impl Symbol>) -> Option<Self> {
        let tokens = text.widths().len();
        let cells = (tokens + 1).checked_mul(tokens + 1)?;
        (cells <= MOST_OWN && cells * SLOTS_PER_OWN <= text.len())
            .then_some(Self { tokens: tokens as TokenId })
    }

    fn rows(self) -> usize {
        self.tokens as usize + 1
    }

    /// The pair that a cell belongs to.
    pub(super) fn pair(self, cell: usize) -> (TokenId, TokenId) {
        ((cell / self.rows()) as TokenId, (cell % self.rows()) as TokenId)
    }
}

impl Layout for Own {
    fn len(self) -> usize {
        self.rows() * self.rows()
    }

    #[inline]
    fn cell<S: Symbol>(self, left: S, right: S) -> usize {
        let (left, right) = (left.id().min(self.tokens), right.id().min(self.tokens));
        left as usize * self.rows() + right as usize
    }

    fn unused(self) -> impl Iterator<Item = usize> {
        let rows = self.rows();
        (0..rows).flat_map(move |row| [row * rows + rows - 1, (rows - 1) * rows + row])
    }
}

/// Cells by the hash of a pair, and one more.
#[derive(Clone, Copy)]
pub(super) struct Shared;

impl Layout for Shared {
    fn len(self) -> usize {
        (1 << SHARED_BITS) + 1
    }

    #[inline]
    fn cell<S: Symbol>(self, left: S, right: S) -> usize {
        let cell = pairs::cell(left.id(), right.id(), SHARED_BITS);
        if left == S::BOUNDARY || right == S::BOUNDARY { 1 << SHARED_BITS } else { cell }
    }

    fn unused(self) -> impl Iterator<Item = usize> {
        std::iter::once(1 << SHARED_BITS)
    }
}

/// How often the pairs of each cell occur, as far as a cell can count.
pub(super) struct Cells {
    counts: Vec<u32>,
    /// Where each pair has a cell to itself.
    own: Option<Own>,
}

impl Cells {
    pub(super) fn of(text: &Text<impl Symbol>) -> Self {
        let own = Own::of(text);
        let counts = own.map_or_else(|| sums(text, Shared, count), |own| sums(text, own, count));
        Self { counts, own }
    }

    /// A count that no pair exceeds, or `None` where a cell has not counted all.
    pub(super) fn highest(&self) -> Option<u64> {
        let highest = self.counts.iter().copied().max().unwrap_or(0);
        (highest < u32::MAX).then_some(u64::from(highest))
    }

    /// The layout, if each pair has a cell to itself.
    pub(super) fn own(&self) -> Option<Own> {
        self.own
    }

    /// The same, if all were counted, too.
    pub(super) fn exact(&self) -> Option<Own> {
        self.own.filter(|_| self.highest().is_some())
    }

    /// The count of a cell.
    pub(super) fn count(&self, cell: usize) -> u64 {
        self.counts[cell].into()
    }

    /// The cells that hold as many, in rising order.
    pub(super) fn reach(&self, threshold: u64) -> Vec<usize> {
        let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
        let cells = self.counts.iter().enumerate();
        cells.filter(|&(_, &count)| count >= threshold).map(|(cell, _)| cell).collect()
    }
}

/// At how many places the pairs of each cell stand.
pub(super) fn places<S: Symbol>(text: &Text<S>, layout: impl Layout) -> Vec<u32> {
    sums(text, layout, |_| 1)
}

/// As many occurrences as a cell can count.
fn count(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What `number` makes of the count of each place, added up by cell.
fn sums<S: Symbol>(
    text: &Text<S>,
    layout: impl Layout,
    number: impl Fn(u64) -> u32 + Sync,
) -> Vec<u32> {
    let add = |range| {
        let mut sums = vec![0u32; layout.len()];
        text.for_each_two(range, |_, left, right, count| {
            let cell = &mut sums[layout.cell(left, right)];
            *cell = cell.saturating_add(number(count));
        });
        sums
    };
    let both = |mut sums: Vec<u32>, others: Vec<u32>| {
        sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.saturating_add(other));
        sums
    };
    let mut sums = text.ranges().into_par_iter().map(add).reduce_with(both).unwrap_or_default();
    layout.unused().for_each(|cell| sums[cell] = 0);
    sums
}
