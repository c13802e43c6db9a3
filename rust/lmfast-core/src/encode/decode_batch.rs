//! The ids of many texts back to bytes, on many threads.

use std::num::NonZero;

use rayon::prelude::*;

use super::Tokenizer;
use crate::{
    error::{Error, ErrorKind, Result},
    threads,
    vocabulary::TokenId,
    watch::Watch,
};

/// A thread for fewer ids costs more than it saves.
const IDS_PER_THREAD: usize = 1 << 16;

impl Tokenizer {
    /// The bytes of each text, with or without special tokens; text `i` has the ids from
    /// `offsets[i]` to `offsets[i + 1]`.
    pub fn decode_batch(
        &self,
        ids: &[TokenId],
        offsets: &[u64],
        skip_special: bool,
        threads: Option<NonZero<usize>>,
        watch: &Watch,
    ) -> Result<Vec<Vec<u8>>> {
        let decode = |ends: &[u64]| {
            let text = ids.get(ends[0] as usize..ends[1] as usize).ok_or_else(|| {
                let message = format!(
                    "a text has the ids from {} to {}, but there are {} ids in all",
                    ends[0],
                    ends[1],
                    ids.len()
                );
                Error::new(ErrorKind::Config, message)
            })?;
            watch.advance(text.len() as u64)?;
            if skip_special {
                return self.decode_bytes(&self.without_special(text.to_vec()));
            }
            self.decode_bytes(text)
        };
        let threads = threads::count(threads).min(ids.len() / IDS_PER_THREAD);
        if threads <= 1 {
            return offsets.windows(2).map(decode).collect();
        }
        threads::run(threads, || offsets.par_windows(2).with_min_len(32).map(decode).collect())?
    }
}
