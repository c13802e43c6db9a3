//! A vocabulary with more merges.

use super::{Merge, Merges, TokenId, Vocabulary};
use crate::error::{Error, Result};

impl Vocabulary {
    /// This vocabulary and further merges, which rank after its own; what they make has the ids
    /// from `first` on. Every id and rank stays.
    pub fn extended(&self, first: TokenId, merges: &[(TokenId, TokenId)]) -> Result<Self> {
        let mut all = self.merges.clone();
        let first_rank = all.last().map_or(0, |merge| merge.rank + 1);
        let mut made: Vec<Vec<u8>> = Vec::with_capacity(merges.len());
        for ((&(left, right), merged), rank) in merges.iter().zip(first..).zip(first_rank..) {
            let bytes = |id: TokenId| {
                let new = || made.get(id.checked_sub(first)? as usize).map(Vec::as_slice);
                self.token_bytes(id).or_else(new)
            };
            let [Some(a), Some(b)] = [left, right].map(bytes) else {
                return Err(Error::vocabulary(format!(
                    "merge {merged} joins {left} and {right}; a merge joins tokens made before it"
                )));
            };
            made.push([a, b].concat());
            all.push(Merge { left, right, merged, rank });
        }
        let old = self.tokens().map(|(id, bytes)| (bytes, id));
        let new = made.iter().map(Vec::as_slice).zip(first..);
        let tokens: Vec<_> = old.chain(new).collect();
        Self::new(&tokens, Merges::Ranked(all), self.whole_pretokens_first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_follows_what_was_there() {
        let old = Vocabulary::from_training(&[(97, 98)]).unwrap();
        let new = old.extended(300, &[(256, 99), (300, 300)]).unwrap();
        assert_eq!(new.token_bytes(301), Some(&b"abcabc"[..]));
        assert_eq!(new.token_bytes(299), None);
        let ranks: Vec<_> = new.merges().iter().map(|merge| (merge.merged, merge.rank)).collect();
        assert_eq!(ranks, [(256, 0), (300, 1), (301, 2)]);
        assert!(old.extended(300, &[(97, 98)]).unwrap_err().to_string().contains("both stand"));
        assert!(old.extended(300, &[(97, 300)]).unwrap_err().to_string().contains("before it"));
    }
}
