//! Token bytes, ids and merge ranks.

mod extend;
mod tokens;

use tokens::Tokens;

use crate::error::{Error, Result};

/// An index into the model's vocabulary.
pub type TokenId = u32;

/// Ids must leave room for flags and for two of them in a 64-bit key.
pub const MAX_TOKENS: usize = 1 << 24;

/// Ranks leave room for a place in 32 bits.
pub(crate) const MAX_RANKS: usize = (1 << 27) - 1;

/// Recovering merges takes quadratic time in the length of a token.
const MAX_RANKED_BYTES: usize = 1 << 12;

/// The bytes of two tokens that join.
pub type BytePair = (Box<[u8]>, Box<[u8]>);

/// The bytes of two tokens end to end, in memory that is used again.
pub(crate) fn join<'a>(left: &[u8], right: &[u8], joined: &'a mut Vec<u8>) -> &'a [u8] {
    joined.clear();
    joined.extend_from_slice(left);
    joined.extend_from_slice(right);
    joined
}

/// An ordered pair of tokens that join, and the token they become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The token on the left.
    pub left: TokenId,
    /// The token on the right.
    pub right: TokenId,
    /// The token that the two become.
    pub merged: TokenId,
    /// Lower ranks merge first. Two merges share a rank only where a vocabulary of ranks alone
    /// splits one token in several ways.
    pub rank: u32,
}

/// A byte-level BPE vocabulary without its special tokens.
///
/// Every single byte is a token. Merges stand in rank order: of all pairs in a pretoken the one of
/// the lowest rank, leftmost, joins first.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    tokens: Tokens,
    byte_ids: [TokenId; 256],
    merges: Vec<Merge>,
    whole_pretokens_first: bool,
}

impl Vocabulary {
    /// The vocabulary that training found: ids 0 to 255 are the bytes, then one id per merge.
    pub fn from_training(merges: &[(TokenId, TokenId)]) -> Result<Self> {
        let mut tokens: Vec<Box<[u8]>> = (0..=255u8).map(|byte| Box::from([byte])).collect();
        let mut ranked = Vec::with_capacity(merges.len());
        for &(left, right) in merges {
            let merged = tokens.len() as TokenId;
            let [Some(a), Some(b)] = [left, right].map(|id| tokens.get(id as usize)) else {
                let message = format!(
                    "merge {merged} joins {left} and {right}; a merge joins tokens made before it"
                );
                return Err(Error::vocabulary(message));
            };
            tokens.push([&**a, &**b].concat().into());
            ranked.push(Merge { left, right, merged, rank: ranked.len() as u32 });
        }
        let tokens: Vec<_> = tokens.into_iter().zip(0..).collect();
        Self::new(&tokens, Merges::Ranked(ranked), false)
    }

    /// A vocabulary from tokens and merges as a tokenizer file lists them.
    ///
    /// With `whole_pretokens_first` a pretoken that is a token is that token, whatever its merges
    /// give (Hugging Face's `ignore_merges`).
    pub fn from_tokens_and_merges<T: AsRef<[u8]>>(
        tokens: &[(T, TokenId)],
        merges: &[BytePair],
        whole_pretokens_first: bool,
    ) -> Result<Self> {
        Self::new(tokens, Merges::Spelled(merges), whole_pretokens_first)
    }

    /// A vocabulary from ranks alone, as in a `.tiktoken` file, where id and rank are one.
    ///
    /// Merges are recovered by encoding each token with the ranks below its own. A token that this
    /// does not bring down to two parts is reached in more than one way; then every way to split
    /// every token is a merge, which is what tiktoken does.
    pub fn from_ranks<T: AsRef<[u8]>>(ranks: &[(T, TokenId)]) -> Result<Self> {
        let mut ranked = ranks.iter().map(|(bytes, rank)| (bytes.as_ref(), rank));
        if let Some((bytes, rank)) = ranked.find(|(bytes, _)| bytes.len() > MAX_RANKED_BYTES) {
            let message = format!(
                "the token of rank {rank} has {} bytes; merges are recovered for tokens of up to \
                 {MAX_RANKED_BYTES}",
                bytes.len()
            );
            return Err(Error::vocabulary(message));
        }
        Self::new(ranks, Merges::Implied, false)
    }

    fn new<T: AsRef<[u8]>>(
        tokens: &[(T, TokenId)],
        merges: Merges<'_>,
        whole_pretokens_first: bool,
    ) -> Result<Self> {
        let tokens = Tokens::new(tokens)?;
        let mut byte_ids = [0; 256];
        for (byte, id) in byte_ids.iter_mut().enumerate() {
            *id = tokens.id_of(&[byte as u8]).ok_or_else(|| {
                Error::vocabulary(format!(
                    "the vocabulary has no token for the single byte 0x{byte:02X}; \
                     a byte-level vocabulary holds all 256"
                ))
            })?;
        }
        let mut vocabulary = Self { tokens, byte_ids, merges: Vec::new(), whole_pretokens_first };
        match merges {
            Merges::Ranked(merges) => vocabulary.merges = merges,
            Merges::Spelled(merges) => {
                vocabulary.merges = vocabulary.resolve(merges)?;
                vocabulary.share_ranks_of_splits();
            }
            Merges::Implied => {
                let recovered = vocabulary.recover_merges();
                vocabulary.whole_pretokens_first = recovered.is_none();
                vocabulary.merges = recovered.unwrap_or_else(|| vocabulary.all_splits());
            }
        }
        if vocabulary.merges.last().is_some_and(|merge| merge.rank as usize >= MAX_RANKS) {
            let found = vocabulary.merges.len();
            let message =
                format!("there are {found} merges; no more than {MAX_RANKS} are supported");
            return Err(Error::vocabulary(message));
        }
        Ok(vocabulary)
    }

    /// One more than the greatest id.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Always false: a vocabulary holds at least the 256 bytes.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The bytes of a token, or `None` where no token has this id.
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.tokens.get(id)
    }

    /// The number of bytes of a token, which must be there.
    #[inline]
    pub(crate) fn token_len(&self, id: TokenId) -> usize {
        self.tokens.len_of(id)
    }

    /// The token that is exactly `bytes`.
    pub fn id_of(&self, bytes: &[u8]) -> Option<TokenId> {
        self.tokens.id_of(bytes)
    }

    /// The tokens of the single bytes.
    pub fn byte_ids(&self) -> &[TokenId; 256] {
        &self.byte_ids
    }

    /// Tokens in the order of their ids; gaps left out.
    pub fn tokens(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        self.tokens.iter()
    }

    /// Merges, lowest rank first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// Whether a pretoken that is a token is that token, whatever its merges give.
    pub fn whole_pretokens_first(&self) -> bool {
        self.whole_pretokens_first
    }

    fn resolve(&self, merges: &[BytePair]) -> Result<Vec<Merge>> {
        let id_of = |rank: usize, bytes: &[u8]| {
            self.id_of(bytes).ok_or_else(|| {
                let text = bytes.escape_ascii();
                Error::vocabulary(format!("merge {rank} names \"{text}\", which is not a token"))
            })
        };
        let mut joined = Vec::new();
        let resolve = |(rank, (left, right)): (usize, &BytePair)| {
            Ok(Merge {
                left: id_of(rank, left)?,
                right: id_of(rank, right)?,
                merged: id_of(rank, join(left, right, &mut joined))?,
                rank: rank as u32,
            })
        };
        merges.iter().enumerate().map(resolve).collect()
    }

    fn recover_merges(&self) -> Option<Vec<Merge>> {
        let multi_byte = self.tokens().filter(|(_, bytes)| bytes.len() > 1);
        (0..)
            .zip(multi_byte)
            .map(|(rank, (merged, bytes))| {
                let parts = self.encode_below(bytes, merged);
                let [left, right] = parts[..] else { return None };
                Some(Merge { left, right, merged, rank })
            })
            .collect()
    }

    /// `bytes` encoded by joining the pair whose bytes have the lowest id, using only ids below
    /// `limit`. Slow, but used once per token of a file.
    fn encode_below(&self, bytes: &[u8], limit: TokenId) -> Vec<TokenId> {
        let mut ends: Vec<usize> = (0..=bytes.len()).collect();
        loop {
            let joined = |at: usize| self.id_of(&bytes[ends[at]..ends[at + 2]]);
            let pairs = (0..ends.len().saturating_sub(2)).filter_map(|at| Some((joined(at)?, at)));
            match pairs.filter(|&(id, _)| id < limit).min() {
                Some((_, at)) => ends.remove(at + 1),
                None => break,
            };
        }
        let part = |pair: &[usize]| self.id_of(&bytes[pair[0]..pair[1]]).expect("a token");
        ends.windows(2).map(part).collect()
    }

    /// A file of merges cannot say that some share a rank. Where ranks alone made every split a
    /// merge, they do.
    fn share_ranks_of_splits(&mut self) {
        if !self.whole_pretokens_first {
            return;
        }
        let splits = self.all_splits();
        let joined = |merge: &Merge| (merge.left, merge.right);
        if splits.iter().map(joined).eq(self.merges.iter().map(joined)) {
            self.merges = splits;
        }
    }

    fn all_splits(&self) -> Vec<Merge> {
        let mut merges = Vec::new();
        for (merged, bytes) in self.tokens() {
            for at in 1..bytes.len() {
                let (left, right) = bytes.split_at(at);
                if let (Some(left), Some(right)) = (self.id_of(left), self.id_of(right)) {
                    merges.push(Merge { left, right, merged, rank: merged });
                }
            }
        }
        merges
    }
}

/// Where the merges of a vocabulary come from.
enum Merges<'a> {
    Ranked(Vec<Merge>),
    Spelled(&'a [BytePair]),
    Implied,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_and(extra: &[(&str, TokenId)]) -> Vec<(Box<[u8]>, TokenId)> {
        let single = (0..=255u8).map(|byte| (Box::from([byte]), TokenId::from(byte)));
        let extra = extra.iter().map(|&(text, id)| (Box::from(text.as_bytes()), id));
        single.chain(extra).collect()
    }

    #[test]
    fn ranks_recover_the_merges_of_training() {
        let merges = [(97, 98), (256, 99), (257, 257)];
        let trained = Vocabulary::from_training(&merges).unwrap();
        let ranks: Vec<_> = trained.tokens().map(|(id, bytes)| (bytes, id)).collect();
        let recovered = Vocabulary::from_ranks(&ranks).unwrap();
        assert_eq!(recovered.merges(), trained.merges());
        assert!(!recovered.whole_pretokens_first());
    }

    #[test]
    fn a_token_out_of_reach_brings_every_split() {
        let vocabulary = Vocabulary::from_ranks(&bytes_and(&[("abc", 300)])).unwrap();
        assert!(vocabulary.whole_pretokens_first());
        assert_eq!(vocabulary.merges(), []);
        assert_eq!(vocabulary.token_bytes(299), None);
    }

    #[test]
    fn every_split_comes_back_from_a_file_of_merges() {
        let ranks = bytes_and(&[("aa", 256), ("aaa", 257), ("xyz", 258)]);
        let implied = Vocabulary::from_ranks(&ranks).unwrap();
        let bytes = |id| Box::from(implied.token_bytes(id).unwrap());
        let pairs: Vec<BytePair> =
            implied.merges().iter().map(|merge| (bytes(merge.left), bytes(merge.right))).collect();
        assert_eq!(pairs.len(), 3);
        let spelled = Vocabulary::from_tokens_and_merges(&ranks, &pairs, true).unwrap();
        assert_eq!(spelled.merges(), implied.merges());
    }

    #[test]
    fn clashes_are_named() {
        let message = |extra| Vocabulary::from_ranks(&bytes_and(extra)).unwrap_err().to_string();
        assert!(message(&[("ab", 256), ("cd", 256)]).contains("both have the id 256"));
        assert!(message(&[("ab", 256), ("ab", 257)]).contains("both stand for \"ab\""));
        assert!(message(&[("ab", u32::MAX)]).contains("ids are below"));
        let missing = Vocabulary::from_ranks::<&[u8]>(&[]).unwrap_err().to_string();
        assert!(missing.contains("0x00"), "{missing}");
    }
}
