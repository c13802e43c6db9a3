use super::*;

fn cuts_of(pattern: &UserPattern, text: &str) -> Vec<String> {
    let mut cuts = Vec::new();
    pattern.for_each(text, &mut |start, end, _| cuts.push(text[start..end].to_owned())).unwrap();
    cuts
}

fn engine_of(pattern: &str) -> Engine {
    UserPattern::new(pattern).unwrap().engine()
}

#[test]
fn patterns_of_tokenizers_become_automata() {
    for scheme in super::super::Scheme::ALL {
        for pattern in [scheme.pattern()].iter().chain(scheme.other_patterns()) {
            assert_eq!(engine_of(pattern), Engine::Automaton, "{pattern}");
        }
    }
    for pattern in
        [r"\w+|\W", "[a-z]+", "(?s:.)", r"(?i:straße|\p{Lu}\d{2,4}?)|\s+$|\s", "x*", "a|b+?"]
    {
        assert_eq!(engine_of(pattern), Engine::Automaton, "{pattern}");
    }
}

#[test]
fn what_looks_further_goes_back() {
    for pattern in [r"(?<=a)b|\w", r"(\w)\1", r"a(?=bc)|\w", r"\bword\b", r"(?>a+|b)c", "a+b"] {
        assert_eq!(engine_of(pattern), Engine::Backtracking, "{pattern}");
    }
}

/// Of `a++b` nothing changes where it is greedy, of `a++a` it does: it matches nothing.
#[test]
fn possessive_quantifiers_keep_their_meaning() {
    assert_eq!(engine_of(r"a{1,3}+b?|\w"), Engine::Automaton);
    assert_eq!(engine_of(r"x(?:a{1,3}+b)|\w"), Engine::Automaton);
    let pattern = UserPattern::new(r"a++a|b").unwrap();
    assert_eq!(pattern.engine(), Engine::Backtracking);
    assert_eq!(cuts_of(&pattern, "aaab"), ["aaa", "b"]);
    let pattern = UserPattern::new(r"\d{1,3}+\d|\w").unwrap();
    assert_eq!(cuts_of(&pattern, "12345a"), ["1234", "5", "a"]);
}

const GROUPED_DIGITS: &str =
    r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

#[test]
fn one_alternative_that_goes_back_leaves_the_others_fast() {
    let pattern = UserPattern::new(GROUPED_DIGITS).unwrap();
    assert!(matches!(pattern.compiled, Compiled::Alternatives(_)));
    assert_eq!(cuts_of(&pattern, "pay 1234567  now"), ["pay", " ", "1", "234", "567", " ", " now"]);
}

#[test]
fn long_runs_of_whitespace_are_cut() {
    for pattern in [r" ?\p{L}+|\s+(?!\S)|\s+", r" ?\p{L}++|\s++$|\s+(?!\S)|\s", GROUPED_DIGITS] {
        let pattern = UserPattern::new(pattern).unwrap();
        for run in [" ", "\n", "\u{3000}"].map(|space| space.repeat(1_000_000)) {
            let text = run.clone() + "x";
            assert_eq!(cuts_of(&pattern, &text).concat(), text);
            assert_eq!(cuts_of(&pattern, &run), [run]);
        }
    }
}

#[test]
fn an_engine_that_gives_up_names_the_pattern() {
    let pattern = UserPattern::new(r"(a|aa)+\1!|\s+(?!\S)").unwrap();
    let error = pattern.for_each(&("a".repeat(60) + "b!"), &mut |_, _, _| ());
    let error = error.unwrap_err().to_string();
    assert!(error.contains(r"(a|aa)+\\1!") && error.contains("gave up"), "{error}");
}

mod random {
    use proptest::prelude::*;

    use super::*;

    /// Patterns of all that becomes an automaton, and some that does not.
    fn pattern() -> impl Strategy<Value = String> {
        let one = proptest::sample::select(vec![
            "a", "b", r"\s", r"\S", "[ab]", "[^a]", ".", r"\p{L}", "(?i:s)", " ", r"\n", "ab", "中",
        ]);
        let atom = one.prop_map(str::to_owned);
        atom.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                (
                    inner.clone(),
                    proptest::sample::select(vec![
                        "+", "*", "?", "+?", "*?", "??", "{1,2}", "{2}", "++", "?+", "{1,2}+",
                        "{2,}",
                    ])
                )
                    .prop_map(|(a, times)| format!("(?:{a}){times}")),
                (
                    inner.clone(),
                    proptest::sample::select(vec![
                        r"(?!\S)",
                        r"(?=\s)",
                        "(?!a|b)",
                        r"(?![\s\S])",
                        "$",
                        r"\z",
                        "(?m:$)",
                        r"(?=a|$)",
                    ])
                )
                    .prop_map(|(a, look)| format!("{a}{look}")),
                (inner.clone(), inner).prop_map(|(a, b)| format!("{a}|{b}")),
            ]
        })
    }

    fn text() -> impl Strategy<Value = String> {
        let chars = vec!['a', 'b', 's', 'ſ', ' ', '\n', '中', '!', 'é'];
        proptest::collection::vec(proptest::sample::select(chars), 0..14)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn engines_agree(source in pattern(), texts in proptest::collection::vec(text(), 20)) {
            let Ok(oracle) = Backtracking::new(&source) else { return Ok(()) };
            let tree = Expr::parse_tree(&source).unwrap();
            let automaton = Automaton::new(&tree.expr);
            let alternatives = Alternatives::new(&tree.expr);
            for text in texts {
                let mut expected = Vec::new();
                let visited = oracle.for_each(&text, &mut |a, b, is| expected.push((a, b, is)));
                if visited.is_err() {
                    continue;
                }
                let mut found = Vec::new();
                if let Some(automaton) = &automaton {
                    let at = |at| Ok(automaton.match_at(&text, at));
                    pieces(&text, at, &mut |a, b, is| found.push((a, b, is))).unwrap();
                    prop_assert_eq!(&found, &expected, "automaton of {} on {:?}", source, text);
                }
                if let Some(alternatives) = &alternatives {
                    found.clear();
                    let at = |at| alternatives.match_at(&text, at);
                    if pieces(&text, at, &mut |a, b, is| found.push((a, b, is))).is_ok() {
                        prop_assert_eq!(&found, &expected, "parts of {} on {:?}", source, text);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn safe_cuts_of_patterns_are_safe(source in pattern(), texts in proptest::collection::vec(text(), 20)) {
            let Ok(pattern) = UserPattern::new(&source) else { return Ok(()) };
            for text in texts {
                let Some(cut) = pattern.safe_cuts().last(&text) else { continue };
                let mut parts = cuts_of(&pattern, &text[..cut]);
                parts.extend(cuts_of(&pattern, &text[cut..]));
                prop_assert_eq!(parts, cuts_of(&pattern, &text), "{} at {} of {:?}", source, cut, text);
            }
        }
    }
}
