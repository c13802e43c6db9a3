//! Cutting, encoding and decoding, on one thread.

mod made;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lmfast_core::{
    Tokenizer,
    format::tokenizer_json::{from_json, to_json},
    pretokenize::{Pretokenizer, Scheme},
    special::SpecialPolicy,
};
use made::Script;

const TEXT_BYTES: usize = 1 << 20;
const VOCAB_SIZE: usize = 8_192;

fn tokenizer() -> Tokenizer {
    made::tokenizer("gpt2", VOCAB_SIZE, TEXT_BYTES).expect("made text trains a tokenizer")
}

/// Each named scheme on each kind of text.
fn scan(criterion: &mut Criterion) {
    for script in Script::ALL {
        let text = script.text(TEXT_BYTES);
        let mut group = criterion.benchmark_group(format!("scan/{}", script.name()));
        group.throughput(Throughput::Bytes(text.len() as u64));
        for scheme in Scheme::ALL {
            let pretokenizer = Pretokenizer::Scheme(scheme);
            group.bench_function(scheme.name(), |bencher| {
                bencher.iter(|| {
                    let mut pretokens = 0;
                    pretokenizer.for_each(&text, |_| pretokens += 1).expect("a scheme cuts all");
                    black_box(pretokens)
                });
            });
        }
    }
}

/// The first text that a tokenizer sees, and the same text again.
fn encode(criterion: &mut Criterion) {
    let warm = tokenizer();
    let (json, policy) = (to_json(&warm), SpecialPolicy::default());
    for script in Script::ALL {
        let text = script.text(TEXT_BYTES);
        let mut group = criterion.benchmark_group(format!("encode/{}", script.name()));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("cold", |bencher| {
            bencher.iter_batched_ref(
                || from_json(&json).expect("it was written here"),
                |cold| cold.encode(text.as_bytes(), &policy),
                BatchSize::PerIteration,
            );
        });
        group.bench_function("warm", |bencher| {
            bencher.iter(|| warm.encode(text.as_bytes(), &policy));
        });
    }
}

/// One pretoken that nothing cuts and no cache remembers as a whole.
fn merge(criterion: &mut Criterion) {
    let tokenizer = tokenizer();
    let mut group = criterion.benchmark_group("merge");
    for bytes in [1 << 8, 1 << 12, 1 << 16] {
        let letters: String =
            Script::Words.text(bytes * 2).chars().filter(char::is_ascii_lowercase).collect();
        let piece = &letters.as_bytes()[..bytes];
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("{bytes} letters"), |bencher| {
            bencher.iter(|| tokenizer.encode(piece, &SpecialPolicy::default()));
        });
    }
}

fn decode(criterion: &mut Criterion) {
    let tokenizer = tokenizer();
    let mut group = criterion.benchmark_group("decode");
    for script in Script::ALL {
        let text = script.text(TEXT_BYTES);
        let ids = tokenizer.encode(text.as_bytes(), &SpecialPolicy::default());
        let ids = ids.expect("no special token is disallowed");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(script.name(), |bencher| {
            bencher.iter(|| tokenizer.decode_bytes(&ids));
        });
    }
}

criterion_group!(benches, scan, encode, merge, decode);
criterion_main!(benches);
