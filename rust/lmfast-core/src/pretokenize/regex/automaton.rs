//! A pattern as a table: from one state, by what kind of character comes next, to another.
//!
//! A state is the list of all places in the pattern where a backtracking engine could be after the
//! same characters, the one that it prefers first. A match is noted when the character after it is
//! read, so that the pattern may ask what that character is. Every character is read once for each
//! pretoken that reaches it.

use std::collections::HashMap;

use fancy_regex::Expr;

use super::{
    super::SafeCuts,
    classes::{Partition, Symbols},
    graph::{Graph, NodeId},
};

/// Beyond so many entries a pattern is left to the backtracking engine.
const LARGEST_TABLE: usize = 1 << 18;
const MATCHED: u32 = 1;
/// The row from which nothing can match.
const DEAD: usize = 0;

#[derive(Debug)]
pub(super) struct Automaton {
    symbols: Symbols,
    width: usize,
    start: usize,
    /// For each row and symbol: where the next row begins, and in the lowest bit whether the text
    /// before the symbol is a match.
    table: Vec<u32>,
    examples: Vec<Vec<char>>,
}

impl Automaton {
    /// The table of a pattern, or `None` where no table of reasonable size decides it in linear
    /// time.
    pub(super) fn new(expression: &Expr) -> Option<Self> {
        let graph = Graph::new(expression)?;
        let partition = Partition::new(&graph.classes)?;
        if !graph.possessive_is_greedy(&partition) {
            return None;
        }
        let width = partition.len();
        let (start, table) = Rows::of(&graph, &partition)?;
        let Partition { symbols, examples, .. } = partition;
        let automaton = Self { symbols, width, start, table, examples };
        (!automaton.may_fail_far_away()).then_some(automaton)
    }

    /// Where the match that begins at `start` ends.
    #[inline]
    pub(super) fn match_at(&self, text: &str, start: usize) -> Option<usize> {
        let (mut row, mut at, mut end) = (self.start, start, None);
        loop {
            let (symbol, len) = self.symbols.at(text, at);
            let entry = self.table[row + symbol as usize];
            if entry & MATCHED != 0 {
                end = Some(at);
            }
            row = (entry >> 1) as usize;
            if row == DEAD {
                return end;
            }
            at += len;
        }
    }

    /// Whether a match may begin with the character at `at`, or be empty there.
    #[inline]
    pub(super) fn may_begin(&self, text: &str, at: usize) -> bool {
        let (symbol, _) = self.symbols.at(text, at);
        self.table[self.start + symbol as usize] != 0
    }

    /// Characters that stand for all: those of one list are alike to the pattern.
    pub(super) fn examples(&self) -> &[Vec<char>] {
        &self.examples
    }

    #[cfg(test)]
    pub(super) fn symbol(&self, c: char) -> u8 {
        self.symbols.of(c)
    }

    fn next(&self, row: usize, symbol: usize) -> (usize, bool) {
        let entry = self.table[row + symbol];
        ((entry >> 1) as usize, entry & MATCHED != 0)
    }

    /// Whether an attempt may read any number of characters and match none: attempts at each of
    /// them would then take quadratic time.
    fn may_fail_far_away(&self) -> bool {
        // Rows that are reached without a match; a cycle among them has no end.
        let mut state = vec![Visit::New; self.table.len() / self.width];
        let mut path = vec![(self.start, 0)];
        while let Some((row, symbol)) = path.pop() {
            let number = row / self.width;
            if symbol == self.width {
                state[number] = Visit::Done;
                continue;
            }
            state[number] = Visit::OnPath;
            path.push((row, symbol + 1));
            let (next, matched) = self.next(row, symbol);
            if !matched && next != DEAD {
                match state[next / self.width] {
                    Visit::New => path.push((next, 0)),
                    Visit::OnPath => return true,
                    Visit::Done => {}
                }
            }
        }
        false
    }

    /// Whether the pattern matches some text at every character, whatever follows.
    pub(super) fn covers_all_text(&self) -> bool {
        (0..self.width - 1).all(|symbol| self.matches_any_that_begins_with(symbol))
    }

    fn matches_any_that_begins_with(&self, symbol: usize) -> bool {
        let (row, _) = self.next(self.start, symbol);
        row != DEAD && (0..self.width).all(|after| self.next(row, after).1)
    }

    /// Where a pretoken always ends, so that a text may be cut there.
    ///
    /// It ends between two characters where every row that the first leads to is left by the second
    /// for none, matches before the second if it matches at the end of the text, and where the
    /// first cannot lie between matches.
    pub(super) fn safe_cuts(&self) -> SafeCuts {
        let end = self.width - 1;
        let mut after = vec![vec![false; self.table.len() / self.width]; end];
        for row in (self.width..self.table.len()).step_by(self.width) {
            for (symbol, after) in after.iter_mut().enumerate() {
                after[self.next(row, symbol).0 / self.width] = true;
            }
        }
        SafeCuts::of_pattern(
            |c| self.symbols.of(c),
            |before, next| {
                let rows = after[before as usize].iter().enumerate();
                self.matches_any_that_begins_with(before as usize)
                    && rows.filter(|(row, leads)| **leads && *row > 0).all(|(row, _)| {
                        let (further, matches) = self.next(row * self.width, next as usize);
                        further == DEAD && matches == self.next(row * self.width, end).1
                    })
            },
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnPath,
    Done,
}

/// The rows found so far, each by its places in the pattern.
struct Rows {
    width: usize,
    known: HashMap<Vec<NodeId>, usize>,
    places: Vec<Vec<NodeId>>,
}

impl Rows {
    /// Where the first row begins, and all rows.
    fn of(graph: &Graph, partition: &Partition) -> Option<(usize, Vec<u32>)> {
        let width = partition.len();
        let mut rows = Self { width, known: HashMap::new(), places: Vec::new() };
        rows.number(Vec::new());
        let start = rows.number(vec![graph.start]);
        let mut table = vec![0; width];
        while let Some(places) = rows.places.get(table.len() / width).cloned() {
            for symbol in 0..width {
                let (after, matched) = graph.step(partition, &places, symbol);
                table.push((rows.number(after) as u32) << 1 | u32::from(matched));
            }
            if table.len() > LARGEST_TABLE {
                return None;
            }
        }
        Some((start, table))
    }

    fn number(&mut self, places: Vec<NodeId>) -> usize {
        *self.known.entry(places).or_insert_with_key(|places| {
            self.places.push(places.clone());
            (self.places.len() - 1) * self.width
        })
    }
}
