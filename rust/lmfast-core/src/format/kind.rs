//! What kind of tokenizer file a file is, by what is in it; what is none that can be read is
//! refused with what to do instead.

use std::path::Path;

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    error::{Error, Result},
    files,
};

/// A kind of tokenizer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Hugging Face's `tokenizer.json`.
    TokenizerJson,
    /// Mistral's `tekken.json`.
    Tekken,
    /// Tokens and ranks, as in a `.tiktoken` file.
    Ranks,
    /// GPT-2's `vocab.json` or `merges.txt`, which are read together.
    Gpt2,
}

/// The kind of the file at `path`.
pub fn of(path: &Path) -> Result<Kind> {
    let bytes = files::read(path)?;
    of_bytes(&bytes).map_err(|error| error.while_loading(path))
}

fn of_bytes(bytes: &[u8]) -> Result<Kind> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => text,
        _ => return Err(refuse(why_not_text(bytes))),
    };
    if text.starts_with('\u{FEFF}') {
        return Err(refuse("it begins with a byte order mark: save it as UTF-8 without one"));
    }
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    match text.as_bytes().first() {
        None => Err(refuse("it is empty")),
        Some(b'{') => of_json(text),
        Some(b'[') if text.starts_with("[PAD]") || text.starts_with("[UNK]") => {
            Err(refuse(WORDPIECE))
        }
        Some(b'[') => Err(refuse("it is a list in JSON, which no tokenizer file is")),
        _ if first.starts_with("version https://git-lfs") => Err(refuse(
            "it is a pointer of Git LFS in place of the file: fetch the file itself (git lfs pull)",
        )),
        _ if is_rank(first) => Ok(Kind::Ranks),
        _ if first.starts_with("#version") || first.split(' ').count() == 2 => Ok(Kind::Gpt2),
        _ => Err(refuse(OTHER)),
    }
}

const WORDPIECE: &str = "it is a vocabulary of WordPiece, which is not byte-level BPE: use the \
    library that made it";
const UNIGRAM: &str = "it is a model of SentencePiece, which is not byte-level BPE: use \
    sentencepiece, or the library of the model";
const OTHER: &str = "it is none of the tokenizer files that can be read: a tokenizer.json, a \
    tekken.json, a .tiktoken file, or vocab.json with merges.txt";

/// A token in Base64, a space and a rank.
fn is_rank(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(token, rank)| {
        let rank = rank.trim_end();
        !rank.is_empty()
            && rank.bytes().all(|byte| byte.is_ascii_digit())
            && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
    })
}

fn why_not_text(bytes: &[u8]) -> &'static str {
    match bytes {
        // The first field of the message holds the pieces, of which the first is <unk> or so.
        [b'\n', ..] if bytes.contains(&0) => UNIGRAM,
        [0x1F, 0x8B, ..] => "it is compressed with gzip: unpack it first",
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "it is UTF-16: save it as UTF-8",
        _ => "it is not UTF-8, as all tokenizer files are that can be read",
    }
}

#[derive(Deserialize)]
struct Keys {
    model: Option<IgnoredAny>,
    config: Option<IgnoredAny>,
    vocab: Option<IgnoredAny>,
    tokenizer_class: Option<IgnoredAny>,
    model_type: Option<IgnoredAny>,
}

fn of_json(text: &str) -> Result<Kind> {
    let keys: Keys = serde_json::from_str(text)
        .map_err(|error| Error::vocabulary(format!("it is not JSON: {error}")))?;
    let about = "it is about a tokenizer or a model, and holds no vocabulary: load the folder";
    match keys {
        // First, as a vocabulary may hold any of these words.
        _ if is_vocab(text) => Ok(Kind::Gpt2),
        Keys { config: Some(_), vocab: Some(_), .. } => Ok(Kind::Tekken),
        Keys { tokenizer_class: Some(_), .. } | Keys { model_type: Some(_), .. } => {
            Err(refuse(about))
        }
        Keys { model: Some(_), .. } => Ok(Kind::TokenizerJson),
        _ => Err(refuse(
            "it is not a tokenizer.json, nor a tekken.json or vocab.json: there is no \
                         model in it",
        )),
    }
}

fn is_vocab(text: &str) -> bool {
    type Ids = std::collections::BTreeMap<String, u32>;
    serde_json::from_str::<Ids>(text).is_ok_and(|ids| !ids.is_empty())
}

fn refuse(why: &str) -> Error {
    Error::vocabulary(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_what_is_in_them() {
        let kind = |text: &str| of_bytes(text.as_bytes()).unwrap();
        assert_eq!(kind(r#"{"version": "1.0", "model": {"vocab": {}}}"#), Kind::TokenizerJson);
        assert_eq!(kind(r#" {"vocab": [], "config": {}}"#), Kind::Tekken);
        assert_eq!(kind("AA== 0\nAQ== 1\n"), Kind::Ranks);
        assert_eq!(kind(r#"{"model": 1, "vocab": 2, "config": 7}"#), Kind::Gpt2);
        assert_eq!(kind(r#"{"a": 0}"#), Kind::Gpt2);
        assert_eq!(kind("#version: 0.2\nĠ t\n"), Kind::Gpt2);
    }

    #[test]
    fn the_rest_is_refused_with_the_reason() {
        let refused = |bytes: &[u8]| of_bytes(bytes).unwrap_err().to_string();
        assert!(refused(b"").contains("empty"));
        assert!(refused(b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\xff").contains("SentencePiece"));
        assert!(refused(b"[PAD]\n[UNK]\nthe\n").contains("WordPiece"));
        assert!(refused(b"{\"a\": ").contains("not JSON"));
        assert!(refused(b"{\"tokenizer_class\": \"X\"}").contains("load the folder"));
        assert!(refused(b"version https://git-lfs.github.com/spec/v1\noid x\n").contains("LFS"));
        assert!(refused(&[b"[".repeat(9999), b"]".to_vec()].concat()).contains("list"));
        assert!(refused(b"{\"a\": ".repeat(9999).as_slice()).contains("not JSON"));
    }
}
