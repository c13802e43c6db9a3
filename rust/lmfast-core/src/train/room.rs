//! How much memory merging may take.

use std::path::PathBuf;

use super::{
    counts::MemoryBudget,
    search::{PLACES_PER_SHARE, SHARES},
    text::Place,
};

/// What each part of merging may take. A text that is too large for its part lies in a temporary
/// file; lists of places that are too many are left out by a higher threshold, and found later.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// Bytes of a text in memory.
    pub(super) text: usize,
    /// Places in all lists.
    pub(super) places: usize,
    /// Places dealt out to be counted together.
    pub(super) dealt: usize,
    /// Where the text goes otherwise.
    pub(super) folder: PathBuf,
}

/// Bytes of a place that is dealt out, and of what it becomes.
const DEALT_BYTES: usize = 12;

impl Room {
    pub(super) fn new(budget: Option<&MemoryBudget>) -> Self {
        let dealt = SHARES * PLACES_PER_SHARE;
        let Some(MemoryBudget { bytes, folder }) = budget else {
            let folder = std::env::temp_dir();
            return Self { text: usize::MAX, places: usize::MAX, dealt, folder };
        };
        let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
        Self {
            text: bytes / 3,
            places: bytes / 2 / size_of::<Place>(),
            dealt: dealt.min(bytes / 6 / DEALT_BYTES).max(PLACES_PER_SHARE),
            folder: folder.clone(),
        }
    }
}
