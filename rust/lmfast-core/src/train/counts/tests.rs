//! Counts against a hash map, whatever the threads and the memory; count files against damage.

use std::{collections::BTreeMap, fs, num::NonZero, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::{
    pretokenize::Pretokenizer,
    source::{Fed, Input, Pushed, ReadOptions, Sources},
    special::SpecialTokens,
    train::Counter,
};

type Counts = BTreeMap<Vec<u8>, u64>;

fn counter() -> Counter {
    let special_tokens = SpecialTokens::new(vec![("<|e|>".to_owned(), 256)]).unwrap();
    Counter { pretokenizer: Pretokenizer::new("gpt2").unwrap(), special_tokens }
}

fn oracle(texts: &[String]) -> Counts {
    let mut counts = Counts::new();
    for document in texts.iter().flat_map(|text| text.split("<|e|>")) {
        let add = |pretoken: &str| *counts.entry(pretoken.into()).or_default() += 1;
        Pretokenizer::new("gpt2").unwrap().for_each(document, add).unwrap();
    }
    counts
}

fn found(counts: &PretokenCounts) -> Counts {
    let mut found = Counts::new();
    let visit = |pretoken: &[u8], count| {
        assert!(found.insert(pretoken.to_vec(), count).is_none(), "each pretoken once");
        Ok(())
    };
    let mut visit = visit;
    counts.for_each(&mut visit).unwrap();
    found
}

fn spilling_above(limit: usize) -> Counting {
    Counting { spill_above: Some(limit), ..Counting::default() }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        8 => "[a-c]{1,3}",
        4 => " [a-z]{1,9}",
        2 => "[の水é]{1,12}",
        1 => Just("<|e|>".to_owned()),
        1 => "[a-b]{250,300}",
        1 => (0u32..3).prop_map(|n| "x".repeat(20_000 + n as usize)),
    ];
    let text = proptest::collection::vec(word, 0..60).prop_map(|words| words.concat());
    proptest::collection::vec(text, 0..8)
}

fn count_texts(
    counting: &Counting,
    texts: &[&str],
    threads: Option<NonZero<usize>>,
    watch: &Watch,
) -> Result<()> {
    let sources = Sources::new(vec![Input::Items], ReadOptions::default());
    let feed = |fed| assert!(matches!(sources.feed().push(fed, Duration::ZERO), Pushed::Taken));
    let mut feeder = sources.feeder(0);
    for text in texts {
        feeder.add(text.as_bytes())?;
        feed(feeder.take(None));
    }
    feed(Fed::End);
    counter().count(counting, &sources, threads, watch)
}

/// Counted with so many threads, and on disk as soon as tables take more than `limit`.
fn count(texts: &[String], threads: usize, limit: usize) -> Counting {
    let counting = spilling_above(limit);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let threads = NonZero::new(threads);
    count_texts(&counting, &texts, threads, &Watch::default()).unwrap();
    counting
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counts_are_those_of_a_map(
        texts in texts(),
        threads in proptest::sample::select(vec![1usize, 2, 5]),
        limit in proptest::sample::select(vec![0usize, 1 << 20, usize::MAX]),
        min_count in 1u64..4,
    ) {
        let expected = oracle(&texts);
        let counts = count(&texts, threads, limit).finish(min_count, &Watch::default()).unwrap();
        let (kept, rare): (Counts, Counts) =
            expected.into_iter().partition(|&(_, count)| count >= min_count);
        prop_assert_eq!(counts.len(), kept.len());
        prop_assert_eq!(counts.is_empty(), kept.is_empty());
        prop_assert_eq!(counts.dropped(), Dropped {
            pretokens: rare.len() as u64,
            occurrences: rare.values().sum(),
            bytes: bytes(&rare),
        });
        prop_assert_eq!(counts.text_bytes(), bytes(&kept) + bytes(&rare));
        prop_assert_eq!(found(&counts), kept);
        prop_assert_eq!(found(&counts), found(&counts));
    }

    #[test]
    fn files_add_up_to_the_whole(
        parts in proptest::collection::vec(texts(), 1..5),
        limit in proptest::sample::select(vec![0usize, usize::MAX]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::default();
        let mut paths = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            paths.push(folder.path().join(format!("part-{number}")));
            let counts = count(part, 2, limit).finish(1, &watch).unwrap();
            counts.save(&paths[number], &counter().cutting(), &watch).unwrap();
        }
        let all = load(&paths, &counter().cutting()).unwrap();
        let whole = oracle(&parts.concat());
        prop_assert_eq!(all.text_bytes(), bytes(&whole));
        prop_assert_eq!(found(&all), whole);
        // What is counted on top of files is added to them.
        let counting = count(&parts[0], 1, limit);
        counting.add_counts(&paths, &counter().cutting(), &watch).unwrap();
        let more = counting.finish(1, &watch).unwrap();
        prop_assert_eq!(found(&more), oracle(&[parts.concat(), parts[0].clone()].concat()));
    }
}

fn bytes(counts: &Counts) -> u64 {
    counts.iter().map(|(pretoken, count)| pretoken.len() as u64 * count).sum()
}

fn load(paths: &[PathBuf], cutting: &Cutting) -> Result<PretokenCounts> {
    let counting = Counting::default();
    counting.add_counts(paths, cutting, &Watch::default())?;
    counting.finish(1, &Watch::default())
}

#[test]
fn counts_beyond_16_and_32_bits_are_exact() {
    let mut counts = PretokenCounts::default();
    let large = [1, 65_535, 65_536, u64::from(u32::MAX), 1 << 40];
    for count in large {
        counts.add(b"a", count);
        counts.add(format!("{count}").as_bytes(), count);
    }
    let found = found(&counts);
    assert_eq!(found[&b"a".to_vec()], large.iter().sum::<u64>());
    assert!(large.iter().all(|count| found[format!("{count}").as_bytes()] == *count));
}

#[test]
fn many_runs_are_merged_on_the_way() {
    let texts: Vec<String> = (0..1200).map(|n| format!("a b{n} c{}", n % 7)).collect();
    let counts = count(&texts, 1, 0).finish(1, &Watch::default()).unwrap();
    assert_eq!(found(&counts), oracle(&texts));
}

fn small_file(folder: &Path) -> PathBuf {
    let path = folder.join("counts");
    let texts = ["the cat sat on the mat".to_owned()];
    let counts = count(&texts, 1, usize::MAX).finish(2, &Watch::default()).unwrap();
    counts.save(&path, &counter().cutting(), &Watch::default()).unwrap();
    path
}

#[test]
fn every_damage_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_file(folder.path());
    let sound = fs::read(&path).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let error = load(std::slice::from_ref(&path), &counter().cutting());
        let error = error.map(|_| ()).expect_err(what).to_string();
        assert!(error.contains("counts"), "{what}: {error}");
    };
    for len in 0..sound.len() {
        refused(&sound[..len], &format!("cut off at {len}"));
    }
    for at in 0..sound.len() {
        for bit in [1, 0x10, 0x80] {
            let mut flipped = sound.clone();
            flipped[at] ^= bit;
            refused(&flipped, &format!("bit {bit} of byte {at}"));
        }
    }
    refused(&[&sound[..], b"\n"].concat(), "something behind the end");
    fs::write(&path, &sound).unwrap();
    load(&[path], &counter().cutting()).unwrap();
}

#[test]
fn what_was_dropped_stays_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_file(folder.path());
    let twice = load(&[path.clone(), path.clone()], &counter().cutting()).unwrap();
    // " cat", " sat", " on", " mat" and the first "the" occur once in each.
    let dropped = Dropped { pretokens: 12, occurrences: 12, bytes: 44 };
    assert_eq!(found(&twice).len(), 0);
    assert_eq!((twice.dropped(), twice.text_bytes()), (dropped, 44));
}

#[test]
fn text_that_was_cut_otherwise_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = small_file(folder.path());
    let message = |cutting: &Cutting| {
        load(std::slice::from_ref(&path), cutting).map(|_| ()).unwrap_err().to_string()
    };
    let cutting = counter().cutting();
    let other = Cutting { pretokenizer: None, ..cutting.clone() };
    assert!(message(&other).contains("not none"), "{}", message(&other));
    let other = Cutting { special_tokens: Vec::new(), ..cutting.clone() };
    assert!(message(&other).contains("special tokens are [\"<|e|>\"], not []"));
    let other = Cutting { unicode: "15.0.0".to_owned(), ..cutting };
    assert!(message(&other).contains("Unicode version is"));

    fs::write(&path, "some text").unwrap();
    assert!(message(&counter().cutting()).contains("no file of pretoken counts"));
    let missing = folder.path().join("missing");
    let error = load(&[missing], &counter().cutting()).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
}

#[test]
fn a_sum_beyond_64_bits_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let mut counts = PretokenCounts::default();
    counts.add(b"a", u64::MAX / 2 + 1);
    counts.save(&path, &counter().cutting(), &Watch::default()).unwrap();
    let error = load(&[path.clone(), path], &counter().cutting()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("beyond what can be counted"), "{error}");
}

#[test]
fn a_budget_that_cannot_be_kept_is_refused() {
    let budget = |bytes| MemoryBudget { bytes, folder: std::env::temp_dir() };
    let limit = |bytes| Counting::new(Some(budget(bytes))).limit(2);
    let error = limit(1 << 20).unwrap_err().to_string();
    assert!(error.contains("it takes 56 MiB at least"), "{error}");
    assert!(limit(56 << 20).unwrap() >= 6 << 20);
    // Nothing is written where nothing is to be spilled.
    let missing = MemoryBudget { bytes: 1 << 30, folder: "/missing/folder".into() };
    let counting = Counting::new(Some(missing));
    let watch = Watch::default();
    count_texts(&counting, &["a b"], None, &watch).unwrap();
    assert!(counting.relieve(0, &watch).unwrap_err().to_string().contains("/missing/folder"));
}

#[test]
fn a_stop_is_heeded_while_runs_are_written() {
    let texts: Vec<String> = (0..9000).map(|n| format!("w{n}x")).collect();
    let counting = count(&texts, 1, usize::MAX);
    let watch = Watch::default();
    watch.stop();
    assert_eq!(counting.relieve(0, &watch).unwrap_err().kind(), ErrorKind::Interrupted);
}
