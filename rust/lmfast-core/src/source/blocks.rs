//! A file in blocks that can be processed one by one: memory is bounded, results do not change.

use std::{
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    pretokenize::{Pretokenizer, last_safe_cut},
    special::{Found, Matcher},
};

const BLOCK_BYTES: usize = 256 << 10;

/// Part of a file that begins and ends where its text may safely be cut.
#[derive(Debug)]
pub(crate) struct Block {
    text: String,
    segments: Vec<Segment>,
}

/// A stretch of a document; the document may continue in the first segment of the next block.
#[derive(Clone, Debug)]
struct Segment {
    range: Range<usize>,
    ends_document: bool,
}

impl Block {
    /// The stretches of text between separators, and whether a document ends after each.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (&str, bool)> {
        self.segments
            .iter()
            .map(|segment| (&self.text[segment.range.clone()], segment.ends_document))
    }

    /// Bytes of the file that the block covers.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

/// The blocks of one file. The end of the file ends its last document.
pub(crate) struct Blocks<'a> {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    separators: &'a Matcher,
    pretokenizer: &'a Pretokenizer,
    block_bytes: usize,
    /// Read, but not yet part of a block.
    buffer: Vec<u8>,
    /// Bytes of the file before the buffer.
    offset: u64,
    at_end: bool,
}

impl<'a> Blocks<'a> {
    pub(crate) fn open(
        path: &Path,
        separators: &'a Matcher,
        pretokenizer: &'a Pretokenizer,
    ) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            reader: super::open(path)?,
            separators,
            pretokenizer,
            block_bytes: BLOCK_BYTES,
            buffer: Vec::new(),
            offset: 0,
            at_end: false,
        })
    }

    fn read_on(&mut self) -> Result<()> {
        // Doubling keeps the time linear where a document has no cut for long.
        let wanted = self.block_bytes.max(self.buffer.len()) as u64;
        let read = self.reader.by_ref().take(wanted).read_to_end(&mut self.buffer);
        let read = read.map_err(|error| Error::io("read", &self.path, error))?;
        self.at_end = (read as u64) < wanted;
        Ok(())
    }

    /// The text at the front of the buffer; at the end of the file, all of it.
    fn text(&self) -> Result<&str> {
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(text),
            // A character that the end of the buffer cuts through.
            Err(error) if error.error_len().is_none() && !self.at_end => {
                Ok(std::str::from_utf8(&self.buffer[..error.valid_up_to()])
                    .expect("valid up to here"))
            }
            Err(error) => Err(Error::corpus(format!(
                "{} is not UTF-8: invalid at byte {}",
                self.path.display(),
                self.offset + error.valid_up_to() as u64,
            ))),
        }
    }

    /// Where the block ends, and the separators in it; `None` if more must be read to tell.
    fn end_of_block(&self, text: &str) -> Option<(usize, Vec<Found>)> {
        if self.at_end {
            return Some((text.len(), self.separators.find_iter(text.as_bytes()).collect()));
        }
        // A separator that begins further on may be cut through, or be part of a longer one.
        let certain =
            text.floor_char_boundary(text.len().saturating_sub(self.separators.longest()));
        let found: Vec<Found> = self
            .separators
            .find_iter(text.as_bytes())
            .take_while(|found| found.start < certain)
            .collect();
        let after_last = found.last().map_or(0, |found| found.end);
        let rest = text.get(after_last..certain).unwrap_or("");
        let cut = last_safe_cut(self.pretokenizer, rest).map(|cut| after_last + cut);
        let end = cut.unwrap_or(after_last);
        (end > 0).then_some((end, found))
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if !self.at_end {
                self.read_on()?;
            }
            if self.buffer.is_empty() {
                return Ok(None);
            }
            let text = self.text()?;
            if let Some((end, separators)) = self.end_of_block(text) {
                let segments = segments(end, &separators, self.at_end);
                let block = Block { text: text[..end].to_owned(), segments };
                self.buffer.drain(..end);
                self.offset += end as u64;
                return Ok(Some(block));
            }
        }
    }
}

fn segments(end: usize, separators: &[Found], at_end: bool) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(separators.len() + 1);
    let mut done = 0;
    for found in separators {
        segments.push(Segment { range: done..found.start, ends_document: true });
        done = found.end;
    }
    if done < end || at_end {
        segments.push(Segment { range: done..end, ends_document: at_end });
    }
    segments
}

impl Iterator for Blocks<'_> {
    type Item = Result<Block>;

    /// After an error there is nothing more.
    fn next(&mut self) -> Option<Result<Block>> {
        let next = self.next_block();
        if next.is_err() {
            self.at_end = true;
            self.buffer.clear();
        }
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn documents(text: &str, block_bytes: usize, pretokenizer: &Pretokenizer) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, text).unwrap();
        let separators = Matcher::new([("<|e|>", 0), ("<|e|><|f|>", 1)]).unwrap();
        let mut blocks = Blocks::open(&path, &separators, pretokenizer).unwrap();
        blocks.block_bytes = block_bytes;
        let (mut documents, mut pretokens) = (Vec::new(), Vec::new());
        for block in blocks {
            for (text, ends) in block.unwrap().segments() {
                pretokenizer.for_each(text, |cut| pretokens.push(cut.to_owned())).unwrap();
                if ends {
                    documents.push(std::mem::take(&mut pretokens));
                }
            }
        }
        assert!(pretokens.is_empty(), "the end of the file ends the document");
        documents
    }

    proptest! {
        #[test]
        fn blocks_of_any_size_give_the_same_pretokens(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec!["a", " ", "\n", "の", "。", "é", "<|e|>", "<|f|>", "<|e"]),
                0..60,
            ),
            block_bytes in 1usize..40,
        ) {
            let text = pieces.concat();
            for name in ["gpt2", "cl100k", "o200k"] {
                let pretokenizer = Pretokenizer::new(name).unwrap();
                let whole = documents(&text, 1 << 20, &pretokenizer);
                prop_assert_eq!(documents(&text, block_bytes, &pretokenizer), whole);
            }
        }
    }

    #[test]
    fn invalid_utf8_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, b"abc\xffdef").unwrap();
        let (separators, pretokenizer) = (Matcher::default(), Pretokenizer::None);
        let mut blocks = Blocks::open(&path, &separators, &pretokenizer).unwrap();
        blocks.block_bytes = 2;
        let error = blocks.find_map(Result::err).unwrap();
        assert!(error.to_string().contains("invalid at byte 3"), "{error}");
        assert!(blocks.next().is_none());
    }
}
