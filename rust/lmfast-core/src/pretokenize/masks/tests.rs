//! The scanners by masks against those by characters, which stand for the patterns: across blocks
//! and windows. `prove` compares both with the patterns on short texts.

use proptest::prelude::*;

use super::*;
use crate::pretokenize::{Scheme, prove, unicode};

/// A character for each cell that any scheme tells apart, and those that contractions are made of.
fn chars() -> Vec<char> {
    let mut chars: Vec<char> = "sSlLrRe'/ \t\n\r\u{17F}中".chars().collect();
    for scheme in Scheme::ALL {
        chars.extend(prove::representatives_of_any_length(scheme));
    }
    chars.sort_unstable();
    chars.dedup();
    chars
}

fn assert_alike(text: &str) {
    for scheme in Scheme::ALL {
        prove::by_scanner(scheme)(text);
    }
}

/// Texts of which something lies across the ends of the first window and of what is known of it.
fn texts_across_ends(of: impl Fn(&str, &str)) {
    let known = WINDOW - AHEAD;
    for len in [known - 2, known, known + 1, WINDOW - 2, WINDOW - 1, WINDOW, WINDOW + 1] {
        for opening in ["", "\n", "中", "a中", "!\n"] {
            for unit in ["a", "A", " ", "1", "!", "\n", "'", "中", "\u{3000}", "²", "\n "] {
                for count in [0, 1, 3, 40] {
                    let run = opening.to_owned() + &unit.repeat(count);
                    let mut before = "ab 12".repeat(len.div_ceil(5));
                    before.truncate(len - run.len());
                    for behind in ["ab c", "A", " ", "\n", "\u{301}"] {
                        of(&(before.clone() + &run), &behind.repeat(40));
                    }
                }
            }
        }
    }
}

#[test]
fn each_character_across_the_ends_of_windows() {
    let chars = chars();
    let next = std::cell::Cell::new(0);
    texts_across_ends(|before, behind| {
        let c = chars[next.replace(next.get() + 1) % chars.len()];
        assert_alike(&format!("{before}{behind}"));
        assert_alike(&format!("{before}{c}{behind}"));
    });
}

#[test]
#[ignore = "hours: cargo test --release -- --ignored pairs_across_the_ends"]
fn all_pairs_across_the_ends_of_windows() {
    let chars = chars();
    texts_across_ends(|before, behind| {
        for a in &chars {
            for b in &chars {
                assert_alike(&format!("{before}{a}{b}{behind}"));
            }
        }
    });
}

#[test]
#[ignore = "a minute: cargo test --release -- --ignored all_characters_across"]
fn all_characters_across_the_ends_of_windows() {
    let chars = chars();
    texts_across_ends(|before, behind| {
        for c in &chars {
            assert_alike(&format!("{before}{c}{behind}"));
        }
    });
}

/// What single characters seldom make by chance.
const PIECES: [&str; 11] = [
    "\n ",
    "AB",
    "a中",
    "中A",
    "'s",
    "'LL",
    "!\n/",
    "!\n//\u{301}",
    "!\n/!\u{301}",
    "❤\u{FE0F}",
    "a ",
];

/// Texts of several windows, with runs that are longer than a window.
fn long_text() -> impl Strategy<Value = String> {
    let count = prop_oneof![20 => 1usize..4, 2 => 4usize..70, 1 => 900usize..1100];
    let piece = prop_oneof![
        8 => proptest::sample::select(chars()).prop_map(String::from),
        2 => proptest::sample::select(PIECES.to_vec()).prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
    ];
    let run = (piece, count).prop_map(|(piece, count)| piece.repeat(count));
    proptest::collection::vec(run, 0..400).prop_map(|runs| runs.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn long_texts(text in long_text()) {
        assert_alike(&text);
    }
}

/// Every character, at each place of a block.
#[test]
fn tiers_know_the_class_of_every_character() {
    let classes = Classes::get();
    let all: String = ('\0'..=char::MAX).collect();
    let mut window = Window::default();
    for tier in Tier::all() {
        for shift in 0..BLOCK {
            let text = "a".repeat(shift) + &all;
            let mut start = 0;
            while start < text.len() {
                window.fill::<true>(tier, classes, &text[start..]);
                start += assert_classes(&window, classes, &text[start..]);
            }
        }
    }
}

/// The length of the characters that lie within the window.
fn assert_classes(window: &Window, classes: Classes, text: &str) -> usize {
    let mut at = 0;
    while at < window.len {
        let (class, len) = classes.at(text, at);
        if at + len > window.len {
            break;
        }
        let byte = text.as_bytes()[at];
        let both = class & unicode::LETTER_OR_MARK == unicode::LETTER_OR_MARK;
        let upper = class & unicode::LETTER_OR_MARK == unicode::HEAD;
        let letter = class & unicode::LETTER != 0;
        let expected = [
            (&window.letter, letter),
            (&window.number, class & unicode::NUMBER != 0),
            (&window.white, class & unicode::SPACE != 0),
            (&window.newline, class & unicode::NEWLINE != 0),
            (&window.mark, class & unicode::LETTER_OR_MARK != 0 && !letter),
            (&window.both, both),
            (&window.upper, upper),
            (&window.blank, byte == b' '),
            (&window.quote, byte == b'\''),
            (&window.slash, byte == b'/'),
            (&window.high, !byte.is_ascii()),
        ];
        for place in at..at + len {
            let found = expected.map(|(bits, _)| bits.has(place));
            assert_eq!(found, expected.map(|(_, class)| class), "{:?}", &text[at..at + len]);
            assert_eq!(window.inner.has(place), place > at);
        }
        at += len;
    }
    at
}
