//! Tokenizer files: each format is read and written in a module of its own.

pub(crate) mod byte_level;
pub mod gpt2;
pub(crate) mod pre_tokenizer;
pub mod tiktoken;
pub mod tokenizer_json;

use crate::error::{Error, Result};

/// The two sides of a merge written as `"a b"`.
fn split_merge(line: &str, rank: usize) -> Result<(String, String)> {
    match line.trim_end_matches('\r').split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
            Ok((left.to_owned(), right.to_owned()))
        }
        _ => Err(Error::vocabulary(format!(
            "merge {rank} is {line:?}; a merge is two tokens with one space between them"
        ))),
    }
}

/// The bytes of a token as GPT-2's alphabet spells it.
fn spelled_bytes(text: &str) -> Result<Box<[u8]>> {
    byte_level::to_bytes(text).ok_or_else(|| {
        Error::vocabulary(format!(
            "token {text:?} is not spelled in the byte-level alphabet (is it a special token?)"
        ))
    })
}
