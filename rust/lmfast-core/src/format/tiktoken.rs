//! `.tiktoken`: a line per token, its bytes in Base64, a space, its rank. Pattern and special tokens
//! are not in the file and have to be given.

use std::{fmt::Write, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};

use super::refuse_what_is_not_plain;
use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    files,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    vocabulary::{TokenId, Vocabulary},
};

/// Read a `.tiktoken` file; what it does not hold has to be given.
pub fn load(
    path: &Path,
    special_tokens: SpecialTokens,
    pretokenizer: Pretokenizer,
) -> Result<Tokenizer> {
    let text = files::read_text(path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty());
    lines
        .map(|(number, line)| {
            parse(line).ok_or_else(|| {
                let found = format!("line {number} is {line:?}");
                Error::vocabulary(format!("{found}; a line is Base64, a space and a rank"))
            })
        })
        .collect::<Result<_>>()
        .and_then(|ranks: Vec<_>| Vocabulary::from_ranks(&ranks))
        .and_then(|vocabulary| Tokenizer::new(vocabulary, special_tokens, pretokenizer))
        .map_err(|error| error.while_loading(path))
}

fn parse(line: &str) -> Option<(Box<[u8]>, TokenId)> {
    let (bytes, rank) = line.split_once(' ')?;
    Some((BASE64_STANDARD.decode(bytes).ok()?.into(), rank.trim_end().parse().ok()?))
}

/// Write a `.tiktoken` file, unless it would be read as another tokenizer: ranks alone do not say
/// everything about merges whose order is not that of the ids.
pub fn save(tokenizer: &Tokenizer, path: &Path) -> Result<()> {
    let ranks_alone = check(tokenizer);
    ranks_alone
        .map_err(|error| Error::vocabulary(format!("cannot write {}: {error}", path.display())))?;
    let mut text = String::new();
    for (id, bytes) in tokenizer.vocabulary().tokens() {
        writeln!(text, "{} {id}", BASE64_STANDARD.encode(bytes)).expect("a string takes any text");
    }
    files::write_atomically(path, text.as_bytes())
}

/// Refuse a tokenizer that ranks, a pattern and special tokens do not describe.
pub fn check(tokenizer: &Tokenizer) -> Result<()> {
    refuse_what_is_not_plain(tokenizer)?;
    let vocabulary = tokenizer.vocabulary();
    let ranks: Vec<_> = vocabulary.tokens().map(|(id, bytes)| (bytes, id)).collect();
    let reread = Vocabulary::from_ranks(&ranks)?;
    if reread.merges() != vocabulary.merges()
        || reread.whole_pretokens_first() != vocabulary.whole_pretokens_first()
    {
        return Err(Error::vocabulary(
            "the merges of this tokenizer do not follow from the order of its ids, and tiktoken \
             knows nothing else; write a tokenizer.json",
        ));
    }
    Ok(())
}
