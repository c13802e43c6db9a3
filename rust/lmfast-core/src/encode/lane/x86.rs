//! The same, compiled for AVX2: the lowest candidate by vectors, and bits counted at once.

use super::{Lane, merge_in_step};
use crate::encode::pairs::PairRanks;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn merge_together<const N: usize, K>(pairs: &PairRanks, lanes: &mut [Lane<N, K>]) {
    merge_in_step(pairs, lanes);
}
