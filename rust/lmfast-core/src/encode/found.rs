//! What the tables tell of many pieces that are looked up together.

use super::packed::Packed;
use crate::hash::Short;

/// Pieces that are looked up together.
pub(super) const AT_ONCE: usize = 512;

/// The answers of one table after the other.
#[derive(Debug)]
pub(super) struct Found {
    /// The tokens of each piece; nothing where no table tells them in a word.
    pub(super) tokens: [Packed; AT_ONCE],
    /// The numbers of those that no word tells yet.
    pub(super) missed: [u16; AT_ONCE],
    pub(super) missed_len: usize,
    /// Their keys in the cache, which has been asked for them, and the hashes of these.
    pub(super) keys: [(Short, u32); AT_ONCE],
    /// What the cache knows of those that it could not tell in a word.
    pub(super) words: [[u64; 2]; AT_ONCE],
    /// Which of the missed ones are not known at all, by their place among them.
    pub(super) unknown: [u16; AT_ONCE],
    pub(super) unknown_len: usize,
    /// What the cache tells of those that have room in the front table.
    pub(super) told: [(Short, Packed); AT_ONCE],
    pub(super) told_len: usize,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            tokens: [Packed::default(); AT_ONCE],
            missed: [0; AT_ONCE],
            missed_len: 0,
            keys: [(Short::default(), 0); AT_ONCE],
            words: [[0; 2]; AT_ONCE],
            unknown: [0; AT_ONCE],
            unknown_len: 0,
            told: [(Short::default(), Packed::default()); AT_ONCE],
            told_len: 0,
        }
    }
}
