//! The way from pretokens to tokens, many at a time.
//!
//! A pretoken that the front table does not know costs a look into a table that is larger than a
//! core's own cache. So pretokens are collected first, and the place of each in the table is asked
//! for; when there are enough, all are looked up, and the memory has come by then. Only what is not
//! found is merged.

use std::hint::select_unpredictable;

use super::{
    Tokenizer,
    cache::Cache,
    front::{self, Front, Packed},
    long_cache::LongCache,
    merge::Workspace,
};
use crate::{
    error::Result,
    hash::{Short, first_bytes, hash},
    vocabulary::TokenId,
};

/// How many pieces are collected before they are looked up.
const COLLECTED: usize = 256;

/// What encoding carries from one text to the next.
#[derive(Debug)]
pub(super) struct Memory {
    tables: Tables,
    collected: Collected,
    out: Out,
}

/// What is known of the tokens of pieces.
#[derive(Debug)]
struct Tables {
    front: Front,
    short: Cache,
    long: LongCache,
    workspace: Workspace,
    merged: Vec<TokenId>,
}

/// A pretoken, or a part of one that no merge reaches out of.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    start: usize,
    len: usize,
    is_part: bool,
}

/// A piece that the front table does not know.
#[derive(Clone, Copy, Debug, Default)]
struct Unknown {
    /// Its place among those collected.
    index: usize,
    /// All of it, if it is short.
    key: Short,
    hash: u32,
}

#[derive(Debug)]
struct Collected {
    /// Where each pretoken ends.
    ends: [usize; COLLECTED],
    /// How many there are.
    pretokens: usize,
    /// The pretokens, or their parts.
    pieces: [Piece; COLLECTED],
    len: usize,
    keys: [front::Key; COLLECTED],
    /// The tokens of each; nothing for those that the front table does not know.
    known: [Packed; COLLECTED],
    unknown: [Unknown; COLLECTED],
}

impl Memory {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            tables: Tables {
                front: Front::default(),
                short: Cache::new()?,
                long: LongCache::default(),
                workspace: Workspace::default(),
                merged: Vec::new(),
            },
            collected: Collected {
                ends: [0; COLLECTED],
                pretokens: 0,
                pieces: [Piece::default(); COLLECTED],
                len: 0,
                keys: [front::Key::default(); COLLECTED],
                known: [Packed::default(); COLLECTED],
                unknown: [Unknown::default(); COLLECTED],
            },
            out: Out::new(),
        })
    }
}

/// Takes the pretokens of a text, in order, and emits their tokens.
pub(super) struct Pieces<'a, E> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    memory: &'a mut Memory,
    emit: E,
    /// Where the first pretoken that is collected starts.
    start: usize,
}

impl<'a, E: FnMut(&[TokenId])> Pieces<'a, E> {
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        text: &'a [u8],
        memory: &'a mut Memory,
        emit: E,
    ) -> Self {
        // The text before this one may have ended early.
        (memory.collected.pretokens, memory.collected.len) = (0, 0);
        memory.out.filled = 0;
        Self { tokenizer, text, memory, emit, start: 0 }
    }

    /// The pretoken that starts where the one before ended, and is not empty.
    #[inline(always)]
    pub(super) fn push(&mut self, end: usize) {
        let collected = &mut self.memory.collected;
        collected.ends[collected.pretokens] = end;
        collected.pretokens += 1;
        if collected.pretokens == COLLECTED {
            self.take_pretokens();
        }
    }

    #[inline(never)]
    fn take_pretokens(&mut self) {
        let Collected { ends, pretokens, pieces, len, keys, .. } = &mut self.memory.collected;
        let first = self.start;
        let mut start = first;
        let mut apart = false;
        for ((&end, piece), key) in ends[..*pretokens].iter().zip(pieces).zip(keys) {
            let (bytes, length) = (first_bytes::<8>(self.text, start), end - start);
            apart |= is_apart(bytes[0], length);
            *key = front::Key::of(bytes, length);
            *piece = Piece { start, len: length, is_part: false };
            start = end;
        }
        (*len, self.start) = (std::mem::take(pretokens), start);
        if apart {
            self.take_apart(first);
        } else {
            self.look_up();
        }
    }

    /// The same for pretokens of which some come in parts.
    #[inline(never)]
    fn take_apart(&mut self, first: usize) {
        let collected = &mut self.memory.collected;
        let (ends, pretokens) = (collected.ends, std::mem::take(&mut collected.len));
        let mut start = first;
        for &end in &ends[..pretokens] {
            if is_apart(self.text[start], end - start) {
                self.push_parts(start, end);
            } else {
                self.collect(Piece { start, len: end - start, is_part: false });
            }
            start = end;
        }
        self.look_up_pieces();
    }

    #[inline(never)]
    fn push_parts(&mut self, start: usize, end: usize) {
        let tokenizer = self.tokenizer;
        let pretoken = &self.text[start..end];
        if let Some(id) = tokenizer.whole_only(pretoken) {
            self.look_up_pieces();
            return self.memory.out.put_all(&[id], &mut self.emit);
        }
        // Each part grows until it ends. Whether it does cannot be foreseen, so it is written in any
        // case, and written over if it goes on.
        let mut from = start;
        tokenizer.seams.for_each_end(pretoken, |to, ends| {
            let to = start + to;
            let collected = &mut self.memory.collected;
            collected.pieces[collected.len] = Piece { start: from, len: to - from, is_part: true };
            collected.len += usize::from(ends);
            from = select_unpredictable(ends, to, from);
            if collected.len == COLLECTED {
                self.look_up_pieces();
            }
        });
    }

    #[inline(always)]
    fn collect(&mut self, piece: Piece) {
        let collected = &mut self.memory.collected;
        collected.pieces[collected.len] = piece;
        collected.len += 1;
        if collected.len == COLLECTED {
            self.look_up_pieces();
        }
    }

    /// Emit the tokens of what is still collected.
    pub(super) fn finish(mut self) {
        self.take_pretokens();
        self.memory.out.flush(&mut self.emit);
    }

    #[inline]
    fn look_up_pieces(&mut self) {
        let Collected { pieces, len, keys, .. } = &mut self.memory.collected;
        for (key, piece) in keys.iter_mut().zip(&pieces[..*len]) {
            *key = front::Key::of(first_bytes(self.text, piece.start), piece.len);
        }
        self.look_up();
    }

    /// One short loop after the other, so that a processor has many pieces in hand at once and
    /// waits for the memory of all of them together.
    #[inline(never)]
    fn look_up(&mut self) {
        let Memory { tables, collected, out } = &mut *self.memory;
        let Collected { pieces, len, keys, known, unknown, .. } = collected;
        let (pieces, known) = (&pieces[..*len], &mut known[..*len]);
        *len = 0;
        let mut unknown_len = 0;
        for (index, (known, &key)) in known.iter_mut().zip(&*keys).enumerate() {
            *known = tables.front.get(key);
            unknown[unknown_len % COLLECTED].index = index;
            unknown_len += usize::from(known.is_nothing());
        }
        let unknown = &mut unknown[..unknown_len];
        for unknown in &mut *unknown {
            let Piece { start, len, .. } = pieces[unknown.index];
            let end = start + len;
            if let Some(key) = Short::of(self.text, start, end) {
                unknown.key = key;
                unknown.hash = key.hash();
                tables.short.prefetch(unknown.hash);
            } else {
                unknown.hash = hash(&self.text[start..end]);
            }
        }
        let mut next = 0;
        for unknown in &*unknown {
            out.put_known(&known[next..unknown.index], &mut self.emit);
            next = unknown.index + 1;
            let piece = pieces[unknown.index];
            tables.take(self.tokenizer, self.text, piece, unknown, out, &mut self.emit);
        }
        out.put_known(&known[next..], &mut self.emit);
    }
}

/// Whether a pretoken is taken apart where it can be. Others are mostly words that occur again.
#[inline(always)]
fn is_apart(first: u8, len: usize) -> bool {
    !first.is_ascii() || len > Short::LONGEST
}

impl Tables {
    /// Emit the tokens of a piece.
    #[inline(always)]
    fn take(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        piece: Piece,
        unknown: &Unknown,
        out: &mut Out,
        emit: &mut impl FnMut(&[TokenId]),
    ) {
        let bytes = &text[piece.start..piece.start + piece.len];
        if bytes.len() > Short::LONGEST {
            return self.take_long(tokenizer, bytes, unknown.hash, out, emit);
        }
        if !piece.is_part
            && let Some(id) = tokenizer.whole_only(bytes)
        {
            return out.put_all(&[id], emit);
        }
        let room = out.room(emit);
        let count = self.short.get(unknown.key, unknown.hash, room);
        if count > 0 {
            self.promote(tokenizer, bytes, &room[..count]);
            out.filled += count;
            return;
        }
        self.merge(tokenizer, bytes);
        self.short.insert(unknown.key, unknown.hash, &self.merged);
        out.put_all(&self.merged, emit);
    }

    #[cold]
    fn take_long(
        &mut self,
        tokenizer: &Tokenizer,
        bytes: &[u8],
        hash: u32,
        out: &mut Out,
        emit: &mut impl FnMut(&[TokenId]),
    ) {
        if let Some(tokens) = self.long.get(hash, bytes) {
            return out.put_all(tokens, emit);
        }
        self.merge(tokenizer, bytes);
        self.long.insert(hash, bytes, &self.merged);
        out.put_all(&self.merged, emit);
    }

    #[cold]
    fn merge(&mut self, tokenizer: &Tokenizer, bytes: &[u8]) {
        self.merged.clear();
        tokenizer.merge_piece(bytes, &mut self.workspace, &mut self.merged);
    }

    /// What occurs again is worth a place in front; but not a token that merging does not give,
    /// which a pretoken may be and a part of one may not.
    #[inline]
    fn promote(&mut self, tokenizer: &Tokenizer, bytes: &[u8], tokens: &[TokenId]) {
        let key = front::Key::of(first_bytes(bytes, 0), bytes.len());
        if !key.is_nothing()
            && let Some(tokens) = Packed::of(tokens)
            && tokenizer.whole_only(bytes).is_none()
        {
            self.front.insert(key, tokens);
        }
    }
}

/// Tokens on their way out, many at a time.
#[derive(Debug)]
struct Out {
    ids: Box<[TokenId]>,
    filled: usize,
}

impl Out {
    const LEN: usize = 1024;
    /// The most tokens that a short piece has, and one more for those that are written in vain.
    const ROOM: usize = Short::LONGEST + 1;

    fn new() -> Self {
        Self { ids: vec![0; Self::LEN].into(), filled: 0 }
    }

    /// Where the tokens of one short piece find room.
    #[inline(always)]
    fn room(&mut self, emit: &mut impl FnMut(&[TokenId])) -> &mut [TokenId] {
        if self.filled > Self::LEN - Self::ROOM {
            self.flush(emit);
        }
        &mut self.ids[self.filled..]
    }

    /// The tokens of no more than `COLLECTED` pretokens.
    #[inline(always)]
    fn put_known(&mut self, known: &[Packed], emit: &mut impl FnMut(&[TokenId])) {
        if self.filled + front::TOKENS * (known.len() + 1) > Self::LEN {
            self.flush(emit);
        }
        let (ids, mut filled) = (&mut self.ids[..], self.filled);
        for known in known {
            let (tokens, count) = known.tokens();
            ids[filled..filled + front::TOKENS].copy_from_slice(&tokens);
            filled += count;
        }
        self.filled = filled;
    }

    fn put_all(&mut self, tokens: &[TokenId], emit: &mut impl FnMut(&[TokenId])) {
        self.flush(emit);
        emit(tokens);
    }

    fn flush(&mut self, emit: &mut impl FnMut(&[TokenId])) {
        emit(&self.ids[..self.filled]);
        self.filled = 0;
    }
}
