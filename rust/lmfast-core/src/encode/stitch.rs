//! Merging a long piece in windows that are stitched together.
//!
//! Where no merge reaches across the place where two tokens meet if these two are merged alone, none
//! does in a longer text either, and the other way round. For what is merged next is the pair of the
//! lowest rank, the leftmost of several, so the merges on the two sides of a place come in the same
//! order whatever else is merged elsewhere; the pair across that place is the lowest at some time in
//! the longer text exactly if it is in the two tokens alone. (That holds for any ranks.) So tokens are
//! the result of merging exactly if each two neighbours are.
//!
//! Hence two stretches of a piece that overlap may be merged apart. If both results have one token in
//! common, at the same place, then the first up to this token and the second from there on are what
//! merging gives for both stretches together: each two neighbours stand in one of the results.
//!
//! A window of some bytes is merged as fast as a word, and nearly always has a token in common with
//! the one before that it overlaps. Where it has none, the window is widened, at worst to the whole
//! piece. Segments of a very long piece are worked on in step, window by window, so that a processor
//! waits for the memory of all of them together, and stitched together at the end.

use super::{
    heap,
    lane::{self, Lane, merge_together},
    merge::{Merger, merge_short},
};
use crate::vocabulary::{TokenId, Vocabulary};

/// Bytes of a window.
const WINDOW: usize = if cfg!(test) { 8 } else { lane::LONGEST };
/// A window begins with a token that begins at least so many bytes before the end of the last one.
const OVERLAP: usize = if cfg!(test) { 3 } else { 8 };
/// Segments that are worked on in step.
const SEGMENTS: usize = 8;
/// A segment is worth its overlap with the next one from so many bytes on.
const SEGMENT: usize = if cfg!(test) { 20 } else { 512 };

/// Wide windows that are remembered.
const RECENT: usize = 4;
/// Memory for longer pieces is given back.
const KEPT: usize = if cfg!(test) { 200 } else { 1 << 16 };

/// Memory that is used again from one piece to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    segments: [Segment; SEGMENTS],
    lanes: [Lane<{ lane::LONGEST }, usize>; SEGMENTS],
    wide: Wide,
}

/// What wide windows are merged in.
#[derive(Debug, Default)]
struct Wide {
    /// The last windows of some widths: runs of long tokens have the same ones again and again.
    recent: [Window; RECENT],
    /// Which of them is the oldest.
    oldest: usize,
    bytes: Vec<TokenId>,
    heap: heap::Workspace,
}

/// A stretch of a piece, and the tokens of its first bytes.
#[derive(Debug, Default)]
struct Segment {
    start: usize,
    end: usize,
    /// What merging gives for the bytes from `start` to `done`.
    tokens: Vec<TokenId>,
    done: usize,
    /// The last window, and its tokens: repetitive text has many of the same.
    last: Window,
}

#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    tokens: Vec<TokenId>,
}

/// A token of a segment: its number, and where in the piece it begins.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    start: usize,
}

/// Append the tokens of `piece` to `out`.
pub(super) fn merge(
    merger: Merger<'_>,
    piece: &[u8],
    workspace: &mut Workspace,
    out: &mut Vec<TokenId>,
) {
    let Workspace { segments, lanes, wide } = workspace;
    let count = (piece.len() / SEGMENT).clamp(1, SEGMENTS);
    let segments = &mut segments[..count];
    for (index, segment) in segments.iter_mut().enumerate() {
        let start_of = |index: usize| piece.len() / count * index;
        let is_last = index + 1 == count;
        let end = if is_last { piece.len() } else { start_of(index + 1) + 2 * OVERLAP };
        segment.begin(start_of(index), end);
    }
    loop {
        let mut open = 0;
        for (index, segment) in segments.iter_mut().enumerate() {
            if let Some(window) = segment.next_window(merger, piece, wide) {
                let lane = &mut lanes[open];
                lane.key = index;
                lane.begin(merger, window);
                open += 1;
            }
        }
        if open == 0 {
            break;
        }
        merge_together(merger.pairs, &mut lanes[..open]);
        for lane in &mut lanes[..open] {
            segments[lane.key].take(merger, piece, lane.finish(), wide);
        }
    }
    let (first, others) = segments.split_first_mut().expect("one at least");
    for other in others {
        first.join(other, merger, piece, &mut lanes[0], wide);
    }
    out.append(&mut first.tokens);
    if piece.len() > KEPT {
        *workspace = Workspace::default();
    }
}

impl Segment {
    fn begin(&mut self, start: usize, end: usize) {
        self.tokens.clear();
        (self.start, self.end, self.done) = (start, end, start);
    }

    /// The last token that begins at `limit` or before; the first one where none does.
    fn place(&self, vocabulary: &Vocabulary, limit: usize) -> Place {
        let (mut index, mut start) = (self.tokens.len(), self.done);
        while index > 0 && start > limit {
            index -= 1;
            start -= vocabulary.token_len(self.tokens[index]);
        }
        Place { index, start }
    }

    /// Where the next window begins; `None` where the tokens are too long for one.
    fn next_start(&self, vocabulary: &Vocabulary) -> Option<Place> {
        let place = self.place(vocabulary, self.done.saturating_sub(OVERLAP));
        (self.done < place.start + WINDOW).then_some(place)
    }

    /// The bytes of the next window; `None` where the segment is done.
    fn next_window<'p>(
        &mut self,
        merger: Merger<'_>,
        piece: &'p [u8],
        wide: &mut Wide,
    ) -> Option<&'p [u8]> {
        while self.done < self.end {
            let Some(place) = self.next_start(merger.vocabulary) else {
                self.take_wide(merger, piece, wide);
                continue;
            };
            let window = &piece[place.start..self.end.min(place.start + WINDOW)];
            if window != self.last.bytes {
                return Some(window);
            }
            let (last, end) = (std::mem::take(&mut self.last), place.start + window.len());
            let has_common = self.stitch(merger.vocabulary, place, &last.tokens, end);
            self.last = last;
            if !has_common {
                self.take_wide(merger, piece, wide);
            }
        }
        None
    }

    /// Go on with what merging gave for the next window.
    fn take(&mut self, merger: Merger<'_>, piece: &[u8], tokens: &[TokenId], wide: &mut Wide) {
        let place = self.next_start(merger.vocabulary).expect("there was a window");
        let end = self.end.min(place.start + WINDOW);
        if !self.stitch(merger.vocabulary, place, tokens, end) {
            return self.take_wide(merger, piece, wide);
        }
        self.last.set(&piece[place.start..end], tokens);
    }

    /// Go on with a window as wide as it must be.
    fn take_wide(&mut self, merger: Merger<'_>, piece: &[u8], wide: &mut Wide) {
        // Tokens that are too long for a window are often longer than two.
        let mut width = 2 * WINDOW;
        loop {
            let place = self.place(merger.vocabulary, self.done.saturating_sub(width));
            // As far ahead as back: the token that a window begins with may be much longer than it.
            let end = self.end.min(self.done + width.max(self.done - place.start));
            let tokens = wide.merge(merger, &piece[place.start..end]);
            if self.stitch(merger.vocabulary, place, tokens, end) {
                return;
            }
            width *= 2;
        }
    }

    /// Go on with `tokens`, which merging gives for the bytes from `place` to `end`, behind the first
    /// one of them that is there. Whether there is one.
    fn stitch(
        &mut self,
        vocabulary: &Vocabulary,
        place: Place,
        tokens: &[TokenId],
        end: usize,
    ) -> bool {
        let (index, other) = match self.common(vocabulary, place, tokens, place.start) {
            Some(common) => common,
            // They are the tokens of the segment from its start.
            None if place.index == 0 => (0, 0),
            None => return false,
        };
        self.tokens.truncate(index);
        self.tokens.extend_from_slice(&tokens[other..]);
        self.done = end;
        true
    }

    /// Of the tokens from `place` on and of `others`, which begin at `start`, the first that both have
    /// at the same place: its number in each.
    fn common(
        &self,
        vocabulary: &Vocabulary,
        Place { mut index, start: mut at }: Place,
        others: &[TokenId],
        start: usize,
    ) -> Option<(usize, usize)> {
        let (mut other, mut other_at) = (0, start);
        while let (Some(&token), Some(&other_token)) = (self.tokens.get(index), others.get(other)) {
            if (at, token) == (other_at, other_token) {
                return Some((index, other));
            }
            if at <= other_at {
                (index, at) = (index + 1, at + vocabulary.token_len(token));
            } else {
                (other, other_at) = (other + 1, other_at + vocabulary.token_len(other_token));
            }
        }
        None
    }

    /// Go on with the tokens of `next`, which begins before this one ends.
    fn join(
        &mut self,
        next: &Self,
        merger: Merger<'_>,
        piece: &[u8],
        lane: &mut Lane<{ lane::LONGEST }, usize>,
        wide: &mut Wide,
    ) {
        let vocabulary = merger.vocabulary;
        self.end = next.end;
        let (mut from, mut others, mut at) = (next.start, &next.tokens[..], next.start);
        loop {
            let place = self.place(vocabulary, from);
            while at < place.start
                && let Some((&before, rest)) = others.split_first()
            {
                (others, at) = (rest, at + vocabulary.token_len(before));
            }
            if let Some((index, other)) = self.common(vocabulary, place, others, at) {
                self.tokens.truncate(index);
                self.tokens.extend_from_slice(&others[other..]);
                self.done = next.done;
                return;
            }
            from = self.done.saturating_sub(OVERLAP);
            let Some(window) = self.next_window(merger, piece, wide) else { return };
            self.take(merger, piece, merge_short(merger, window, lane), wide);
        }
    }
}

impl Window {
    fn set(&mut self, bytes: &[u8], tokens: &[TokenId]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.tokens.clear();
        self.tokens.extend_from_slice(tokens);
    }
}

impl Wide {
    /// What merging gives for `bytes`.
    fn merge(&mut self, Merger { pairs, vocabulary }: Merger<'_>, bytes: &[u8]) -> &[TokenId] {
        if let Some(known) = self.recent.iter().position(|window| window.bytes == bytes) {
            return &self.recent[known].tokens;
        }
        self.bytes.clear();
        self.bytes.extend(bytes.iter().map(|&byte| vocabulary.byte_ids()[usize::from(byte)]));
        let window = &mut self.recent[self.oldest];
        self.oldest = (self.oldest + 1) % RECENT;
        window.set(bytes, &[]);
        heap::merge(pairs, &mut self.bytes, &mut self.heap, &mut window.tokens);
        &window.tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encode::{merge::tests::oracle, pairs::PairRanks};

    /// The bytes, then some tokens over three letters whose ids are in any order: ranks by which a
    /// merge may come before those of its parts, and which pairs share.
    fn vocabulary() -> impl Strategy<Value = Vocabulary> {
        let tokens = proptest::collection::btree_set("[abc]{2,6}|a{7,30}|(ab){4,9}", 0..30);
        tokens.prop_map(Vec::from_iter).prop_shuffle().prop_map(|tokens| {
            let bytes = (0..=255u8).map(|byte| vec![byte]);
            let all: Vec<_> = bytes.chain(tokens.into_iter().map(String::into_bytes)).collect();
            let ranks: Vec<_> = all.into_iter().zip(0..).collect();
            Vocabulary::from_ranks(&ranks).unwrap()
        })
    }

    /// Random letters, and repetitions with something between them.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let random = proptest::collection::vec(97u8..100, 1..300);
        let repeated = (proptest::collection::vec(97u8..100, 1..9), 1usize..60)
            .prop_map(|(part, times)| part.repeat(times));
        let some = prop_oneof![random, repeated];
        proptest::collection::vec(some, 1..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn windows_give_what_the_whole_gives(
            vocabulary in vocabulary(),
            texts in proptest::collection::vec(text(), 1..4),
        ) {
            let pairs = PairRanks::new(vocabulary.merges(), vocabulary.byte_ids());
            let merger = Merger { pairs: &pairs, vocabulary: &vocabulary };
            let mut workspace = Workspace::default();
            for text in &texts {
                let mut out = vec![7];
                merge(merger, text, &mut workspace, &mut out);
                let bytes = text.iter().map(|&byte| byte.into()).collect();
                prop_assert_eq!(&out[1..], &oracle(&pairs, bytes));
            }
        }
    }
}
