//! Text to ids and back.

mod added;
mod batch;
mod cache;
mod decode;
mod decode_batch;
mod encoder;
mod found;
mod front;
mod groups;
mod heap;
mod lane;
mod long_cache;
mod merge;
mod packed;
mod pairs;
mod parts;
mod pieces;
mod resize;
mod seams;
mod spans;
mod spelling;
mod stitch;
#[cfg(test)]
mod tests;
mod text;

use std::{collections::HashMap, sync::Mutex};

use rustc_hash::FxBuildHasher;
use sha2::{Digest, Sha256};

pub use batch::Batch;
use merge::Merger;
use pairs::PairRanks;
pub use parts::Side;
use pieces::{Memory, Pieces};
use seams::Seams;
pub use spans::{Spans, Unit};
pub use text::Text;

use crate::{
    error::{Error, Result},
    files::hexadecimal,
    format::{Template, byte_level::to_bytes},
    idle::Idle,
    pretokenize::{Classes, Ends, Pretokenizer},
    special::{Rule, SpecialPolicy, SpecialTokens},
    vocabulary::{TokenId, Vocabulary},
};

/// A vocabulary, its special tokens and its pretokenizer, ready to encode and decode.
///
/// It may be used from many threads at once.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
    special_tokens: SpecialTokens,
    pretokenizer: Pretokenizer,
    template: Template,
    /// Once somebody has asked for it.
    identity: Mutex<Option<String>>,
    pairs: PairRanks,
    seams: Seams,
    /// Tokens that are whole pretokens and that merging does not give.
    whole_only: HashMap<Box<[u8]>, TokenId, FxBuildHasher>,
    /// Memory of earlier calls, one for each call that ran at the same time.
    idle: Idle<Memory>,
}

impl Tokenizer {
    /// A special token must have neither the id nor the spelling of another token: tokenizer files
    /// list both kinds by their text.
    pub fn new(
        vocabulary: Vocabulary,
        special_tokens: SpecialTokens,
        pretokenizer: Pretokenizer,
    ) -> Result<Self> {
        for (text, id) in special_tokens.iter() {
            // A token of the vocabulary may be added once more, to be found before all merges.
            if vocabulary.token_bytes(id) == Some(text.as_bytes()) {
                continue;
            }
            if let Some(bytes) = vocabulary.token_bytes(id) {
                let other = bytes.escape_ascii();
                return Err(Error::vocabulary(format!(
                    "the special token {text:?} has the id {id}, which is that of \"{other}\""
                )));
            }
            if let Some(other) = to_bytes(text).and_then(|bytes| vocabulary.id_of(&bytes)) {
                return Err(Error::vocabulary(format!(
                    "the special token {text:?} is spelled like the token of id {other} in \
                     tokenizer files, which cannot hold both"
                )));
            }
        }
        // A child forked while another thread makes this table would wait for it for good.
        Classes::get();
        let pairs = PairRanks::new(vocabulary.merges(), vocabulary.byte_ids());
        let mut tokenizer = Self {
            seams: Seams::of(&vocabulary),
            vocabulary,
            special_tokens,
            pretokenizer,
            template: Template::default(),
            identity: Mutex::default(),
            pairs,
            whole_only: HashMap::default(),
            idle: Idle::default(),
        };
        tokenizer.whole_only = tokenizer.tokens_out_of_reach();
        Ok(tokenizer)
    }

    /// The tokens that are not special, and their merges.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The special tokens.
    pub fn special_tokens(&self) -> &SpecialTokens {
        &self.special_tokens
    }

    /// How text is cut before merging.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// One more than the greatest id, special tokens included.
    pub fn n_vocab(&self) -> usize {
        let special = self.special_tokens.iter().last().map_or(0, |(_, id)| id as usize + 1);
        self.vocabulary.len().max(special)
    }

    /// A hash of all that decides which ids a text gets: 64 hexadecimal digits.
    pub fn identity(&self) -> String {
        // Nobody waits for the lock, which a forked child may find held for good.
        if let Ok(kept) = self.identity.try_lock()
            && let Some(identity) = &*kept
        {
            return identity.clone();
        }
        let identity = self.compute_identity();
        if let Ok(mut kept) = self.identity.try_lock() {
            *kept = Some(identity.clone());
        }
        identity
    }

    fn compute_identity(&self) -> String {
        // Hashed many parts at a time: most have four bytes.
        let (mut hash, mut waiting) = (Sha256::new(), Vec::with_capacity(1 << 14));
        let mut part = |bytes: &[u8]| {
            waiting.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            waiting.extend_from_slice(bytes);
            if waiting.len() > 1 << 13 {
                hash.update(&waiting);
                waiting.clear();
            }
        };
        part(b"lmfast tokenizer 1");
        part(self.pretokenizer.pattern().map_or(&b"\0none"[..], str::as_bytes));
        part(&[u8::from(self.vocabulary.whole_pretokens_first())]);
        for (id, bytes) in self.vocabulary.tokens() {
            part(&id.to_le_bytes());
            part(bytes);
        }
        part(b"merges");
        for merge in self.vocabulary.merges() {
            for number in [merge.left, merge.right, merge.merged, merge.rank] {
                part(&number.to_le_bytes());
            }
        }
        part(b"special tokens");
        for (text, id) in self.special_tokens.iter() {
            part(&id.to_le_bytes());
            part(text.as_bytes());
        }
        let settings = self.settings_for_identity();
        if !settings.is_empty() {
            part(&settings);
        }
        hash.update(&waiting);
        hexadecimal(hash)
    }

    /// The ids of `text`, with special tokens in it as `policy` says; by default they are text.
    pub fn encode<'a>(
        &self,
        text: impl Into<Text<'a>>,
        policy: &SpecialPolicy,
    ) -> Result<Vec<TokenId>> {
        let text = text.into();
        let mut ids = Vec::with_capacity(text.bytes().len() / 3 + 1);
        let rule = self.special_tokens.rule(policy)?;
        self.with_memory(|memory| self.encode_into(text, &rule, memory, &mut ids))?;
        Ok(ids)
    }

    /// Appends the tokens of one pretoken at a time.
    pub(crate) fn pretoken_encoder(&self) -> Result<impl FnMut(&[u8], &mut Vec<TokenId>)> {
        let mut memory = Memory::new()?;
        Ok(move |pretoken: &[u8], out: &mut Vec<TokenId>| {
            let mut pieces = Pieces::new(self, pretoken, &mut memory, out);
            pieces.push(pretoken.len());
            pieces.finish();
        })
    }

    /// Append the tokens that merging gives.
    fn merge_piece(&self, piece: &[u8], workspace: &mut stitch::Workspace, out: &mut Vec<TokenId>) {
        merge::merge(self.merger(), piece, workspace, out);
    }

    #[inline]
    fn merger(&self) -> Merger<'_> {
        Merger { pairs: &self.pairs, vocabulary: &self.vocabulary }
    }

    fn tokens_out_of_reach(&self) -> HashMap<Box<[u8]>, TokenId, FxBuildHasher> {
        let mut out_of_reach = HashMap::default();
        if self.vocabulary.whole_pretokens_first() {
            let (mut workspace, mut merged) = (stitch::Workspace::default(), Vec::new());
            for (id, bytes) in self.vocabulary.tokens() {
                merged.clear();
                self.merge_piece(bytes, &mut workspace, &mut merged);
                if merged != [id] {
                    out_of_reach.insert(bytes.into(), id);
                }
            }
        }
        out_of_reach
    }

    /// The token that a pretoken is as a whole, where merging would not give it.
    #[inline]
    fn whole_only(&self, pretoken: &[u8]) -> Option<TokenId> {
        if self.whole_only.is_empty() { None } else { self.whole_only.get(pretoken).copied() }
    }

    fn encode_into(
        &self,
        text: Text<'_>,
        rule: &Rule,
        memory: &mut Memory,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        let bytes = text.bytes();
        if !self.special_tokens.is_plain() {
            return self.encode_parts_into(bytes, rule, memory, out);
        }
        if rule.is_nothing() {
            return self.encode_ordinary_into(text, memory, out);
        }
        let mut done = 0;
        for found in self.special_tokens.find_iter(bytes, rule)? {
            self.encode_ordinary_into(text.part(done..found.start), memory, out)?;
            out.push(found.id);
            done = found.end;
        }
        self.encode_ordinary_into(text.part(done..bytes.len()), memory, out)
    }

    /// Append the ids of `text`, in which nothing is looked for.
    fn encode_ordinary_into(
        &self,
        text: Text<'_>,
        memory: &mut Memory,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        let mut pieces = Pieces::new(self, text.bytes(), memory, out);
        match text {
            Text::Str(text) => self.pretokenizer.for_each_end(text, &mut pieces)?,
            Text::Bytes(bytes) => self.pretokenizer.for_each_end_of_bytes(bytes, &mut pieces)?,
        }
        pieces.finish();
        Ok(())
    }

    fn with_memory<T>(&self, work: impl FnOnce(&mut Memory) -> Result<T>) -> Result<T> {
        let new = || Memory::new().map(Box::new);
        let mut memory = self.idle.take().map_or_else(new, Ok)?;
        let result = work(&mut memory);
        self.idle.put(memory);
        result
    }
}
