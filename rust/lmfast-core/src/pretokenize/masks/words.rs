//! What cl100k's and o200k's patterns, and those made after them, have in common.

use super::{
    BLOCK, Window,
    bits::{Adder, Bits, places, run_end, run_start, shifted},
};

/// Rules by which a pretoken starts
///
/// * where a run of letters does, or at the whitespace but newlines, or the only symbol, before it;
/// * at each number, or at each third one of a run;
/// * where a run of symbols does, or at the blank before it; newlines behind it belong to it;
/// * where a run of whitespace does, behind its last newline, and at its last character before
///   anything else if that is no newline.
pub(super) trait Words {
    /// Whether marks are letters.
    const MARKS: bool;
    /// Numbers in a pretoken.
    const NUMBERS: usize;
    /// Whether slashes among the newlines behind symbols belong to the symbols.
    const SLASHES: bool;
    /// Whether whitespace that ends the text is one pretoken.
    const KEEPS_FINAL_SPACES: bool;
}

/// Set `window.starts`. Newlines and slashes behind symbols are no longer whitespace nor newlines
/// afterwards, and marks may have become letters.
#[inline(always)]
pub(super) fn starts<W: Words>(window: &mut Window, bytes: &[u8]) {
    let (mut symbol_before, mut own_symbol_before, mut first_before) = (0, 0, 0);
    let (mut tails, mut characters) = (Adder::default(), Adder::default());
    window.starts = Bits::default();
    for at in 0..window.blocks() {
        if W::MARKS {
            window.letter[at] |= window.mark[at];
        }
        let (letter, number) = (window.letter[at], window.number[at]);
        let symbol = !(letter | number | window.white[at]) & window.valid(at);
        let symbol_behind = shifted(symbol, &mut symbol_before);

        // What belongs to the symbols before it: runs of newlines from behind a symbol on.
        let may_follow = window.newline[at] | if W::SLASHES { window.slash[at] } else { 0 };
        let follows = window.newline[at] & symbol_behind;
        let tail = may_follow & (!tails.add(may_follow, follows) | follows);
        window.white[at] &= !tail;
        window.newline[at] &= !tail;

        let own_symbol = symbol & !tail;
        let symbols =
            own_symbol & !shifted(own_symbol, &mut own_symbol_before) & !window.blank.behind(at);
        let behind_first = shifted(symbols, &mut first_before);
        let inner = window.inner[at];
        let behind_first = characters.add(inner, behind_first) & !inner;
        let (white, newline) = (window.white[at], window.newline[at]);
        let space = white & !newline;
        let (white_behind, newline_behind) = (window.white.behind(at), window.newline.behind(at));
        let words =
            letter & !window.letter.behind(at) & !(white_behind & !newline_behind) & !behind_first;
        let number_starts = number & !window.number.behind(at);
        let lines = white & !white_behind | space & newline_behind;
        window.starts[at] |= symbols | words | number_starts | lines;
        window.start_at_last_white(at, space, bytes);
        for place in places(at, newline & white_behind & !newline_behind) {
            join_line(window, place);
        }
        if W::NUMBERS == 1 {
            window.starts[at] |= number & !inner;
        } else {
            let ahead = |count: usize| number >> count | window.number[at + 1] << (BLOCK - count);
            for place in places(at, number_starts & ahead(1) & ahead(2) & ahead(3)) {
                start_at_each::<W>(window, place);
            }
        }
    }
    end_with_space::<W>(window);
}

/// Take back the start behind a newline where spaces reach from there to `end`.
fn join_line(window: &mut Window, end: usize) {
    let start = run_start(end - 1, |block| window.white[block] & !window.newline[block]);
    if start > 0 && window.newline.has(start - 1) {
        window.starts.clear(start);
    }
}

/// Whether more newlines follow the spaces that end the window decides where they start.
#[inline]
fn end_with_space<W: Words>(window: &mut Window) {
    let last = window.len - 1;
    let ends_with_space = window.white.has(last) && !window.newline.has(last);
    if ends_with_space && (!window.is_last || W::KEEPS_FINAL_SPACES) {
        join_line(window, window.len);
    }
}

/// Starts at each `W::NUMBERS` of the run of numbers from `place` on.
fn start_at_each<W: Words>(window: &mut Window, mut place: usize) {
    let end = run_end(place, |block| window.number[block]);
    while place < end {
        window.starts.set(place);
        for _ in 0..W::NUMBERS {
            place += 1;
            while window.inner.has(place) {
                place += 1;
            }
        }
    }
}
