//! GPT-2's two files: `vocab.json`, ids by token, and `merges.txt`, a merge per line.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    path::Path,
};

use super::{byte_level::to_chars, spelled_bytes, split_merge};
use crate::{
    encode::Tokenizer,
    error::{Error, Result},
    files,
    pretokenize::Pretokenizer,
    special::SpecialTokens,
    vocabulary::{BytePair, TokenId, Vocabulary},
};

const VOCAB: &str = "vocab.json";
const MERGES: &str = "merges.txt";

/// Read the two files. Entries of `vocab` that `special_tokens` lists are special, and so are
/// `more_tokens`, which it may lack.
pub fn load(
    [vocab, merges]: [&Path; 2],
    pretokenizer: Pretokenizer,
    special_tokens: &[String],
    more_tokens: Vec<(String, TokenId)>,
) -> Result<Tokenizer> {
    let (tokens, special) = parse_vocab(&files::read_text(vocab)?, special_tokens, more_tokens)
        .map_err(|error| error.while_loading(vocab))?;
    let pairs =
        parse_merges(&files::read_text(merges)?).map_err(|error| error.while_loading(merges))?;
    Vocabulary::from_tokens_and_merges(&tokens, &pairs, false)
        .and_then(|tokens| Tokenizer::new(tokens, SpecialTokens::new(special)?, pretokenizer))
        .map_err(|error| error.while_loading(vocab))
}

type Tokens = Vec<(Box<[u8]>, TokenId)>;

fn parse_vocab(
    text: &str,
    special: &[String],
    more: Vec<(String, TokenId)>,
) -> Result<(Tokens, Vec<(String, TokenId)>)> {
    let mut ids: HashMap<String, TokenId> =
        serde_json::from_str(text).map_err(|error| Error::vocabulary(error.to_string()))?;
    let take = |text: &String| match ids.remove(text) {
        Some(id) => Ok((text.clone(), id)),
        None => Err(Error::vocabulary(format!("it lacks the special token {text:?}"))),
    };
    let mut special: Vec<_> = special.iter().map(take).collect::<Result<_>>()?;
    for (text, id) in more {
        if let Some(other) = ids.remove(&text).filter(|&other| other != id) {
            let message = format!("it gives {text:?} the id {other}, not {id}");
            return Err(Error::vocabulary(message));
        }
        special.push((text, id));
    }
    let tokens = ids.into_iter().map(|(text, id)| Ok((spelled_bytes(&text)?, id)));
    Ok((tokens.collect::<Result<_>>()?, special))
}

fn parse_merges(text: &str) -> Result<Vec<BytePair>> {
    // A merge may also begin with '#'; only the first line is a header.
    let header = text.lines().next().filter(|line| line.starts_with("#version"));
    let lines = text.lines().skip(usize::from(header.is_some())).filter(|line| !line.is_empty());
    let pairs = (0..).zip(lines).map(|(rank, line)| {
        let (left, right) = split_merge(line, rank)?;
        Ok((spelled_bytes(&left)?, spelled_bytes(&right)?))
    });
    pairs.collect()
}

/// Write the two files into `folder`. The pretokenizer is not in them.
pub fn save(tokenizer: &Tokenizer, folder: &Path) -> Result<()> {
    let vocabulary = tokenizer.vocabulary();
    if vocabulary.whole_pretokens_first() {
        return Err(Error::vocabulary(format!(
            "cannot write {VOCAB} and {MERGES} into {}: this tokenizer takes a pretoken that is a \
             token as a whole, which the two files cannot say; write a tokenizer.json",
            folder.display()
        )));
    }
    super::refuse_what_is_not_plain(tokenizer).map_err(|error| {
        Error::vocabulary(format!("cannot write {VOCAB} into {}: {error}", folder.display()))
    })?;
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
    let ids: BTreeMap<String, TokenId> = tokenizer.spellings().collect();
    let vocab = serde_json::to_string(&ids).expect("a map of strings to numbers");
    let spelled = |id| to_chars(vocabulary.token_bytes(id).expect("a merge joins tokens"));
    let mut merges = String::from("#version: 0.2\n");
    for merge in vocabulary.merges() {
        let (left, right) = (spelled(merge.left), spelled(merge.right));
        writeln!(merges, "{left} {right}").expect("a string takes any text");
    }
    files::write_atomically(&folder.join(MERGES), merges.as_bytes())?;
    files::write_atomically(&folder.join(VOCAB), vocab.as_bytes())
}
