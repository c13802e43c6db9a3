//! Byte-level BPE, from documents to token shards: read, pretokenize, train, encode, shard.

pub mod characters;
pub mod encode;
mod error;
mod files;
pub mod format;
mod hash;
mod huge_pages;
mod huge_table;
mod idle;
mod in_order;
pub mod normalize;
mod prefetch;
pub mod pretokenize;
pub mod shard;
pub mod source;
pub mod special;
mod threads;
pub mod train;
mod utf8;
pub mod vocabulary;
mod watch;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use encode::Tokenizer;
pub use error::{Error, ErrorKind, Result};
pub use watch::Watch;
