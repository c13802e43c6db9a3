//! The bytes of all tokens, end to end, and ids by bytes.

use std::hash::BuildHasher;

use hashbrown::{HashTable, hash_table::Entry};
use rustc_hash::FxBuildHasher;

use super::{MAX_TOKENS, TokenId};
use crate::error::{Error, Result};

/// Tokens by id and ids by bytes; both are unique.
///
/// The bytes stand in the order of the ids: whoever goes through all tokens reads memory in order, and
/// frequent ones lie close together.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    bytes: Vec<u8>,
    /// Where the bytes of each id end. Those of an id that no token has are none.
    ends: Vec<usize>,
    ids: HashTable<TokenId>,
}

impl Tokens {
    pub(super) fn new<T: AsRef<[u8]>>(tokens: &[(T, TokenId)]) -> Result<Self> {
        let (places, ids) = index(tokens)?;
        let mut bytes =
            Vec::with_capacity(tokens.iter().map(|(bytes, _)| bytes.as_ref().len()).sum());
        let ends = places.into_iter().map(|place| {
            bytes.extend_from_slice(place.map_or(&[], |place| tokens[place].0.as_ref()));
            bytes.len()
        });
        Ok(Self { ends: ends.collect(), bytes, ids })
    }

    /// One more than the greatest id.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a token, or `None` where no token has this id.
    pub(super) fn get(&self, id: TokenId) -> Option<&[u8]> {
        let end = *self.ends.get(id as usize)?;
        let start = self.start(id);
        (start < end).then(|| &self.bytes[start..end])
    }

    /// The number of bytes of a token.
    #[inline]
    pub(super) fn len_of(&self, id: TokenId) -> usize {
        self.ends[id as usize] - self.start(id)
    }

    #[inline]
    fn start(&self, id: TokenId) -> usize {
        if id == 0 { 0 } else { self.ends[id as usize - 1] }
    }

    /// The token that is exactly `bytes`.
    pub(super) fn id_of(&self, bytes: &[u8]) -> Option<TokenId> {
        self.ids.find(hash(bytes), |&id| self.get(id) == Some(bytes)).copied()
    }

    /// Tokens in the order of their ids; gaps left out.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        (0..self.len() as TokenId).filter_map(|id| Some((id, self.get(id)?)))
    }
}

fn hash(bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one(bytes)
}

/// By id, the place in `tokens`; and the table of ids.
fn index<T: AsRef<[u8]>>(
    tokens: &[(T, TokenId)],
) -> Result<(Vec<Option<usize>>, HashTable<TokenId>)> {
    let mut places = Vec::new();
    let mut ids = HashTable::with_capacity(tokens.len());
    for (place, (bytes, id)) in tokens.iter().enumerate() {
        let (bytes, id) = (bytes.as_ref(), *id);
        let text = bytes.escape_ascii();
        if bytes.is_empty() {
            return Err(Error::vocabulary(format!("the token of id {id} is empty")));
        }
        if id as usize >= MAX_TOKENS {
            let message = format!("token \"{text}\" has the id {id}; ids are below {MAX_TOKENS}");
            return Err(Error::vocabulary(message));
        }
        if places.len() <= id as usize {
            places.resize(id as usize + 1, None);
        }
        if let Some(there) = places[id as usize].replace(place) {
            let other = tokens[there].0.as_ref().escape_ascii();
            let message = format!("tokens \"{other}\" and \"{text}\" both have the id {id}");
            return Err(Error::vocabulary(message));
        }
        let bytes_of = |id: TokenId| places[id as usize].map(|place| tokens[place].0.as_ref());
        let is_same = |&id: &TokenId| bytes_of(id) == Some(bytes);
        let hash_of = |&id: &TokenId| hash(bytes_of(id).expect("an id of the table"));
        match ids.entry(hash(bytes), is_same, hash_of) {
            Entry::Vacant(entry) => entry.insert(id),
            Entry::Occupied(entry) => {
                let message = format!("the ids {} and {id} both stand for \"{text}\"", entry.get());
                return Err(Error::vocabulary(message));
            }
        };
    }
    Ok((places, ids))
}
