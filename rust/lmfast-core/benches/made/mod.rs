//! Text that is made, not fetched: the same on every machine, and like a language in what counts
//! for an encoder, which is how often words come again and how long they are.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use lmfast_core::{
    Result, Tokenizer, Watch,
    pretokenize::Pretokenizer,
    source::Sources,
    special::SpecialTokens,
    train::{Counter, Counting, TieBreak, TrainOptions, train},
    vocabulary::Vocabulary,
};

/// Distinct words of a made text; a book has about as many.
const WORDS: usize = 20_000;

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// Words of Latin letters between spaces, numbers, punctuation, lines.
    Words,
    /// Names in lower and upper case between operators, indented.
    Code,
    /// Ideographs without spaces.
    Ideographs,
}

impl Script {
    /// Every kind.
    pub(crate) const ALL: [Self; 3] = [Self::Words, Self::Code, Self::Ideographs];

    /// What reports call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Code => "code",
            Self::Ideographs => "ideographs",
        }
    }

    /// Text of at least this many bytes, and of less than one word more.
    pub(crate) fn text(self, bytes: usize) -> String {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ self as u64);
        let words: Vec<String> = (0..WORDS).map(|_| self.word(&mut random)).collect();
        let mut text = String::with_capacity(bytes + 64);
        while text.len() < bytes {
            text.push_str(&words[random.ranked(WORDS)]);
            self.push_between(&mut random, &mut text);
        }
        text
    }

    fn word(self, random: &mut Random) -> String {
        match self {
            Self::Words | Self::Code => {
                let letters = 1 + random.below(5) + random.below(6);
                let word: String = (0..letters).map(|_| random.letter()).collect();
                if self == Self::Code && random.below(4) == 0 { word.to_uppercase() } else { word }
            }
            // Common ideographs have neighbours that are common, too.
            Self::Ideographs => (0..=random.below(3))
                .filter_map(|_| char::from_u32(0x4E00 + random.ranked(6_000) as u32))
                .collect(),
        }
    }

    fn push_between(self, random: &mut Random, text: &mut String) {
        match (self, random.below(40)) {
            (Self::Words, 0..=32) => text.push(' '),
            (Self::Words, 33..=35) => text.push_str(", "),
            (Self::Words, 36..=37) => text.push_str(".\n\n"),
            (Self::Words, 38) => text.push_str("'s "),
            (Self::Words, _) => push_number(text, " ", random.below(10_000), " "),
            (Self::Code, 0..=9) => text.push('_'),
            (Self::Code, 10..=19) => text.push_str(" = "),
            (Self::Code, 20..=25) => text.push('('),
            (Self::Code, 26..=31) => text.push_str(");\n        "),
            (Self::Code, 32..=35) => text.push_str("->"),
            (Self::Code, 36) => text.push_str(" {\n\t\t"),
            (Self::Code, _) => push_number(text, " + ", random.below(256), ";\n"),
            (Self::Ideographs, 0..=4) => text.push('\u{FF0C}'),
            (Self::Ideographs, 5..=6) => text.push('\u{3002}'),
            (Self::Ideographs, 7) => text.push('\n'),
            (Self::Ideographs, _) => {}
        }
    }
}

fn push_number(text: &mut String, before: &str, number: usize, behind: &str) {
    text.push_str(before);
    text.push_str(&number.to_string());
    text.push_str(behind);
}

/// A tokenizer trained on `bytes` of each kind of text.
pub(crate) fn tokenizer(pretokenizer: &str, vocab_size: usize, bytes: usize) -> Result<Tokenizer> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Relaxed);
    let file = std::env::temp_dir().join(format!("lmfast-made-{}-{call}", std::process::id()));
    let text: String = Script::ALL.map(|script| script.text(bytes)).concat();
    fs::write(&file, text).expect("the folder for temporary files can be written");
    let counter = Counter {
        pretokenizer: Pretokenizer::new(pretokenizer)?,
        special_tokens: SpecialTokens::new(Vec::new())?,
    };
    let (counting, watch) = (Counting::new(None), Watch::default());
    let counted = counter.count(&counting, &Sources::of_files([file.clone()]), None, &watch);
    fs::remove_file(&file).expect("a file just written can be removed");
    counted?;
    let options = TrainOptions {
        vocab_size,
        special_tokens: 0,
        tie_break: TieBreak::Lexicographic,
        min_frequency: 1,
        max_token_bytes: None,
        allow_fewer: false,
    };
    let counts = counting.finish(1, &watch)?;
    let merges = train(&counts, &options, &counter.special_tokens, None, None, None, &watch)?;
    let pairs: Vec<_> = merges.iter().map(|merge| (merge.left, merge.right)).collect();
    let vocabulary = Vocabulary::from_training(&pairs)?;
    Tokenizer::new(vocabulary, counter.special_tokens, counter.pretokenizer)
}

/// Numbers that look random and are the same each time (splitmix64: Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A place below `end`, each about as often as one over its rank: Zipf's law.
    fn ranked(&mut self, end: usize) -> usize {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((end as f64).powf(unit) as usize - 1).min(end - 1)
    }

    fn letter(&mut self) -> char {
        char::from(b"etaoinshrdlcumwfgypbvkjxqz"[self.ranked(26)])
    }
}
