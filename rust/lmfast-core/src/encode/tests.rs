//! Encoding against the rule: tables, seams, parts and threads change no id.

use std::num::NonZero;

use proptest::prelude::*;

use super::{Batch, Text, Tokenizer, merge::tests::oracle, pairs::PairRanks};
use crate::{
    error::Result,
    pretokenize::Pretokenizer,
    special::{SpecialPolicy, SpecialSet, SpecialTokens},
    vocabulary::{TokenId, Vocabulary},
    watch::Watch,
};

const SPECIAL: &str = "<x>";
const SPECIAL_ID: TokenId = 9_999;

/// Characters of one to four bytes that share some of them, and bytes that are no character.
const PIECES: [&[u8]; 14] = [
    b"a",
    b"b",
    b"ab",
    b" ",
    b"1",
    b"'s",
    b"\n",
    b"\0",
    "é".as_bytes(),
    "中".as_bytes(),
    "丮".as_bytes(),
    "😀".as_bytes(),
    b"\xE4\xB8",
    SPECIAL.as_bytes(),
];

/// Tokens that no merge makes.
const OUT_OF_REACH: [&str; 4] = ["ab中", " a", "中丮", "abababababababababab"];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(PIECES.to_vec());
    let run = (piece, 1usize..6).prop_map(|(piece, times)| piece.repeat(times));
    proptest::collection::vec(run, 0..120).prop_map(|runs| runs.concat())
}

/// Merges of any two tokens that exist by then, of the bytes in `PIECES`.
fn merges() -> impl Strategy<Value = Vec<(TokenId, TokenId)>> {
    let mut bytes = PIECES.concat();
    bytes.sort_unstable();
    bytes.dedup();
    proptest::collection::vec((any::<u16>(), any::<u16>()), 0..60).prop_map(move |seeds| {
        let mut merges = Vec::new();
        for (left, right) in seeds {
            let token = |seed: u16| match seed as usize % (bytes.len() + merges.len()) {
                byte if byte < bytes.len() => bytes[byte].into(),
                merged => (256 + merged - bytes.len()) as TokenId,
            };
            merges.push((token(left), token(right)));
            // Two paths to the same bytes would be a clash of ids, as would the special token.
            let fits = |made: Vocabulary| made.id_of(SPECIAL.as_bytes()).is_none();
            if !Vocabulary::from_training(&merges).is_ok_and(fits) {
                merges.pop();
            }
        }
        merges
    })
}

fn tokenizer(merges: &[(TokenId, TokenId)], pretokenizer: &str, whole: bool) -> Tokenizer {
    let trained = Vocabulary::from_training(merges).unwrap();
    let bytes = |id| Box::from(trained.token_bytes(id).unwrap());
    let mut tokens: Vec<_> = trained.tokens().map(|(id, bytes)| (bytes, id)).collect();
    let pairs: Vec<_> =
        trained.merges().iter().map(|merge| (bytes(merge.left), bytes(merge.right))).collect();
    for (id, text) in (5_000..).zip(OUT_OF_REACH.iter().filter(|_| whole)) {
        if trained.id_of(text.as_bytes()).is_none() {
            tokens.push((text.as_bytes(), id));
        }
    }
    let special = SpecialTokens::new(vec![(SPECIAL.to_owned(), SPECIAL_ID)]).unwrap();
    let pretokenizer = match pretokenizer {
        "none" => Pretokenizer::None,
        name => Pretokenizer::new(name).unwrap(),
    };
    let vocabulary = Vocabulary::from_tokens_and_merges(&tokens, &pairs, whole).unwrap();
    Tokenizer::new(vocabulary, special, pretokenizer).unwrap()
}

/// Special tokens, then pretokens, then whole pretokens where they come first, then merges.
fn by_the_rule(tokenizer: &Tokenizer, text: &[u8]) -> Vec<TokenId> {
    let vocabulary = tokenizer.vocabulary();
    let pairs = PairRanks::new(vocabulary.merges(), vocabulary.byte_ids());
    let mut ids = Vec::new();
    let mut rest = text;
    loop {
        let special = rest.windows(SPECIAL.len()).position(|window| window == SPECIAL.as_bytes());
        let visit = |pretoken: &[u8]| {
            let whole = vocabulary.id_of(pretoken).filter(|_| vocabulary.whole_pretokens_first());
            match whole {
                Some(id) => ids.push(id),
                None => ids.extend(oracle(&pairs, pretoken.iter().map(|&b| b.into()).collect())),
            }
        };
        let ordinary = &rest[..special.unwrap_or(rest.len())];
        tokenizer.pretokenizer().for_each_bytes(ordinary, visit).unwrap();
        let Some(at) = special else { return ids };
        ids.push(SPECIAL_ID);
        rest = &rest[at + SPECIAL.len()..];
    }
}

proptest! {
    #[test]
    fn ids_are_those_of_the_rule(
        merges in merges(),
        texts in proptest::collection::vec(text(), 1..4),
        pretokenizer in proptest::sample::select(vec!["gpt2", "cl100k", "o200k", "none"]),
        whole in any::<bool>(),
        threads in 1usize..4,
    ) {
        let tokenizer = tokenizer(&merges, pretokenizer, whole);
        let policy = SpecialPolicy { allowed: SpecialSet::All, disallowed: SpecialSet::None };
        let expected: Vec<_> = texts.iter().map(|text| by_the_rule(&tokenizer, text)).collect();
        // The second time from tables.
        for _ in 0..2 {
            for (text, expected) in texts.iter().zip(&expected) {
                prop_assert_eq!(&tokenizer.encode(text, &policy).unwrap(), expected);
                let count = tokenizer.count_tokens(text, &policy, &Watch::default());
                prop_assert_eq!(count.unwrap(), expected.len());
            }
        }
        assert_batch(&tokenizer, &texts, &policy, threads, &expected);
    }

    /// Short texts, which wait for each other, between others; many are empty.
    #[test]
    fn texts_that_wait_are_not_mixed_up(
        merges in merges(),
        texts in proptest::collection::vec((text(), 0usize..90), 0..200),
        pretokenizer in proptest::sample::select(vec!["gpt2", "o200k", "[a-z]+|.", "none"]),
        whole in any::<bool>(),
        threads in 1usize..4,
    ) {
        let tokenizer = tokenizer(&merges, pretokenizer, whole);
        let texts: Vec<Vec<u8>> = texts
            .into_iter()
            .map(|(mut text, len)| {
                text.truncate(len);
                text
            })
            .collect();
        let policy = SpecialPolicy { allowed: SpecialSet::All, disallowed: SpecialSet::None };
        let expected: Vec<_> = texts.iter().map(|text| by_the_rule(&tokenizer, text)).collect();
        for _ in 0..2 {
            assert_batch(&tokenizer, &texts, &policy, threads, &expected);
        }
        #[cfg(target_arch = "x86_64")]
        crate::x86::limit::on_each(|| assert_batch(&tokenizer, &texts, &policy, 1, &expected));
    }
}

fn encode_batch<'a, T: Into<Text<'a>>>(
    tokenizer: &Tokenizer,
    texts: impl Iterator<Item = T> + Send,
    policy: &SpecialPolicy,
    threads: usize,
) -> Result<Batch> {
    let (guess, threads) = (300, NonZero::new(threads));
    let mut some: Vec<Text<'_>> = texts.map(Into::into).collect();
    let others = some.split_off(some.len() / 3);
    let chunks = [some, Vec::new(), others].into_iter();
    tokenizer.encode_batch(chunks, guess, policy, threads, &Watch::default())
}

fn assert_batch(
    tokenizer: &Tokenizer,
    texts: &[Vec<u8>],
    policy: &SpecialPolicy,
    threads: usize,
    expected: &[Vec<TokenId>],
) {
    let texts = texts.iter().map(Vec::as_slice);
    let batch = encode_batch(tokenizer, texts, policy, threads).unwrap();
    assert_eq!(batch.ids, expected.concat());
    let ends = batch.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    assert_eq!(ends.collect::<Vec<_>>(), expected.iter().map(Vec::len).collect::<Vec<_>>());
}

/// Texts that wait for each other stand one behind the other, but are not one.
#[test]
fn two_texts_make_no_special_token_together() {
    let tokenizer = tokenizer(&[(97, 98)], "gpt2", false);
    let (first, second) = SPECIAL.split_at(1);
    let apart = [first, second, "ab", first, "", second];
    let texts =
        |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let expected = |texts: &[Vec<u8>]| -> Vec<Vec<TokenId>> {
        texts.iter().map(|text| by_the_rule(&tokenizer, text)).collect()
    };
    let without = texts(&apart);
    let with = texts(&[&apart[..], &["a", SPECIAL, "b", "", first, second]].concat());
    let allowed = SpecialPolicy { allowed: SpecialSet::All, disallowed: SpecialSet::None };
    for threads in [1, 2] {
        let refused = SpecialPolicy { allowed: SpecialSet::None, disallowed: SpecialSet::All };
        assert_batch(&tokenizer, &without, &refused, threads, &expected(&without));
        assert_batch(&tokenizer, &with, &allowed, threads, &expected(&with));
        let batch = encode_batch(&tokenizer, with.iter(), &refused, threads);
        let error = batch.unwrap_err().to_string();
        assert!(error.starts_with("document 7: "), "{error}");
    }
}

/// Of texts that wait for each other, some empty, the one is named that a pattern gives up in.
#[test]
fn an_error_names_its_text_among_those_that_wait() {
    let tokenizer = tokenizer(&[], r"(a|aa)+\1!|\s+(?!\S)", false);
    let bad = "a".repeat(60) + "b!";
    for place in [0, 1, 7, 30, 59] {
        let mut texts = ["", "ab", "", "b b", "a", ""].repeat(10);
        texts[place] = &bad;
        for threads in [1, 3] {
            let texts = texts.iter().copied();
            let batch = encode_batch(&tokenizer, texts, &SpecialPolicy::default(), threads);
            let error = batch.unwrap_err().to_string();
            assert!(error.starts_with(&format!("document {place}: ")), "{error}");
        }
    }
}

/// Of several errors that of the first text is told, be it long or short; alone it has no number.
#[test]
fn the_first_text_with_an_error_is_named() {
    let tokenizer = tokenizer(&[(97, 98)], "gpt2", false);
    let refused = SpecialPolicy { allowed: SpecialSet::None, disallowed: SpecialSet::All };
    let (short, long) = (format!("a {SPECIAL}"), "ab ".repeat(500) + SPECIAL);
    for threads in [1, 2, 3] {
        let error = |texts: &[&str]| {
            let batch = encode_batch(&tokenizer, texts.iter().copied(), &refused, threads);
            batch.unwrap_err().to_string()
        };
        for bad in [&*short, &long] {
            assert!(error(&[bad]).starts_with("the text holds "), "{}", error(&[bad]));
            assert!(error(&[bad, ""]).starts_with("document 0: "), "{}", error(&[bad, ""]));
            for before in [vec![""], vec!["a", "b"], vec!["ab "; 300]] {
                let place = format!("document {}: ", before.len());
                for behind in [&*short, &long, "a"] {
                    let found = error(&[&before[..], &[bad, behind]].concat());
                    assert!(found.starts_with(&place), "{found}, not {place}");
                }
            }
        }
    }
}
