//! The way from pretokens to tokens, many at a time, whole or in parts.
//!
//! A pretoken that the front table does not know costs a look into a table that is larger than a
//! core's own cache. So pretokens are collected first, and each step is taken for all of them in
//! one short loop, so that a processor has many in hand at once and waits for the memory of all of
//! them together. Only what no table knows is merged.
//!
//! A pretoken that is not known and that is long, or begins with a character beyond ASCII, is first
//! taken apart where no merge reaches across. Where many had to be, the next ones are taken apart
//! before they are looked up.

use std::{mem::MaybeUninit, ops::Range};

use super::{
    Tokenizer,
    cache::Cache,
    encoder::Waiting,
    found::{AT_ONCE, Found},
    front::Front,
    lane::{Lane, merge_together},
    long_cache::LongCache,
    packed::{self, Packed},
    seams,
    stitch::Workspace,
};
#[cfg(target_arch = "x86_64")]
use crate::x86::Level;
use crate::{
    error::Result,
    hash::{self, Short},
    pretokenize::Ends,
    vocabulary::TokenId,
};

/// Pieces are looked up when there are so many: the places of one more block might not find room.
const ENOUGH: usize = AT_ONCE - seams::BLOCK;

/// Room for ids that are written in vain, behind the last ones.
pub(super) const SPARE_ROOM: usize = packed::TOKENS * AT_ONCE + packed::WRITTEN_IN_VAIN;

/// What encoding carries from one text to the next.
#[derive(Debug)]
pub(super) struct Memory {
    tables: Tables,
    pretokens: Box<Collected>,
    parts: Box<Collected>,
    pub(super) texts: TextEnds,
    pub(super) waiting: Waiting,
    /// Whether pretokens are taken apart before they are looked up, since many had to be.
    in_parts: bool,
}

/// Where each of several texts ends that are one behind the other.
#[derive(Debug, Default)]
pub(super) struct TextEnds {
    in_bytes: Vec<usize>,
    /// Of the first ones: those that are done.
    in_ids: Vec<u64>,
}

impl TextEnds {
    pub(super) fn ends_in_ids(&self) -> impl Iterator<Item = u64> {
        self.in_ids.iter().copied()
    }

    /// Where the next one ends, if it does so at `end` or before.
    #[inline(always)]
    fn next_until(&self, end: usize) -> Option<usize> {
        self.in_bytes.get(self.in_ids.len()).copied().filter(|&next| next <= end)
    }
}

/// What is known of the tokens of pieces.
///
/// All of it is what merging gives, for parts and pretokens alike; so a pretoken that is another token
/// as a whole (`Tokenizer::whole_only`) is nowhere.
#[derive(Debug)]
struct Tables {
    front: Front,
    short: Cache,
    long: LongCache,
    workspace: Workspace,
    lanes: [Lane<{ Short::LONGEST + 1 }, Short>; LANES],
}

/// Short pieces that are merged together.
const LANES: usize = 8;

/// Pretokens or parts of them, each of which starts where the one before ends.
#[derive(Debug)]
struct Collected {
    len: usize,
    /// Where the first one starts, and where each ends.
    bounds: [usize; AT_ONCE + 1],
    /// What the tables tell of them.
    found: Found,
}

impl Memory {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            tables: Tables {
                front: Front::default(),
                short: Cache::new()?,
                long: LongCache::default(),
                workspace: Workspace::default(),
                lanes: [Lane::default(); LANES],
            },
            pretokens: Box::default(),
            parts: Box::default(),
            texts: TextEnds::default(),
            waiting: Waiting::default(),
            in_parts: false,
        })
    }
}

impl Default for Collected {
    fn default() -> Self {
        Self { len: 0, bounds: [0; AT_ONCE + 1], found: Found::default() }
    }
}

impl Collected {
    /// Begin anew at `start`.
    #[inline]
    fn clear(&mut self, start: usize) {
        (self.bounds[0], self.len) = (start, 0);
    }

    /// Where the first one starts.
    #[inline]
    fn start(&self) -> usize {
        self.bounds[0]
    }

    /// Where each ends.
    #[inline]
    fn ends(&self) -> &[usize] {
        &self.bounds[1..=self.len]
    }

    /// Where the last one ends.
    #[inline]
    fn end(&self) -> usize {
        self.bounds[self.len]
    }
}

/// Takes the pretokens of a text, in order, and appends their tokens.
pub(super) struct Pieces<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    /// Where the text begins of which pretokens are told: theirs count from there.
    base: usize,
    memory: &'a mut Memory,
    out: &'a mut Vec<TokenId>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        text: &'a [u8],
        memory: &'a mut Memory,
        out: &'a mut Vec<TokenId>,
    ) -> Self {
        // The text before this one may have ended early.
        memory.pretokens.clear(0);
        memory.texts.in_bytes.clear();
        memory.texts.in_ids.clear();
        Self { tokenizer, text, base: 0, memory, out }
    }

    /// Several texts stand one behind the other from `start` on, and end at `ends`.
    pub(super) fn set_texts(&mut self, start: usize, ends: &[usize]) {
        self.memory.pretokens.clear(start);
        self.memory.texts.in_bytes.extend_from_slice(ends);
    }

    /// The pretokens to come are those of the text that begins here.
    pub(super) fn begin_text(&mut self, start: usize) {
        self.base = start;
    }

    /// Append the tokens of what is still collected.
    pub(super) fn finish(mut self) {
        self.flush();
        // Empty ones at the end.
        self.memory.texts.in_ids.resize(self.memory.texts.in_bytes.len(), self.out.len() as u64);
    }

    #[inline(never)]
    fn flush(&mut self) {
        let Self { tokenizer, text, memory, out, .. } = self;
        let Memory { tables, pretokens, parts, texts, in_parts, .. } = &mut **memory;
        let mut lookup = Lookup { tokenizer, text, tables, texts, out, worth_parts: 0 };
        if *in_parts {
            lookup.take_apart(pretokens, parts);
        } else {
            lookup.look_up(pretokens, Some(parts));
        }
        *in_parts = lookup.worth_parts > pretokens.len / 8;
        pretokens.clear(pretokens.end());
    }
}

impl Ends for Pieces<'_> {
    #[inline(always)]
    fn push(&mut self, end: usize) {
        let pretokens = &mut self.memory.pretokens;
        pretokens.len += 1;
        pretokens.bounds[pretokens.len] = self.base + end;
        if pretokens.len >= ENOUGH {
            self.flush();
        }
    }

    #[inline(always)]
    fn push_all(&mut self, base: usize, places: u64, write: impl Fn(usize, u64, &mut [usize])) {
        let Collected { len, bounds, .. } = &mut *self.memory.pretokens;
        // Those too many are written over.
        write(self.base + base, places, &mut bounds[*len + 1..]);
        *len += places.count_ones() as usize;
        if *len >= ENOUGH {
            self.flush();
        }
    }
}

struct Lookup<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    tables: &'a mut Tables,
    texts: &'a mut TextEnds,
    out: &'a mut Vec<TokenId>,
    /// How many pretokens came in parts, long ones of ASCII left out: these are rare.
    worth_parts: usize,
}

impl Lookup<'_> {
    /// Append the tokens of pretokens of which many come in parts.
    #[inline(never)]
    fn take_apart(&mut self, pretokens: &Collected, parts: &mut Collected) {
        let ends = pretokens.ends();
        parts.clear(pretokens.start());
        self.count_worth_parts(pretokens.start(), ends);
        if self.tokenizer.whole_only.is_empty() {
            self.push_parts(parts, pretokens.start(), ends);
            return self.look_up_parts(parts);
        }
        let mut start = pretokens.start();
        for &end in ends {
            if let Some(id) = self.tokenizer.whole_only(&self.text[start..end]) {
                self.look_up_parts(parts);
                self.out.push(id);
                parts.clear(end);
            } else {
                self.push_parts(parts, start, &[end]);
            }
            start = end;
        }
        self.look_up_parts(parts);
    }

    fn count_worth_parts(&mut self, mut start: usize, ends: &[usize]) {
        for &end in ends {
            self.worth_parts += usize::from(!self.text[start].is_ascii());
            start = end;
        }
    }

    /// Collect the parts of the pretokens that end at `ends`.
    #[inline(always)]
    fn push_parts(&mut self, parts: &mut Collected, start: usize, ends: &[usize]) {
        let Self { tokenizer, text, .. } = *self;
        let mut of_pretokens = tokenizer.seams.parts(text, start, ends);
        loop {
            parts.len += of_pretokens.next_ends(&mut parts.bounds[parts.len + 1..]);
            if parts.len < ENOUGH {
                return;
            }
            self.look_up_parts(parts);
        }
    }

    #[inline(never)]
    fn look_up_parts(&mut self, parts: &mut Collected) {
        self.look_up(parts, None);
        parts.clear(parts.end());
    }

    /// Append the tokens of all pieces. By means of `parts`, those that nothing is known of are
    /// taken apart, if they are no parts themselves.
    #[inline(always)]
    fn look_up(&mut self, pieces: &mut Collected, parts: Option<&mut Collected>) {
        let Collected { len, bounds, found } = pieces;
        let Tables { front, short, .. } = &mut *self.tables;
        front.look_up(self.text, &bounds[..=*len], found);
        short.look_up(self.text, bounds, found);
        // What occurs again is worth a place in front.
        for &(key, tokens) in &found.told[..found.told_len] {
            front.insert(key, tokens);
        }
        self.learn(pieces, parts.is_some());
        self.put(pieces, parts);
    }

    /// Merge the short ones of those that nothing is known of, as far as they are not worth taking
    /// apart, and remember their tokens.
    #[inline(always)]
    fn learn(&mut self, pieces: &Collected, are_pretokens: bool) {
        let mut len = 0;
        let Found { missed, keys, unknown, unknown_len, .. } = &pieces.found;
        for &at in &unknown[..*unknown_len] {
            let key = keys[usize::from(at)].0;
            let index = usize::from(missed[usize::from(at)]);
            let bytes = &self.text[pieces.bounds[index]..pieces.bounds[index + 1]];
            if bytes.len() > Short::LONGEST
                || are_pretokens && !bytes[0].is_ascii()
                || self.tokenizer.whole_only(bytes).is_some()
            {
                continue;
            }
            let lane = &mut self.tables.lanes[len];
            lane.key = key;
            lane.begin(self.tokenizer.merger(), bytes);
            len += 1;
            if len == LANES {
                self.merge_lanes(len);
                len = 0;
            }
        }
        self.merge_lanes(len);
    }

    fn merge_lanes(&mut self, len: usize) {
        let Tables { short, lanes, .. } = &mut *self.tables;
        let lanes = &mut lanes[..len];
        merge_together(&self.tokenizer.pairs, lanes);
        for lane in lanes {
            let key = lane.key;
            if !short.knows(key, key.hash()) {
                short.insert(key, key.hash(), lane.finish());
            }
        }
    }

    /// Append the tokens of all: those that a word tells, and the others.
    #[inline(always)]
    fn put(&mut self, pieces: &Collected, parts: Option<&mut Collected>) {
        #[cfg(target_arch = "x86_64")]
        match crate::x86::level() {
            // SAFETY: The processor has what it is compiled for.
            Level::Avx512 => return unsafe { self.put_by_avx512(pieces, parts) },
            // SAFETY: The processor has what it is compiled for.
            Level::Avx2 => return unsafe { self.put_by_avx2(pieces, parts) },
            Level::Base => {}
        }
        self.put_by(pieces, parts, packed::unpack);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    fn put_by_avx512(&mut self, pieces: &Collected, parts: Option<&mut Collected>) {
        self.put_by(pieces, parts, |words, room| packed::avx512::unpack(words, room));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn put_by_avx2(&mut self, pieces: &Collected, parts: Option<&mut Collected>) {
        self.put_by(pieces, parts, |words, room| packed::avx2::unpack(words, room));
    }

    #[inline(always)]
    fn put_by(
        &mut self,
        pieces: &Collected,
        mut parts: Option<&mut Collected>,
        unpack: impl Fn(&[Packed], &mut [MaybeUninit<TokenId>]) -> usize,
    ) {
        let Found { missed, missed_len, keys, words, .. } = &pieces.found;
        let mut next = 0;
        for ((&index, &(key, hash)), &words) in missed[..*missed_len].iter().zip(keys).zip(words) {
            let index = usize::from(index);
            self.put_known(pieces, next..index, &unpack);
            next = index + 1;
            let short = &self.tables.short;
            // Those that were not known may have been learned.
            if !short.append(words, self.out) && !short.get(key, hash, self.out) {
                let (start, end) = (pieces.bounds[index], pieces.bounds[next]);
                self.put_unknown(start, end, (key, hash), parts.as_deref_mut());
            }
        }
        self.put_known(pieces, next..pieces.len, &unpack);
    }

    /// Append the tokens of so many pieces that words tell, and note where texts end.
    #[inline(always)]
    fn put_known(
        &mut self,
        pieces: &Collected,
        mut range: Range<usize>,
        unpack: impl Fn(&[Packed], &mut [MaybeUninit<TokenId>]) -> usize,
    ) {
        let Collected { bounds, found: Found { tokens, .. }, .. } = pieces;
        while let Some(end) = self.texts.next_until(bounds[range.end]) {
            let pieces = &bounds[range.start..=range.end];
            let at = range.start + pieces.partition_point(|&bound| bound < end);
            // SAFETY: All that `put` hands on do what `packed::unpack` does.
            unsafe { packed::append(&tokens[range.start..at], self.out, &unpack) };
            self.texts.in_ids.push(self.out.len() as u64);
            range.start = at;
        }
        // SAFETY: As above.
        unsafe { packed::append(&tokens[range], self.out, &unpack) };
    }

    /// Append the tokens of a piece that the cache does not know, and remember them; it is a part
    /// itself if there are no `parts` to take it apart into.
    #[inline(never)]
    fn put_unknown(
        &mut self,
        start: usize,
        end: usize,
        (key, hash): (Short, u32),
        parts: Option<&mut Collected>,
    ) {
        let bytes = &self.text[start..end];
        let whole = self.tokenizer.whole_only(bytes);
        if let Some(id) = whole
            && parts.is_some()
        {
            return self.out.push(id);
        }
        let is_long = bytes.len() > Short::LONGEST;
        let hash = if is_long { hash::hash(bytes) } else { hash };
        if is_long && let Some(tokens) = self.tables.long.get(hash, bytes) {
            return self.out.extend_from_slice(tokens);
        }
        let before = self.out.len();
        let is_remembered = match parts {
            // Others are mostly words that occur again.
            Some(parts) if is_long || !bytes[0].is_ascii() => {
                self.put_in_parts(bytes, start, parts)
            }
            _ => {
                self.tokenizer.merge_piece(bytes, &mut self.tables.workspace, self.out);
                false
            }
        };
        if is_remembered || whole.is_some() {
            return;
        }
        let tokens = &self.out[before..];
        if is_long {
            self.tables.long.insert(hash, bytes, tokens);
        } else {
            self.tables.short.insert(key, hash, tokens);
        }
    }

    /// Append the tokens of the parts of a pretoken. Whether it is its only part, which is remembered
    /// as such.
    fn put_in_parts(&mut self, bytes: &[u8], start: usize, parts: &mut Collected) -> bool {
        self.worth_parts += usize::from(!bytes[0].is_ascii());
        parts.clear(start);
        self.push_parts(parts, start, &[start + bytes.len()]);
        let is_one = (parts.start(), parts.len) == (start, 1);
        self.look_up_parts(parts);
        is_one
    }
}
