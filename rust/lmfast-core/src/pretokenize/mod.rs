//! Cutting text into pretokens, across which no merge reaches.
//!
//! A [`Pretokenizer`] is a named scheme with a hand-written scanner, a user's own regular
//! expression, or none at all. Bytes that are not UTF-8 are accepted: each longest valid stretch
//! is cut by the pattern as if the text began and ended there, and each stretch of invalid bytes
//! between them is one pretoken.

mod cut;
mod masks;
mod regex;
mod scan;
mod unicode;

use std::fmt;

pub(crate) use cut::SafeCuts;
use masks::Tier;
use regex::Pattern;
pub(crate) use unicode::UNICODE_VERSION;

use crate::error::Result;

/// A pretokenizer known by name, with a scanner of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// GPT-2, GPT-3 and tiktoken's r50k and p50k.
    Gpt2,
    /// GPT-3.5 and GPT-4.
    Cl100k,
    /// GPT-4o and later.
    O200k,
    /// Llama 3: cl100k, but whitespace at the end of the text is cut after its last newline.
    Llama3,
}

impl Scheme {
    /// Every named scheme.
    pub const ALL: [Self; 4] = [Self::Gpt2, Self::Cl100k, Self::O200k, Self::Llama3];

    /// The name by which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpt2 => "gpt2",
            Self::Cl100k => "cl100k",
            Self::O200k => "o200k",
            Self::Llama3 => "llama3",
        }
    }

    /// The scheme as a regular expression, written so that tiktoken (fancy-regex) and Hugging
    /// Face tokenizers (Oniguruma) read it alike: no possessive quantifiers, no `$`.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Gpt2 => {
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
            }
            Self::Cl100k => concat!(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?![\s\S])|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Self::O200k => concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Self::Llama3 => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
        }
    }

    /// Other spellings of the same cuts, as tokenizer files and tiktoken write them.
    fn other_patterns(self) -> &'static [&'static str] {
        match self {
            Self::Gpt2 => &[
                r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
                r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
            ],
            Self::Cl100k => &[concat!(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
                r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
            )],
            Self::O200k => &[],
            Self::Llama3 => &[concat!(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            )],
        }
    }

    /// The scheme that cuts as `pattern` does, if it is one of the spellings in use.
    pub fn from_pattern(pattern: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| {
            scheme.pattern() == pattern || scheme.other_patterns().contains(&pattern)
        })
    }

    /// One loop per scheme, so that each scanner is compiled into it.
    fn for_each_cut(self, text: &str, visit: impl FnMut(usize, usize)) {
        if let (Self::Gpt2, Some(tier)) = (self, Tier::detect()) {
            return masks::cuts(text, tier, &masks::Gpt2, visit);
        }
        match self {
            Self::Gpt2 => scan::cuts(text, scan::gpt2, visit),
            Self::Cl100k => scan::cuts(text, scan::cl100k::<true>, visit),
            Self::Llama3 => scan::cuts(text, scan::cl100k::<false>, visit),
            Self::O200k => scan::cuts(text, scan::o200k, visit),
        }
    }
}

/// How text is cut before merging.
#[derive(Debug)]
pub enum Pretokenizer {
    /// A named scheme.
    Scheme(Scheme),
    /// A user's own regular expression.
    Regex(Box<UserPattern>),
    /// No cuts: merges may reach across the whole text.
    None,
}

/// A user's own regular expression, compiled.
#[derive(Debug)]
pub struct UserPattern {
    source: String,
    compiled: Pattern,
}

impl Pretokenizer {
    /// The pretokenizer of that name, or else the one of that regular expression.
    pub fn new(name_or_pattern: &str) -> Result<Self> {
        let named = Scheme::ALL.into_iter().find(|scheme| scheme.name() == name_or_pattern);
        if let Some(scheme) = named.or_else(|| Scheme::from_pattern(name_or_pattern)) {
            return Ok(Self::Scheme(scheme));
        }
        let compiled = Pattern::new(name_or_pattern)?;
        Ok(Self::Regex(Box::new(UserPattern { source: name_or_pattern.to_owned(), compiled })))
    }

    /// The regular expression that cuts in the same way, or `None` where nothing is cut.
    pub fn pattern(&self) -> Option<&str> {
        match self {
            Self::Scheme(scheme) => Some(scheme.pattern()),
            Self::Regex(user) => Some(&user.source),
            Self::None => None,
        }
    }

    /// Call `visit` with each pretoken of `text`, in order; together they are the text.
    pub fn for_each(&self, text: &str, mut visit: impl FnMut(&str)) -> Result<()> {
        self.for_each_cut(text, |start, end| visit(&text[start..end]))
    }

    /// Call `visit` with where each pretoken of `text` begins and ends, in order.
    pub(crate) fn for_each_cut(
        &self,
        text: &str,
        mut visit: impl FnMut(usize, usize),
    ) -> Result<()> {
        match self {
            Self::Scheme(scheme) => {
                scheme.for_each_cut(text, visit);
                Ok(())
            }
            Self::Regex(user) => {
                let mut start = 0;
                user.compiled.for_each(text, &mut |pretoken| {
                    let end = start + pretoken.len();
                    visit(start, end);
                    start = end;
                })
            }
            Self::None => {
                if !text.is_empty() {
                    visit(0, text.len());
                }
                Ok(())
            }
        }
    }

    /// The same for any bytes; the module's first lines say what becomes of invalid UTF-8.
    pub fn for_each_bytes(&self, bytes: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        self.for_each_bytes_cut(bytes, |start, end| visit(&bytes[start..end]))
    }

    /// Call `visit` with where each pretoken of `bytes` begins and ends, in order.
    pub(crate) fn for_each_bytes_cut(
        &self,
        bytes: &[u8],
        mut visit: impl FnMut(usize, usize),
    ) -> Result<()> {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return self.for_each_cut(text, visit);
        }
        let (mut at, mut invalid) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                if invalid < at {
                    visit(invalid, at);
                }
                self.for_each_cut(chunk.valid(), |start, end| visit(at + start, at + end))?;
                at += chunk.valid().len();
                invalid = at;
            }
            at += chunk.invalid().len();
        }
        if invalid < at {
            visit(invalid, at);
        }
        Ok(())
    }
}

impl fmt::Display for Pretokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => f.write_str(scheme.name()),
            Self::Regex(user) => f.write_str(&user.source),
            Self::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests;
