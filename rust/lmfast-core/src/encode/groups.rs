//! Texts in groups that are worth handing to a worker.

use std::iter::Peekable;

use super::{Text, Tokenizer};
use crate::{
    error::{Error, Result},
    idle::Idle,
    special::{Part, Rule},
};

/// Texts are handed to workers in groups of about this many bytes.
pub(super) const GROUP_BYTES: usize = if cfg!(test) { 64 } else { 1 << 18 };

/// Texts of this many bytes are cut into parts.
const LONG_BYTES: usize = 4 * GROUP_BYTES;

pub(super) enum Task<'a> {
    Text(Text<'a>),
    /// A part of a long text, of so many bytes.
    Part(Part<'a>, usize),
    /// The end of a long text.
    End,
}

impl Task<'_> {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.bytes().len(),
            Self::Part(_, bytes) => *bytes,
            Self::End => 0,
        }
    }
}

/// What to do for a few texts, or for a part of a long one.
#[derive(Default)]
pub(super) struct Group<'a> {
    pub(super) tasks: Vec<Task<'a>>,
    pub(super) place: Place,
}

/// Where a group begins.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// Texts that end before it.
    ended: usize,
    /// Whether there is no more than one text, which needs no number.
    is_one: bool,
}

impl Place {
    /// Say of an error in which text it is: so many of the group ended before.
    pub(super) fn locate(self, error: Error, ended: usize) -> Error {
        if self.is_one { error } else { error.in_document(self.ended + ended) }
    }
}

/// Takes texts as they are asked for, and cuts long ones. No group waits for another chunk of texts.
pub(super) struct Groups<'a, I: Iterator<Item: IntoIterator>> {
    tokenizer: &'a Tokenizer,
    rule: &'a Rule,
    chunks: I,
    /// What is left of a chunk.
    texts: Option<Peekable<<I::Item as IntoIterator>::IntoIter>>,
    /// What is left of a long text.
    parts: Option<Box<dyn Iterator<Item = (Part<'a>, usize)> + Send + 'a>>,
    /// Used again: memory that the system has just given is slow.
    spare: &'a Idle<Group<'a>>,
    /// Texts that were taken, and those of which the end was.
    taken: usize,
    ended: usize,
    /// Whether there are no more tasks.
    is_done: bool,
    /// Why, if a text cannot be cut.
    failed: Option<Error>,
}

impl<'a, 't: 'a, I: Iterator<Item: IntoIterator<Item = Text<'t>>>> Groups<'a, I> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        rule: &'a Rule,
        chunks: I,
        spare: &'a Idle<Group<'a>>,
    ) -> Self {
        Self {
            tokenizer,
            rule,
            chunks,
            texts: None,
            parts: None,
            spare,
            taken: 0,
            ended: 0,
            is_done: false,
            failed: None,
        }
    }

    /// Whether something is left of the chunk.
    fn has_text_at_hand(&mut self) -> bool {
        self.texts.as_mut().is_some_and(|texts| texts.peek().is_some())
    }

    /// Whether there is another text, here or in a chunk to come.
    fn has_text(&mut self) -> bool {
        while !self.has_text_at_hand() {
            let Some(chunk) = self.chunks.next() else { return false };
            self.texts = Some(chunk.into_iter().peekable());
        }
        true
    }

    fn next_text(&mut self) -> Option<Text<'t>> {
        if self.has_text() { self.texts.as_mut()?.next() } else { None }
    }

    fn next_task(&mut self) -> Result<Option<Task<'a>>> {
        if let Some(parts) = &mut self.parts {
            if let Some((part, bytes)) = parts.next() {
                return Ok(Some(Task::Part(part, bytes)));
            }
            self.parts = None;
            self.ended += 1;
            return Ok(Some(Task::End));
        }
        let Some(text) = self.next_text() else { return Ok(None) };
        self.taken += 1;
        let bytes = text.bytes();
        if bytes.len() < LONG_BYTES || !self.tokenizer.special_tokens.is_plain() {
            self.ended += 1;
            return Ok(Some(Task::Text(text)));
        }
        let parts = self.tokenizer.parts(bytes, self.rule, GROUP_BYTES);
        let parts = parts.map_err(|error| self.place(self.ended).locate(error, 0))?;
        self.parts = Some(Box::new(parts));
        self.next_task()
    }

    /// The place of a group behind so many texts, once its own are taken.
    fn place(&mut self, ended: usize) -> Place {
        Place { ended, is_one: self.taken == 1 && !self.has_text() }
    }
}

impl<'a, 't: 'a, I: Iterator<Item: IntoIterator<Item = Text<'t>>>> Iterator for Groups<'a, I> {
    type Item = Result<Box<Group<'a>>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut group = self.spare.take().unwrap_or_default();
        group.tasks.clear();
        let (ended, mut size) = (self.ended, 0);
        while size < GROUP_BYTES && !self.is_done {
            if !group.tasks.is_empty() && self.parts.is_none() && !self.has_text_at_hand() {
                break;
            }
            match self.next_task() {
                Ok(Some(task)) => {
                    size += task.bytes() + 1; // Empty texts take room, too.
                    group.tasks.push(task);
                }
                Ok(None) => self.is_done = true,
                // Texts before this one may have errors of their own, which come first.
                Err(error) => (self.is_done, self.failed) = (true, Some(error)),
            }
        }
        if group.tasks.is_empty() {
            return self.failed.take().map(Err);
        }
        group.place = self.place(ended);
        Some(Ok(group))
    }
}
