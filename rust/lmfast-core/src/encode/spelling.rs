//! Tokens as tokenizer files spell them: bytes as printable characters, special tokens as they are.

use super::Tokenizer;
use crate::{
    error::Result,
    format::byte_level::{to_bytes, to_chars},
    vocabulary::TokenId,
};

impl Tokenizer {
    /// The number of ids that stand for something, special ones included.
    pub fn n_tokens(&self) -> usize {
        let added = self.special_tokens.iter();
        let only_added = added.filter(|&(_, id)| self.vocabulary.token_bytes(id).is_none());
        self.vocabulary.tokens().count() + only_added.count()
    }

    /// How files spell the token of that id.
    pub fn spelling(&self, id: TokenId) -> Result<String> {
        if let Some(text) = self.special_tokens.text_of(id) {
            return Ok(text.to_owned());
        }
        self.token_bytes(id).map(to_chars)
    }

    /// The id of the token that files spell so.
    pub fn id_of_spelling(&self, spelling: &str) -> Option<TokenId> {
        let ordinary = || self.vocabulary.id_of(&to_bytes(spelling)?);
        self.special_tokens.id_of(spelling).or_else(ordinary)
    }

    /// How files spell each token, with its id; those that are not added first. A token that is
    /// added under its own spelling stands once.
    pub fn spellings(&self) -> impl Iterator<Item = (String, TokenId)> {
        let tokens = self.vocabulary.tokens().map(|(id, bytes)| (to_chars(bytes), id));
        let is_token = |text: &str, id| {
            self.vocabulary.token_bytes(id).is_some_and(|bytes| to_chars(bytes) == text)
        };
        let added = self.special_tokens.iter().filter(move |&(text, id)| !is_token(text, id));
        tokens.chain(added.map(|(text, id)| (text.to_owned(), id)))
    }
}
