//! Blocks of any size and any number of workers against a reader that holds everything in memory.

use std::{collections::BTreeMap, fs, path::Path, sync::LazyLock, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::{ErrorKind, error::Result, pretokenize::Pretokenizer};

const SPECIAL: [&str; 2] = ["<|e|>", "<|e|><|f|>"];

/// Sources that read in blocks of this size.
fn sources(inputs: Vec<Input>, options: &ReadOptions, block_bytes: usize) -> Sources {
    let mut sources = Sources::new(inputs, options.clone());
    sources.limits.block_bytes = block_bytes;
    sources
}

fn separators() -> Matcher {
    Matcher::new(SPECIAL.into_iter().zip(0..)).unwrap()
}

/// The pretokens of each document.
fn documents(sources: &Sources, pretokenizer: &Pretokenizer) -> Result<Vec<Vec<String>>> {
    let (separators, watch) = (separators(), Watch::default());
    let (mut documents, mut pretokens) = (Vec::new(), Vec::new());
    for block in sources.blocks(&separators, SafeCuts::of(pretokenizer), None, &watch) {
        block?.for_each(|text, ends| {
            pretokenizer.for_each(text, |pretoken| pretokens.push(pretoken.to_owned()))?;
            if ends {
                documents.push(std::mem::take(&mut pretokens));
            }
            Ok(())
        })?;
    }
    assert!(pretokens.is_empty(), "the end of the source ends the document");
    Ok(documents)
}

/// The pretokens that workers find, in no order, and how often.
fn counts(
    sources: &Sources,
    pretokenizer: &Pretokenizer,
    threads: usize,
) -> Result<BTreeMap<String, u64>> {
    let (separators, watch) = (separators(), Watch::default());
    let blocks = sources.blocks(&separators, SafeCuts::of(pretokenizer), None, &watch);
    let step = |counts: &mut BTreeMap<String, u64>, block: &Block<'_>| {
        block.for_each(|text, _| {
            pretokenizer.for_each(text, |cut| *counts.entry(cut.to_owned()).or_default() += 1)
        })
    };
    let all = fold(blocks, threads, BTreeMap::new, step)?;
    Ok(all.into_iter().flatten().fold(BTreeMap::new(), |mut counts, (pretoken, count)| {
        *counts.entry(pretoken).or_default() += count;
        counts
    }))
}

/// What `text` is cut to at separators, by search from the left.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(SPECIAL[0]) {
        parts.push(&rest[..at]);
        let longest = SPECIAL.iter().filter(|special| rest[at..].starts_with(*special));
        rest = &rest[at + longest.map(|special| special.len()).max().unwrap()..];
    }
    parts.push(rest);
    parts
}

fn cut(document: &str, pretokenizer: &Pretokenizer) -> Vec<String> {
    let mut pretokens = Vec::new();
    pretokenizer.for_each(document, |cut| pretokens.push(cut.to_owned())).unwrap();
    pretokens
}

fn text() -> impl Strategy<Value = String> {
    let pieces =
        vec!["a", " ", "\n", "の", "。", "é", "1", "22", "!", "<|e|>", "<|f|>", "<|e", "\u{301}"];
    let pieces = proptest::collection::vec(proptest::sample::select(pieces), 0..60);
    pieces.prop_map(|pieces| pieces.concat())
}

static PRETOKENIZERS: LazyLock<Vec<Pretokenizer>> = LazyLock::new(|| {
    let named = ["gpt2", "cl100k", "o200k", "llama3", r"\d+|[a-z]+|\s"];
    let named = named.into_iter().map(|name| Pretokenizer::new(name).unwrap());
    named.chain([Pretokenizer::None]).collect()
});

fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> Input {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    Input::File(path)
}

fn skip() -> ReadOptions {
    ReadOptions::new("text", OnError::Skip)
}

/// What a line of JSON gives.
#[derive(Clone, Debug)]
enum Line {
    Text(String, bool),
    Blank(&'static str),
    Bad(&'static [u8], Reason),
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        4 => (text(), any::<bool>()).prop_map(|(text, escaped)| Line::Text(text, escaped)),
        1 => proptest::sample::select(vec!["", " ", "\r", "\t "]).prop_map(Line::Blank),
        1 => proptest::sample::select(vec![
            (&b"{"[..], Reason::NotJson),
            (b"{\"body\": \"x\"}", Reason::NoField),
            (b"[]\r", Reason::NoField),
            (b"{\"text\": null}", Reason::NotString),
            (b"{\"text\": \"\\ud800\"}", Reason::LoneSurrogate),
            (b"{\"text\": \"\xff\"}", Reason::NotUtf8),
        ])
        .prop_map(|(bytes, reason)| Line::Bad(bytes, reason)),
    ]
}

fn write_line(line: &Line, out: &mut Vec<u8>) {
    match line {
        Line::Text(text, escaped) => {
            let mut json = serde_json::to_string(text).unwrap();
            if *escaped {
                json = json.replace('a', "\\u0061").replace('<', "\\u003c");
            }
            out.extend(format!("{{\"id\": [1], \"text\": {json}, \"n\": null}}").into_bytes());
        }
        Line::Blank(blank) => out.extend(blank.bytes()),
        Line::Bad(bytes, _) => out.extend(*bytes),
    }
}

proptest! {
    #[test]
    fn text_in_blocks_of_any_size(text in text(), block_bytes in 1usize..40) {
        let folder = tempfile::tempdir().unwrap();
        let input = file(&folder, "text", &text);
        for pretokenizer in PRETOKENIZERS.iter() {
            let expected: Vec<_> =
                split(&text).into_iter().map(|part| cut(part, pretokenizer)).collect();
            let expected = if text.is_empty() { Vec::new() } else { expected };
            for options in [ReadOptions::default(), skip()] {
                let sources = sources(vec![input.clone()], &options, block_bytes);
                prop_assert_eq!(&documents(&sources, pretokenizer).unwrap(), &expected);
                prop_assert_eq!(sources.skipped(), Skipped::default());
            }
        }
    }

    #[test]
    fn json_lines_in_blocks_of_any_size(
        lines in proptest::collection::vec(line(), 0..12),
        ends_with_newline: bool,
        has_mark: bool,
        block_bytes in 1usize..80,
        threads in proptest::sample::select(vec![1, 2, 5]),
    ) {
        let mut bytes = if has_mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        for (number, line) in lines.iter().enumerate() {
            write_line(line, &mut bytes);
            if ends_with_newline || number + 1 < lines.len() {
                bytes.push(b'\n');
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let input = file(&folder, "data.jsonl", &bytes);
        let pretokenizer = &PRETOKENIZERS[0];
        let (mut expected, mut by_reason, mut first_bad) = (Vec::new(), BTreeMap::new(), None);
        for (line, number) in lines.iter().zip(1..) {
            match line {
                Line::Text(text, _) => {
                    expected.extend(split(text).into_iter().map(|part| cut(part, pretokenizer)));
                }
                Line::Blank(_) => {}
                Line::Bad(_, reason) => {
                    *by_reason.entry(*reason).or_insert(0) += 1;
                    first_bad.get_or_insert(number);
                }
            }
        }
        let names_it = |message: &str| message.starts_with(&format!("line {} of", first_bad.unwrap()));

        let one = sources(vec![input.clone()], &skip(), block_bytes);
        prop_assert_eq!(&documents(&one, pretokenizer).unwrap(), &expected);
        let many = sources(vec![input.clone()], &skip(), block_bytes);
        let mut counted = BTreeMap::new();
        for pretoken in expected.iter().flatten() {
            *counted.entry(pretoken.clone()).or_insert(0) += 1;
        }
        prop_assert_eq!(counts(&many, pretokenizer, threads).unwrap(), counted);
        for sources in [one, many] {
            let skipped = sources.skipped();
            prop_assert_eq!(&skipped.by_reason, &by_reason);
            prop_assert!(skipped.first.is_none() || names_it(&skipped.first.unwrap()));
        }

        let strict = sources(vec![input], &ReadOptions::default(), block_bytes);
        match counts(&strict, pretokenizer, threads) {
            Ok(_) => prop_assert_eq!(first_bad, None),
            Err(error) => prop_assert!(names_it(&error.to_string()), "{}", error),
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_skipped_by_documents(
        parts in proptest::collection::vec((text(), any::<bool>()), 1..8),
        block_bytes in 1usize..40,
        threads in 1usize..4,
    ) {
        let (mut bytes, mut whole, mut bad) = (Vec::new(), Vec::new(), 0);
        for (number, (text, is_bad)) in parts.iter().enumerate() {
            if number > 0 {
                bytes.extend(b"<|e|>");
            }
            // Without the parts of a separator, which would join.
            let text = text.replace(['<', '>', '|'], "");
            bytes.extend(text.bytes());
            if *is_bad {
                bytes.extend(b"\xe3\x81");
                bad += 1;
            } else {
                whole.push(text);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let input = file(&folder, "text", &bytes);
        for pretokenizer in PRETOKENIZERS.iter() {
            let expected: Vec<_> = whole.iter().map(|text| cut(text, pretokenizer)).collect();
            let expected = if bytes.is_empty() { Vec::new() } else { expected };
            let sources = sources(vec![input.clone()], &skip(), block_bytes);
            prop_assert_eq!(documents(&sources, pretokenizer).unwrap(), expected);
            prop_assert_eq!(sources.skipped().by_reason.values().sum::<u64>(), bad);
            let again = Sources { skipped: SkipLog::default(), ..sources };
            counts(&again, pretokenizer, threads).unwrap();
            prop_assert_eq!(again.skipped().by_reason.values().sum::<u64>(), bad);
        }
    }

    #[test]
    fn what_is_fed_arrives(
        texts in proptest::collection::vec(text(), 0..20),
        block_bytes in 1usize..60,
        threads in 1usize..4,
    ) {
        for pretokenizer in PRETOKENIZERS.iter() {
            let sources = sources(vec![Input::Items], &ReadOptions::default(), block_bytes);
            let mut expected = BTreeMap::new();
            for pretoken in texts.iter().flat_map(|text| split(text)).flat_map(|part| cut(part, pretokenizer)) {
                *expected.entry(pretoken).or_insert(0) += 1;
            }
            let counted = std::thread::scope(|scope| {
                let counted = scope.spawn(|| counts(&sources, pretokenizer, threads));
                let mut feeder = sources.feeder(0);
                for text in &texts {
                    feeder.add(text.as_bytes()).unwrap();
                    assert!(matches!(sources.feed().push(feeder.take(None), PATIENCE), Pushed::Taken));
                }
                assert!(matches!(sources.feed().push(Fed::End, PATIENCE), Pushed::Taken));
                counted.join().unwrap().unwrap()
            });
            prop_assert_eq!(counted, expected);
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_full_queue_takes_nothing_more_and_a_closed_one_never() {
    let sources = sources(vec![Input::Items], &ReadOptions::default(), 1 << 20);
    let fed = |bytes: usize| {
        let mut feeder = sources.feeder(0);
        feeder.add("a".repeat(bytes).as_bytes()).unwrap();
        feeder.take(None)
    };
    let push = |fed| sources.feed().push(fed, Duration::ZERO);
    assert!(matches!(push(fed(100 << 20)), Pushed::Taken), "alone, anything fits");
    assert!(matches!(push(fed(1)), Pushed::Full(_)));
    sources.feed().pop().unwrap();
    assert!(matches!(push(fed(1)), Pushed::Taken));
    sources.feed().close();
    assert!(matches!(push(fed(1)), Pushed::Closed));
    assert_eq!(sources.feed().pop().unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn the_first_of_many_errors_is_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let pretokenizer = Pretokenizer::None;
    let good = "{\"text\": \"a\"}\n";
    for bad in [1, 7, 150] {
        let lines = format!("{}{}", good.repeat(bad - 1), "{\n".repeat(300 - bad));
        let inputs = vec![file(&folder, "a.jsonl", lines), Input::File("missing".into())];
        for threads in [1, 2, 5] {
            let sources = sources(inputs.clone(), &ReadOptions::default(), 30);
            let error = counts(&sources, &pretokenizer, threads).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {bad} of ")), "{error}");
        }
    }
}

#[test]
fn lines_and_documents_beyond_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let lines =
        format!("{{\"text\": \"a\"}}\n{{\"text\": \"{}\"}}\n{{\"text\": \"b\"}}", "x".repeat(99));
    let jsonl = file(&folder, "data.jsonl", &lines);
    let last = file(&folder, "last.ndjson", lines.rsplit_once('\n').unwrap().0);
    let text = file(&folder, "text", format!("a<|e|>{}<|e|>b", "x".repeat(99)));
    for block_bytes in [1, 7, 40, 1 << 20] {
        let mut limited = sources(vec![jsonl.clone(), last.clone()], &skip(), block_bytes);
        limited.limits.document_bytes = 50;
        let found = documents(&limited, &Pretokenizer::None).unwrap();
        assert_eq!(found, [["a"], ["b"], ["a"]]);
        let skipped = limited.skipped();
        assert_eq!(skipped.by_reason, BTreeMap::from([(Reason::TooLong, 2)]));
        assert!(skipped.first.unwrap().contains("line 2 of"));
    }
    let mut limited = sources(vec![text], &skip(), 7);
    limited.limits.document_bytes = 50;
    let error = documents(&limited, &Pretokenizer::None).unwrap_err().to_string();
    assert!(error.contains("document at byte 6 is longer than 50 bytes"), "{error}");
}

#[test]
fn invalid_utf8_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [&b"abc\xffdef"[..], b"abc\xe3\x81"] {
        let sources = sources(vec![file(&folder, "text", bytes)], &ReadOptions::default(), 2);
        let (separators, watch) = (Matcher::default(), Watch::default());
        let mut blocks =
            sources.blocks(&separators, SafeCuts::of(&Pretokenizer::None), None, &watch);
        let error = blocks.find_map(Result::err).unwrap();
        assert!(error.to_string().contains("text is not UTF-8: invalid at byte 3"), "{error}");
        assert!(blocks.next().is_none());
    }
}

/// The longest block; without safe cuts it would be the text.
fn longest_block(text: &str, pretokenizer: &Pretokenizer) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let sources = sources(vec![file(&folder, "text", text)], &ReadOptions::default(), 64);
    let (separators, watch) = (separators(), Watch::default());
    let mut longest = 0;
    for block in sources.blocks(&separators, SafeCuts::of(pretokenizer), None, &watch) {
        let mut bytes = 0;
        let add = |text: &str, _| {
            bytes += text.len();
            Ok(())
        };
        block.unwrap().for_each(add).unwrap();
        longest = longest.max(bytes);
    }
    longest
}

#[test]
fn one_document_is_many_blocks_where_pretokens_are_short() {
    for name in ["gpt2", "cl100k", "o200k", "llama3"] {
        let pretokenizer = Pretokenizer::new(name).unwrap();
        for text in
            ["ab cd ", "日本語。", "1 2 3 4\n", "!? !? ", "a1b2", "١٢ ", "x = [0x1f, 'a'];\n"]
        {
            let longest = longest_block(&text.repeat(2000), &pretokenizer);
            assert!(longest <= 192, "{name} {text:?}: {longest}");
        }
        let numbers = longest_block(&"7".repeat(9999), &pretokenizer);
        assert_eq!(numbers <= 192, name != "gpt2", "{name}: {numbers}");
    }
}

#[test]
fn the_name_says_what_a_file_holds() {
    use super::open::Format;
    for (name, format) in [
        ("a.jsonl", Format::JsonLines),
        ("a.NDJSON.gz", Format::JsonLines),
        ("a.jsonl.zst", Format::JsonLines),
        ("a.json", Format::Text),
        ("jsonl", Format::Text),
        ("a.jsonl.txt", Format::Text),
        ("a.txt.gz", Format::Text),
    ] {
        assert_eq!(Format::of(Path::new(name)), format, "{name}");
    }
}
