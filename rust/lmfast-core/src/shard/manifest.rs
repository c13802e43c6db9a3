//! What a folder of shards says of itself, in `manifest.json`.

use serde::Serialize;

/// The name and the version of the format.
pub(super) const FORMAT: &str = "lmfast.shards";
pub(super) const VERSION: u32 = 1;

#[derive(Debug, Serialize)]
pub(super) struct Manifest {
    pub(super) format: &'static str,
    pub(super) version: u32,
    pub(super) tokenizer: TokenizerIdentity,
    pub(super) dtype: Dtype,
    pub(super) documents: u64,
    pub(super) tokens: u64,
    /// Bytes of text, separators left out.
    pub(super) bytes: u64,
    pub(super) shards: Vec<ShardEntry>,
    pub(super) document_starts: IndexEntry,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct TokenizerIdentity {
    pub(super) identity: String,
    pub(super) vocab_size: usize,
}

/// The little-endian type of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dtype {
    Uint16,
    Uint32,
}

impl Dtype {
    /// The smaller one that holds every id of the vocabulary.
    pub(super) fn for_vocabulary(n_vocab: usize) -> Self {
        if n_vocab <= 1 << 16 { Self::Uint16 } else { Self::Uint32 }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ShardEntry {
    pub(super) file: String,
    pub(super) tokens: u64,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

#[derive(Debug, Serialize)]
pub(super) struct IndexEntry {
    pub(super) file: String,
    pub(super) sha256: String,
}
