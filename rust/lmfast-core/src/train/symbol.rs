//! What stands in a slot of the text: a token, or one of two marks.

use bytemuck::Pod;

use crate::vocabulary::{MAX_TOKENS, TokenId};

/// The id of a token in as few bytes as it takes, since the text is most of the memory of merging.
pub(super) trait Symbol: Pod + Eq + Send + Sync {
    /// Stands between two pretokens.
    const BOUNDARY: Self;
    /// Stands where a token began that has been merged into the one before it.
    const INSIDE: Self;
    /// One more than the greatest id there is room for.
    const TOKENS: usize;

    /// The symbol of a token whose id there is room for.
    fn of(id: TokenId) -> Self;

    /// The id of the token.
    fn id(self) -> TokenId;
}

impl Symbol for u16 {
    const BOUNDARY: Self = Self::MAX;
    const INSIDE: Self = Self::MAX - 1;
    // Small in tests, so that they need more.
    const TOKENS: usize = if cfg!(test) { 276 } else { Self::INSIDE as usize };

    #[inline]
    fn of(id: TokenId) -> Self {
        id as Self
    }

    #[inline]
    fn id(self) -> TokenId {
        self.into()
    }
}

impl Symbol for u32 {
    const BOUNDARY: Self = Self::MAX;
    const INSIDE: Self = Self::MAX - 1;
    const TOKENS: usize = MAX_TOKENS;

    #[inline]
    fn of(id: TokenId) -> Self {
        id
    }

    #[inline]
    fn id(self) -> TokenId {
        self
    }
}
