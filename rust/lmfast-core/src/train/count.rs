//! Counting the pretokens of all sources, on many threads.

use std::num::NonZero;

use super::counts::PretokenCounts;
use crate::{
    error::Result,
    pretokenize::Pretokenizer,
    source::{Block, Sources, fold},
    special::SpecialTokens,
    threads,
    watch::Watch,
};

/// What counting needs to know: how text is cut, and which special tokens end a document.
#[derive(Debug)]
pub struct Counter {
    /// How text is cut into pretokens.
    pub pretokenizer: Pretokenizer,
    /// Their text is never counted.
    pub special_tokens: SpecialTokens,
}

impl Counter {
    fn count_segment(&self, text: &str, counts: &mut PretokenCounts) -> Result<()> {
        self.pretokenizer.for_each(text, |pretoken| counts.add(pretoken.as_bytes(), 1))
    }

    /// The pretokens of all documents; `watch` counts the bytes read.
    pub fn count(
        &self,
        sources: &Sources,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<PretokenCounts> {
        let separators = self.special_tokens.matcher();
        let blocks = sources.blocks(separators, &self.pretokenizer, None, watch);
        let step = |counts: &mut PretokenCounts, block: &Block<'_>| {
            block.for_each(|text, _| self.count_segment(text, counts))
        };
        let counts = fold(blocks, threads::count(threads), PretokenCounts::default, step)?;
        Ok(counts.into_iter().reduce(PretokenCounts::merged_with).unwrap_or_default())
    }
}
