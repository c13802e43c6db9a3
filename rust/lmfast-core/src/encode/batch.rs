//! Many texts at once, on many threads.

use std::num::NonZero;

use rayon::prelude::*;

use super::Tokenizer;
use crate::{error::Result, special::SpecialPolicy, threads, vocabulary::TokenId, watch::Watch};

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
        let groups = groups(texts);
        let threads = threads::count(threads).min(groups.len());
        let encode = |group: &&[&[u8]]| self.encode_group(group, policy, watch);
        let parts: Vec<Batch> = if threads <= 1 {
            groups.iter().map(encode).collect::<Result<_>>()?
        } else {
            threads::run(threads, || groups.par_iter().map(encode).collect::<Result<_>>())??
        };
        Ok(concatenate(parts))
    }

    /// `offsets` of a group are the ends of its texts, counted from the group's beginning.
    fn encode_group(
        &self,
        texts: &[&[u8]],
        policy: &SpecialPolicy,
        watch: &Watch,
    ) -> Result<Batch> {
        self.with_memory(|memory| {
            let (mut ids, mut offsets) = (Vec::new(), Vec::with_capacity(texts.len()));
            for text in texts {
                self.encode_into(text, policy, memory, &mut ids)?;
                offsets.push(ids.len() as u64);
                watch.advance(text.len() as u64)?;
            }
            Ok(Batch { ids, offsets })
        })
    }
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

fn concatenate(parts: Vec<Batch>) -> Batch {
    let mut ids = Vec::with_capacity(parts.iter().map(|part| part.ids.len()).sum());
    let mut offsets = vec![0];
    for part in parts {
        let before = ids.len() as u64;
        offsets.extend(part.offsets.iter().map(|end| before + end));
        ids.extend_from_slice(&part.ids);
    }
    Batch { ids, offsets }
}
