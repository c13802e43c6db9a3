//! Many texts at once, on many threads.

use std::num::NonZero;

use super::{Text, Tokenizer, pieces::SPARE_ROOM};
use crate::{
    error::{Error, Result},
    huge_pages,
    idle::Idle,
    in_order,
    special::{Part, Rule, SpecialPolicy},
    threads,
    vocabulary::TokenId,
    watch::Watch,
};

/// Texts are handed to workers in groups of about this many bytes.
const GROUP_BYTES: usize = if cfg!(test) { 64 } else { 1 << 18 };

/// Texts of this many bytes are cut into parts.
const LONG_BYTES: usize = 4 * GROUP_BYTES;

/// The ids of many texts, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts.
    pub ids: Vec<TokenId>,
    /// Where each text begins in `ids`, then where the last one ends: one more than texts. In what is
    /// made for a larger one, ends alone.
    pub offsets: Vec<u64>,
}

impl Batch {
    /// Move the texts of `part` here; its offsets are ends alone, without the 0 they begin with.
    fn append(&mut self, part: &mut Self) {
        let before = self.ids.len() as u64;
        self.offsets.extend(part.offsets.drain(..).map(|end| before + end));
        self.ids.append(&mut part.ids);
    }
}

impl Tokenizer {
    /// The ids of each of `texts`; the same for any number of threads. An error says in which of
    /// several texts it is.
    pub fn encode_batch<'a, T: Copy + Into<Text<'a>>>(
        &self,
        texts: &[T],
        policy: &SpecialPolicy,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<Batch> {
        let rule = self.special_tokens.rule(policy)?;
        let is_one = texts.len() == 1;
        let located = move |error: Error, document: usize| {
            if is_one { error } else { error.in_document(document) }
        };
        let texts = || texts.iter().map(|&text| text.into());
        let tasks = self.tasks(texts(), &rule, &located)?;
        let groups = groups(&tasks);
        let threads = threads::count(threads).min(groups.len());
        let mut batch =
            Batch { ids: room_for(texts()), offsets: Vec::with_capacity(texts().len() + 1) };
        batch.offsets.push(0);
        if threads <= 1 {
            self.encode_onto(&tasks, &rule, &mut batch, watch)
                .map_err(|error| located(error, batch.offsets.len() - 1))?;
        } else {
            // Used again: memory that the system has just given is slow.
            let idle = Idle::<Batch>::default();
            let encode = |(first, group): (usize, &[Task<'_>])| {
                let mut part = idle.take().unwrap_or_default();
                self.encode_onto(group, &rule, &mut part, watch)
                    .map_err(|error| located(error, first + part.offsets.len()))?;
                Ok(part)
            };
            in_order::for_each(threads, groups.into_iter(), encode, |mut part| {
                batch.append(&mut part);
                idle.put(part);
                Ok(())
            })?;
        }
        batch.ids.shrink_to_fit();
        Ok(batch)
    }

    /// What there is to do for `texts`: a long one is cut into parts.
    fn tasks<'a>(
        &self,
        texts: impl ExactSizeIterator<Item = Text<'a>>,
        rule: &'a Rule,
        located: &dyn Fn(Error, usize) -> Error,
    ) -> Result<Vec<Task<'a>>> {
        let mut tasks = Vec::with_capacity(texts.len());
        for (document, text) in texts.enumerate() {
            let bytes = text.bytes();
            if bytes.len() < LONG_BYTES || !self.special_tokens.is_plain() {
                tasks.push(Task::Text(text));
            } else {
                let parts = self.parts(bytes, rule, GROUP_BYTES);
                let parts = parts.map_err(|error| located(error, document))?;
                tasks.extend(parts.map(|(part, bytes)| Task::Part(part, bytes)));
                tasks.push(Task::End);
            }
        }
        Ok(tasks)
    }

    /// Append the ids of each text, and where they end: the ends tell in which text an error is.
    fn encode_onto(
        &self,
        tasks: &[Task<'_>],
        rule: &Rule,
        batch: &mut Batch,
        watch: &Watch,
    ) -> Result<()> {
        self.with_encoder(rule, batch, |encoder| {
            for task in tasks {
                match *task {
                    Task::Text(text) => encoder.text(text)?,
                    Task::Part(part, _) => encoder.part(part)?,
                    Task::End => encoder.end(),
                }
                watch.advance(task.bytes() as u64)?;
            }
            Ok(())
        })
    }
}

enum Task<'a> {
    Text(Text<'a>),
    /// A part of a long text, of so many bytes.
    Part(Part<'a>, usize),
    /// The end of a long text.
    End,
}

impl Task<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.bytes().len(),
            Self::Part(_, bytes) => *bytes,
            Self::End => 0,
        }
    }

    fn ends_text(&self) -> bool {
        !matches!(self, Self::Part(..))
    }
}

/// Room for all ids that the texts could have, one for each byte: most systems give memory only to
/// what is written. Where one refuses that much, the room grows with the ids.
fn room_for<'a>(texts: impl Iterator<Item = Text<'a>>) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let most = texts.map(|text| text.bytes().len()).sum::<usize>() + SPARE_ROOM;
    if ids.try_reserve_exact(most).is_ok() {
        huge_pages::advise(ids.spare_capacity_mut());
    }
    ids
}

/// Neighbouring tasks of at least `GROUP_BYTES` together, and how many texts end before them.
fn groups<'a, 'b>(tasks: &'a [Task<'b>]) -> Vec<(usize, &'a [Task<'b>])> {
    let mut groups = Vec::new();
    let (mut first, mut bytes, mut ended, mut ended_before) = (0, 0, 0, 0);
    for (index, task) in tasks.iter().enumerate() {
        bytes += task.bytes();
        ended += usize::from(task.ends_text());
        if bytes >= GROUP_BYTES {
            groups.push((ended_before, &tasks[first..=index]));
            (first, bytes, ended_before) = (index + 1, 0, ended);
        }
    }
    if first < tasks.len() {
        groups.push((ended_before, &tasks[first..]));
    }
    groups
}
