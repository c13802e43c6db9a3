//! Which of several pairs with the same count merges first.

use std::{cmp::Reverse, rc::Rc};

use crate::{
    error::{Error, ErrorKind, Result},
    format::byte_level::hugging_face_order,
    vocabulary::TokenId,
};

/// A named rule for ties. Each is a total order, so that training has one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The greatest pair of byte strings, left compared first.
    Lexicographic,
    /// The smallest pair of ids, where bytes come first in the order of Hugging Face's alphabet:
    /// the merges of its `BpeTrainer` with the `ByteLevel` alphabet.
    HuggingFace,
    /// The smallest pair of ids, where the ids of bytes are the bytes.
    SmallestId,
}

impl TieBreak {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Lexicographic, Self::HuggingFace, Self::SmallestId];

    /// The name by which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lexicographic => "lexicographic",
            Self::HuggingFace => "huggingface",
            Self::SmallestId => "smallest_id",
        }
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let message = format!("there is no tie-break {name:?}; known are {names}");
            Error::new(ErrorKind::Config, message)
        })
    }
}

/// A pair's place among pairs of its count: the greatest merges first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    Bytes(Rc<[u8]>, Rc<[u8]>),
    Ids(Reverse<(TokenId, TokenId)>),
}

/// The tokens there are, which of them may join, and how ties between pairs break.
pub(super) struct Ranking {
    rule: TieBreak,
    max_token_bytes: usize,
    tokens: Vec<Rc<[u8]>>,
}

impl Ranking {
    pub(super) fn new(rule: TieBreak, max_token_bytes: usize) -> Self {
        let tokens = (0..=255u8).map(|byte| Rc::from([byte])).collect();
        Self { rule, max_token_bytes, tokens }
    }

    /// The length of a token in bytes.
    pub(super) fn token_len(&self, id: TokenId) -> usize {
        self.tokens[id as usize].len()
    }

    /// Whether the token that `left` and `right` become is not too long.
    pub(super) fn may_join(&self, left: TokenId, right: TokenId) -> bool {
        self.token_len(left) + self.token_len(right) <= self.max_token_bytes
    }

    /// Add the token that `left` and `right` become.
    pub(super) fn join(&mut self, left: TokenId, right: TokenId) -> TokenId {
        let joined = [&*self.tokens[left as usize], &*self.tokens[right as usize]].concat();
        self.tokens.push(joined.into());
        (self.tokens.len() - 1) as TokenId
    }

    pub(super) fn precedence(&self, left: TokenId, right: TokenId) -> Precedence {
        let bytes = |id: TokenId| Rc::clone(&self.tokens[id as usize]);
        match self.rule {
            TieBreak::Lexicographic => Precedence::Bytes(bytes(left), bytes(right)),
            TieBreak::SmallestId => Precedence::Ids(Reverse((left, right))),
            TieBreak::HuggingFace => {
                let order = hugging_face_order();
                let place = |id: TokenId| order.get(id as usize).map_or(id, |&o| TokenId::from(o));
                Precedence::Ids(Reverse((place(left), place(right))))
            }
        }
    }
}
