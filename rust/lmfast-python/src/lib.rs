//! The Python face of `lmfast-core`: extract, detach from the interpreter, convert; nothing else.

#![expect(clippy::needless_pass_by_value, reason = "Python hands over what it passes")]

mod arguments;
mod documents;
mod door;
mod errors;
mod looking;
mod pump;
mod shards;
mod sources;
mod tokenizer;
mod training;

use pyo3::prelude::*;

/// The Rust half of lmfast.
#[pymodule(gil_used = false)]
mod _lmfast {
    #[pymodule_export]
    use super::{
        looking::{character_class, for_each_text, pretokenizer_names},
        shards::write_shards,
        sources::{Sources, expand_sources},
        tokenizer::{Tokenizer, flatten_ids},
        training::PretokenCounts,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
