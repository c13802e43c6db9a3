//! The text of files as anyone may read it: stretch by stretch, in bounded memory.

use super::Sources;
use crate::{encode::Tokenizer, error::Result, watch::Watch};

/// Stretches of text, in order, and whether a document ends after each.
pub type Stretches = Vec<(String, bool)>;

/// The texts of all sources, in parts of bounded size that `first` and `others` may each encode on
/// their own; the text of the special tokens of `first` ends a document and is left out.
pub fn texts_of<'a>(
    sources: &'a Sources,
    first: &'a Tokenizer,
    others: &[&Tokenizer],
    watch: &'a Watch,
) -> impl Iterator<Item = Result<Stretches>> + Send + use<'a> {
    let cuts_of = |tokenizer: &Tokenizer| tokenizer.safe_cuts();
    let cuts = others.iter().fold(cuts_of(first), |cuts, other| cuts.and(cuts_of(other)));
    sources.blocks(first.special_tokens().matcher(), cuts, None, watch).map(|block| {
        let mut stretches = Vec::new();
        block?.for_each(|text, ends| {
            stretches.push((text.to_owned(), ends));
            Ok(())
        })?;
        Ok(stretches)
    })
}
