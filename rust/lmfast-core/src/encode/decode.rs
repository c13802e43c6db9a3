//! Ids to bytes.

use super::Tokenizer;
use crate::{
    error::{Error, ErrorKind, Result},
    vocabulary::TokenId,
};

impl Tokenizer {
    /// The bytes of a token; those of a special token are its text.
    pub fn token_bytes(&self, id: TokenId) -> Result<&[u8]> {
        self.vocabulary
            .token_bytes(id)
            .or_else(|| self.special_tokens.text_of(id).map(str::as_bytes))
            .ok_or_else(|| {
                let n_vocab = self.n_vocab();
                let message = if (id as usize) < n_vocab {
                    format!("no token has the id {id}: it is a gap in the vocabulary")
                } else {
                    format!("no token has the id {id}: the vocabulary ends at {}", n_vocab - 1)
                };
                Error::new(ErrorKind::UnknownToken, message)
            })
    }

    /// The id of the token, special or not, that is exactly `bytes`.
    pub fn token_id(&self, bytes: &[u8]) -> Result<TokenId> {
        let special = || self.special_tokens.id_of(std::str::from_utf8(bytes).ok()?);
        self.vocabulary.id_of(bytes).or_else(special).ok_or_else(|| {
            let message = format!("there is no token \"{}\"", bytes.escape_ascii());
            Error::new(ErrorKind::UnknownToken, message)
        })
    }

    /// `ids` without those of special tokens.
    pub fn without_special(&self, mut ids: Vec<TokenId>) -> Vec<TokenId> {
        ids.retain(|&id| !self.special_tokens.is_special(id));
        ids
    }

    /// The bytes that `ids` stand for.
    pub fn decode_bytes(&self, ids: &[TokenId]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for &id in ids {
            bytes.extend_from_slice(self.token_bytes(id)?);
        }
        Ok(bytes)
    }
}
