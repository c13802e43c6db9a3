//! Proof that a way of cutting is that of a scheme: it is compared with the regular expression on
//! all short texts of characters that stand for all others, alone and after paddings.
//!
//! Two characters stand for each other where neither the pattern nor the tables of the scanners
//! tell them apart and both take as many bytes. What a scheme does next depends on no more than a
//! few characters, so that what holds for all texts of four or five holds for all texts but for
//! what counts characters: runs, which the paddings make long, and threes of numbers.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{
    Scheme, Tier,
    regex::{Backtracking, symbols_of},
    unicode::Classes,
};

/// One character for each cell, that is for each combination of what the pattern, and the tables of
/// the scanners, say of a character, and of its length in bytes.
pub(super) fn representatives(scheme: Scheme) -> Vec<char> {
    let symbol = symbols_of(scheme.pattern()).expect("a pattern that becomes a table");
    let mut cells = BTreeMap::new();
    for c in '\0'..=char::MAX {
        cells.entry((symbol(c), Classes::get().of(c), c.len_utf8())).or_insert(c);
    }
    cells.into_values().collect()
}

/// The representatives without those that differ from one before in length alone.
pub(super) fn representatives_of_any_length(scheme: Scheme) -> Vec<char> {
    let symbol = symbols_of(scheme.pattern()).expect("a pattern that becomes a table");
    let mut seen = std::collections::HashSet::new();
    let mut chars = representatives(scheme);
    chars.retain(|&c| seen.insert((symbol(c), Classes::get().of(c))));
    chars
}

/// Texts of 61 to 67 bytes, so that what follows lies across the end of a block of 64.
pub(super) fn paddings() -> Vec<String> {
    let ends = ["a", "A", " ", "1", "!", "\n", "'", "\0"];
    let of = |end: &str, len: usize| {
        let run = end.repeat(len);
        let mixed = "é x".chars().cycle().take(len / 2 - 2).collect::<String>();
        let rest = end.repeat(len - mixed.len().min(len));
        [run, mixed + &rest]
    };
    ends.iter().flat_map(|end| (61..=67).flat_map(move |len| of(end, len))).collect()
}

/// Compare where `cut` ends the pretokens of a text with where the pattern of `scheme` does, on
/// each of `paddings` followed by each text of `k` of `chars`; how many texts that were.
pub(super) fn prove(
    scheme: Scheme,
    cut: impl Fn(&str) -> Vec<usize> + Sync,
    chars: &[char],
    k: u32,
    paddings: &[String],
) -> usize {
    let oracle = Backtracking::new(scheme.pattern()).unwrap();
    let tuples = chars.len().pow(k);
    for padding in paddings {
        (0..tuples).into_par_iter().with_min_len(1000).for_each(|mut number| {
            let mut text = padding.clone();
            for _ in 0..k {
                text.push(chars[number % chars.len()]);
                number /= chars.len();
            }
            let mut expected = Vec::new();
            oracle.for_each(&text, &mut |_, end, _| expected.push(end)).unwrap();
            assert_eq!(cut(&text), expected, "{scheme:?} {text:?}");
        });
    }
    paddings.len() * tuples
}

/// Where the scanner of a scheme ends the pretokens, by characters and alike by masks.
pub(super) fn by_scanner(scheme: Scheme) -> impl Fn(&str) -> Vec<usize> + Sync {
    move |text| {
        let mut expected = Vec::new();
        scheme.for_each_end_by_characters(text, &mut |end| expected.push(end));
        for tier in Tier::all() {
            let mut ends = Vec::with_capacity(expected.len());
            scheme.for_each_end_by_masks(text, tier, &mut |end| ends.push(end));
            assert_eq!(ends, expected, "{scheme:?} {tier:?} {text:?}");
        }
        expected
    }
}

fn for_each_scheme(check: impl Fn(Scheme) -> usize) {
    for scheme in Scheme::ALL {
        let texts = check(scheme);
        assert!(texts > 1000, "{scheme:?}: {texts}");
    }
}

#[test]
fn scanners_cut_all_texts_of_three_as_their_patterns() {
    for_each_scheme(|scheme| {
        let chars = representatives(scheme);
        prove(scheme, by_scanner(scheme), &chars, 3, &[String::new()])
    });
}

#[test]
fn scanners_cut_all_pairs_after_a_block_as_their_patterns() {
    for_each_scheme(|scheme| {
        let chars = representatives_of_any_length(scheme);
        prove(scheme, by_scanner(scheme), &chars, 2, &paddings())
    });
}

/// Of texts of four every one is covered where the scheme tells few characters apart, and a part
/// that is the same in each run elsewhere.
#[test]
fn scanners_cut_texts_of_four_as_their_patterns() {
    for_each_scheme(|scheme| {
        let mut chars = representatives_of_any_length(scheme);
        chars.truncate(12);
        prove(scheme, by_scanner(scheme), &chars, 4, &[String::new()])
    });
}

#[test]
#[ignore = "minutes: cargo test --release -- --ignored texts_of_five"]
fn scanners_cut_all_texts_of_five_as_their_patterns() {
    for_each_scheme(|scheme| {
        let chars = representatives_of_any_length(scheme);
        prove(scheme, by_scanner(scheme), &chars, 5, &[String::new()])
    });
}
