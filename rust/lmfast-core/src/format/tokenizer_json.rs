//! Hugging Face's `tokenizer.json`, the native format: what lmfast trains, `tokenizers` and
//! `transformers` load as it is.

use std::{collections::HashSet, path::Path};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::{byte_level::to_chars, pre_tokenizer, spelled_bytes, split_merge};
use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    files,
    special::SpecialTokens,
    vocabulary::{BytePair, TokenId, Vocabulary},
};

/// Write a `tokenizer.json`.
pub fn save(tokenizer: &Tokenizer, path: &Path) -> Result<()> {
    files::write_atomically(path, to_json(tokenizer).as_bytes())
}

/// Read a `tokenizer.json` of the byte-level BPE family.
pub fn load(path: &Path) -> Result<Tokenizer> {
    from_json(&files::read_text(path)?).map_err(|error| error.while_loading(path))
}

/// The text of a `tokenizer.json`.
pub fn to_json(tokenizer: &Tokenizer) -> String {
    let vocabulary = tokenizer.vocabulary();
    let spelled = |id| to_chars(vocabulary.token_bytes(id).expect("a merge joins tokens"));
    let added_tokens: Vec<Value> = tokenizer
        .special_tokens()
        .iter()
        .map(|(content, id)| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false,
                   "rstrip": false, "normalized": false, "special": true})
        })
        .collect();
    let model = Model {
        kind: "BPE",
        ignore_merges: vocabulary.whole_pretokens_first(),
        vocab: Vocab(tokenizer),
        merges: vocabulary.merges().iter().map(|m| [spelled(m.left), spelled(m.right)]).collect(),
    };
    let file = File {
        version: "1.0",
        added_tokens,
        pre_tokenizer: pre_tokenizer::write(tokenizer.pretokenizer()),
        decoder: pre_tokenizer::byte_level(true),
        model,
    };
    serde_json::to_string(&file).expect("strings, numbers and maps with string keys")
}

/// The tokenizer that the text of a `tokenizer.json` describes.
pub fn from_json(text: &str) -> Result<Tokenizer> {
    let file: ParsedFile = serde_json::from_str(text)
        .map_err(|error| Error::vocabulary(format!("it is not a tokenizer.json: {error}")))?;
    let model = file.model;
    model.refuse_what_is_not_supported()?;
    if let Some(normalizer) = &file.normalizer {
        return Err(not_supported("normalizer", normalizer));
    }
    let pretokenizer = pre_tokenizer::read(file.pre_tokenizer.as_ref())?;
    let special: Vec<(String, TokenId)> =
        file.added_tokens.into_iter().map(ParsedAddedToken::text_and_id).collect::<Result<_>>()?;
    let tokens = read_vocab(model.vocab, &special)?;
    let merges = (0..).zip(model.merges).map(|(rank, merge)| merge.parts(rank));
    let merges = merges.collect::<Result<Vec<_>>>()?;
    let vocabulary = Vocabulary::from_tokens_and_merges(tokens, &merges, model.ignore_merges)?;
    Tokenizer::new(vocabulary, SpecialTokens::new(special)?, pretokenizer)
}

#[derive(Serialize)]
struct File<'a> {
    version: &'a str,
    added_tokens: Vec<Value>,
    pre_tokenizer: Value,
    decoder: Value,
    model: Model<'a>,
}

#[derive(Serialize)]
struct Model<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    ignore_merges: bool,
    vocab: Vocab<'a>,
    merges: Vec<[String; 2]>,
}

/// Ids by text, lowest id first. Special tokens are among them, so that their ids are kept even
/// where they do not follow the last token.
struct Vocab<'a>(&'a Tokenizer);

impl Serialize for Vocab<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let tokens = self.0.vocabulary().tokens().map(|(id, bytes)| (to_chars(bytes), id));
        let special = self.0.special_tokens().iter().map(|(text, id)| (text.to_owned(), id));
        let mut map = serializer.serialize_map(None)?;
        for (text, id) in tokens.chain(special) {
            map.serialize_entry(&text, &id)?;
        }
        map.end()
    }
}

#[derive(Deserialize)]
struct ParsedFile {
    #[serde(default)]
    added_tokens: Vec<ParsedAddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    model: ParsedModel,
}

#[derive(Deserialize)]
struct ParsedAddedToken {
    id: TokenId,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
}

impl ParsedAddedToken {
    fn text_and_id(self) -> Result<(String, TokenId)> {
        if self.single_word || self.lstrip || self.rstrip {
            return Err(Error::vocabulary(format!(
                "the added token {:?} is single_word, lstrip or rstrip, which is not supported",
                self.content
            )));
        }
        Ok((self.content, self.id))
    }
}

#[derive(Deserialize)]
struct ParsedModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    dropout: Option<f64>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    ignore_merges: bool,
    vocab: Map<String, Value>,
    #[serde(default)]
    merges: Vec<ParsedMerge>,
}

impl ParsedModel {
    fn refuse_what_is_not_supported(&self) -> Result<()> {
        let affix = |affix: &Option<String>| affix.as_ref().is_some_and(|text| !text.is_empty());
        let refused = [
            (self.kind.as_deref().is_some_and(|kind| kind != "BPE"), "a model other than BPE"),
            (self.dropout.is_some_and(|dropout| dropout > 0.0), "dropout"),
            (affix(&self.continuing_subword_prefix), "continuing_subword_prefix"),
            (affix(&self.end_of_word_suffix), "end_of_word_suffix"),
            (self.byte_fallback, "byte_fallback"),
        ];
        match refused.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(Error::vocabulary(format!(
                "it asks for {what}, which byte-level BPE does not have"
            ))),
            None => Ok(()),
        }
    }
}

/// `"a b"` in older files, `["a", "b"]` in newer ones, which can hold tokens with spaces.
#[derive(Deserialize)]
#[serde(untagged)]
enum ParsedMerge {
    Pair(String, String),
    Line(String),
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
    vocab: Map<String, Value>,
    special: &[(String, TokenId)],
) -> Result<Vec<(Box<[u8]>, TokenId)>> {
    let special: HashSet<(&str, TokenId)> =
        special.iter().map(|(text, id)| (text.as_str(), *id)).collect();
    let mut tokens = Vec::with_capacity(vocab.len());
    for (text, id) in vocab {
        let id = id.as_u64().and_then(|id| TokenId::try_from(id).ok()).ok_or_else(|| {
            Error::vocabulary(format!(
                "token {text:?} has the id {id}, which is not a 32-bit number"
            ))
        })?;
        if !special.contains(&(text.as_str(), id)) {
            tokens.push((spelled_bytes(&text)?, id));
        }
    }
    Ok(tokens)
}

fn not_supported(what: &str, value: &Value) -> Error {
    Error::vocabulary(format!("its {what} is not supported: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Pretokenizer, Scheme};

    fn tokenizer(pretokenizer: &str) -> Tokenizer {
        let vocabulary = Vocabulary::from_training(&[(32, 97), (256, 98)]).unwrap();
        let special = SpecialTokens::new(vec![("<|end|>".to_owned(), 300)]).unwrap();
        Tokenizer::new(vocabulary, special, Pretokenizer::new(pretokenizer).unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let names = Scheme::ALL.map(Scheme::name);
        for name in names.into_iter().chain(["[a-z]+"]) {
            let written = tokenizer(name);
            let read = from_json(&to_json(&written)).unwrap();
            assert_eq!(read.identity(), written.identity());
            assert_eq!(read.n_vocab(), 301);
        }
    }

    #[test]
    fn older_spellings_are_read() {
        let mut file: Value = serde_json::from_str(&to_json(&tokenizer("gpt2"))).unwrap();
        file["pre_tokenizer"] = pre_tokenizer::byte_level(true);
        file["model"]["merges"] = json!(["Ġ a", "Ġa b"]);
        let read = from_json(&file.to_string()).unwrap();
        assert_eq!(read.identity(), tokenizer("gpt2").identity());
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut file: Value = serde_json::from_str(&to_json(&tokenizer("gpt2"))).unwrap();
            change(&mut file);
            from_json(&file.to_string()).unwrap_err().to_string()
        };
        assert!(refused(&|f| f["model"]["type"] = json!("Unigram")).contains("other than BPE"));
        assert!(refused(&|f| f["normalizer"] = json!({"type": "NFC"})).contains("NFC"));
        assert!(
            refused(&|f| f["pre_tokenizer"] = json!({"type": "Whitespace"})).contains("Whitespace")
        );
        assert!(refused(&|f| f["added_tokens"][0]["lstrip"] = json!(true)).contains("lstrip"));
        assert!(refused(&|f| f["model"]["vocab"]["a b"] = json!(999)).contains("alphabet"));
        assert!(refused(&|f| f["model"]["merges"] = json!(["Ġa"])).contains("merge 0"));
        assert!(from_json("{}").unwrap_err().to_string().contains("not a tokenizer.json"));
    }
}
