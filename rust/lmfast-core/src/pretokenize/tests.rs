//! Each scanner against the regular expression it stands for.

use proptest::prelude::*;

use super::{Pretokenizer, SafeCuts, Scheme, regex::Pattern};

/// One character or more for each cell that the classes of the patterns tell apart, and for each
/// character that a pattern names.
const REPRESENTATIVES: [&str; 30] = [
    "a", "s", "l", "é", "ſ", // lower case
    "A", "S", "L", "Ж", // upper case
    "ǅ", // title case
    "ʰ", // modifier letter
    "中", "の", // other letters
    "\u{301}", "\u{903}", // marks
    "1", "²", "Ⅷ", // numbers
    " ", "\t", "\u{a0}", "\u{3000}", // spaces
    "\n", "\r", // newlines
    "'", "/", "!", "。", "😀", "\0", // the rest
];

fn cuts_of(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
    let mut cuts = Vec::new();
    pretokenizer.for_each(text, |pretoken| cuts.push(pretoken.to_owned())).unwrap();
    cuts
}

fn oracle(pattern: &str, text: &str) -> Vec<String> {
    let mut cuts = Vec::new();
    Pattern::new(pattern).unwrap().for_each(text, &mut |cut| cuts.push(cut.to_owned())).unwrap();
    cuts
}

fn assert_as_the_pattern(scheme: Scheme, text: &str) {
    let expected = oracle(scheme.pattern(), text);
    assert_eq!(cuts_of(&Pretokenizer::Scheme(scheme), text), expected, "{scheme:?} {text:?}");
}

/// Every text of up to three representatives, all in one process so that a pattern compiles once.
#[test]
fn scanners_cut_as_their_patterns_on_all_short_texts() {
    for scheme in Scheme::ALL {
        let pattern = Pattern::new(scheme.pattern()).unwrap();
        let scanner = Pretokenizer::Scheme(scheme);
        let check = |text: &str| {
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            pattern.for_each(text, &mut |cut| expected.push(cut.len())).unwrap();
            scanner.for_each(text, |cut| found.push(cut.len())).unwrap();
            assert_eq!(found, expected, "{scheme:?} {text:?}");
        };
        for a in REPRESENTATIVES {
            for b in REPRESENTATIVES {
                for c in REPRESENTATIVES {
                    check(&[a, b, c].concat());
                    for d in ["a", "A", "\u{301}", " ", "\n", "'", "1"] {
                        check(&[a, b, c, d].concat());
                    }
                }
            }
        }
    }
}

#[test]
fn other_spellings_cut_alike() {
    for scheme in Scheme::ALL {
        for pattern in scheme.other_patterns() {
            let (here, there) =
                (Pattern::new(scheme.pattern()).unwrap(), Pattern::new(pattern).unwrap());
            for a in REPRESENTATIVES {
                for b in REPRESENTATIVES {
                    for c in REPRESENTATIVES {
                        let text = [a, b, c, a].concat();
                        let (mut expected, mut found) = (Vec::new(), Vec::new());
                        here.for_each(&text, &mut |cut| expected.push(cut.len())).unwrap();
                        there.for_each(&text, &mut |cut| found.push(cut.len())).unwrap();
                        assert_eq!(found, expected, "{pattern} {text:?}");
                    }
                }
            }
        }
    }
}

fn long_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(REPRESENTATIVES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn scanners_cut_as_their_patterns_on_long_texts(text in long_text()) {
        for scheme in Scheme::ALL {
            assert_as_the_pattern(scheme, &text);
        }
    }

    #[test]
    fn a_safe_cut_changes_no_pretoken(text in long_text(), numbers in 0usize..9) {
        for text in [text.clone(), text + &"1".repeat(numbers)] {
            for schemes in pairs_of_schemes() {
                assert_cut_is_safe(schemes, &text, "");
            }
        }
    }

    #[test]
    fn pretokens_of_any_bytes_are_the_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        for name in ["gpt2", "cl100k", "o200k", "llama3", "[a-z]+"] {
            let mut joined = Vec::new();
            let visit = |pretoken: &[u8]| joined.extend_from_slice(pretoken);
            Pretokenizer::new(name).unwrap().for_each_bytes(&bytes, visit).unwrap();
            prop_assert_eq!(&joined, &bytes);
        }
    }
}

/// The last cut of `known` that is safe for both schemes changes no pretoken of `known` and what
/// follows, in either.
fn assert_cut_is_safe(schemes: [Scheme; 2], known: &str, following: &str) {
    let [first, second] = schemes.map(|scheme| SafeCuts::of(&Pretokenizer::Scheme(scheme)));
    let text = [known, following].concat();
    let Some(cut) = first.and(second).last(known) else { return };
    for pretokenizer in schemes.map(Pretokenizer::Scheme) {
        let mut parts = cuts_of(&pretokenizer, &text[..cut]);
        parts.extend(cuts_of(&pretokenizer, &text[cut..]));
        assert_eq!(parts, cuts_of(&pretokenizer, &text), "{pretokenizer} {text:?} at {cut}");
    }
}

fn pairs_of_schemes() -> impl Iterator<Item = [Scheme; 2]> {
    Scheme::ALL.into_iter().flat_map(|a| Scheme::ALL.map(|b| [a, b]))
}

#[test]
fn safe_cuts_of_all_short_texts() {
    for schemes in pairs_of_schemes() {
        for a in REPRESENTATIVES {
            for b in REPRESENTATIVES {
                for c in REPRESENTATIVES {
                    for following in ["", "l", "A", "\u{301}", " ", "\n", "'", "1", "/"] {
                        assert_cut_is_safe(schemes, &[a, b, c].concat(), following);
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_pattern_may_not_be_cut_at_nothing_else_is_cut_at() {
    let gpt2 = SafeCuts::of(&Pretokenizer::Scheme(Scheme::Gpt2));
    for pretokenizer in [Pretokenizer::new("[a-z]+").unwrap(), Pretokenizer::None] {
        assert_eq!(gpt2.and(SafeCuts::of(&pretokenizer)).last("a b c"), None);
    }
}

#[test]
fn text_between_matches_of_a_user_pattern_is_kept() {
    let pretokenizer = Pretokenizer::new("[a-z]+").unwrap();
    assert_eq!(cuts_of(&pretokenizer, "ab  cd!"), ["ab", "  ", "cd", "!"]);
}

#[test]
fn invalid_bytes_stand_alone() {
    let mut cuts: Vec<Vec<u8>> = Vec::new();
    let text = b"a b\xff\xfe c\xe4\xb8";
    Pretokenizer::new("gpt2").unwrap().for_each_bytes(text, |cut| cuts.push(cut.to_vec())).unwrap();
    let expected: [&[u8]; 5] = [b"a", b" b", b"\xff\xfe", b" c", b"\xe4\xb8"];
    assert_eq!(cuts, expected);
}

#[test]
fn a_broken_pattern_is_refused() {
    let error = Pretokenizer::new("(").unwrap_err();
    assert!(error.to_string().contains("cannot compile"), "{error}");
}
