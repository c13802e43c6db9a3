//! What a tokenizer makes of counted pretokens.

use super::PretokenCounts;
use crate::{encode::Tokenizer, error::Result};

/// The tokens that the counted text comes to.
pub fn tokens_of(counts: &PretokenCounts, tokenizer: &Tokenizer) -> Result<u64> {
    let mut encode = tokenizer.pretoken_encoder()?;
    let (mut tokens, mut total) = (Vec::new(), 0);
    counts.for_each(&mut |pretoken, count| {
        tokens.clear();
        encode(pretoken, &mut tokens);
        total += tokens.len() as u64 * count;
        Ok(())
    })?;
    Ok(total)
}
