//! Each scanner against the regular expression it stands for.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::{Engine, Pretokenizer, SafeCuts, Scheme, Steps, prove, regex::Backtracking};
use crate::format::pre_tokenizer;

/// One character or more for each cell that the classes of the patterns tell apart, and for each
/// character that a pattern names.
const REPRESENTATIVES: [&str; 32] = [
    "a", "s", "l", "é", "ſ", // lower case
    "A", "S", "L", "Ж", // upper case
    "ǅ", // title case
    "ʰ", // modifier letter
    "中", "の", // other letters
    "\u{301}", "\u{903}", // marks
    "1", "²", "Ⅷ", // numbers
    " ", "\t", "\u{a0}", "\u{3000}", // spaces
    "\n", "\r", // newlines
    "'", "/", "!", "。", "😀", "\0", "\u{200d}", "゛", // the rest
];

fn cuts_of(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
    let mut cuts = Vec::new();
    pretokenizer.for_each(text, |pretoken| cuts.push(pretoken.to_owned())).unwrap();
    cuts
}

/// The pattern of each scheme, by the slow engine.
static ORACLES: LazyLock<Vec<Backtracking>> = LazyLock::new(|| {
    Scheme::ALL.into_iter().map(|scheme| Backtracking::new(scheme.pattern()).unwrap()).collect()
});

/// Where two pretokenizers end the pretokens of all texts of four with three kinds of character.
fn assert_cut_alike(
    scheme: Scheme,
    expected: &dyn Fn(&str) -> Vec<usize>,
    found: &dyn Fn(&str) -> Vec<usize>,
) {
    let chars = prove::representatives_of_any_length(scheme);
    for a in &chars {
        for b in &chars {
            for c in &chars {
                let text: String = [a, b, c, a].into_iter().collect();
                assert_eq!(found(&text), expected(&text), "{scheme:?} {text:?}");
            }
        }
    }
}

#[test]
fn other_spellings_cut_alike() {
    for scheme in Scheme::ALL {
        for pattern in scheme.other_patterns() {
            let engine = Backtracking::new(pattern).unwrap();
            let found = |text: &str| {
                let mut ends = Vec::new();
                engine.for_each(text, &mut |_, end, _| ends.push(end)).unwrap();
                ends
            };
            assert_cut_alike(scheme, &prove::by_scanner(scheme), &found);
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
        for (scheme, oracle) in Scheme::ALL.into_iter().zip(ORACLES.iter()) {
            let mut expected = Vec::new();
            oracle.for_each(&text, &mut |_, end, _| expected.push(end)).unwrap();
            prop_assert_eq!(prove::by_scanner(scheme)(&text), expected, "{:?} {:?}", scheme, text);
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
        for name in Scheme::ALL.map(Scheme::name).into_iter().chain(["[a-z]+", r"a+b|\s+(?!\S)"]) {
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

/// Each scheme with the next one.
fn pairs_of_schemes() -> impl Iterator<Item = [Scheme; 2]> {
    let next = Scheme::ALL.into_iter().cycle().skip(1);
    Scheme::ALL.into_iter().zip(next).map(|(a, b)| [a, b])
}

#[test]
fn safe_cuts_of_all_short_texts() {
    for schemes in Scheme::ALL.map(|scheme| [scheme, scheme]) {
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
    for pretokenizer in [Pretokenizer::new(r"(?s:.{2}|.)").unwrap(), Pretokenizer::None] {
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

/// The schemes that Hugging Face tokenizers cut in several steps.
#[test]
fn one_pattern_cuts_as_several_steps() {
    for scheme in [Scheme::DeepSeek, Scheme::StarCoder] {
        let steps = pre_tokenizer::steps_without_name(scheme);
        assert!(matches!(steps, Pretokenizer::Sequence(_)));
        let by_steps = |text: &str| {
            let mut ends = Vec::new();
            steps.for_each_cut(text, |_, end| ends.push(end)).unwrap();
            ends
        };
        assert_cut_alike(scheme, &prove::by_scanner(scheme), &by_steps);
    }
}

#[test]
fn the_slowest_step_is_the_engine() {
    let engine = |name: &str| Pretokenizer::new(name).unwrap().engine();
    assert_eq!(engine("p50k"), Engine::Scanner);
    assert_eq!(engine("[a-z]+"), Engine::Automaton);
    assert_eq!(engine(r"(?<=x)y|z"), Engine::Backtracking);
    assert_eq!(Pretokenizer::None.engine(), Engine::None);
    let none: Arc<Steps> = Arc::new(Steps::new(String::new(), Vec::new()));
    assert_eq!(Pretokenizer::Sequence(none).engine(), Engine::None);
}

proptest! {
    #[test]
    fn a_safe_cut_changes_no_pretoken_of_steps(text in long_text()) {
        for scheme in [Scheme::DeepSeek, Scheme::StarCoder] {
            let steps = pre_tokenizer::steps_without_name(scheme);
            let Some(cut) = SafeCuts::of(&steps).last(&text) else { continue };
            let mut parts = cuts_of(&steps, &text[..cut]);
            parts.extend(cuts_of(&steps, &text[cut..]));
            prop_assert_eq!(parts, cuts_of(&steps, &text), "{:?} at {}", text, cut);
        }
    }
}
