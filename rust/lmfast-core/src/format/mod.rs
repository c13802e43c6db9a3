//! Tokenizer files: each format is read and written in a module of its own.

pub(crate) mod byte_level;
pub mod gpt2;
pub mod kind;
pub(crate) mod pre_tokenizer;
pub mod tekken;
pub mod tiktoken;
pub mod tokenizer_json;

use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    special::Flags,
    vocabulary::TokenId,
};

/// The ids that stand around every text, where a caller asks for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Before the text.
    pub before: Vec<TokenId>,
    /// Behind it.
    pub after: Vec<TokenId>,
    /// As the file has it, which says more: how two texts are joined, and which is which.
    pub(crate) source: Option<serde_json::Value>,
}

/// Refuse what only a `tokenizer.json` can say.
fn refuse_what_is_not_plain(tokenizer: &Tokenizer) -> Result<()> {
    let added = tokenizer.special_tokens();
    if !added.normalizer().is_empty() {
        let message = format!(
            "this tokenizer normalizes text ({}), which only a tokenizer.json can say",
            added.normalizer()
        );
        return Err(Error::vocabulary(message));
    }
    let plain = |flags: Flags| Flags { normalized: false, ..flags } == Flags::SPECIAL;
    match added.added().iter().find(|token| !plain(token.flags)) {
        Some(token) => Err(Error::vocabulary(format!(
            "the added token {:?} is not special, or swallows space, or is found between words \
             only, which only a tokenizer.json can say",
            token.text
        ))),
        None => Ok(()),
    }
}

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
