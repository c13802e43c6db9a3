//! The cases of `tests/vectors`, which the Python tests also read.

use std::{collections::BTreeMap, fs, path::Path};

use lmfast_core::{
    Tokenizer,
    pretokenize::Pretokenizer,
    special::{SpecialPolicy, SpecialSet, SpecialTokens},
    vocabulary::{TokenId, Vocabulary},
};
use serde::{Deserialize, de::DeserializeOwned};

#[derive(Deserialize)]
struct Pretokens {
    cases: Vec<PretokenCase>,
}

#[derive(Deserialize)]
struct PretokenCase {
    name: String,
    text: String,
    cuts: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Ids {
    tokens_from_256: Vec<String>,
    special_tokens: BTreeMap<String, TokenId>,
    cases: Vec<IdCase>,
}

#[derive(Deserialize)]
struct IdCase {
    text: String,
    pretokenizer: String,
    allowed_special: Vec<String>,
    ids: Vec<TokenId>,
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn pretokens() {
    let Pretokens { cases } = read("pretokens.json");
    for PretokenCase { name, text, cuts } in cases {
        for (scheme, expected) in cuts {
            let mut found = Vec::new();
            let pretokenizer = Pretokenizer::new(&scheme).unwrap();
            pretokenizer.for_each(&text, |cut| found.push(cut.to_owned())).unwrap();
            assert_eq!(found, expected, "{scheme}, {name}");
        }
    }
}

#[test]
fn ids() {
    let Ids { tokens_from_256, special_tokens, cases } = read("ids.json");
    let bytes = (0..=255u8).map(|byte| Box::from([byte]));
    let tokens = tokens_from_256.into_iter().map(|token| token.into_bytes().into());
    let ranks: Vec<(Box<[u8]>, TokenId)> = bytes.chain(tokens).zip(0..).collect();
    for IdCase { text, pretokenizer, allowed_special, ids } in cases {
        let tokenizer = Tokenizer::new(
            Vocabulary::from_ranks(&ranks).unwrap(),
            SpecialTokens::new(special_tokens.clone().into_iter().collect()).unwrap(),
            Pretokenizer::new(&pretokenizer).unwrap(),
        )
        .unwrap();
        let allowed = SpecialSet::Some(allowed_special);
        let policy = SpecialPolicy { allowed, disallowed: SpecialSet::None };
        let found = tokenizer.encode(text.as_bytes(), &policy).unwrap();
        assert_eq!(found, ids, "{pretokenizer}, {text:?}");
        assert_eq!(tokenizer.decode_bytes(&ids).unwrap(), text.as_bytes());
    }
}
