//! What two neighbouring tokens become, and at which rank.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::vocabulary::{Merge, TokenId};

/// The rank of a pair that does not merge.
pub(super) const NEVER: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct PairRanks {
    ranks: HashMap<u64, (u32, TokenId), FxBuildHasher>,
}

impl PairRanks {
    pub(super) fn new(merges: &[Merge]) -> Self {
        let entry = |merge: &Merge| (key(merge.left, merge.right), (merge.rank, merge.merged));
        Self { ranks: merges.iter().map(entry).collect() }
    }

    /// The rank at which `left` and `right` merge, and into what; `NEVER` if they do not.
    #[inline]
    pub(super) fn get(&self, left: TokenId, right: TokenId) -> (u32, TokenId) {
        self.ranks.get(&key(left, right)).copied().unwrap_or((NEVER, 0))
    }
}

fn key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
