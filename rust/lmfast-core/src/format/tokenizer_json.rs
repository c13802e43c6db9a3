//! Hugging Face's `tokenizer.json`, the native format: what lmfast trains, `tokenizers` and
//! `transformers` load as it is.

mod added_tokens;
mod model;
mod normalizer;
mod post_processor;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use added_tokens::ParsedAddedToken;
use model::{Model, ParsedKind, ParsedModel};

use super::pre_tokenizer::{self, byte_level};
use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    files,
    special::SpecialTokens,
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
    let file = File {
        version: "1.0",
        added_tokens: added_tokens::write(tokenizer.special_tokens()),
        normalizer: normalizer::write(tokenizer.special_tokens().normalizer()),
        pre_tokenizer: pre_tokenizer::write(tokenizer.pretokenizer()),
        post_processor: post_processor::write(tokenizer),
        decoder: byte_level(true),
        model: Model::of(tokenizer),
    };
    serde_json::to_string(&file).expect("strings, numbers and maps with string keys")
}

/// The tokenizer that the text of a `tokenizer.json` describes.
///
/// `truncation` and `padding` are settings of a call rather than of a tokenizer, and are left out.
pub fn from_json(text: &str) -> Result<Tokenizer> {
    let file: ParsedFile = serde_json::from_str(text).map_err(|error| {
        // The models of other kinds have other fields; the kind is the better reason.
        let other = serde_json::from_str::<ParsedKind>(text).ok().and_then(ParsedKind::refusal);
        let broken = || Error::vocabulary(format!("it is not a tokenizer.json: {error}"));
        other.unwrap_or_else(broken)
    })?;
    file.model.refuse_what_is_not_supported()?;
    refuse_other_decoders(file.decoder.as_ref())?;
    let normalizer = normalizer::read(file.normalizer.as_ref())?;
    let pretokenizer = pre_tokenizer::read(file.pre_tokenizer.as_ref())?;
    let template = post_processor::read(file.post_processor)?;
    let added = file.added_tokens.into_iter().map(ParsedAddedToken::into_token);
    let added: Vec<_> = added.collect();
    let vocabulary = file.model.into_vocabulary(&added)?;
    let added = SpecialTokens::with_flags(added, normalizer)?;
    Tokenizer::new(vocabulary, added, pretokenizer)?.with_template(template)
}

#[derive(Serialize)]
struct File<'a> {
    version: &'a str,
    added_tokens: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalizer: Option<Value>,
    pre_tokenizer: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_processor: Option<Value>,
    decoder: Value,
    model: Model<'a>,
}

#[derive(Deserialize)]
struct ParsedFile {
    #[serde(default)]
    added_tokens: Vec<ParsedAddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    decoder: Option<Value>,
    model: ParsedModel,
}

fn refuse_other_decoders(decoder: Option<&Value>) -> Result<()> {
    let Some(decoder) = decoder else { return Ok(()) };
    let steps = match decoder["type"].as_str() {
        Some("Sequence") => decoder["decoders"].as_array().map_or(&[][..], Vec::as_slice),
        _ => std::slice::from_ref(decoder),
    };
    // To fuse is to join the tokens, which byte-level decoding does anyway.
    let known = |step: &Value| step["type"] == "ByteLevel" || step["type"] == "Fuse";
    if steps.iter().all(known) { Ok(()) } else { Err(not_supported("decoder", decoder)) }
}

fn not_supported(what: &str, value: &Value) -> Error {
    Error::vocabulary(format!("its {what} is not supported: {value}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        format::Template,
        pretokenize::{Pretokenizer, Scheme},
        vocabulary::Vocabulary,
    };

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
    fn flags_forms_and_templates_come_back() {
        let mut file: Value = serde_json::from_str(&to_json(&tokenizer("gpt2"))).unwrap();
        file["added_tokens"][0]["id"] = json!(258);
        file["model"]["vocab"]["<|end|>"] = json!(258);
        let plain = from_json(&file.to_string()).unwrap();
        file["normalizer"] = json!({"type": "Sequence", "normalizers": [{"type": "NFC"}]});
        file["added_tokens"][0]["rstrip"] = json!(true);
        file["post_processor"] = json!({"type": "RobertaProcessing", "cls": ["Ġ", 32],
                                        "sep": ["<|end|>", 258]});
        let read = from_json(&file.to_string()).unwrap();
        let Template { before, after, .. } = read.template();
        assert_eq!((&before[..], &after[..]), (&[32][..], &[258][..]));
        assert_ne!(read.identity(), plain.identity());
        let (before, plain) = (plain.identity(), plain.with_template(read.template().clone()));
        assert_ne!(plain.unwrap().identity(), before);
        let again = from_json(&to_json(&read)).unwrap();
        assert_eq!(again.identity(), read.identity());
        assert_eq!(again.template(), read.template());

        let smaller = read.truncated_to(258).unwrap();
        assert_eq!(smaller.template().after, [257]);
        let written: Value = serde_json::from_str(&to_json(&smaller)).unwrap();
        let again = from_json(&written.to_string()).unwrap();
        assert_eq!(again.identity(), smaller.identity());
        assert_eq!(written["added_tokens"][0]["rstrip"], true);
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
        let other =
            json!({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]});
        assert!(refused(&|f| f["normalizer"] = other.clone()).contains("Strip"));
        let pair = json!({"type": "TemplateProcessing", "single": [], "special_tokens": {}});
        assert!(refused(&|f| f["post_processor"] = pair.clone()).contains("post_processor"));
        assert!(refused(&|f| f["decoder"] = json!({"type": "Metaspace"})).contains("Metaspace"));
        assert!(
            refused(&|f| f["pre_tokenizer"] = json!({"type": "Whitespace"})).contains("Whitespace")
        );
        assert!(refused(&|f| f["model"]["vocab"]["a b"] = json!(999)).contains("alphabet"));
        assert!(refused(&|f| f["model"]["merges"] = json!(["Ġa"])).contains("merge 0"));
        for (merge, reason) in [
            (json!(["a"]), "a merge: two tokens"),
            (json!(["a", "b", "c"]), "a merge: two tokens"),
            (json!(5), "a merge: two tokens"),
            (json!(["a", 1]), "expected a string"),
        ] {
            assert!(refused(&|f| f["model"]["merges"] = json!([merge])).contains(reason));
        }
        assert!(from_json("{}").unwrap_err().to_string().contains("not a tokenizer.json"));
    }
}
