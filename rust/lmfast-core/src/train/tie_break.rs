//! Which of several pairs with the same count merges first.

use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use crate::{
    encode::Tokenizer,
    error::{Error, ErrorKind, Result},
    format::byte_level::{hugging_face_order, to_bytes},
    special::SpecialTokens,
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
    Bytes(Arc<[u8]>, Arc<[u8]>),
    Ids(Reverse<(TokenId, TokenId)>),
}

/// The tokens there are, which of them may join, and how ties between pairs break.
pub(super) struct Ranking {
    rule: TieBreak,
    max_token_bytes: usize,
    /// By id; empty where no token may join.
    tokens: Vec<Arc<[u8]>>,
    /// By id: its place in the order of the rule.
    places: Vec<TokenId>,
    /// What no new token may be.
    taken: HashSet<Arc<[u8]>>,
    /// Whether new tokens must be told from each other: those that come of bytes alone never clash.
    may_clash: bool,
    /// The most bytes of what is taken.
    longest_taken: usize,
}

impl Ranking {
    pub(super) fn new(
        rule: TieBreak,
        max_token_bytes: Option<usize>,
        reserved: &SpecialTokens,
        start: Option<&Tokenizer>,
    ) -> Self {
        let tokens: Vec<Arc<[u8]>> = match start {
            None => (0..=255u8).map(|byte| Arc::from([byte])).collect(),
            Some(start) => (0..start.n_vocab() as TokenId)
                .map(|id| start.vocabulary().token_bytes(id).unwrap_or_default().into())
                .collect(),
        };
        let bytes_come_first = start.is_none_or(|start| {
            let ids = start.vocabulary().byte_ids();
            ids.iter().zip(0..).all(|(&id, byte)| id == byte)
        });
        let mut places: Vec<TokenId> = (0..tokens.len() as TokenId).collect();
        if rule == TieBreak::HuggingFace && bytes_come_first {
            let order = hugging_face_order();
            places.iter_mut().zip(order).for_each(|(place, &o)| *place = TokenId::from(o));
        }
        let special = reserved.iter().filter_map(|(text, _)| to_bytes(text)).map(Arc::from);
        let old = start.is_some().then(|| tokens.iter().cloned());
        let taken: HashSet<Arc<[u8]>> = special.chain(old.into_iter().flatten()).collect();
        Self {
            rule,
            max_token_bytes: max_token_bytes.unwrap_or(usize::MAX),
            longest_taken: taken.iter().map(|bytes| bytes.len()).max().unwrap_or(0),
            tokens,
            places,
            taken,
            may_clash: start.is_some(),
        }
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the token that `left` and `right` become is one that may be.
    pub(super) fn may_join(&self, left: TokenId, right: TokenId) -> bool {
        let [left, right] = [left, right].map(|id| &*self.tokens[id as usize]);
        let len = left.len() + right.len();
        let is_free = len > self.longest_taken || !self.taken.contains(&*[left, right].concat());
        len <= self.max_token_bytes && is_free
    }

    /// Add the token that `left` and `right` become.
    pub(super) fn join(&mut self, left: TokenId, right: TokenId) -> TokenId {
        let joined = [&*self.tokens[left as usize], &*self.tokens[right as usize]].concat();
        let joined: Arc<[u8]> = joined.into();
        if self.may_clash {
            self.longest_taken = self.longest_taken.max(joined.len());
            self.taken.insert(Arc::clone(&joined));
        }
        let id = self.tokens.len() as TokenId;
        self.tokens.push(joined);
        self.places.push(id);
        id
    }

    pub(super) fn precedence(&self, left: TokenId, right: TokenId) -> Precedence {
        match self.rule {
            TieBreak::Lexicographic => {
                let [left, right] = [left, right].map(|id| Arc::clone(&self.tokens[id as usize]));
                Precedence::Bytes(left, right)
            }
            TieBreak::SmallestId | TieBreak::HuggingFace => {
                let [left, right] = [left, right].map(|id| self.places[id as usize]);
                Precedence::Ids(Reverse((left, right)))
            }
        }
    }
}
