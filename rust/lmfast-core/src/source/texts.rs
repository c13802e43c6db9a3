//! The text of files as anyone may read it: stretch by stretch, in bounded memory.

use super::Sources;
use crate::{error::Result, pretokenize::Pretokenizer, special::SpecialTokens, watch::Watch};

/// Stretches of text, in order, and whether a document ends after each.
pub type Stretches = Vec<(String, bool)>;

/// The texts of all sources, in parts of bounded size that `pretokenizer` may cut on its own; the
/// text of special tokens ends a document and is left out.
pub fn texts_of<'a>(
    sources: &'a Sources,
    special_tokens: &'a SpecialTokens,
    pretokenizer: &'a Pretokenizer,
    watch: &'a Watch,
) -> impl Iterator<Item = Result<Stretches>> + Send + 'a {
    sources.blocks(special_tokens.matcher(), pretokenizer, None, watch).map(|block| {
        let mut stretches = Vec::new();
        block?.for_each(|text, ends| {
            stretches.push((text.to_owned(), ends));
            Ok(())
        })?;
        Ok(stretches)
    })
}
