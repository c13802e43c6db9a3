//! Texts one after the other, short ones together.
//!
//! A text of a hundred bytes has some thirty tokens, too few to be worth looking up together. So
//! short texts are copied one behind the other until they are worth it, with room around them, so
//! that whoever reads a few bytes more than there are finds some.

use super::{Batch, Memory, Text, Tokenizer, pieces::Pieces};
use crate::{
    error::Result,
    special::{Part, Rule},
};

/// Texts of up to so many bytes wait for others.
const SHORT: usize = if cfg!(test) { 1 << 6 } else { 1 << 10 };
/// About so many bytes wait at most, of which each text is one more.
const MOST_WAITING: usize = if cfg!(test) { 1 << 8 } else { 1 << 14 };

/// Bytes before and behind the texts.
const MARGIN: &str = match std::str::from_utf8(&[0; 72]) {
    Ok(margin) => margin,
    Err(_) => unreachable!(),
};

/// The texts that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    /// A margin, then the texts.
    text: String,
    /// Where they end in it.
    ends: Vec<usize>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { text: MARGIN.into(), ends: Vec::new() }
    }
}

impl Waiting {
    fn clear(&mut self) {
        self.text.truncate(MARGIN.len());
        self.ends.clear();
    }
}

/// Appends the ids of texts to a batch, and where they end.
pub(crate) struct Encoder<'a> {
    tokenizer: &'a Tokenizer,
    rule: &'a Rule,
    memory: &'a mut Memory,
    out: &'a mut Batch,
}

impl Tokenizer {
    /// Do `work` with what appends to `out`, the offsets of which are ends alone. Where encoding fails,
    /// so many texts were encoded before.
    pub(crate) fn with_encoder(
        &self,
        rule: &Rule,
        out: &mut Batch,
        work: impl FnOnce(&mut Encoder<'_>) -> Result<()>,
    ) -> Result<()> {
        self.with_memory(|memory| {
            // The call before this one may have ended early.
            memory.waiting.clear();
            let mut encoder = Encoder { tokenizer: self, rule, memory, out };
            work(&mut encoder)?;
            encoder.flush()
        })
    }
}

impl Encoder<'_> {
    /// Append a text.
    pub(crate) fn text(&mut self, text: Text<'_>) -> Result<()> {
        if let Some(text) = self.worth_waiting(text) {
            let waiting = &mut self.memory.waiting;
            waiting.text.push_str(text);
            waiting.ends.push(waiting.text.len());
            if waiting.text.len() + waiting.ends.len() > MOST_WAITING {
                self.flush()?;
            }
            return Ok(());
        }
        self.flush()?;
        self.tokenizer.encode_into(text, self.rule, self.memory, &mut self.out.ids)?;
        self.end();
        Ok(())
    }

    /// Append a part of a text.
    pub(super) fn part(&mut self, part: Part<'_>) -> Result<()> {
        self.flush()?;
        self.tokenizer.encode_part(part, self.memory, &mut self.out.ids)
    }

    /// A text of which there were parts ends here.
    pub(super) fn end(&mut self) {
        debug_assert!(self.memory.waiting.ends.is_empty(), "no text waits: it would end first");
        self.out.offsets.push(self.out.ids.len() as u64);
    }

    /// The text, if it is short.
    #[inline]
    fn worth_waiting<'t>(&self, text: Text<'t>) -> Option<&'t str> {
        if text.bytes().len() > SHORT || !self.tokenizer.special_tokens.is_plain() {
            return None;
        }
        match text {
            Text::Str(text) => Some(text),
            Text::Bytes(bytes) => simdutf8::basic::from_utf8(bytes).ok(),
        }
    }

    /// Append the ids of the texts that wait.
    fn flush(&mut self) -> Result<()> {
        if self.memory.waiting.ends.is_empty() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.memory.waiting);
        waiting.text.push_str(MARGIN);
        let result = self.encode(&waiting);
        waiting.clear();
        self.memory.waiting = waiting;
        result
    }

    fn encode(&mut self, Waiting { text, ends }: &Waiting) -> Result<()> {
        let start = MARGIN.len();
        // Together they hold a special token if one of them does.
        if !self.may_hold_special(text) {
            return self.encode_together(text, start, ends);
        }
        let (mut run, mut run_start, mut start) = (0, start, start);
        for (index, &end) in ends.iter().enumerate() {
            let this = &text[start..end];
            if self.may_hold_special(this) {
                self.encode_together(text, run_start, &ends[run..index])?;
                let ids = &mut self.out.ids;
                self.tokenizer.encode_into(this.into(), self.rule, self.memory, ids)?;
                self.end();
                (run, run_start) = (index + 1, end);
            }
            start = end;
        }
        self.encode_together(text, run_start, &ends[run..])
    }

    /// Whether a special token is found in `text`, be it allowed or not.
    fn may_hold_special(&self, text: &str) -> bool {
        if self.rule.is_nothing() {
            return false;
        }
        let found = self.tokenizer.special_tokens.find_iter(text.as_bytes(), self.rule);
        found.map_or(true, |mut found| found.next().is_some())
    }

    /// Append the ids of texts in which nothing is to be found, one behind the other in `all`.
    fn encode_together(&mut self, all: &str, mut start: usize, ends: &[usize]) -> Result<()> {
        let mut pieces =
            Pieces::new(self.tokenizer, all.as_bytes(), self.memory, &mut self.out.ids);
        pieces.set_texts(start, ends);
        let mut done = 0;
        let result = ends.iter().try_for_each(|&end| {
            pieces.begin_text(start);
            self.tokenizer.pretokenizer.for_each_end(&all[start..end], &mut pieces)?;
            (start, done) = (end, done + 1);
            Ok(())
        });
        pieces.finish();
        self.out.offsets.extend(self.memory.texts.ends_in_ids().take(done));
        result
    }
}
