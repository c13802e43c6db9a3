//! Documents to shards.

use std::num::NonZero;

use lmfast_core::shard::{self, HeldOut, ShardOptions, ShardTotals};
use pyo3::prelude::*;

use crate::{
    arguments::{Count, FilePath, Str},
    door::fed,
    sources::Sources,
    tokenizer::Tokenizer,
};

/// Documents, tokens and bytes.
type Totals = (u64, u64, u64);

/// Encode documents to a folder of shards, and one document in every `held_out.1` to another.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option of writing")]
pub(crate) fn write_shards(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    sources: &Bound<'_, Sources>,
    folder: FilePath,
    held_out: Option<(FilePath, Count)>,
    separator: Str,
    max_document_bytes: Count,
    shard_tokens: Count,
    threads: Count,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Totals, Option<Totals>)> {
    let core = &tokenizer.get().core;
    let held_out = held_out.and_then(|(folder, one_in)| {
        Some(HeldOut { folder: folder.0, one_in: NonZero::new(one_in.0?.get() as u64)? })
    });
    let options = ShardOptions {
        separator: separator.0.to_string(),
        max_document_bytes: max_document_bytes.0,
        shard_tokens: shard_tokens.0.map_or(u64::MAX, |tokens| tokens.get() as u64),
        threads: threads.0,
    };
    let sources = sources.get();
    let (train, held_out) = fed(py, on_progress.as_ref(), sources.pump(py), |watch| {
        shard::write_shards(core, sources.core(), &folder.0, held_out.as_ref(), &options, watch)
    })?;
    let totals = |totals: ShardTotals| (totals.documents, totals.tokens, totals.bytes);
    Ok((totals(train), held_out.map(totals)))
}
