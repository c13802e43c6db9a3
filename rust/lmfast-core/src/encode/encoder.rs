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
        let result = if self.may_hold_special(&waiting.text) {
            self.encode_one_by_one(&waiting)
        } else {
            self.encode(&mut waiting)
        };
        waiting.clear();
        self.memory.waiting = waiting;
        result
    }

    /// Whether one of several texts may hold a special token that is looked for: together they hold it
    /// if one does.
    fn may_hold_special(&self, texts: &str) -> bool {
        let found = || self.tokenizer.special_tokens.find_iter(texts.as_bytes(), self.rule);
        !self.rule.is_nothing() && found().map_or(true, |mut found| found.next().is_some())
    }

    fn encode_one_by_one(&mut self, Waiting { text, ends }: &Waiting) -> Result<()> {
        let mut start = MARGIN.len();
        for &end in ends {
            let text = text[start..end].into();
            self.tokenizer.encode_into(text, self.rule, self.memory, &mut self.out.ids)?;
            self.end();
            start = end;
        }
        Ok(())
    }

    /// Append the ids of texts in which nothing is to be found.
    fn encode(&mut self, waiting: &mut Waiting) -> Result<()> {
        waiting.text.push_str(MARGIN);
        let Waiting { text, ends } = waiting;
        let mut pieces =
            Pieces::new(self.tokenizer, text.as_bytes(), self.memory, &mut self.out.ids);
        pieces.set_texts(MARGIN.len(), ends);
        let (mut start, mut done) = (MARGIN.len(), 0);
        let result = ends.iter().try_for_each(|&end| {
            pieces.begin_text(start);
            self.tokenizer.pretokenizer.for_each_end(&text[start..end], &mut pieces)?;
            (start, done) = (end, done + 1);
            Ok(())
        });
        pieces.finish();
        self.out.offsets.extend(self.memory.texts.ends_in_ids().take(done));
        result
    }
}
