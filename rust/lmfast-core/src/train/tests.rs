//! Training against the rule, word for word: recount everything, merge the best pair, repeat.

use std::{cell::RefCell, collections::HashMap};

use proptest::prelude::*;

use super::*;
use crate::{
    format::byte_level::hugging_face_order, pretokenize::Pretokenizer, special::SpecialTokens,
    vocabulary::Vocabulary,
};

type Pretoken = Vec<TokenId>;

/// What tokens there are to begin with: by id, and how they cut a pretoken.
struct Start<'a> {
    tokens: Vec<Vec<u8>>,
    tokenize: &'a dyn Fn(&[u8]) -> Pretoken,
}

fn bytes_alone(pretoken: &[u8]) -> Pretoken {
    pretoken.iter().map(|&byte| TokenId::from(byte)).collect()
}

impl Start<'_> {
    fn bytes() -> Self {
        Self { tokens: (0..=255u8).map(|byte| vec![byte]).collect(), tokenize: &bytes_alone }
    }
}

fn oracle(
    start: Start<'_>,
    corpus: &[(Vec<u8>, u64)],
    rule: TieBreak,
    limit: usize,
    max_bytes: usize,
) -> Vec<TrainedMerge> {
    let Start { mut tokens, tokenize } = start;
    let mut pretokens: Vec<(Pretoken, u64)> =
        corpus.iter().map(|(pretoken, count)| (tokenize(pretoken), *count)).collect();
    let mut merges = Vec::new();
    while merges.len() < limit {
        let mut counts: HashMap<(TokenId, TokenId), u64> = HashMap::new();
        for (pretoken, count) in &pretokens {
            for pair in pretoken.windows(2) {
                *counts.entry((pair[0], pair[1])).or_default() += count;
            }
        }
        counts.retain(|&(left, right), _| {
            let joined = [&*tokens[left as usize], &*tokens[right as usize]].concat();
            joined.len() <= max_bytes && !tokens.contains(&joined)
        });
        let place = |id: TokenId| match rule {
            TieBreak::HuggingFace if id < 256 => u32::from(hugging_face_order()[id as usize]),
            _ => id,
        };
        let best = counts.iter().map(|(&pair, &count)| (pair, count)).max_by(
            |&((a, b), n), &((c, d), m)| {
                n.cmp(&m).then_with(|| match rule {
                    TieBreak::Lexicographic => (&tokens[a as usize], &tokens[b as usize])
                        .cmp(&(&tokens[c as usize], &tokens[d as usize])),
                    _ => (place(c), place(d)).cmp(&(place(a), place(b))),
                })
            },
        );
        let Some(((left, right), count)) = best else { break };
        let ties = counts.values().filter(|&&other| other == count).count() as u64;
        let merged = tokens.len() as TokenId;
        tokens.push([tokens[left as usize].clone(), tokens[right as usize].clone()].concat());
        let mut applied = 0;
        for (pretoken, times) in &mut pretokens {
            let mut at = 0;
            while at + 1 < pretoken.len() {
                if pretoken[at] == left && pretoken[at + 1] == right {
                    pretoken.splice(at..=at + 1, [merged]);
                    applied += *times;
                }
                at += 1;
            }
        }
        merges.push(TrainedMerge { left, right, count, applied, ties });
    }
    merges
}

fn options(merges: usize, tie_break: TieBreak, max_token_bytes: Option<usize>) -> TrainOptions {
    TrainOptions {
        vocab_size: 256 + merges,
        special_tokens: 0,
        tie_break,
        min_frequency: 1,
        max_token_bytes,
        allow_fewer: true,
    }
}

fn none() -> SpecialTokens {
    SpecialTokens::new(Vec::new()).unwrap()
}

fn trained(counts: &PretokenCounts, options: &TrainOptions) -> Result<Vec<TrainedMerge>> {
    train(counts, options, &none(), None, None, None, &Watch::default())
}

fn count(corpus: &[(Vec<u8>, u64)]) -> PretokenCounts {
    let mut counts = PretokenCounts::default();
    for (pretoken, times) in corpus {
        counts.add(pretoken, *times);
    }
    counts
}

fn corpus() -> impl Strategy<Value = Vec<(Vec<u8>, u64)>> {
    let alphabet = prop_oneof![Just(b'a'..b'c'), Just(b'a'..b'f'), Just(0..255)];
    let pretoken = alphabet.prop_flat_map(|letters| proptest::collection::vec(letters, 1..24));
    let times = prop_oneof![4 => 1u64..4, 1 => 1u64..3000];
    proptest::collection::vec((pretoken, times), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn merges_are_those_of_the_rule(
        corpus in corpus(),
        max_bytes in prop_oneof![Just(None), (2usize..9).prop_map(Some)],
        threads in 1usize..4,
    ) {
        for rule in TieBreak::ALL {
            let options = options(60, rule, max_bytes);
            let (threads, watch) = (NonZero::new(threads), Watch::default());
            let found = train(&count(&corpus), &options, &none(), None, None, threads, &watch);
            let longest = max_bytes.unwrap_or(usize::MAX);
            prop_assert_eq!(found.unwrap(), oracle(Start::bytes(), &corpus, rule, 60, longest));
        }
    }

    #[test]
    fn merges_continue_those_of_a_tokenizer(
        first in corpus(),
        merges in 0usize..30,
        corpus in corpus(),
        rule in proptest::sample::select(&TieBreak::ALL[..]),
    ) {
        let old = trained(&count(&first), &options(merges, rule, None)).unwrap();
        let old: Vec<_> = old.iter().map(|merge| (merge.left, merge.right)).collect();
        let vocabulary = Vocabulary::from_training(&old).unwrap();
        let special = [("<|e|>".to_owned(), vocabulary.len() as TokenId)];
        let special = SpecialTokens::new(special.to_vec()).unwrap();
        let start = Tokenizer::new(vocabulary, special, Pretokenizer::None).unwrap();

        let options = TrainOptions { vocab_size: start.n_vocab() + 40, ..options(0, rule, None) };
        let watch = Watch::default();
        let found = train(&count(&corpus), &options, start.special_tokens(), Some(&start), None, None, &watch).unwrap();
        let tokens = (0..start.n_vocab() as TokenId)
            .map(|id| start.vocabulary().token_bytes(id).unwrap_or(b"<|e|>").to_vec())
            .collect();
        let encoder = RefCell::new(start.pretoken_encoder().unwrap());
        let tokenize = |pretoken: &[u8]| {
            let mut tokens = Vec::new();
            encoder.borrow_mut()(pretoken, &mut tokens);
            tokens
        };
        let start = Start { tokens, tokenize: &tokenize };
        prop_assert_eq!(found, oracle(start, &corpus, rule, 40, usize::MAX));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn little_memory_gives_the_same(
        corpus in corpus(),
        rule in proptest::sample::select(&TieBreak::ALL[..]),
        bytes in 0u64..400,
    ) {
        let budget = MemoryBudget { bytes, folder: std::env::temp_dir() };
        let (counts, options) = (count(&corpus), options(20, rule, None));
        let found = train(&counts, &options, &none(), None, Some(&budget), None, &Watch::default());
        prop_assert_eq!(found.unwrap(), trained(&counts, &options).unwrap());
    }
}

#[test]
fn overlapping_pairs_merge_from_the_left() {
    let corpus = [(b"aaaaaaa".to_vec(), 1)];
    let rule = TieBreak::Lexicographic;
    let found = trained(&count(&corpus), &options(9, rule, None)).unwrap();
    assert_eq!(found, oracle(Start::bytes(), &corpus, rule, 9, usize::MAX));
}

#[test]
fn no_token_is_spelled_like_a_special_one() {
    // Tokenizer files write " a" as "Ġa".
    let special = SpecialTokens::new(vec![("Ġa".to_owned(), 300)]).unwrap();
    let counts = count(&[(b" a".to_vec(), 9), (b" b".to_vec(), 1)]);
    let (options, watch) = (options(9, TieBreak::Lexicographic, None), Watch::default());
    let found = train(&counts, &options, &special, None, None, None, &watch).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].left, found[0].right), (b' '.into(), b'b'.into()));
}

#[test]
fn little_memory_is_no_reason_to_count_down_one_by_one() {
    let corpus: Vec<_> = (0..12u8).map(|n| (vec![n, n / 2, n / 3], 1 << 40)).collect();
    let budget = MemoryBudget { bytes: 0, folder: std::env::temp_dir() };
    let (counts, options) = (count(&corpus), options(20, TieBreak::Lexicographic, None));
    let watch = Watch::default();
    let found = train(&counts, &options, &none(), None, Some(&budget), None, &watch).unwrap();
    assert_eq!(found, trained(&counts, &options).unwrap());
}

#[test]
fn what_cannot_be_trained_is_said() {
    let message = |counts: &PretokenCounts, options: &TrainOptions| {
        trained(counts, options).unwrap_err().to_string()
    };
    let asked = |vocab_size| TrainOptions {
        vocab_size,
        special_tokens: 2,
        allow_fewer: false,
        ..options(0, TieBreak::Lexicographic, None)
    };
    let counts = count(&[(b"abab".to_vec(), 1)]);
    assert!(message(&counts, &asked(257)).contains("258 at least"));
    assert!(message(&counts, &asked(300)).contains("makes 260 tokens"));
    assert!(message(&counts, &asked(usize::MAX)).contains("too large"));
    assert!(message(&PretokenCounts::default(), &asked(300)).contains("empty"));
}
