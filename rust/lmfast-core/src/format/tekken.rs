//! Mistral's `tekken.json`: ranks in Base64, the pattern and the special tokens in one file. The
//! special tokens have the first ids, and all others follow in the order of their ranks.

use std::path::Path;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Deserialize;

use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    files,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    vocabulary::{MAX_TOKENS, TokenId, Vocabulary},
};

/// What files of the first version, which list no special tokens, leave to their readers.
const FIRST_SPECIAL_TOKENS: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// Read a `tekken.json`.
pub fn load(path: &Path) -> Result<Tokenizer> {
    from_json(&files::read_text(path)?).map_err(|error| error.while_loading(path))
}

#[derive(Deserialize)]
struct File {
    config: Config,
    vocab: Vec<Token>,
    special_tokens: Option<Vec<SpecialToken>>,
}

#[derive(Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: usize,
    default_num_special_tokens: usize,
}

#[derive(Deserialize)]
struct Token {
    rank: usize,
    token_bytes: String,
}

#[derive(Deserialize)]
struct SpecialToken {
    rank: usize,
    token_str: String,
}

/// The tokenizer that the text of a `tekken.json` describes.
pub fn from_json(text: &str) -> Result<Tokenizer> {
    let File { config, vocab, special_tokens } = serde_json::from_str(text)
        .map_err(|error| Error::vocabulary(format!("it is not a tekken.json: {error}")))?;
    let (size, special) = (config.default_vocab_size, config.default_num_special_tokens);
    if size > MAX_TOKENS || special > size {
        return Err(Error::vocabulary(format!(
            "default_vocab_size is {size} and default_num_special_tokens {special}; a vocabulary \
             has {MAX_TOKENS} tokens at most, and no more special ones than tokens"
        )));
    }
    let ordinary = size - special;
    if vocab.len() < ordinary {
        return Err(Error::vocabulary(format!(
            "it lists {} tokens, and default_vocab_size asks for {ordinary}",
            vocab.len()
        )));
    }
    // Files hold more ranks than their models know.
    let ranks = vocab.into_iter().take(ordinary).enumerate().map(|(place, token)| {
        let Token { rank, token_bytes } = token;
        if rank != place {
            return Err(Error::vocabulary(format!("token {place} has the rank {rank}")));
        }
        let bytes = BASE64_STANDARD.decode(&token_bytes).map_err(|error| {
            Error::vocabulary(format!("token {place} is {token_bytes:?}, no Base64: {error}"))
        })?;
        Ok((bytes, (special + rank) as TokenId))
    });
    let vocabulary = Vocabulary::from_ranks(&ranks.collect::<Result<Vec<_>>>()?)?;
    let tokens = SpecialTokens::new(special_ids(special_tokens, special)?)?;
    Tokenizer::new(vocabulary, tokens, Pretokenizer::new(&config.pattern)?)
}

/// The special tokens that are listed, and a name for each id below `count` that is not.
fn special_ids(listed: Option<Vec<SpecialToken>>, count: usize) -> Result<Vec<(String, TokenId)>> {
    let listed = listed.unwrap_or_else(|| {
        let tokens = FIRST_SPECIAL_TOKENS.iter().enumerate();
        tokens.map(|(rank, text)| SpecialToken { rank, token_str: (*text).to_owned() }).collect()
    });
    let mut names: Vec<Option<String>> = vec![None; count];
    for SpecialToken { rank, token_str } in listed {
        match names.get_mut(rank) {
            Some(name @ None) => *name = Some(token_str),
            Some(Some(other)) => {
                return Err(Error::vocabulary(format!(
                    "special tokens {other:?} and {token_str:?} both have the rank {rank}"
                )));
            }
            None => {
                return Err(Error::vocabulary(format!(
                    "the special token {token_str:?} has the rank {rank}, and \
                     default_num_special_tokens is {count}"
                )));
            }
        }
    }
    let filled = |(rank, name): (usize, Option<String>)| {
        (name.unwrap_or_else(|| format!("<SPECIAL_{rank}>")), rank as TokenId)
    };
    Ok(names.into_iter().enumerate().map(filled).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::special::{SpecialPolicy, SpecialSet};

    fn file() -> Value {
        let spelled = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        tokens.extend(["ab", "abc", "beyond the size"].map(|text| text.as_bytes().to_vec()));
        let vocab: Vec<Value> = (0..).zip(&tokens).map(|(rank, bytes): (u32, _)| {
            json!({"rank": rank, "token_bytes": spelled(bytes), "token_str": null})
        }).collect();
        json!({
            "config": {"pattern": "[a-z]+|[^a-z]", "num_vocab_tokens": 259,
                       "default_vocab_size": 261, "default_num_special_tokens": 3,
                       "version": "v3"},
            "vocab": vocab,
            "special_tokens": [{"rank": 1, "token_str": "<s>", "is_control": true}],
        })
    }

    #[test]
    fn special_tokens_come_first() {
        let tokenizer = from_json(&file().to_string()).unwrap();
        let policy = SpecialPolicy { allowed: SpecialSet::All, disallowed: SpecialSet::None };
        let ids = tokenizer.encode(b"<s>abc!<SPECIAL_2>", &policy).unwrap();
        assert_eq!(ids, [1, 260, 3 + 33, 2]);
        assert_eq!(tokenizer.n_vocab(), 261);
    }

    #[test]
    fn what_cannot_be_is_named() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut file = file();
            change(&mut file);
            from_json(&file.to_string()).unwrap_err().to_string()
        };
        assert!(refused(&|f| f["vocab"][9]["rank"] = json!(8)).contains("token 9 has the rank 8"));
        assert!(refused(&|f| f["vocab"][9]["token_bytes"] = json!("!")).contains("Base64"));
        assert!(
            refused(&|f| f["config"]["default_vocab_size"] = json!(1_u64 << 40)).contains("most")
        );
        assert!(refused(&|f| f["config"]["default_vocab_size"] = json!(999)).contains("lists 259"));
        assert!(refused(&|f| f["special_tokens"][0]["rank"] = json!(3)).contains("rank 3"));
        assert!(refused(&|f| f["special_tokens"] = json!(5)).contains("not a tekken.json"));
    }
}
