//! Special tokens: ids without merges, whose text is matched as a whole.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    error::{Error, ErrorKind, Result},
    vocabulary::TokenId,
};

/// The special tokens of a tokenizer, in the order of their ids.
#[derive(Clone, Debug)]
pub struct SpecialTokens {
    tokens: Vec<(String, TokenId)>,
    matcher: Matcher,
}

/// Finds the leftmost special token, and of those that start there the longest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matcher {
    /// `None` where there is nothing to find.
    automaton: Option<AhoCorasick>,
    ids: Vec<TokenId>,
    longest: usize,
}

/// A special token found in a text, at `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) id: TokenId,
}

impl Matcher {
    pub(crate) fn new<'a>(tokens: impl IntoIterator<Item = (&'a str, TokenId)>) -> Result<Self> {
        let (texts, ids): (Vec<&str>, Vec<TokenId>) = tokens.into_iter().unzip();
        let Some(longest) = texts.iter().map(|text| text.len()).max() else {
            return Ok(Self::default());
        };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts)
            .map_err(|error| Error::vocabulary(format!("too many special tokens: {error}")))?;
        Ok(Self { automaton: Some(automaton), ids, longest })
    }

    pub(crate) fn find_iter<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Found> + 'a {
        self.automaton.iter().flat_map(move |automaton| {
            automaton.find_iter(text).map(|found| Found {
                start: found.start(),
                end: found.end(),
                id: self.ids[found.pattern().as_usize()],
            })
        })
    }

    /// The length in bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}

impl SpecialTokens {
    /// Special tokens with their ids. Text and id must be unique and the text not empty.
    pub fn new(mut tokens: Vec<(String, TokenId)>) -> Result<Self> {
        tokens.sort_by_key(|&(_, id)| id);
        for pair in tokens.windows(2) {
            if pair[0].1 == pair[1].1 {
                let [(a, id), (b, _)] = pair else { unreachable!("windows of two") };
                let message = format!("special tokens {a:?} and {b:?} both have the id {id}");
                return Err(Error::vocabulary(message));
            }
        }
        let mut seen = std::collections::HashSet::new();
        for (text, _) in &tokens {
            if text.is_empty() {
                return Err(Error::vocabulary("a special token is empty"));
            }
            if !seen.insert(text) {
                return Err(Error::vocabulary(format!("special token {text:?} is given twice")));
            }
        }
        let matcher = Matcher::new(tokens.iter().map(|(text, id)| (text.as_str(), *id)))?;
        Ok(Self { tokens, matcher })
    }

    /// Text and id of each, lowest id first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, TokenId)> + Clone {
        self.tokens.iter().map(|(text, id)| (text.as_str(), *id))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The id of a special token.
    pub fn id_of(&self, text: &str) -> Option<TokenId> {
        self.iter().find(|&(candidate, _)| candidate == text).map(|(_, id)| id)
    }

    /// The text of a special token.
    pub fn text_of(&self, id: TokenId) -> Option<&str> {
        let at = self.tokens.binary_search_by_key(&id, |&(_, id)| id).ok()?;
        Some(&self.tokens[at].0)
    }

    pub(crate) fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

/// Which special tokens a text may hold, with tiktoken's meaning.
#[derive(Clone, Debug, Default)]
pub struct SpecialPolicy {
    /// Become their ids.
    pub allowed: SpecialSet,
    /// Make encoding fail. All others are ordinary text.
    pub disallowed: SpecialSet,
}

/// Some of the special tokens of a tokenizer.
#[derive(Clone, Debug, Default)]
pub enum SpecialSet {
    /// None of them.
    #[default]
    None,
    /// All of them, except those that the other set of a policy names.
    All,
    /// The ones listed.
    Some(Vec<String>),
}

impl SpecialSet {
    fn contains(&self, text: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(texts) => texts.iter().any(|candidate| candidate == text),
        }
    }
}

impl SpecialTokens {
    /// The matcher of the tokens that `policy` allows, or an error if `text` holds a disallowed one.
    pub(crate) fn check(&self, text: &[u8], policy: &SpecialPolicy) -> Result<Matcher> {
        let (allowed, disallowed) = (&policy.allowed, &policy.disallowed);
        let refuse = match disallowed {
            SpecialSet::None => Matcher::default(),
            SpecialSet::All if matches!(allowed, SpecialSet::None) => self.matcher.clone(),
            SpecialSet::All => Matcher::new(self.iter().filter(|(t, _)| !allowed.contains(t)))?,
            SpecialSet::Some(texts) => Matcher::new(texts.iter().map(|text| (text.as_str(), 0)))?,
        };
        if let Some(Found { start, end, .. }) = refuse.find_iter(text).next() {
            let token = String::from_utf8_lossy(&text[start..end]);
            let message = format!(
                "the text holds the special token {token:?} at byte {start}, which is not allowed \
                 there: pass allowed_special={{{token:?}}} to encode it as a special token, or \
                 disallowed_special=() to encode it as ordinary text"
            );
            return Err(Error::new(ErrorKind::SpecialToken, message));
        }
        match allowed {
            SpecialSet::None => Ok(Matcher::default()),
            SpecialSet::All => Ok(self.matcher.clone()),
            SpecialSet::Some(_) => Matcher::new(self.iter().filter(|(t, _)| allowed.contains(t))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

        let error = tokens.check(text, &policy(only("<|a|>"), SpecialSet::All)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SpecialToken);
        assert!(error.to_string().contains("\"<|b|>\" at byte 1"), "{error}");

        let matcher = tokens.check(text, &policy(only("<|b|>"), SpecialSet::All)).unwrap();
        assert_eq!(matcher.find_iter(text).map(|f| f.id).collect::<Vec<_>>(), [302]);
        let matcher = tokens.check(text, &policy(only("<|a|>"), SpecialSet::None)).unwrap();
        assert_eq!(matcher.find_iter(text).count(), 0);
    }
}
