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

use std::mem::MaybeUninit;

use super::{
    Tokenizer, cache::Cache, front, front::Front, long_cache::LongCache, merge::Workspace, packed,
    packed::Packed, seams::begins_character,
};
use crate::{
    error::Result,
    hash::{Short, first_bytes, hash},
    pretokenize::Ends,
    vocabulary::TokenId,
};

/// How many pieces are collected at most.
const COLLECTED: usize = 256;
/// They are looked up when there are so many: one more word of places, or eight more parts, might not
/// find room.
const ENOUGH: usize = COLLECTED - u64::BITS as usize;

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
///
/// All of it is what merging gives, for parts and pretokens alike; so a pretoken that is another token
/// as a whole (`Tokenizer::whole_only`) is nowhere.
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
    len: usize,
    keys: [front::Key; COLLECTED],
    /// The tokens of each, if a table told them.
    known: [Packed; COLLECTED],
    /// Those that the front table does not know, then those that no word of the cache tells.
    misses: [Miss; COLLECTED],
}

#[derive(Clone, Copy, Debug, Default)]
struct Miss {
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
            len: 0,
            keys: [front::Key::default(); COLLECTED],
            known: [Packed::default(); COLLECTED],
            misses: [Miss::default(); COLLECTED],
        }
    }
}

impl Collected {
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

    /// Append the tokens of what is still collected.
    pub(super) fn finish(mut self) {
        self.flush();
    }

    #[inline(never)]
    fn flush(&mut self) {
        let Self { tokenizer, text, memory, out } = self;
        let Memory { tables, pretokens, parts, in_parts } = &mut **memory;
        let mut lookup = Lookup { tokenizer, text, tables, out, worth_parts: 0 };
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
        pretokens.ends[pretokens.len] = end;
        pretokens.len += 1;
        if pretokens.len >= ENOUGH {
            self.flush();
        }
    }

    #[inline(always)]
    fn push_all(&mut self, base: usize, mut places: u64) {
        let pretokens = &mut self.memory.pretokens;
        let mut len = pretokens.len;
        while places != 0 {
            pretokens.ends[len] = base + places.trailing_zeros() as usize;
            places &= places - 1;
            len += 1;
        }
        pretokens.len = len;
        if len >= ENOUGH {
            self.flush();
        }
    }
}

struct Lookup<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    tables: &'a mut Tables,
    out: &'a mut Vec<TokenId>,
    /// How many pretokens came in parts, long ones of ASCII left out: these are rare.
    worth_parts: usize,
}

impl Lookup<'_> {
    /// Append the tokens of pretokens of which many come in parts.
    #[inline(never)]
    fn take_apart(&mut self, pretokens: &Collected, parts: &mut Collected) {
        let ends = &pretokens.ends[..pretokens.len];
        parts.clear(pretokens.start);
        if self.come_apart_at_once(pretokens.start, ends) {
            self.push_parts(parts, pretokens.start, ends);
            return self.look_up_parts(parts);
        }
        let mut start = pretokens.start;
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

    /// Whether no pretoken can be a token as a whole only, and all begin with characters. Counts those
    /// that are worth it.
    fn come_apart_at_once(&mut self, mut start: usize, ends: &[usize]) -> bool {
        let mut at_once = self.tokenizer.whole_only.is_empty();
        for &end in ends {
            let first = self.text[start];
            self.worth_parts += usize::from(!first.is_ascii());
            at_once &= begins_character(first);
            start = end;
        }
        at_once
    }

    /// Collect the parts of the pretokens that end at `ends`.
    #[inline(always)]
    fn push_parts(&mut self, parts: &mut Collected, start: usize, ends: &[usize]) {
        let Self { tokenizer, text, .. } = *self;
        let mut of_pretokens = tokenizer.seams.parts(text, start, ends);
        loop {
            parts.len += of_pretokens.next_ends(&mut parts.ends[parts.len..]);
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
        let misses = self.look_in_front(pieces);
        let misses = self.look_in_cache(pieces, misses);
        self.put(pieces, misses, parts);
    }

    /// Ask the front table. How many it does not know.
    #[inline(always)]
    fn look_in_front(&mut self, pieces: &mut Collected) -> usize {
        let Collected { start, ends, len, keys, known, misses } = pieces;
        let (ends, mut start) = (&ends[..*len], *start);
        for (&end, key) in ends.iter().zip(&mut *keys) {
            *key = front::Key::of(first_bytes(self.text, start), end - start);
            self.tables.front.prefetch(*key);
            start = end;
        }
        let mut missed = 0;
        for (index, (&key, known)) in keys[..*len].iter().zip(known).enumerate() {
            *known = self.tables.front.get(key);
            // Written in any case: whether it is known cannot be foreseen. The remainder is the number
            // itself, and tells the compiler that there is room.
            misses[missed % COLLECTED].index = index;
            missed += usize::from(known.is_nothing());
        }
        missed
    }

    /// Ask the cache for so many that the front table does not know. How many have more tokens than
    /// one word holds, or are not known at all.
    #[inline(always)]
    fn look_in_cache(&mut self, pieces: &mut Collected, missed: usize) -> usize {
        let Collected { ends, len, known, misses, .. } = pieces;
        let (known, misses) = (&mut known[..*len], &mut misses[..missed]);
        for Miss { start, index, key, hash } in &mut *misses {
            *start = if *index == 0 { pieces.start } else { ends[*index - 1] };
            *key = Short::or_no_key(self.text, *start, ends[*index]);
            *hash = key.hash();
            self.tables.short.prefetch(*hash);
        }
        let mut missed = 0;
        for at in 0..misses.len() {
            let Miss { index, key, hash, .. } = misses[at];
            let packed = self.tables.short.get_packed(key, hash);
            known[index] = packed;
            // What occurs again is worth a place in front.
            if !packed.is_nothing() {
                self.tables.front.insert(front::Key::of_short(key), packed);
            }
            misses[missed] = misses[at];
            missed += usize::from(packed.is_nothing());
        }
        missed
    }

    /// Append the tokens of all: those that are known, and those of so many misses.
    #[inline(always)]
    fn put(&mut self, pieces: &Collected, missed: usize, mut parts: Option<&mut Collected>) {
        let known = &pieces.known[..pieces.len];
        let mut next = 0;
        for miss in &pieces.misses[..missed] {
            self.put_known(&known[next..miss.index]);
            next = miss.index + 1;
            if !self.tables.short.get(miss.key, miss.hash, self.out) {
                let bytes = &self.text[miss.start..pieces.ends[miss.index]];
                self.put_miss(bytes, miss, parts.as_deref_mut());
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
        // SAFETY: The first `filled` places of the room are written, since each token is written
        // where the count before ended; and the room has as many, or writing would have panicked.
        unsafe { self.out.set_len(self.out.len() + filled) };
    }

    /// Append the tokens of a piece that the cache does not know, and remember them; it is a part
    /// itself if there are no `parts` to take it apart into.
    #[inline(never)]
    fn put_miss(&mut self, bytes: &[u8], miss: &Miss, parts: Option<&mut Collected>) {
        let whole = self.tokenizer.whole_only(bytes);
        if let Some(id) = whole
            && parts.is_some()
        {
            return self.out.push(id);
        }
        let is_long = bytes.len() > Short::LONGEST;
        let hash = if is_long { hash(bytes) } else { miss.hash };
        if is_long && let Some(tokens) = self.tables.long.get(hash, bytes) {
            return self.out.extend_from_slice(tokens);
        }
        let before = self.out.len();
        let is_remembered = match parts {
            // Others are mostly words that occur again.
            Some(parts) if is_long || !bytes[0].is_ascii() => {
                self.put_in_parts(bytes, miss.start, parts)
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
            self.tables.short.insert(miss.key, hash, tokens);
        }
    }

    /// Append the tokens of the parts of a pretoken. Whether it is its only part, which is remembered
    /// as such.
    fn put_in_parts(&mut self, bytes: &[u8], start: usize, parts: &mut Collected) -> bool {
        self.worth_parts += usize::from(!bytes[0].is_ascii());
        parts.clear(start);
        self.push_parts(parts, start, &[start + bytes.len()]);
        let is_one = (parts.start, parts.len) == (start, 1);
        self.look_up_parts(parts);
        is_one
    }
}
