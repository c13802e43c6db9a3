//! Which special tokens a text may hold.

use std::sync::{Arc, Mutex};

use super::{Flags, Found, Matcher, Matchers, Part, SpecialTokens};
use crate::error::{Error, ErrorKind, Result};

/// Which special tokens a text may hold, with tiktoken's meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialPolicy {
    /// Become their ids.
    pub allowed: SpecialSet,
    /// Make encoding fail. All others are ordinary text.
    pub disallowed: SpecialSet,
}

/// Some of the special tokens of a tokenizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// What policies come to, made once for those that name no token, and kept for the last that did.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    /// Of all tokens.
    all: Matchers,
    /// Of those that are not special.
    always: Matchers,
    /// Of those that are, in the text as it is and, where that differs, in its normal form.
    pub(super) special: Matchers,
    last: Arc<Mutex<Option<(SpecialPolicy, Rule)>>>,
}

/// What a policy comes to for the tokens of a tokenizer.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    refused: Matchers,
    found: Matchers,
}

impl Rule {
    /// Whether no token is looked for.
    pub(crate) fn is_nothing(&self) -> bool {
        self.refused.is_nothing() && self.found.is_nothing()
    }
}

impl Compiled {
    pub(super) fn new(tokens: &SpecialTokens) -> Result<Self> {
        Ok(Self {
            all: tokens.matchers(|_, _| true)?,
            always: tokens.matchers(|_, flags| !flags.special)?,
            special: tokens.refusing(|_| true)?,
            last: Arc::default(),
        })
    }
}

impl SpecialTokens {
    /// The tokens in `text` that are allowed, or an error if it holds a disallowed one. Only where
    /// [`Self::is_plain`].
    pub(crate) fn find_iter<'a>(
        &self,
        text: &'a [u8],
        rule: &'a Rule,
    ) -> Result<impl Iterator<Item = Found> + use<'a>> {
        self.refuse(text, &rule.refused)?;
        Ok(rule.found.raw.find_iter(text))
    }

    /// Call `visit` with the parts of `text`, in order, or fail if it holds a disallowed token.
    pub(crate) fn for_each_part(
        &self,
        text: &[u8],
        rule: &Rule,
        visit: impl FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        self.refuse(text, &rule.refused)?;
        self.for_each_part_of(text, &rule.found, visit)
    }

    fn refuse(&self, text: &[u8], refused: &Matchers) -> Result<()> {
        let normal = if refused.normalized.longest() > 0 {
            self.normalizer.normalize(text)
        } else {
            (&[][..]).into()
        };
        let in_normal =
            || refused.normalized.find_iter(&normal).next().map(|found| (&*normal, found));
        let found = refused.raw.find_iter(text).next().map(|found| (text, found));
        let Some((text, Found { start, end, .. })) = found.or_else(in_normal) else {
            return Ok(());
        };
        let token = String::from_utf8_lossy(&text[start..end]);
        let message = format!(
            "the text holds the special token {token:?} at byte {start}, which is not allowed \
             there: pass allowed_special={{{token:?}}} to encode it as a special token, or \
             disallowed_special=() to encode it as ordinary text"
        );
        Err(Error::new(ErrorKind::SpecialToken, message))
    }

    /// What `policy` comes to: to be made once for many texts.
    pub(crate) fn rule(&self, policy: &SpecialPolicy) -> Result<Rule> {
        let compiled = &self.policies;
        let found = match &policy.allowed {
            SpecialSet::None => Some(&compiled.always),
            SpecialSet::All => Some(&compiled.all),
            SpecialSet::Some(_) => None,
        };
        let nothing = Matchers::default();
        let refused = match (&policy.disallowed, &policy.allowed) {
            (SpecialSet::None, _) | (SpecialSet::All, SpecialSet::All) => Some(&nothing),
            (SpecialSet::All, SpecialSet::None) => Some(&compiled.special),
            _ => None,
        };
        if let (Some(found), Some(refused)) = (found, refused) {
            return Ok(Rule { refused: refused.clone(), found: found.clone() });
        }
        // In the child of a fork another thread may hold the lock for good: nobody waits for it.
        let Ok(mut last) = compiled.last.try_lock() else { return self.make_rule(policy) };
        if let Some((_, rule)) = last.as_ref().filter(|(known, _)| known == policy) {
            return Ok(rule.clone());
        }
        let rule = self.make_rule(policy)?;
        *last = Some((policy.clone(), rule.clone()));
        Ok(rule)
    }

    fn make_rule(&self, SpecialPolicy { allowed, disallowed }: &SpecialPolicy) -> Result<Rule> {
        let refused = match disallowed {
            SpecialSet::None => Matchers::default(),
            SpecialSet::All => self.refusing(|text| !allowed.contains(text))?,
            SpecialSet::Some(texts) => Matchers {
                // They need not be special tokens of this tokenizer.
                raw: Matcher::new(texts.iter().map(|text| (text, 0)))?,
                normalized: self.refusing(|text| disallowed.contains(text))?.normalized,
            },
        };
        let found = self.matchers(|text, flags| !flags.special || allowed.contains(text))?;
        Ok(Rule { refused, found })
    }

    fn refusing(&self, refused: impl Fn(&str) -> bool) -> Result<Matchers> {
        let tokens = self.tokens.iter().filter(|token| token.flags.special && refused(&token.text));
        let raw = Matcher::new(tokens.map(|token| (token.text.as_bytes(), token.id)))?;
        let special = |text: &str, flags: Flags| flags.special && refused(text);
        let normalized = if self.normalizer.is_empty() {
            Matcher::default()
        } else {
            self.matchers(special)?.normalized
        };
        Ok(Matchers { raw, normalized })
    }
}
