//! The blocks of all sources, one after the other, and the workers that take them.

use std::{
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use super::{
    Input, Reading,
    feed::Batch,
    lines::{LineBlocks, Lines},
    open::Format,
    text::{Text, TextBlocks},
};
use crate::{
    error::{Error, Result},
    threads,
};

/// A part of the sources that can be processed on its own: memory is bounded, results do not
/// depend on where blocks end.
pub(crate) struct Block<'a> {
    content: Content,
    reading: Reading<'a>,
}

enum Content {
    Text(Text),
    Lines(Lines),
    Batch(Batch),
}

impl Block<'_> {
    /// Call `visit` with each stretch of text between separators, and whether a document ends after
    /// it; if it does not, it continues in the next block. Bad documents are refused or counted.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&str, bool) -> Result<()>) -> Result<()> {
        let mut whole = |document: &str| {
            let mut done = 0;
            for found in self.reading.separators.find_iter(document.as_bytes()) {
                visit(&document[done..found.start], true)?;
                done = found.end;
            }
            visit(&document[done..], true)
        };
        match &self.content {
            Content::Lines(lines) => lines.for_each(&self.reading, &mut whole),
            Content::Batch(batch) => batch.documents().try_for_each(whole),
            Content::Text(text) => text.segments().try_for_each(|(text, ends)| visit(text, ends)),
        }
    }
}

/// The source that is being read.
enum Current<'a> {
    Text(TextBlocks<'a>),
    Lines(LineBlocks<'a>),
    /// What the caller feeds, of which a long document is cut into blocks.
    Fed(Option<TextBlocks<'a>>),
}

/// The blocks of all sources, in order; after an error there is nothing more.
pub(crate) struct Blocks<'a> {
    reading: Reading<'a>,
    inputs: std::iter::Enumerate<std::slice::Iter<'a, Input>>,
    current: Option<Current<'a>>,
    has_failed: bool,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(reading: Reading<'a>) -> Self {
        let inputs = reading.sources.inputs.iter().enumerate();
        Self { reading, inputs, current: None, has_failed: false }
    }

    fn open(&self, number: usize, input: &Input) -> Result<Current<'a>> {
        let file = |path: &Path| {
            Ok(match Format::of(path) {
                Format::Text => Current::Text(TextBlocks::open(number, path, self.reading)?),
                Format::JsonLines => Current::Lines(LineBlocks::open(number, path, self.reading)?),
            })
        };
        match input {
            Input::File(path) => file(path),
            Input::Items | Input::Rows(_) => Ok(Current::Fed(None)),
        }
    }

    fn next_block(&mut self) -> Result<Option<Block<'a>>> {
        loop {
            if self.current.is_none() {
                let Some((number, input)) = self.inputs.next() else {
                    return Ok(None);
                };
                self.current = Some(self.open(number, input)?);
            }
            let content = match self.current.as_mut().expect("just opened") {
                Current::Text(blocks) => blocks.next_block()?.map(Content::Text),
                Current::Lines(blocks) => blocks.next_block()?.map(Content::Lines),
                Current::Fed(long) => next_fed(long, self.reading)?,
            };
            match content {
                Some(content) => return Ok(Some(Block { content, reading: self.reading })),
                None => self.current = None,
            }
        }
    }
}

fn next_fed<'a>(
    long: &mut Option<TextBlocks<'a>>,
    reading: Reading<'a>,
) -> Result<Option<Content>> {
    loop {
        if let Some(blocks) = long {
            if let Some(text) = blocks.next_block()? {
                return Ok(Some(Content::Text(text)));
            }
            *long = None;
        }
        let Some(batch) = reading.sources.feed.pop()? else {
            return Ok(None);
        };
        reading.watch.advance(batch.progress())?;
        if batch.text_len() < 2 * reading.sources.limits.block_bytes {
            return Ok(Some(Content::Batch(batch)));
        }
        match batch.into_single() {
            Ok(text) => *long = Some(TextBlocks::of(text, reading)),
            Err(batch) => return Ok(Some(Content::Batch(batch))),
        }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = self.next_block();
        self.has_failed = next.is_err();
        next.transpose()
    }
}

/// Have `threads` workers take the blocks, each adding to a value of its own; these values.
///
/// Of several errors the one in the first block is returned, whatever the number of workers:
/// blocks are taken in order, and what was taken is finished.
pub(crate) fn fold<T: Send>(
    blocks: Blocks<'_>,
    threads: usize,
    start: impl Fn() -> T + Sync,
    step: impl Fn(&mut T, &Block<'_>) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let watch = blocks.reading.watch;
    let queue = Mutex::new(blocks.enumerate());
    let has_failed = AtomicBool::new(false);
    let first_error: Mutex<Option<(usize, Error)>> = Mutex::default();
    let fail = |number: usize, error: Error| {
        has_failed.store(true, Relaxed);
        let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|&(earlier, _)| number < earlier) {
            *first = Some((number, error));
        }
    };
    let take = || {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        if has_failed.load(Relaxed) { None } else { queue.next() }
    };
    let work = || {
        let mut value = start();
        while let Some((number, block)) = take() {
            let done = block.and_then(|block| step(&mut value, &block));
            if let Err(error) = done.and_then(|()| watch.advance(0)) {
                fail(number, error);
            }
        }
        value
    };
    let values = threads::everywhere(threads, work);
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(values),
    }
}
