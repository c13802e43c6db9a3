//! Counting the pretokens of all sources, on many threads.

use std::num::NonZero;

use super::counts::{Counting, Cutting, Front};
use crate::{
    error::Result,
    pretokenize::{Pretokenizer, SafeCuts},
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
    /// How text is cut, as count files say it.
    pub fn cutting(&self) -> Cutting {
        let special = self.special_tokens.iter().map(|(text, _)| text.to_owned()).collect();
        Cutting::new(self.pretokenizer.pattern(), special)
    }

    fn count_segment(&self, text: &str, front: &mut Front<'_>) -> Result<()> {
        self.pretokenizer.for_each_cut(text, |start, end| front.add(text.as_bytes(), start, end))
    }

    /// Add the pretokens of all documents; `watch` counts the bytes read.
    pub fn count(
        &self,
        counting: &Counting,
        sources: &Sources,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<()> {
        let threads = threads::count(threads);
        let limit = counting.limit(threads)?;
        let separators = self.special_tokens.matcher();
        let cuts = SafeCuts::of(&self.pretokenizer);
        let blocks = sources.blocks(separators, cuts, None, watch);
        let step = |front: &mut Front<'_>, block: &Block<'_>| {
            block.for_each(|text, _| self.count_segment(text, front))?;
            counting.relieve(limit, watch)
        };
        fold(blocks, threads, || counting.front(), step).map(drop)
    }
}
