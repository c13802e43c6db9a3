//! Counting the pretokens of files, on many threads.

use std::{num::NonZero, path::PathBuf};

use rayon::prelude::*;

use super::counts::PretokenCounts;
use crate::{
    error::Result,
    pretokenize::Pretokenizer,
    source::{Block, blocks_of},
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
    /// Add the pretokens of `text` to `counts`.
    pub fn count_text(&self, text: &str, counts: &mut PretokenCounts) -> Result<()> {
        let mut done = 0;
        for found in self.special_tokens.matcher().find_iter(text.as_bytes()) {
            self.count_segment(&text[done..found.start], counts)?;
            done = found.end;
        }
        self.count_segment(&text[done..], counts)
    }

    fn count_segment(&self, text: &str, counts: &mut PretokenCounts) -> Result<()> {
        self.pretokenizer.for_each(text, |pretoken| counts.add(pretoken.as_bytes(), 1))
    }

    /// The pretokens of texts; `watch` counts their bytes.
    pub fn count_texts(
        &self,
        texts: &[&str],
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<PretokenCounts> {
        let count = |mut counts: PretokenCounts, text: &&str| {
            self.count_text(text, &mut counts)?;
            watch.advance(text.len() as u64)?;
            Ok(counts)
        };
        threads::run(threads::count(threads).min(texts.len().max(1)), || {
            let counts = texts.par_iter().try_fold(PretokenCounts::default, count);
            counts.try_reduce(PretokenCounts::default, |a, b| Ok(a.merged_with(b)))
        })?
    }

    /// The pretokens of files; `watch` counts their bytes.
    pub fn count_files(
        &self,
        files: &[PathBuf],
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<PretokenCounts> {
        let blocks = blocks_of(files, self.special_tokens.matcher(), &self.pretokenizer);
        let count = |mut counts: PretokenCounts, block: Result<Block>| {
            let block = block?;
            for (text, _) in block.segments() {
                self.count_segment(text, &mut counts)?;
            }
            watch.advance(block.len() as u64)?;
            Ok(counts)
        };
        threads::run(threads::count(threads), || {
            let counts = blocks.par_bridge().try_fold(PretokenCounts::default, count);
            counts.try_reduce(PretokenCounts::default, |a, b| Ok(a.merged_with(b)))
        })?
    }
}
