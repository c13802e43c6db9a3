//! Shards against the documents they were made of.

use std::fs;

use super::*;
use crate::{pretokenize::Pretokenizer, special::SpecialTokens, vocabulary::Vocabulary};

const END: TokenId = 258;

fn tokenizer() -> Tokenizer {
    let vocabulary = Vocabulary::from_training(&[(97, 98), (256, 99)]).unwrap();
    let special = SpecialTokens::new(vec![("<|end|>".to_owned(), END)]).unwrap();
    Tokenizer::new(vocabulary, special, Pretokenizer::new("gpt2").unwrap()).unwrap()
}

fn options(threads: usize) -> ShardOptions {
    ShardOptions {
        separator: "<|end|>".to_owned(),
        max_document_bytes: None,
        shard_tokens: 8,
        threads: NonZero::new(threads),
    }
}

fn write(
    folder: &Path,
    name: &str,
    text: &str,
    options: &ShardOptions,
) -> Result<(ShardTotals, Option<ShardTotals>)> {
    let path = folder.join(format!("{name}.txt"));
    fs::write(&path, text).unwrap();
    let held_out =
        HeldOut { folder: folder.join(name).join("held_out"), one_in: NonZero::new(3).unwrap() };
    let train = folder.join(name).join("train");
    let sources = Sources::of_files([path]);
    write_shards(&tokenizer(), &sources, &train, Some(&held_out), options, &Watch::default())
}

fn ids_of(folder: &Path) -> Vec<TokenId> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("tokens-"));
    names.sort();
    let bytes: Vec<u8> = names.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    bytes.chunks(2).map(|pair| TokenId::from(u16::from_le_bytes([pair[0], pair[1]]))).collect()
}

#[test]
fn each_document_goes_whole_to_one_split() {
    let folder = tempfile::tempdir().unwrap();
    let text = "abc<|end|>ab c<|end|><|end|>abcabc<|end|>\n";
    let (train, held_out) = write(folder.path(), "a", text, &options(2)).unwrap();

    let train_ids = [257, END, 257, 257, END, 10, END];
    assert_eq!(ids_of(&folder.path().join("a/train")), train_ids);
    assert_eq!(train, ShardTotals { documents: 3, tokens: 7, bytes: 10 });
    assert_eq!(ids_of(&folder.path().join("a/held_out")), [256, 32, 99, END]);
    assert_eq!(held_out, Some(ShardTotals { documents: 1, tokens: 4, bytes: 4 }));
    assert!(!folder.path().join("a/train.unfinished").exists());
}

#[test]
fn shards_are_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let text = "abc 1 ab\nabc<|end|>abcab<|end|>".repeat(250);
    for threads in [1, 2, 7] {
        write(folder.path(), &threads.to_string(), &text, &options(threads)).unwrap();
    }
    for threads in ["2", "7"] {
        for split in ["train", "held_out"] {
            let (one, many) =
                (folder.path().join("1").join(split), folder.path().join(threads).join(split));
            for entry in fs::read_dir(&one).unwrap() {
                let name = entry.unwrap().file_name();
                assert_eq!(fs::read(one.join(&name)).unwrap(), fs::read(many.join(&name)).unwrap());
            }
        }
    }
}

#[test]
fn long_documents_are_cut_at_line_ends() {
    let folder = tempfile::tempdir().unwrap();
    let cut = ShardOptions { max_document_bytes: NonZero::new(6), ..options(1) };
    let (train, held_out) = write(folder.path(), "a", "abc\nab\nabcabcabc\nabc", &cut).unwrap();
    assert_eq!((train.documents, train.bytes), (3, 17));
    assert_eq!(held_out.unwrap().documents, 1);
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name, text, options: &ShardOptions| {
        write(folder.path(), name, text, options).unwrap_err().to_string()
    };
    assert!(message("empty", "<|end|>", &options(1)).contains("corpus is empty"));
    assert!(message("single", "abc", &options(1)).contains("a single one"));
    let other = ShardOptions { separator: "<|eot|>".to_owned(), ..options(1) };
    assert!(message("other", "abc", &other).contains("not a special token"));
    write(folder.path(), "twice", "abc<|end|>abc", &options(1)).unwrap();
    assert!(message("twice", "abc<|end|>abc", &options(1)).contains("there already"));
}

#[test]
fn an_interrupted_folder_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("a/train.unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("tokens-00009.bin"), "left over").unwrap();
    write(folder.path(), "a", "abc<|end|>abc", &options(1)).unwrap();
    assert!(!folder.path().join("a/train/tokens-00009.bin").exists());
}

#[test]
fn two_writers_of_one_folder_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let train = folder.path().join("train");
    let _first = Claim::new(&train).unwrap();
    let second = Claim::new(&train).map(|_| ()).unwrap_err();
    assert!(second.to_string().contains("another process"), "{second}");
}

#[test]
fn one_document_in_so_many_is_held_out() {
    for one_in in [1, 2, 3, 10] {
        let held_out = (0..300 * one_in).filter(|&document| is_held_out(document, one_in)).count();
        assert_eq!(held_out, 300);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_error_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a", "a single document", &options(1)).unwrap_err();
    assert_eq!(names(folder.path()), ["a.txt"]);
    fs::create_dir(folder.path().join("a")).unwrap();
    write(folder.path(), "a", "", &options(1)).unwrap_err();
    assert_eq!(names(folder.path()), ["a", "a.txt"], "what was there before stays");
}

#[test]
fn a_kill_between_the_two_names_does_not_block_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let text = "abc<|end|>ab c<|end|>abcabc";
    let whole = write(folder.path(), "a", text, &options(1)).unwrap();
    let [train, unfinished] =
        ["a/train", "a/train.unfinished"].map(|name| folder.path().join(name));
    fs::rename(&train, &unfinished).unwrap();

    assert_eq!(write(folder.path(), "a", text, &options(1)).unwrap(), whole);
    assert_eq!(names(&folder.path().join("a")), ["held_out", "train"]);
}

#[test]
fn held_out_shards_of_another_call_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let text = "abc<|end|>ab c<|end|>abcabc";
    write(folder.path(), "a", text, &options(1)).unwrap();
    fs::remove_dir_all(folder.path().join("a/train")).unwrap();

    let error = write(folder.path(), "a", text, &options(1)).unwrap_err();
    assert!(error.to_string().contains("there already"), "{error}");
    assert_eq!(names(&folder.path().join("a")), ["held_out"]);
}

#[test]
fn the_folders_above_go_with_whichever_claim_is_dropped_last() {
    for train_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let both = folder.path().join("above/both");
        let train = Claim::new(&both.join("train")).unwrap();
        let held_out = Claim::new(&both.join("held_out")).unwrap().beside(&train);
        let (first, last) = if train_first { (train, held_out) } else { (held_out, train) };
        drop(first);
        assert!(both.exists());
        drop(last);
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn a_claim_that_fails_leaves_no_folders() {
    let folder = tempfile::tempdir().unwrap();
    let too_long = folder.path().join("above").join("a".repeat(300));
    assert!(Claim::new(&too_long.join("train")).is_err());
    assert_eq!(names(folder.path()), [""; 0]);
}

/// However many want the same folder, one at a time holds it.
#[test]
fn one_claim_at_a_time() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    let folder = tempfile::tempdir().unwrap();
    let (holders, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    if let Ok(claim) = Claim::new(&folder.path().join("shards")) {
                        assert_eq!(holders.fetch_add(1, SeqCst), 0);
                        std::thread::yield_now();
                        holders.fetch_sub(1, SeqCst);
                        held.fetch_add(1, SeqCst);
                        drop(claim);
                    }
                }
            });
        }
    });
    assert!(held.load(SeqCst) > 0);
    assert_eq!(names(folder.path()), [""; 0]);
}
