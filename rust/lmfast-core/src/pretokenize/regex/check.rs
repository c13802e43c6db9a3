//! Whether an engine cuts as the backtracking engine does.
//!
//! The rules by which a pattern becomes a table are sound by themselves; the comparison guards
//! against what two engines may read differently in one pattern. It takes as many texts of every
//! combination of the pattern's own characters as a few milliseconds allow, then longer ones.

use super::{backtracking::Backtracking, pieces};
use crate::error::Result;

/// How many texts hold all combinations of characters that the pattern tells apart, at most.
const SHORT_TEXTS: usize = 2000;
const LONG_TEXTS: usize = 300;

/// Whether `match_at` gives the same cuts as `oracle` on texts of `examples`.
pub(super) fn agree(
    examples: &[Vec<char>],
    oracle: &Backtracking,
    match_at: impl Fn(&str, usize) -> Result<Option<usize>>,
) -> bool {
    let cut_alike = |text: &str| {
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let by_oracle = oracle.for_each(text, &mut |start, end, is_match| {
            expected.push((start, end, is_match));
        });
        let by_engine = pieces(text, |at| match_at(text, at), &mut |start, end, is_match| {
            found.push((start, end, is_match));
        });
        by_oracle.is_ok() && by_engine.is_ok() && expected == found
    };
    // The first few of a kind, among them one of a single byte and one of more, if there are both.
    let kinds: Vec<char> = examples.iter().map(|alike| alike[0]).collect();
    let all: Vec<char> =
        examples.iter().flat_map(|alike| [alike[0], alike[alike.len() - 1]]).collect();
    let mut number = 0u64;
    short_texts(&kinds).all(|text| cut_alike(&text))
        && (0..LONG_TEXTS).all(|length| {
            let text: String = (0..3 + length % 12)
                .map(|_| {
                    // Knuth's multiplier: the high bits are as good as random.
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    all[(number >> 33) as usize % all.len()]
                })
                .collect();
            cut_alike(&text)
        })
}

/// All texts of up to as many characters as [`SHORT_TEXTS`] allows, one at least.
fn short_texts(kinds: &[char]) -> impl Iterator<Item = String> {
    let most = (1..=8).rev().find(|&k| kinds.len().pow(k) <= SHORT_TEXTS).unwrap_or(1);
    (1..=most).flat_map(move |length| {
        (0..kinds.len().pow(length)).map(move |mut number| {
            let mut text = String::new();
            for _ in 0..length {
                text.push(kinds[number % kinds.len()]);
                number /= kinds.len();
            }
            text
        })
    })
}
