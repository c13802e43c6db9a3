//! Many texts at once, on many threads.

use std::num::NonZero;

use super::{
    Text, Tokenizer,
    groups::{GROUP_BYTES, Group, Groups, Task},
    pieces::SPARE_ROOM,
};
use crate::{
    error::Result,
    huge_pages,
    idle::Idle,
    in_order,
    special::{Rule, SpecialPolicy},
    threads,
    vocabulary::TokenId,
    watch::Watch,
};

/// The ids of fewer bytes of text are not worth huge pages, all of which are made when the first of their
/// bytes is written.
const MANY_BYTES: usize = 1 << 22;

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
    /// The ids of each text in `chunks`; the same for any number of threads. Of several errors that of the
    /// first text is returned, which it names if it is not the only one.
    ///
    /// Chunks are asked for while others are encoded, by one thread at a time. `expected_bytes`, of all
    /// of them, decides how much room there is for ids and how many workers there are at most; where
    /// it is wrong, time is lost.
    pub fn encode_batch<'a>(
        &self,
        chunks: impl Iterator<Item: IntoIterator<Item = Text<'a>, IntoIter: Send>> + Send,
        expected_bytes: usize,
        policy: &SpecialPolicy,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<Batch> {
        let rule = self.special_tokens.rule(policy)?;
        let spare = Idle::default();
        let mut groups = Groups::new(self, &rule, chunks, &spare);
        let mut batch = Batch { ids: room_for(expected_bytes), offsets: vec![0] };
        let (first, second) = (groups.next(), groups.next());
        let workers = match second {
            Some(_) => threads::count(threads).min(expected_bytes / GROUP_BYTES + 1),
            None => 1,
        };
        let mut groups = first.into_iter().chain(second).chain(groups);
        if workers == 1 {
            groups
                .try_for_each(|group| self.encode_group(group, &rule, &spare, &mut batch, watch))?;
        } else {
            let spare_parts = Idle::<Batch>::default();
            let encode = |group| {
                let mut part = spare_parts.take().unwrap_or_default();
                self.encode_group(group, &rule, &spare, &mut part, watch)?;
                Ok(part)
            };
            in_order::for_each(workers, groups, encode, |mut part| {
                batch.append(&mut part);
                spare_parts.put(part);
                Ok(())
            })?;
        }
        batch.ids.shrink_to_fit();
        Ok(batch)
    }

    /// Append the ids of each text, and where they end.
    fn encode_group<'a>(
        &self,
        group: Result<Box<Group<'a>>>,
        rule: &Rule,
        spare: &Idle<Group<'a>>,
        batch: &mut Batch,
        watch: &Watch,
    ) -> Result<()> {
        let group = group?;
        let ended_before = batch.offsets.len();
        let encoded = self.with_encoder(rule, batch, |encoder| {
            for task in &group.tasks {
                match *task {
                    Task::Text(text) => encoder.text(text)?,
                    Task::Part(part, _) => encoder.part(part)?,
                    Task::End => encoder.end(),
                }
                watch.advance(task.bytes() as u64)?;
            }
            Ok(())
        });
        encoded.map_err(|error| group.place.locate(error, batch.offsets.len() - ended_before))?;
        spare.put(group);
        Ok(())
    }
}

/// Room for all ids that so many bytes of text could have, one for each: most systems give memory
/// only to what is written. Where one refuses that much, there is less, and it grows with the ids.
fn room_for(bytes: usize) -> Vec<TokenId> {
    let (mut ids, mut room) = (Vec::new(), bytes.saturating_add(SPARE_ROOM));
    while ids.try_reserve_exact(room).is_err() {
        room /= 2;
    }
    if room >= MANY_BYTES {
        huge_pages::advise(ids.spare_capacity_mut());
    }
    ids
}
