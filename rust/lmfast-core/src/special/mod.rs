//! Added tokens: ids without merges, whose text is matched as a whole. Most are special, and are
//! found only where a caller allows it; the others are always found.

mod added;
mod matcher;
mod policy;

use added::Matchers;
pub(crate) use added::Part;
pub(crate) use matcher::{Found, Matcher};
pub(crate) use policy::Rule;
pub use policy::{SpecialPolicy, SpecialSet};

use crate::{
    error::{Error, Result},
    normalize::Normalizer,
    vocabulary::TokenId,
};

/// How an added token is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of tokenizer files")]
pub struct Flags {
    /// Found only where a policy allows it. Others are always found.
    pub special: bool,
    /// Found in normalized text.
    pub normalized: bool,
    /// Swallows the space before it.
    pub lstrip: bool,
    /// Swallows the space behind it.
    pub rstrip: bool,
    /// Found only where no word goes on beside it.
    pub single_word: bool,
}

impl Flags {
    /// Those of a control token such as `<|endoftext|>`.
    pub const SPECIAL: Self =
        Self { special: true, normalized: false, lstrip: false, rstrip: false, single_word: false };
}

/// An added token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedToken {
    /// What is matched.
    pub text: String,
    /// What it becomes.
    pub id: TokenId,
    /// How it is matched.
    pub flags: Flags,
}

/// The added tokens of a tokenizer in the order of their ids, and the normal form in which it
/// looks for some of them, and encodes text.
#[derive(Clone, Debug)]
pub struct SpecialTokens {
    tokens: Vec<AddedToken>,
    normalizer: Normalizer,
    is_plain: bool,
    policies: policy::Compiled,
}

impl SpecialTokens {
    /// Special tokens with their ids. Text and id must be unique and the text not empty.
    pub fn new(tokens: Vec<(String, TokenId)>) -> Result<Self> {
        let special = |(text, id)| AddedToken { text, id, flags: Flags::SPECIAL };
        Self::with_flags(tokens.into_iter().map(special).collect(), Normalizer::default())
    }

    /// The same with flags, and a normal form for all text.
    pub fn with_flags(mut tokens: Vec<AddedToken>, normalizer: Normalizer) -> Result<Self> {
        tokens.sort_by_key(|token| token.id);
        for pair in tokens.windows(2) {
            if pair[0].id == pair[1].id {
                let (a, b, id) = (&pair[0].text, &pair[1].text, pair[0].id);
                let message = format!("special tokens {a:?} and {b:?} both have the id {id}");
                return Err(Error::vocabulary(message));
            }
        }
        let mut seen = std::collections::HashSet::new();
        for AddedToken { text, .. } in &tokens {
            if text.is_empty() {
                return Err(Error::vocabulary("a special token is empty"));
            }
            if !seen.insert(text) {
                return Err(Error::vocabulary(format!("special token {text:?} is given twice")));
            }
        }
        let is_plain = normalizer.is_empty()
            && tokens.iter().all(|token| {
                token.flags == Flags { normalized: tokens[0].flags.normalized, ..Flags::SPECIAL }
            });
        let mut made = Self { tokens, normalizer, is_plain, policies: policy::Compiled::default() };
        made.policies = policy::Compiled::new(&made)?;
        Ok(made)
    }

    /// Text and id of each, lowest id first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, TokenId)> + Clone {
        self.tokens.iter().map(|token| (token.text.as_str(), token.id))
    }

    /// All of them, lowest id first.
    pub fn added(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The normal form that text is given first.
    pub fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }

    /// Whether text is encoded as it is: no normal form, and no token but special ones, which
    /// swallow nothing. Then a text may be cut wherever its pretokens may.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether ids always stand for the text that they were made from: no normal form, and no
    /// token that swallows space.
    pub fn keep_text(&self) -> bool {
        self.normalizer.is_empty()
            && !self.tokens.iter().any(|token| token.flags.lstrip || token.flags.rstrip)
    }

    /// The same tokens with other ids.
    pub(crate) fn renumbered(&self, ids: impl IntoIterator<Item = TokenId>) -> Result<Self> {
        let renumber = |(token, id): (&AddedToken, _)| AddedToken { id, ..token.clone() };
        let tokens = self.tokens.iter().zip(ids).map(renumber).collect();
        Self::with_flags(tokens, self.normalizer.clone())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The id of an added token.
    pub fn id_of(&self, text: &str) -> Option<TokenId> {
        self.iter().find(|&(candidate, _)| candidate == text).map(|(_, id)| id)
    }

    /// The text of an added token.
    pub fn text_of(&self, id: TokenId) -> Option<&str> {
        self.token_of(id).map(|token| token.text.as_str())
    }

    /// Whether the token of that id is special.
    pub(crate) fn is_special(&self, id: TokenId) -> bool {
        self.token_of(id).is_some_and(|token| token.flags.special)
    }

    fn flags_of(&self, id: TokenId) -> Flags {
        self.token_of(id).expect("a token that was found is one of these").flags
    }

    fn token_of(&self, id: TokenId) -> Option<&AddedToken> {
        let at = self.tokens.binary_search_by_key(&id, |token| token.id).ok()?;
        Some(&self.tokens[at])
    }

    /// Finds the special tokens, by their text as it is.
    pub(crate) fn matcher(&self) -> &Matcher {
        &self.policies.special.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn tokens() -> SpecialTokens {
        let tokens = [("<|a|>", 300), ("<|a|><|b|>", 301), ("<|b|>", 302)];
        SpecialTokens::new(tokens.map(|(text, id)| (text.to_owned(), id)).to_vec()).unwrap()
    }

    #[test]
    fn the_longest_of_the_leftmost_is_found() {
        let tokens = tokens();
        let found: Vec<_> = tokens.matcher().find_iter(b"x<|a|><|b|><|b|>").collect();
        let expected =
            [Found { start: 1, end: 11, id: 301 }, Found { start: 11, end: 16, id: 302 }];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_disallowed_token_is_refused_and_an_allowed_one_found() {
        let (tokens, text) = (tokens(), b"x<|b|>");
        let only = |text: &str| SpecialSet::Some(vec![text.to_owned()]);
        let policy = |allowed, disallowed| SpecialPolicy { allowed, disallowed };

        let found = |policy: &SpecialPolicy| -> Result<Vec<TokenId>> {
            let rule = tokens.rule(policy)?;
            Ok(tokens.find_iter(text, &rule)?.map(|found| found.id).collect())
        };

        let error = found(&policy(only("<|a|>"), SpecialSet::All)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SpecialToken);
        assert!(error.to_string().contains("\"<|b|>\" at byte 1"), "{error}");
        assert_eq!(found(&policy(only("<|b|>"), SpecialSet::All)).unwrap(), [302]);
        assert_eq!(found(&policy(only("<|a|>"), SpecialSet::None)).unwrap(), [0; 0]);
    }
}
