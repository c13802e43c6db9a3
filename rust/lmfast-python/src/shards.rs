//! Documents to shards.

use std::num::NonZero;

use lmfast_core::shard::{self, HeldOut, ShardOptions, ShardTotals};
use pyo3::prelude::*;

use crate::{
    arguments::{self, Count, FilePath, Separator},
    door::fed,
    sources::Sources,
    tokenizer::Tokenizer,
};

/// Documents, tokens and bytes.
type Totals = (u64, u64, u64);

/// Encode documents to a folder of shards, and one document in every `held_out_one_in` to another.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one for each option of writing")]
pub(crate) fn write_shards(
    py: Python<'_>,
    tokenizer: &Bound<'_, Tokenizer>,
    sources: &Bound<'_, Sources>,
    folder: FilePath,
    held_out: Option<FilePath>,
    #[pyo3(from_py_with = arguments::held_out_one_in)] held_out_one_in: Count,
    separator: Separator,
    #[pyo3(from_py_with = arguments::max_document_bytes)] max_document_bytes: Count,
    #[pyo3(from_py_with = arguments::shard_tokens)] shard_tokens: Count,
    #[pyo3(from_py_with = arguments::threads)] threads: Count,
    on_progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Totals, Option<Totals>)> {
    let core = &tokenizer.get().core;
    let held_out = held_out.zip(held_out_one_in).map(|(folder, one_in)| {
        let one_in = NonZero::<u64>::try_from(one_in).expect("a count has no more bits");
        HeldOut { folder: folder.0, one_in }
    });
    let options = ShardOptions {
        separator: separator.0.to_string(),
        max_document_bytes,
        shard_tokens: shard_tokens.map_or(u64::MAX, |tokens| tokens.get() as u64),
        threads,
    };
    let sources = sources.get();
    let (train, held_out) = fed(py, on_progress.as_ref(), sources.pump(py), |watch| {
        shard::write_shards(core, sources.core(), &folder.0, held_out.as_ref(), &options, watch)
    })?;
    let totals = |totals: ShardTotals| (totals.documents, totals.tokens, totals.bytes);
    Ok((totals(train), held_out.map(totals)))
}
