//! The added tokens of a `tokenizer.json`, with their flags.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    special::{AddedToken, Flags, SpecialTokens},
    vocabulary::TokenId,
};

pub(super) fn write(tokens: &SpecialTokens) -> Vec<Value> {
    let tokens = tokens.added().iter().map(|AddedToken { text, id, flags }| {
        json!({"id": id, "content": text, "single_word": flags.single_word,
               "lstrip": flags.lstrip, "rstrip": flags.rstrip, "normalized": flags.normalized,
               "special": flags.special})
    });
    tokens.collect()
}

#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the file")]
pub(super) struct ParsedAddedToken {
    id: TokenId,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    normalized: Option<bool>,
    #[serde(default)]
    special: bool,
}

impl ParsedAddedToken {
    pub(super) fn into_token(self) -> AddedToken {
        let Self { id, content: text, single_word, lstrip, rstrip, normalized, special } = self;
        // Where a file does not say, Hugging Face normalizes all but special tokens.
        let normalized = normalized.unwrap_or(!special);
        let flags = Flags { special, normalized, lstrip, rstrip, single_word };
        AddedToken { text, id, flags }
    }
}
