//! The model of a `tokenizer.json`: tokens, ids and merges.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use rustc_hash::FxBuildHasher;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, IgnoredAny, SeqAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::Value;

use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    format::{byte_level::push_chars, spelled_bytes, split_merge},
    special::AddedToken,
    utf8::into_string,
    vocabulary::{BytePair, TokenId, Vocabulary, join},
};

#[derive(Serialize)]
pub(super) struct Model<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    ignore_merges: bool,
    vocab: Vocab<'a>,
    merges: Merges<'a>,
}

impl<'a> Model<'a> {
    pub(super) fn of(tokenizer: &'a Tokenizer) -> Self {
        let vocabulary = tokenizer.vocabulary();
        Self {
            kind: "BPE",
            ignore_merges: vocabulary.whole_pretokens_first(),
            vocab: Vocab(tokenizer),
            merges: Merges(vocabulary),
        }
    }
}

/// The two tokens of each merge.
struct Merges<'a>(&'a Vocabulary);

impl Serialize for Merges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        // Each token is spelled once, and joined many times.
        let (mut text, mut places) = (Vec::new(), vec![0..0; self.0.len()]);
        for (id, bytes) in self.0.tokens() {
            let start = text.len();
            push_chars(bytes, &mut text);
            places[id as usize] = start..text.len();
        }
        let text = into_string(text).expect("characters in UTF-8");
        let spelled = |id: TokenId| &text[places[id as usize].clone()];
        serializer.collect_seq(self.0.merges().iter().map(|m| [spelled(m.left), spelled(m.right)]))
    }
}

/// Ids by text, lowest id first. Special tokens are among them, so that their ids are kept even
/// where they do not follow the last token.
struct Vocab<'a>(&'a Tokenizer);

impl Serialize for Vocab<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (text, id) in self.0.spellings() {
            map.serialize_entry(&text, &id)?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
pub(super) struct ParsedModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    dropout: Option<f64>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    vocab: HashMap<String, Value, FxBuildHasher>,
    #[serde(default)]
    merges: Vec<ParsedMerge>,
}

impl ParsedModel {
    pub(super) fn refuse_what_is_not_supported(&self) -> Result<()> {
        let affix = |affix: &Option<String>| affix.as_ref().is_some_and(|text| !text.is_empty());
        let refused = [
            (self.dropout.is_some_and(|dropout| dropout > 0.0), "dropout"),
            (affix(&self.continuing_subword_prefix), "continuing_subword_prefix"),
            (affix(&self.end_of_word_suffix), "end_of_word_suffix"),
            (self.byte_fallback, "byte_fallback"),
        ];
        if let Some(refusal) = refuse_kind(self.kind.as_deref()) {
            return Err(refusal);
        }
        match refused.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(Error::vocabulary(format!(
                "it asks for {what}, which byte-level BPE does not have"
            ))),
            None => Ok(()),
        }
    }

    /// Tokens that are added and that no merge makes or joins are left out.
    pub(super) fn into_vocabulary(self, added: &[AddedToken]) -> Result<Vocabulary> {
        let merges = (0..).zip(self.merges).map(|(rank, merge)| merge.parts(rank));
        let merges = merges.collect::<Result<Vec<_>>>()?;
        let tokens = read_vocab(self.vocab, added, &merges)?;
        Vocabulary::from_tokens_and_merges(&tokens, &merges, self.ignore_merges)
    }
}

fn refuse_kind(kind: Option<&str>) -> Option<Error> {
    let kind = kind.filter(|&kind| kind != "BPE")?;
    Some(Error::vocabulary(format!(
        "its model is {kind}, a model other than BPE: use tokenizers or transformers"
    )))
}

/// Of a file, no more than which kind its model is.
#[derive(Deserialize)]
pub(super) struct ParsedKind {
    model: ParsedModelKind,
}

#[derive(Deserialize)]
struct ParsedModelKind {
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl ParsedKind {
    pub(super) fn refusal(self) -> Option<Error> {
        refuse_kind(self.model.kind.as_deref())
    }
}

/// `"a b"` in older files, `["a", "b"]` in newer ones, which can hold tokens with spaces.
enum ParsedMerge {
    Pair(String, String),
    Line(String),
}

impl<'de> Deserialize<'de> for ParsedMerge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(MergeVisitor)
    }
}

/// An untagged enum would first keep each merge in a tree of its own.
struct MergeVisitor;

impl<'de> Visitor<'de> for MergeVisitor {
    type Value = ParsedMerge;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a merge: two tokens, or a line with a space between them")
    }

    fn visit_str<E: de::Error>(self, line: &str) -> std::result::Result<ParsedMerge, E> {
        Ok(ParsedMerge::Line(line.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut tokens: A,
    ) -> std::result::Result<ParsedMerge, A::Error> {
        let mut token =
            |at| tokens.next_element()?.ok_or_else(|| de::Error::invalid_length(at, &self));
        let (left, right) = (token(0)?, token(1)?);
        match tokens.next_element::<IgnoredAny>()? {
            None => Ok(ParsedMerge::Pair(left, right)),
            Some(_) => Err(de::Error::invalid_length(3, &self)),
        }
    }
}

impl ParsedMerge {
    fn parts(self, rank: usize) -> Result<BytePair> {
        let (left, right) = match self {
            Self::Pair(left, right) => (left, right),
            Self::Line(line) => split_merge(&line, rank)?,
        };
        Ok((spelled_bytes(&left)?, spelled_bytes(&right)?))
    }
}

fn read_vocab(
    vocab: HashMap<String, Value, FxBuildHasher>,
    added: &[AddedToken],
    merges: &[BytePair],
) -> Result<Vec<(Box<[u8]>, TokenId)>> {
    let added: HashMap<&str, TokenId, FxBuildHasher> =
        added.iter().map(|token| (token.text.as_str(), token.id)).collect();
    let both = in_merges(added.keys(), merges);
    let mut tokens = Vec::with_capacity(vocab.len());
    for (text, id) in vocab {
        let id = id.as_u64().and_then(|id| TokenId::try_from(id).ok()).ok_or_else(|| {
            Error::vocabulary(format!(
                "token {text:?} has the id {id}, which is not a 32-bit number"
            ))
        })?;
        if added.get(text.as_str()) == Some(&id) {
            // Many files list added tokens here, too. Those that merges make or join are both.
            let Ok(bytes) = spelled_bytes(&text) else { continue };
            if bytes.len() > 1 && !both.contains(&bytes) {
                continue;
            }
            tokens.push((bytes, id));
        } else {
            tokens.push((spelled_bytes(&text)?, id));
        }
    }
    Ok(tokens)
}

/// Those of `texts` that spell a token which a merge makes or joins, as the bytes of the token.
fn in_merges<'a>(
    texts: impl Iterator<Item = &'a &'a str>,
    merges: &[BytePair],
) -> HashSet<Box<[u8]>> {
    let spelled: HashSet<Box<[u8]>, FxBuildHasher> =
        texts.filter_map(|text| spelled_bytes(text).ok()).collect();
    let (mut both, mut joined) = (HashSet::new(), Vec::new());
    if spelled.is_empty() {
        return both;
    }
    for (left, right) in merges {
        let tokens = [left, right, join(left, right, &mut joined)];
        both.extend(tokens.into_iter().filter_map(|token| spelled.get(token).cloned()));
    }
    both
}
