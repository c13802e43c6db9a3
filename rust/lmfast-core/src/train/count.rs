//! Counting the pretokens of files, on many threads.

use std::{num::NonZero, path::PathBuf};

use rayon::prelude::*;

use super::counts::{Counting, Cutting, Front};
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
    /// How text is cut, as count files say it.
    pub fn cutting(&self) -> Cutting {
        let special = self.special_tokens.iter().map(|(text, _)| text.to_owned()).collect();
        Cutting::new(self.pretokenizer.pattern(), special)
    }

    /// Count the pretokens of `text`.
    fn count_text(&self, text: &str, front: &mut Front<'_>) -> Result<()> {
        let mut done = 0;
        for found in self.special_tokens.matcher().find_iter(text.as_bytes()) {
            self.count_segment(&text[done..found.start], front)?;
            done = found.end;
        }
        self.count_segment(&text[done..], front)
    }

    fn count_segment(&self, text: &str, front: &mut Front<'_>) -> Result<()> {
        let mut start = 0;
        self.pretokenizer.for_each(text, |pretoken| {
            let end = start + pretoken.len();
            front.add(text.as_bytes(), start, end);
            start = end;
        })
    }

    /// Add the pretokens of texts; `watch` counts their bytes.
    pub fn count_texts(
        &self,
        counting: &Counting,
        texts: &[&str],
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<()> {
        let threads = threads::count(threads);
        let limit = counting.limit(threads)?;
        let count = |front: &mut Front<'_>, text: &&str| {
            self.count_text(text, front)?;
            counting.relieve(limit, watch)?;
            watch.advance(text.len() as u64)
        };
        threads::run(threads.min(texts.len().max(1)), || {
            texts.par_iter().try_for_each_init(|| counting.front(), count)
        })?
    }

    /// Add the pretokens of files; `watch` counts their bytes.
    pub fn count_files(
        &self,
        counting: &Counting,
        files: &[PathBuf],
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<()> {
        let threads = threads::count(threads);
        let limit = counting.limit(threads)?;
        let blocks = blocks_of(files, self.special_tokens.matcher(), &self.pretokenizer);
        let count = |front: &mut Front<'_>, block: Result<Block>| {
            let block = block?;
            for (text, _) in block.segments() {
                self.count_segment(text, front)?;
            }
            counting.relieve(limit, watch)?;
            watch.advance(block.len() as u64)
        };
        threads::run(threads, || blocks.par_bridge().try_for_each_init(|| counting.front(), count))?
    }
}
