//! Finding tokens in text, in time that is linear in the text and in the tokens.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, Anchored, MatchKind, automaton::Automaton, nfa::contiguous::NFA};

use crate::{
    error::{Error, Result},
    vocabulary::TokenId,
};

/// After a token that begins a longer one, a search may read on to the end of the longer one and
/// come back. Above this length that is avoided.
const LONG: usize = 1 << 9;

/// Finds the leftmost token, and of those that start there the longest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matcher {
    /// `None` where there is nothing to find.
    search: Option<Search>,
    ids: Arc<[TokenId]>,
    longest: usize,
}

#[derive(Clone, Debug)]
enum Search {
    Short(AhoCorasick),
    /// Of the tokens spelled backwards, for a text read from its end: it knows the longest token
    /// that begins at each place, however long, without looking at any byte twice.
    Long(Arc<NFA>),
}

/// A token found in a text, at `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) id: TokenId,
}

impl Matcher {
    /// Of two tokens with the same text the first is found.
    pub(crate) fn new<'a>(
        tokens: impl IntoIterator<Item = (impl AsRef<[u8]> + 'a, TokenId)>,
    ) -> Result<Self> {
        let (texts, ids): (Vec<_>, Vec<TokenId>) = tokens.into_iter().unzip();
        let Some(longest) = texts.iter().map(|text| text.as_ref().len()).max() else {
            return Ok(Self::default());
        };
        let too_many = |error| Error::vocabulary(format!("too many special tokens: {error}"));
        let search = if longest <= LONG {
            let mut builder = AhoCorasick::builder();
            let builder = builder.match_kind(MatchKind::LeftmostLongest);
            Search::Short(builder.build(&texts).map_err(too_many)?)
        } else {
            let backwards = texts.iter().map(|text| text.as_ref().iter().rev().copied());
            let backwards: Vec<Vec<u8>> = backwards.map(Iterator::collect).collect();
            Search::Long(Arc::new(NFA::new(backwards).map_err(too_many)?))
        };
        Ok(Self { search: Some(search), ids: ids.into(), longest })
    }

    pub(crate) fn find_iter<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Found> + 'a {
        let (short, long) = match &self.search {
            None => (None, None),
            Some(Search::Short(automaton)) => (Some(automaton.find_iter(text)), None),
            Some(Search::Long(automaton)) => (None, Some(longest_at_each_place(automaton, text))),
        };
        let short =
            short.into_iter().flatten().map(|m| (m.start(), m.end(), m.pattern().as_usize()));
        let mut done = 0;
        let apart = move |&(start, end, _): &(usize, usize, usize)| {
            let apart = start >= done;
            done = if apart { end } else { done };
            apart
        };
        let long = long.into_iter().flat_map(|found| found.into_iter().rev()).filter(apart);
        short.chain(long).map(|(start, end, token)| Found { start, end, id: self.ids[token] })
    }

    /// The length in bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}

/// Start, end and number of the longest token that begins at each place, the last place first.
fn longest_at_each_place(backwards: &NFA, text: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    let mut state = backwards.start_state(Anchored::No).expect("built for such searches");
    for (start, &byte) in text.iter().enumerate().rev() {
        state = backwards.next_state(Anchored::No, state, byte);
        if backwards.is_match(state) {
            // A state lists what ends there from the longest to the shortest.
            let token = backwards.match_pattern(state, 0);
            found.push((start, start + backwards.pattern_len(token), token.as_usize()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(tokens: &[String], text: &str) -> Vec<(usize, usize)> {
        let matcher = Matcher::new(tokens.iter().zip(0..)).unwrap();
        matcher.find_iter(text.as_bytes()).map(|found| (found.start, found.end)).collect()
    }

    proptest! {
        #[test]
        fn long_tokens_are_found_by_the_same_rule(
            tokens in proptest::collection::vec("[ab]{1,4}", 1..6),
            text in "[abc]{0,30}",
        ) {
            let mut with_long = tokens.clone();
            with_long.push("x".repeat(LONG + 1));
            prop_assert_eq!(find(&tokens, &text), find(&with_long, &text));
        }
    }

    #[test]
    fn a_long_token_is_found_beside_what_begins_it() {
        let tokens = ["a".to_owned(), "a".repeat(600) + "b"];
        let text = "a".repeat(601) + "b";
        assert_eq!(find(&tokens, &text), [(0, 1), (1, 602)]);
    }
}
