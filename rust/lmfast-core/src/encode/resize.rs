//! A tokenizer with fewer merges, or with more.

use super::Tokenizer;
use crate::{
    error::{Error, Result},
    special::SpecialTokens,
    vocabulary::{TokenId, Vocabulary},
};

impl Tokenizer {
    /// The tokenizer of `n_vocab` tokens that training at that size would have given.
    ///
    /// Training finds the merges of a smaller vocabulary first, so that they are the first ones of
    /// this; special tokens follow them, as they do after training. That holds where ids are
    /// ranks: bytes, then one id per merge, then the special tokens.
    pub fn truncated_to(&self, n_vocab: usize) -> Result<Self> {
        if let Some(reason) = self.why_ids_are_not_ranks() {
            return Err(Error::vocabulary(format!(
                "cannot truncate the tokenizer to {n_vocab} tokens: {reason}; only where ids 0 to \
                 255 are the bytes, merges follow in rank order and special tokens come last is \
                 every first part a vocabulary of its own"
            )));
        }
        let (least, most) = (256 + self.special_tokens.len(), self.n_vocab());
        if !(least..=most).contains(&n_vocab) {
            return Err(Error::vocabulary(format!(
                "cannot truncate the tokenizer to {n_vocab} tokens: it holds {most}, and the 256 \
                 bytes and its special tokens stay, so it must be {least} to {most}"
            )));
        }
        let kept = &self.vocabulary.merges()[..n_vocab - least];
        let merges: Vec<_> = kept.iter().map(|merge| (merge.left, merge.right)).collect();
        let texts = self.special_tokens.iter().map(|(text, _)| text.to_owned());
        let ids = (n_vocab - self.special_tokens.len()) as TokenId..;
        Self::new(
            Vocabulary::from_training(&merges)?,
            SpecialTokens::new(texts.zip(ids).collect())?,
            self.pretokenizer.clone(),
        )
    }

    /// The tokenizer with further merges; what they make has the ids after the greatest there is.
    pub fn extended(&self, merges: &[(TokenId, TokenId)]) -> Result<Self> {
        let vocabulary = self.vocabulary.extended(self.n_vocab() as TokenId, merges)?;
        Self::new(vocabulary, self.special_tokens.clone(), self.pretokenizer.clone())
    }

    fn why_ids_are_not_ranks(&self) -> Option<String> {
        let vocabulary = &self.vocabulary;
        if vocabulary.whole_pretokens_first() {
            return Some("it takes a pretoken that is a token as a whole".to_owned());
        }
        if let Some((id, byte)) = (0..).zip(vocabulary.byte_ids()).find(|(id, byte)| id != *byte) {
            return Some(format!("the byte 0x{id:02X} has the id {byte}"));
        }
        let mut ids = (256..).zip(vocabulary.merges());
        if let Some((id, merge)) = ids.find(|(id, merge)| merge.merged != *id) {
            return Some(format!("merge {} makes the id {}", id - 256, merge.merged));
        }
        let end = 256 + vocabulary.merges().len();
        if vocabulary.len() > end {
            return Some(format!("no merge makes the token of id {}", vocabulary.len() - 1));
        }
        let mut special = (end as TokenId..).zip(self.special_tokens.iter());
        let (_, (text, id)) = special.find(|(expected, (_, id))| expected != id)?;
        Some(format!("the special token {text:?} has the id {id}"))
    }
}
