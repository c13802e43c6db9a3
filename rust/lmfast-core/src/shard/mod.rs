//! Documents to folders of token shards.

mod manifest;
mod writer;

use std::{
    num::NonZero,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use manifest::TokenizerIdentity;
pub use writer::ShardTotals;
use writer::{Claim, ShardWriter, take_back};

use crate::{
    encode::{Batch, Tokenizer},
    error::{Error, ErrorKind, Result},
    files::write_atomically,
    format::tokenizer_json,
    idle::Idle,
    in_order,
    source::{Block, Sources, line_end},
    special::{Matcher, SpecialPolicy},
    threads,
    vocabulary::TokenId,
    watch::Watch,
};

/// How documents are found, cut and written.
#[derive(Clone, Debug)]
pub struct ShardOptions {
    /// The special token that ends a document: where its text stands in a file, a document ends,
    /// and its id is written after every document. Other special tokens are ordinary text.
    pub separator: String,
    /// Longer documents are cut after the last line end within this many bytes, or else after the
    /// first one beyond.
    pub max_document_bytes: Option<NonZero<usize>>,
    /// A shard ends with the document that brings it to this many tokens.
    pub shard_tokens: u64,
    /// Worker threads; `None` is one per core.
    pub threads: Option<NonZero<usize>>,
}

/// Documents that are not trained on.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The folder of their shards.
    pub folder: PathBuf,
    /// One document in this many is held out.
    pub one_in: NonZero<u64>,
}

/// Encode `sources` to a folder of shards and, if asked, held-out documents to another.
///
/// The bytes of the shards are the same for any number of threads. `watch` counts bytes read.
pub fn write_shards(
    tokenizer: &Tokenizer,
    sources: &Sources,
    folder: &Path,
    held_out: Option<&HeldOut>,
    options: &ShardOptions,
    watch: &Watch,
) -> Result<(ShardTotals, Option<ShardTotals>)> {
    let end_id = tokenizer.special_tokens().id_of(&options.separator).ok_or_else(|| {
        let message = format!(
            "cannot end documents with {:?}: it is not a special token of the tokenizer",
            options.separator
        );
        Error::new(ErrorKind::UnknownToken, message)
    })?;
    let separators = Matcher::new([(options.separator.as_str(), end_id)])?;
    let claim = Claim::new(folder)?;
    if let Some(held_out) = held_out.filter(|_| claim.is_sealed()) {
        take_back(&held_out.folder)?;
    }
    let create =
        |claim: Claim| ShardWriter::create(claim, tokenizer.n_vocab(), options.shard_tokens);
    let mut splits = Splits {
        end_id,
        document: 0,
        one_in: held_out.map(|held_out| held_out.one_in.get()),
        held_out: held_out
            .map(|held_out| create(Claim::new(&held_out.folder)?.beside(&claim)))
            .transpose()?,
        train: create(claim)?,
    };
    let limit = options.max_document_bytes;
    let cuts = tokenizer.safe_cuts();
    let blocks = sources.blocks(&separators, cuts, limit, watch);
    // Used again: memory that the system has just given is slow.
    let idle = Idle::<Encoded>::default();
    let encode = |block: Result<Block<'_>>| {
        watch.advance(0)?;
        let mut encoded = idle.take().unwrap_or_default();
        encode_block(tokenizer, &block?, limit, &mut encoded)?;
        Ok(encoded)
    };
    let copies = splits.tokenizer_paths();
    let copying_failed = AtomicBool::new(false);
    let write = |mut encoded: Box<Encoded>| {
        if copying_failed.load(Relaxed) {
            return Err(Error::interrupted());
        }
        splits.write(&encoded)?;
        encoded.clear();
        idle.put(encoded);
        Ok(())
    };
    let identity = thread::scope(|scope| {
        let copy = || {
            let identity = copy_tokenizer(tokenizer, &copies);
            identity.inspect_err(|_| copying_failed.store(true, Relaxed))
        };
        let copying = thread::Builder::new().spawn_scoped(scope, copy);
        let written = in_order::for_each(threads::count(options.threads), blocks, encode, write);
        let copied = match copying {
            Ok(copying) => copying.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system gives no more threads.
            Err(_) => copy(),
        };
        // A copy that failed is why writing ended.
        copied.and_then(|identity| written.map(|()| identity))
    })?;
    splits.finish(&identity)
}

/// Write the tokenizer to each of `paths`; what manifests say of it.
fn copy_tokenizer(tokenizer: &Tokenizer, paths: &[PathBuf]) -> Result<TokenizerIdentity> {
    let text = tokenizer_json::to_json(tokenizer);
    for path in paths {
        write_atomically(path, text.as_bytes())?;
    }
    Ok(TokenizerIdentity { identity: tokenizer.identity(), vocab_size: tokenizer.n_vocab() })
}

/// The ids of a block, and the parts of documents that they belong to.
#[derive(Default)]
struct Encoded {
    /// The ids of each part, and where they end.
    batch: Batch,
    parts: Vec<Part>,
}

struct Part {
    bytes: u64,
    ends_document: bool,
}

impl Encoded {
    fn clear(&mut self) {
        self.batch.ids.clear();
        self.batch.offsets.clear();
        self.parts.clear();
    }
}

fn encode_block(
    tokenizer: &Tokenizer,
    block: &Block<'_>,
    max_document_bytes: Option<NonZero<usize>>,
    Encoded { batch, parts }: &mut Encoded,
) -> Result<()> {
    let rule = tokenizer.special_tokens().rule(&SpecialPolicy::default())?;
    tokenizer.with_encoder(&rule, batch, |encoder| {
        block.for_each(|segment, ends_document| {
            let mut rest = segment;
            loop {
                let (text, after) = rest.split_at(document_end(rest, max_document_bytes));
                encoder.text(text.into())?;
                parts.push(Part {
                    bytes: text.len() as u64,
                    ends_document: ends_document || !after.is_empty(),
                });
                rest = after;
                if rest.is_empty() {
                    return Ok(());
                }
            }
        })
    })
}

/// Where a document that is too long is cut; else its end.
fn document_end(text: &str, max_bytes: Option<NonZero<usize>>) -> usize {
    let too_long = max_bytes.filter(|max_bytes| text.len() > max_bytes.get());
    too_long.and_then(|max_bytes| line_end(text, max_bytes.get())).unwrap_or(text.len())
}

/// Documents go to one of two folders.
struct Splits {
    end_id: TokenId,
    /// Documents ended so far; the index of the one that is open.
    document: u64,
    one_in: Option<u64>,
    held_out: Option<ShardWriter>,
    train: ShardWriter,
}

impl Splits {
    fn write(&mut self, Encoded { batch, parts }: &Encoded) -> Result<()> {
        debug_assert_eq!(parts.len(), batch.offsets.len(), "each part has its ids");
        let mut start = 0;
        for (part, &end) in parts.iter().zip(&batch.offsets) {
            let is_held_out = self.one_in.is_some_and(|one_in| is_held_out(self.document, one_in));
            let writer = match &mut self.held_out {
                Some(held_out) if is_held_out => held_out,
                _ => &mut self.train,
            };
            writer.write(&batch.ids[start..end as usize], part.bytes)?;
            start = end as usize;
            if part.ends_document && writer.in_document() {
                writer.write(&[self.end_id], 0)?;
                writer.end_document()?;
                self.document += 1;
            }
        }
        Ok(())
    }

    /// Where copies of the tokenizer belong.
    fn tokenizer_paths(&self) -> Vec<PathBuf> {
        let writers = [&self.train].into_iter().chain(&self.held_out);
        writers.map(ShardWriter::tokenizer_path).collect()
    }

    fn finish(self, tokenizer: &TokenizerIdentity) -> Result<(ShardTotals, Option<ShardTotals>)> {
        if self.document == 0 {
            return Err(Error::corpus("the corpus is empty: there is no document to encode"));
        }
        if self.held_out.is_some() && self.document < 2 {
            return Err(Error::corpus(
                "cannot hold out a document: the corpus is a single one; write the separator, such \
                 as <|endoftext|>, between its documents, or have them cut at line ends \
                 (max_document_bytes, --max-document-bytes)",
            ));
        }
        let train = self.train.seal(tokenizer.clone())?;
        let held_out = self.held_out.map(|held_out| held_out.seal(tokenizer.clone())?.publish());
        let held_out = held_out.transpose()?;
        Ok((train.publish()?, held_out))
    }
}

/// Whether a document is held out: the second one, so that two documents suffice, and from then on
/// one in each stretch of `one_in`, at a pseudo-random place, so that no regular order of the
/// documents biases the choice.
fn is_held_out(document: u64, one_in: u64) -> bool {
    let (stretch, place) = (document / one_in, document % one_in);
    let chosen = if stretch == 0 { 1 } else { mix(stretch) };
    place == chosen % one_in
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(index: u64) -> u64 {
    let mut z = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
