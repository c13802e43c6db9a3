//! Scanners that look at 64 bytes at a time.
//!
//! A window of the text, from the start of a pretoken on, becomes one bit per byte and class: is
//! this byte part of a letter, of a number, of whitespace? Where pretokens start then follows for
//! 64 bytes at once from a few shifts and logical operations, and only what is rare (contractions,
//! long numbers, wide spaces) is looked at one by one. All bytes of a character have the bits of
//! its classes, so that runs of characters are runs of bits.
//!
//! Only the classes of ASCII depend on the processor (`avx512`, `avx2`, `neon`); what is not ASCII is
//! looked up character by character (`wide`), and the rules of each scheme are plain numbers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bits;
mod cl100k;
mod gpt2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod o200k;
#[cfg(test)]
mod tests;
mod wide;
mod words;

use bits::{Bits, places};
pub(super) use cl100k::Cl100k;
pub(super) use gpt2::Gpt2;
pub(super) use o200k::O200k;

use super::{
    Ends,
    scan::{self, Case},
    unicode::Classes,
};
#[cfg(target_arch = "x86_64")]
use crate::x86::Level;

/// Bytes of a block: bits of a mask.
const BLOCK: usize = u64::BITS as usize;
/// Blocks of a window.
const BLOCKS: usize = 16;
const WINDOW: usize = BLOCKS * BLOCK;
/// A start of a pretoken depends on no more than this many bytes behind it.
const AHEAD: usize = 16;

/// The classes of the bytes of a window, and where pretokens start in it.
#[derive(Default)]
pub(super) struct Window {
    /// Bytes of text in the window.
    len: usize,
    /// Whether the text ends with the window.
    is_last: bool,
    /// Starts from here on are not known.
    limit: usize,
    /// Whether there is anything but ASCII.
    is_wide: bool,
    letter: Bits,
    number: Bits,
    /// Whitespace, newlines included.
    white: Bits,
    /// `[\r\n]`
    newline: Bits,
    /// U+0020
    blank: Bits,
    /// U+0027
    quote: Bits,
    /// U+002F
    slash: Bits,
    /// Letters that may open a word in mixed case and not go on in one.
    upper: Bits,
    /// Letters and marks that may do both.
    both: Bits,
    mark: Bits,
    /// Bytes of 0x80 and above.
    high: Bits,
    /// Those that are not the first of their character.
    inner: Bits,
    /// The first bytes of the letters that `wide::letters_of_three` knows.
    three: Bits,
    starts: Bits,
}

/// The classes of ASCII bytes in one block.
#[derive(Clone, Copy, Default)]
struct Block {
    letter: u64,
    number: u64,
    white: u64,
    newline: u64,
    blank: u64,
    quote: u64,
    slash: u64,
    upper: u64,
    high: u64,
    inner: u64,
    three: u64,
}

/// Rules that say where pretokens start.
///
/// `DETAILS` says whether they ask for newlines, slashes, upper case, both, marks and inner bytes, too.
pub(super) trait Rules<const DETAILS: bool> {
    /// Set `window.starts` from the classes, for all bytes before `window.limit`, which may be
    /// lowered to where it is not known whether a pretoken starts. The last start may be left out
    /// where it depends on what follows the window: the next window begins before it. `text` begins
    /// with the window and goes on behind it.
    fn starts(&self, window: &mut Window, text: &str);

    /// The end of the pretoken that starts at `start`.
    fn next_end(&self, classes: Classes, text: &str, start: usize) -> usize;
}

/// What classifies ASCII on this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Tier {
    /// The best that this processor has, if it has any.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        match crate::x86::level() {
            Level::Avx512 => return Some(Self::Avx512),
            Level::Avx2 => return Some(Self::Avx2),
            Level::Base => {}
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Some(Self::Neon);
        }
        None
    }

    /// All that this processor has.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        if Self::detect() == Some(Self::Avx512) {
            return vec![Self::Avx512, Self::Avx2];
        }
        Self::detect().into_iter().collect()
    }

    #[inline]
    fn classify<const DETAILS: bool>(
        self,
        blocks: &[[u8; BLOCK]],
        window: &mut Window,
        first: usize,
    ) {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `detect`, which alone makes a tier, has seen that the processor has AVX-512.
            Self::Avx512 => unsafe { avx512::classify_all::<DETAILS>(blocks, window, first) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `detect`, which alone makes a tier, has seen that the processor has AVX2.
            Self::Avx2 => unsafe { avx2::classify_all::<DETAILS>(blocks, window, first) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: `detect`, which alone makes a tier, has seen that the processor has NEON.
            Self::Neon => unsafe { neon::classify_all::<DETAILS>(blocks, window, first) },
        }
    }
}

impl Window {
    /// Blocks that hold text.
    #[inline]
    fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    #[inline]
    fn set_block<const DETAILS: bool>(&mut self, at: usize, block: Block) {
        self.letter[at] = block.letter;
        self.number[at] = block.number;
        self.white[at] = block.white;
        self.blank[at] = block.blank;
        self.quote[at] = block.quote;
        self.high[at] = block.high;
        self.three[at] = block.three;
        self.is_wide |= block.high != 0;
        if DETAILS {
            self.newline[at] = block.newline;
            self.slash[at] = block.slash;
            self.upper[at] = block.upper;
            self.inner[at] = block.inner;
            self.both[at] = 0;
            self.mark[at] = 0;
        }
    }

    /// Look at `text` from its beginning on.
    #[inline(always)]
    fn fill<const DETAILS: bool>(&mut self, tier: Tier, classes: Classes, text: &str) {
        self.len = text.len().min(WINDOW);
        self.is_last = self.len == text.len();
        self.limit = if self.is_last { self.len } else { self.len - AHEAD };
        self.is_wide = false;
        let (whole, rest) = text.as_bytes()[..self.len].as_chunks();
        tier.classify::<DETAILS>(whole, self, 0);
        let mut end = whole.len();
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            tier.classify::<DETAILS>(&[block], self, end);
            end += 1;
        }
        // What stands behind the text belongs to no class.
        self.set_block::<DETAILS>(end, Block::default());
        if self.is_wide {
            wide::classify::<DETAILS>(self, classes, text);
        }
    }

    /// Starts at the last character of whitespace before anything else, where `may_be_last` has the
    /// bits of those characters in block `at`.
    #[inline(always)]
    fn start_at_last_white(&mut self, at: usize, may_be_last: u64, bytes: &[u8]) {
        let text_behind = self.valid(at) >> 1 | self.valid(at + 1) << (BLOCK - 1);
        let last = may_be_last & !self.white.before(at) & text_behind;
        self.starts[at] |= last & !self.high[at];
        for place in places(at, last & self.high[at]) {
            self.starts.set(wide::lead(bytes, place));
        }
    }

    /// Let whitespace follow the text, so that none of it is the last before anything else.
    #[inline(always)]
    fn end_with_white(&mut self) {
        for at in [self.blocks() - 1, self.blocks()] {
            self.white[at] |= !self.valid(at);
        }
    }

    /// A start behind each contraction that is a pretoken.
    #[inline(always)]
    fn start_behind_contractions(&mut self, text: &str, case: Case) {
        for at in 0..self.blocks() {
            for place in places(at, self.quote[at] & self.starts[at]) {
                if let Some(end) = scan::contraction(text, place, case) {
                    self.starts.clear(place + 1);
                    self.starts.set(end);
                }
            }
        }
    }

    /// Bits for the bytes of block `at` that hold text.
    #[inline]
    fn valid(&self, at: usize) -> u64 {
        let bytes = self.len.saturating_sub(at * BLOCK);
        if bytes >= BLOCK { u64::MAX } else { (1 << bytes) - 1 }
    }
}

/// Tell `ends` where each pretoken ends.
pub(super) fn ends<const DETAILS: bool>(
    text: &str,
    tier: Tier,
    rules: &impl Rules<DETAILS>,
    ends: &mut impl Ends,
) {
    match tier {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `detect` has seen that the processor has all of it.
        Tier::Avx512 => unsafe { avx512::ends(text, rules, ends) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `detect` has seen that the processor has all of it.
        Tier::Avx2 => unsafe { avx2::ends(text, rules, ends) },
        #[cfg(target_arch = "aarch64")]
        Tier::Neon => ends_by(text, tier, rules, ends, super::write_places),
    }
}

/// The same, compiled for what the processor of whoever calls it has.
#[inline(always)]
fn ends_by<const DETAILS: bool>(
    text: &str,
    tier: Tier,
    rules: &impl Rules<DETAILS>,
    ends: &mut impl Ends,
    write_places: impl Fn(usize, u64, &mut [usize]),
) {
    let classes = Classes::get();
    let mut window = Window::default();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        window.fill::<DETAILS>(tier, classes, rest);
        rules.starts(&mut window, rest);
        let end = window.limit;
        window.starts.truncate(end);
        if end == rest.len() {
            window.starts.set(end);
        }
        window.starts.clear(0);
        let mut last = 0;
        for at in 0..=end / BLOCK {
            let places = window.starts[at];
            ends.push_all(start + at * BLOCK, places, &write_places);
            if places != 0 {
                last = at * BLOCK + places.ilog2() as usize;
            }
        }
        start += last;
        if last == 0 {
            // It is longer than the window, or none of the starts behind it is known: go on far
            // enough for another window to be worth its while.
            let enough = text.len().min(start + 2 * BLOCK);
            while start < enough {
                start = rules.next_end(classes, text, start);
                ends.push(start);
            }
        }
    }
}
