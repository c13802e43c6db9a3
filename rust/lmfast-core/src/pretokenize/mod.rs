//! Cutting text into pretokens, across which no merge reaches.
//!
//! A [`Pretokenizer`] is a named scheme with a hand-written scanner, a user's own regular
//! expression, a sequence of such steps, or none at all. Bytes that are not UTF-8 are accepted: each
//! longest valid stretch is cut by the pattern as if the text began and ended there, and each
//! stretch of invalid bytes between them is one pretoken.

mod cut;
mod ends;
mod masks;
mod regex;
mod scan;
mod steps;
mod table;
mod unicode;

use std::{fmt, sync::Arc};

pub(crate) use cut::SafeCuts;
#[cfg(target_arch = "x86_64")]
pub(crate) use ends::avx512;
pub(crate) use ends::{Ends, write_places};
use masks::Tier;
pub use regex::{Engine, UserPattern};
pub use steps::Steps;
pub(crate) use steps::{Behavior, Cut, Finds, SplitPattern, Step};
pub(crate) use unicode::Classes;
pub use unicode::UNICODE_VERSION;

use crate::{error::Result, format::pre_tokenizer};

/// A pretokenizer known by name, with a scanner of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// GPT-2, GPT-3, tiktoken's r50k and p50k, GPT-NeoX.
    Gpt2,
    /// GPT-3.5 and GPT-4.
    Cl100k,
    /// GPT-4o and later.
    O200k,
    /// Llama 3: cl100k, but whitespace at the end of the text is cut after its last newline.
    Llama3,
    /// Qwen 2, 2.5 and 3: Llama 3, but each number stands alone.
    Qwen2,
    /// Qwen 3.5: Qwen 2, but marks are part of words.
    Qwen35,
    /// `DeepSeek` V3: numbers, then Chinese and Japanese, then the rest, in three steps.
    DeepSeek,
    /// Mistral's Tekken: o200k without contractions, and each number stands alone.
    Tekken,
    /// `StarCoder` and `SmolLM`: each number stands alone, and what lies between is cut as by GPT-2.
    StarCoder,
}

/// Chinese and Japanese as `DeepSeek` names them.
macro_rules! han_or_kana {
    ($before:literal, $after:literal) => {
        concat!($before, "\u{4e00}-\u{9fa5}\u{3040}-\u{30ff}", $after)
    };
}

/// In fewer bytes, characters are read one by one: a window is not worth filling for them.
const WORTH_MASKS: usize = 32;

impl Scheme {
    /// Every named scheme.
    pub const ALL: [Self; 9] = [
        Self::Gpt2,
        Self::Cl100k,
        Self::O200k,
        Self::Llama3,
        Self::Qwen2,
        Self::Qwen35,
        Self::DeepSeek,
        Self::Tekken,
        Self::StarCoder,
    ];

    /// Other names of the same schemes.
    pub const ALIASES: [(&str, Self); 2] = [("r50k", Self::Gpt2), ("p50k", Self::Gpt2)];

    /// The name by which users ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpt2 => "gpt2",
            Self::Cl100k => "cl100k",
            Self::O200k => "o200k",
            Self::Llama3 => "llama3",
            Self::Qwen2 => "qwen2",
            Self::Qwen35 => "qwen35",
            Self::DeepSeek => "deepseek",
            Self::Tekken => "tekken",
            Self::StarCoder => "starcoder",
        }
    }

    /// The scheme of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let named = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        named
            .or_else(|| Self::ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, s)| s))
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
            Self::Qwen2 => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Self::Qwen35 => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
                r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Self::DeepSeek => concat!(
                r"\p{N}{1,3}",
                // In Chinese and Japanese.
                han_or_kana!(r"|[", r"&&[^\p{L}\p{P}\p{S}]]?"),
                han_or_kana!(r"[\p{L}\p{M}&&[", r"]]+"),
                han_or_kana!(r"|[\p{P}\p{S}&&[", r"]]+"),
                // In what lies between.
                r"|[!-/:-@\[-`{-~][A-Za-z]+",
                han_or_kana!(r"|[^\r\n\p{L}\p{N}\p{P}\p{S}", r"]?"),
                han_or_kana!(r"[\p{L}\p{M}&&[^", r"]]+"),
                han_or_kana!(r"| ?[\p{P}\p{S}&&[^", r"]]+[\r\n]*"),
                han_or_kana!(r"|\s*[\r\n]+|\s+(?![^\s\p{N}", r"])|\s+"),
                // What the steps do not match, up to the character that goes with a word.
                han_or_kana!(r"|[", r"&&[^\p{L}\p{M}\p{P}\p{S}]]+"),
                han_or_kana!(r"(?![\p{L}\p{M}&&[", r"]])"),
                han_or_kana!(r"|[^\s\p{L}\p{M}\p{N}\p{P}\p{S}", r"]+"),
                han_or_kana!(r"(?![\p{L}\p{M}&&[^", r"]])"),
            ),
            Self::Tekken => concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            ),
            Self::StarCoder => concat!(
                r"'(?:[sdmt]|ll|ve|re)|\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+",
                r"|\s+(?![^\s\p{N}])|\s+",
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
            Self::O200k | Self::Qwen35 | Self::DeepSeek | Self::Tekken | Self::StarCoder => &[],
            Self::Qwen2 => &[concat!(
                r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            )],
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
    fn for_each_end(self, text: &str, ends: &mut impl Ends) {
        match Tier::detect() {
            Some(tier) if text.len() >= WORTH_MASKS => {
                self.for_each_end_by_masks(text, tier, ends);
            }
            _ => self.for_each_end_by_characters(text, ends),
        }
    }

    fn for_each_end_by_masks(self, text: &str, tier: Tier, ends: &mut impl Ends) {
        match self {
            Self::Gpt2 => masks::ends(text, tier, &masks::Gpt2, ends),
            Self::Cl100k => masks::ends(text, tier, &masks::Cl100k::<true, false, 3>, ends),
            Self::Llama3 => masks::ends(text, tier, &masks::Cl100k::<false, false, 3>, ends),
            Self::Qwen2 => masks::ends(text, tier, &masks::Cl100k::<false, false, 1>, ends),
            Self::Qwen35 => masks::ends(text, tier, &masks::Cl100k::<false, true, 1>, ends),
            Self::O200k => masks::ends(text, tier, &masks::O200k::<true, 3>, ends),
            Self::Tekken => masks::ends(text, tier, &masks::O200k::<false, 1>, ends),
            Self::DeepSeek | Self::StarCoder => self.for_each_end_by_characters(text, ends),
        }
    }

    fn for_each_end_by_characters(self, text: &str, ends: &mut impl Ends) {
        match self {
            Self::Gpt2 => scan::ends(text, scan::gpt2, ends),
            Self::Cl100k => scan::ends(text, scan::cl100k::<true>, ends),
            Self::Llama3 => scan::ends(text, scan::cl100k::<false>, ends),
            Self::O200k => scan::ends(text, scan::o200k, ends),
            Self::Qwen2 => scan::ends(text, scan::qwen2, ends),
            Self::Qwen35 => scan::ends(text, scan::qwen35, ends),
            Self::DeepSeek => scan::ends(text, scan::deepseek, ends),
            Self::Tekken => scan::ends(text, scan::tekken, ends),
            Self::StarCoder => scan::ends(text, scan::starcoder, ends),
        }
    }
}

/// How text is cut before merging.
#[derive(Clone, Debug)]
pub enum Pretokenizer {
    /// A named scheme.
    Scheme(Scheme),
    /// A user's own regular expression.
    Regex(Arc<UserPattern>),
    /// Several steps, each of which cuts what the one before has left.
    Sequence(Arc<Steps>),
    /// No cuts: merges may reach across the whole text.
    None,
}

impl Pretokenizer {
    /// The pretokenizer of that name, or of the steps that [`Self::pattern`] spells, or else the one
    /// of that regular expression.
    pub fn new(name_or_pattern: &str) -> Result<Self> {
        if let Some(scheme) = Scheme::from_name(name_or_pattern) {
            return Ok(Self::Scheme(scheme));
        }
        if let Some(steps) = pre_tokenizer::read_spelling(name_or_pattern) {
            return steps;
        }
        Self::of_pattern(name_or_pattern)
    }

    /// The pretokenizer of that regular expression, by the scanner of a scheme if it is that of one.
    pub(crate) fn of_pattern(pattern: &str) -> Result<Self> {
        if let Some(scheme) = Scheme::from_pattern(pattern) {
            return Ok(Self::Scheme(scheme));
        }
        Ok(Self::Regex(Arc::new(UserPattern::new(pattern)?)))
    }

    /// The regular expression that cuts in the same way, or `None` where nothing is cut. A sequence
    /// of steps has no such expression, and is spelled as in a `tokenizer.json`.
    pub fn pattern(&self) -> Option<&str> {
        match self {
            Self::Scheme(scheme) => Some(scheme.pattern()),
            Self::Regex(user) => Some(user.source()),
            Self::Sequence(steps) => Some(steps.spelling()),
            Self::None => None,
        }
    }

    /// What finds the pretokens: the slowest of its steps where there are several.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Scheme(_) => Engine::Scanner,
            Self::Regex(user) => user.engine(),
            Self::Sequence(steps) => steps.engine(),
            Self::None => Engine::None,
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
        let mut start = 0;
        self.for_each_end(text, &mut |end| {
            visit(start, end);
            start = end;
        })
    }

    /// Tell `ends` where each pretoken of `text` ends, in order.
    pub(crate) fn for_each_end(&self, text: &str, ends: &mut impl Ends) -> Result<()> {
        match self {
            Self::Scheme(scheme) => {
                scheme.for_each_end(text, ends);
                Ok(())
            }
            Self::Regex(user) => user.for_each(text, &mut |_, end, _| ends.push(end)),
            Self::Sequence(steps) => steps.for_each(text, &mut |_, end| ends.push(end)),
            Self::None => {
                if !text.is_empty() {
                    ends.push(text.len());
                }
                Ok(())
            }
        }
    }

    /// Call `visit` with each pretoken of any bytes; the module's first lines say what becomes of
    /// invalid UTF-8.
    pub fn for_each_bytes(&self, bytes: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut start = 0;
        self.for_each_end_of_bytes(bytes, &mut |end| {
            visit(&bytes[start..end]);
            start = end;
        })
    }

    /// Tell `ends` where each pretoken of `bytes` ends, in order.
    pub(crate) fn for_each_end_of_bytes(&self, bytes: &[u8], ends: &mut impl Ends) -> Result<()> {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return self.for_each_end(text, ends);
        }
        let (mut at, mut invalid) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                if invalid < at {
                    ends.push(at);
                }
                self.for_each_end(chunk.valid(), &mut |end| ends.push(at + end))?;
                at += chunk.valid().len();
                invalid = at;
            }
            at += chunk.invalid().len();
        }
        if invalid < at {
            ends.push(at);
        }
        Ok(())
    }
}

impl fmt::Display for Pretokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(scheme) => f.write_str(scheme.name()),
            Self::Regex(user) => f.write_str(user.source()),
            Self::Sequence(steps) => f.write_str(steps.spelling()),
            Self::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod prove;
#[cfg(test)]
mod tests;
