//! Many texts at once, on many threads.

use std::num::NonZero;

use rayon::prelude::*;

use super::Tokenizer;
use crate::{
    error::Result,
    huge_pages,
    special::{Rule, SpecialPolicy},
    threads,
    vocabulary::TokenId,
    watch::Watch,
};

/// Texts are handed to workers in groups of about this many bytes.
const GROUP_BYTES: usize = 1 << 18;

/// The ids of many texts, end to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The ids of all texts.
    pub ids: Vec<TokenId>,
    /// Where each text begins in `ids`, then where the last one ends: one more than texts.
    pub offsets: Vec<u64>,
}

impl Tokenizer {
    /// The ids of each of `texts`; the same for any number of threads.
    pub fn encode_batch(
        &self,
        texts: &[&[u8]],
        policy: &SpecialPolicy,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<Batch> {
        let rule = self.special_tokens.rule(policy)?;
        let groups = groups(texts);
        let threads = threads::count(threads).min(groups.len());
        if threads <= 1 {
            let mut batch =
                Batch { ids: ids_for(texts), offsets: Vec::with_capacity(texts.len() + 1) };
            batch.offsets.push(0);
            self.encode_onto(texts, &rule, &mut batch, watch)?;
            return Ok(batch);
        }
        let encode = |group: &&[&[u8]]| {
            let mut part = Batch { ids: Vec::new(), offsets: Vec::with_capacity(group.len()) };
            self.encode_onto(group, &rule, &mut part, watch)?;
            Ok(part)
        };
        threads::run(threads, || {
            let parts: Vec<Batch> = groups.par_iter().map(encode).collect::<Result<_>>()?;
            Ok(concatenate(&parts))
        })?
    }

    /// Append the ids of each text, and where they end.
    fn encode_onto(
        &self,
        texts: &[&[u8]],
        rule: &Rule,
        batch: &mut Batch,
        watch: &Watch,
    ) -> Result<()> {
        self.with_memory(|memory| {
            for text in texts {
                self.encode_into(text, rule, memory, &mut batch.ids)?;
                batch.offsets.push(batch.ids.len() as u64);
                watch.advance(text.len() as u64)?;
            }
            Ok(())
        })
    }
}

/// Room for the ids of texts, by the usual rate.
fn ids_for(texts: &[&[u8]]) -> Vec<TokenId> {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut ids = Vec::with_capacity(bytes / 3 + 1);
    huge_pages::advise(ids.spare_capacity_mut());
    ids
}

/// Neighbouring texts of at least `GROUP_BYTES` together.
fn groups<'a, 'b>(texts: &'a [&'b [u8]]) -> Vec<&'a [&'b [u8]]> {
    let mut groups = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.len();
        if bytes >= GROUP_BYTES {
            groups.push(&texts[first..=index]);
            (first, bytes) = (index + 1, 0);
        }
    }
    if first < texts.len() {
        groups.push(&texts[first..]);
    }
    groups
}

fn concatenate(parts: &[Batch]) -> Batch {
    let mut ids = vec![0; parts.iter().map(|part| part.ids.len()).sum()];
    huge_pages::advise(&mut ids);
    let mut offsets = vec![0];
    let (mut rest, mut places) = (&mut ids[..], Vec::with_capacity(parts.len()));
    for part in parts {
        let before = offsets[offsets.len() - 1];
        offsets.extend(part.offsets.iter().map(|end| before + end));
        let (place, after) = rest.split_at_mut(part.ids.len());
        places.push(place);
        rest = after;
    }
    places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(&part.ids));
    Batch { ids, offsets }
}
