//! The way from pretokens to tokens, many at a time.
//!
//! A pretoken that the front table does not know costs a look into a table that is larger than a
//! core's own cache. So pretokens are collected first, and each step is taken for all of them in
//! one short loop, so that a processor has many in hand at once and waits for the memory of all of
//! them together. Only what no table knows is merged.

use std::mem::MaybeUninit;

use super::{
    Tokenizer, cache::Cache, front, front::Front, long_cache::LongCache, merge::Workspace, packed,
    packed::Packed,
};
use crate::{
    error::Result,
    hash::{Short, first_bytes, hash},
    vocabulary::TokenId,
};

/// How many pieces are collected before they are looked up.
const COLLECTED: usize = 256;

/// Room for ids that are written in vain, behind the last ones.
pub(super) const SPARE_ROOM: usize = packed::TOKENS * COLLECTED;

/// What encoding carries from one text to the next.
#[derive(Debug)]
pub(super) struct Memory {
    tables: Tables,
    pretokens: Collected,
    parts: Collected,
    /// Whether pretokens are taken apart before they are looked up, since many had to be.
    in_parts: bool,
}

/// What is known of the tokens of pieces.
#[derive(Debug)]
struct Tables {
    front: Front,
    short: Cache,
    long: LongCache,
    workspace: Workspace,
}

/// Pretokens or parts of them, each of which starts where the one before ends.
#[derive(Debug)]
struct Collected {
    /// Where the first one starts.
    start: usize,
    ends: [usize; COLLECTED],
    /// Whether each is a part of a pretoken, out of which no merge reaches.
    is_part: [bool; COLLECTED],
    len: usize,
    /// The tokens of each, if a table told them.
    known: [Packed; COLLECTED],
    /// Those that the front table does not know.
    unknown: [Unknown; COLLECTED],
}

#[derive(Clone, Copy, Debug, Default)]
struct Unknown {
    start: usize,
    index: usize,
    key: Short,
    hash: u32,
}

impl Memory {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            tables: Tables {
                front: Front::default(),
                short: Cache::new()?,
                long: LongCache::default(),
                workspace: Workspace::default(),
            },
            pretokens: Collected::default(),
            parts: Collected::default(),
            in_parts: false,
        })
    }
}

impl Default for Collected {
    fn default() -> Self {
        Self {
            start: 0,
            ends: [0; COLLECTED],
            is_part: [false; COLLECTED],
            len: 0,
            known: [Packed::default(); COLLECTED],
            unknown: [Unknown::default(); COLLECTED],
        }
    }
}

impl Collected {
    /// Collect what ends here. Whether there is room for no more.
    #[inline(always)]
    fn push(&mut self, end: usize) -> bool {
        self.ends[self.len] = end;
        self.len += 1;
        self.len == COLLECTED
    }

    /// Begin anew at `start`.
    #[inline]
    fn clear(&mut self, start: usize) {
        (self.start, self.len) = (start, 0);
    }

    /// Where the last one ends.
    #[inline]
    fn end(&self) -> usize {
        self.ends[..self.len].last().copied().unwrap_or(self.start)
    }
}

/// Takes the pretokens of a text, in order, and appends their tokens.
pub(super) struct Pieces<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
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
        Self { tokenizer, text, memory, out }
    }

    /// The pretoken that starts where the one before ended, and is not empty.
    #[inline(always)]
    pub(super) fn push(&mut self, end: usize) {
        if self.memory.pretokens.push(end) {
            self.take();
        }
    }

    /// Append the tokens of what is still collected.
    pub(super) fn finish(mut self) {
        self.take();
    }

    #[inline(never)]
    fn take(&mut self) {
        let Self { tokenizer, text, memory, out } = self;
        let Memory { tables, pretokens, parts, in_parts } = &mut **memory;
        let mut lookup = Lookup { tokenizer, text, tables, out, taken_apart: 0 };
        if *in_parts {
            lookup.take_apart(pretokens, parts);
        } else {
            lookup.look_up(pretokens, Some(parts));
        }
        *in_parts = lookup.taken_apart > pretokens.len / 8;
        pretokens.clear(pretokens.end());
    }
}

struct Lookup<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    tables: &'a mut Tables,
    out: &'a mut Vec<TokenId>,
    /// How many pretokens came in parts.
    taken_apart: usize,
}

/// Whether a pretoken that is not known is taken apart where it can be. Others are mostly words
/// that occur again.
#[inline(always)]
fn is_apart(pretoken: &[u8]) -> bool {
    pretoken.len() > Short::LONGEST || !pretoken[0].is_ascii()
}

impl Lookup<'_> {
    /// Append the tokens of pretokens of which many come in parts.
    #[inline(never)]
    fn take_apart(&mut self, pretokens: &Collected, parts: &mut Collected) {
        let mut start = pretokens.start;
        parts.clear(start);
        for &end in &pretokens.ends[..pretokens.len] {
            if is_apart(&self.text[start..end]) {
                self.push_parts(parts, start, end);
            } else {
                parts.is_part[parts.len] = false;
                if parts.push(end) {
                    self.look_up_parts(parts);
                }
            }
            start = end;
        }
        self.look_up_parts(parts);
    }

    #[inline(never)]
    fn push_parts(&mut self, parts: &mut Collected, start: usize, end: usize) {
        let pretoken = &self.text[start..end];
        if let Some(id) = self.tokenizer.whole_only(pretoken) {
            self.look_up_parts(parts);
            self.out.push(id);
            return parts.clear(end);
        }
        self.taken_apart += 1;
        let tokenizer = self.tokenizer;
        tokenizer.seams.for_each_end(pretoken, |to, is_end| {
            // Written in any case: whether a part ends cannot be foreseen.
            parts.ends[parts.len] = start + to;
            parts.is_part[parts.len] = true;
            parts.len += usize::from(is_end);
            if parts.len == COLLECTED {
                self.look_up_parts(parts);
            }
        });
    }

    #[inline]
    fn look_up_parts(&mut self, parts: &mut Collected) {
        self.look_up(parts, None);
        parts.clear(parts.end());
    }

    /// Append the tokens of all pieces. By means of `parts`, those that nothing is known of are
    /// taken apart, if they are no parts themselves.
    #[inline(always)]
    fn look_up(&mut self, pieces: &mut Collected, parts: Option<&mut Collected>) {
        let unknown = self.look_in_front(pieces);
        let rest = self.look_behind(pieces, unknown);
        self.put(pieces, rest, parts);
    }

    /// Ask the front table. How many it does not know.
    #[inline(always)]
    fn look_in_front(&mut self, pieces: &mut Collected) -> usize {
        let Collected { start, ends, len, known, unknown, .. } = pieces;
        let (mut start, mut unknown_len) = (*start, 0);
        for (index, (&end, known)) in ends[..*len].iter().zip(known).enumerate() {
            let bytes = first_bytes::<8>(self.text, start);
            *known = self.tables.front.get(front::Key::of(bytes, end - start));
            // Written in any case: whether it is known cannot be foreseen.
            let next = &mut unknown[unknown_len % COLLECTED];
            (next.start, next.index) = (start, index);
            unknown_len += usize::from(known.is_nothing());
            start = end;
        }
        unknown_len
    }

    /// Ask the cache for so many that the front table does not know. How many have more tokens than
    /// one word holds, or are not known at all.
    #[inline(always)]
    fn look_behind(&mut self, pieces: &mut Collected, unknown: usize) -> usize {
        let Collected { ends, len, known, unknown: all, .. } = pieces;
        let (known, unknown) = (&mut known[..*len], &mut all[..unknown]);
        for Unknown { start, index, key, hash } in &mut *unknown {
            *key = Short::or_no_key(self.text, *start, ends[*index % COLLECTED]);
            *hash = key.hash();
            self.tables.short.prefetch(*hash);
        }
        let mut rest = 0;
        for at in 0..unknown.len() {
            let Unknown { index, key, hash, .. } = unknown[at];
            let packed = self.tables.short.get_packed(key, hash);
            known[index] = packed;
            // What occurs again is worth a place in front.
            if !packed.is_nothing() {
                self.tables.front.insert(front::Key::of_short(key), packed);
            }
            unknown[rest] = unknown[at];
            rest += usize::from(packed.is_nothing());
        }
        rest
    }

    /// Append the tokens of all, so many of which are not among the known ones.
    #[inline(always)]
    fn put(&mut self, pieces: &Collected, rest: usize, mut parts: Option<&mut Collected>) {
        let known = &pieces.known[..pieces.len];
        let mut next = 0;
        for unknown in &pieces.unknown[..rest] {
            let Unknown { start, index, key, hash } = *unknown;
            self.put_known(&known[next..index]);
            next = index + 1;
            if !self.tables.short.get(key, hash, self.out) {
                let bytes = &self.text[start..pieces.ends[index]];
                self.put_unknown(bytes, unknown, pieces.is_part[index], parts.as_deref_mut());
            }
        }
        self.put_known(&known[next..]);
    }

    #[inline(always)]
    fn put_known(&mut self, known: &[Packed]) {
        let most = packed::TOKENS * known.len();
        if self.out.capacity() - self.out.len() < most {
            self.out.reserve(most);
        }
        let mut filled = 0;
        let room = self.out.spare_capacity_mut();
        for known in known {
            let (tokens, count) = known.tokens();
            let place = room[filled..].first_chunk_mut().expect("room for all");
            *place = tokens.map(MaybeUninit::new);
            filled += count;
        }
        // SAFETY: So many tokens were written, one behind the other.
        unsafe { self.out.set_len(self.out.len() + filled) };
    }

    /// Append the tokens of a piece that the cache does not know.
    #[inline(never)]
    fn put_unknown(
        &mut self,
        bytes: &[u8],
        unknown: &Unknown,
        is_part: bool,
        parts: Option<&mut Collected>,
    ) {
        // The tables hold what merging gives, for parts and pretokens alike; so a pretoken that is
        // another token as a whole is in none of them.
        let whole = self.tokenizer.whole_only(bytes);
        if let Some(id) = whole
            && !is_part
        {
            return self.out.push(id);
        }
        let is_long = bytes.len() > Short::LONGEST;
        let hash = if is_long { hash(bytes) } else { unknown.hash };
        if is_long && let Some(tokens) = self.tables.long.get(hash, bytes) {
            return self.out.extend_from_slice(tokens);
        }
        let before = self.out.len();
        if let Some(parts) = parts
            && is_apart(bytes)
        {
            parts.clear(unknown.start);
            self.push_parts(parts, unknown.start, unknown.start + bytes.len());
            let is_one = (parts.start, parts.len) == (unknown.start, 1);
            self.look_up_parts(parts);
            if is_one {
                return;
            }
        } else {
            self.tokenizer.merge_piece(bytes, &mut self.tables.workspace, self.out);
        }
        let tokens = &self.out[before..];
        match whole {
            Some(_) => {}
            None if is_long => self.tables.long.insert(hash, bytes, tokens),
            None => self.tables.short.insert(unknown.key, hash, tokens),
        }
    }
}
