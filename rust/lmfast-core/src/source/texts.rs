//! The text of files as anyone may read it: stretch by stretch, in bounded memory.

use std::path::PathBuf;

use super::blocks_of;
use crate::{error::Result, pretokenize::Pretokenizer, special::SpecialTokens};

/// Stretches of text, in order, and whether a document ends after each.
pub type Stretches = Vec<(String, bool)>;

/// The texts of one file after the other, in parts of bounded size that `pretokenizer` may cut on
/// its own; the text of special tokens ends a document and is left out.
pub fn texts_of<'a>(
    files: &'a [PathBuf],
    special_tokens: &'a SpecialTokens,
    pretokenizer: &'a Pretokenizer,
) -> impl Iterator<Item = Result<Stretches>> + Send + 'a {
    let blocks = blocks_of(files, special_tokens.matcher(), pretokenizer);
    blocks.map(|block| Ok(block?.segments().map(|(text, ends)| (text.to_owned(), ends)).collect()))
}
