//! A pattern of which some alternatives need the backtracking engine and others do not.
//!
//! The first alternative that matches at a place is taken, so that each may be tried by an engine
//! of its own. That spares the backtracking engine the long runs of whitespace, which it could not
//! go back through.

use std::fmt::Write as _;

use fancy_regex::{Assertion, Expr, LookAround};

use super::{automaton::Automaton, backtracking::Backtracking};
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Alternatives {
    parts: Vec<Part>,
    examples: Vec<Vec<char>>,
}

#[derive(Debug)]
enum Part {
    Automaton(Automaton),
    Backtracking {
        engine: Backtracking,
        /// Matches what the alternative would match without its looks: where it does not begin, the
        /// alternative does not.
        may_begin: Automaton,
    },
}

impl Alternatives {
    /// `None` where the alternatives depend on each other, or none is simpler than the whole.
    pub(super) fn new(expression: &Expr) -> Option<Self> {
        let whole = match expression {
            Expr::Group(inner) => &**inner,
            other => other,
        };
        let Expr::Alt(alternatives) = whole else { return None };
        let mut parts = Vec::new();
        let mut simple: Vec<Expr> = Vec::new();
        for alternative in alternatives {
            if Automaton::new(alternative).is_some() {
                simple.push(alternative.clone());
                continue;
            }
            parts.extend(automaton_of(&mut simple)?);
            let mut pattern = String::new();
            write(alternative, &mut pattern)?;
            parts.push(Part::Backtracking {
                engine: Backtracking::new(&pattern).ok()?,
                may_begin: Automaton::new(&without_looks(alternative)?)?,
            });
        }
        parts.extend(automaton_of(&mut simple)?);
        // One table for all that the pattern tells apart, for the examples.
        let without = alternatives.iter().map(without_looks).collect::<Option<Vec<_>>>()?;
        let examples = Automaton::new(&Expr::Alt(without))?.examples().to_vec();
        parts
            .iter()
            .any(|part| matches!(part, Part::Automaton(_)))
            .then_some(Self { parts, examples })
    }

    pub(super) fn match_at(&self, text: &str, at: usize) -> Result<Option<usize>> {
        for part in &self.parts {
            let end = match part {
                Part::Automaton(automaton) => automaton.match_at(text, at),
                Part::Backtracking { engine, may_begin } if may_begin.may_begin(text, at) => {
                    engine.match_at(text, at)?
                }
                Part::Backtracking { .. } => None,
            };
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    pub(super) fn examples(&self) -> &[Vec<char>] {
        &self.examples
    }
}

/// One automaton of the alternatives that are taken from `simple`, if there are any; the outer
/// `None` where there is no such automaton.
#[expect(clippy::option_option, reason = "nothing to make is no failure to make it")]
fn automaton_of(simple: &mut Vec<Expr>) -> Option<Option<Part>> {
    if simple.is_empty() {
        return Some(None);
    }
    let automaton = Automaton::new(&Expr::Alt(std::mem::take(simple)))?;
    Some(Some(Part::Automaton(automaton)))
}

/// A pattern that matches wherever `expression` does, and needs no look around.
fn without_looks(expression: &Expr) -> Option<Expr> {
    let all = |parts: &[Expr]| parts.iter().map(without_looks).collect::<Option<Vec<_>>>();
    Some(match expression {
        Expr::LookAround(..) | Expr::Assertion(_) => Expr::Empty,
        Expr::AtomicGroup(inner) => without_looks(inner)?,
        Expr::Group(inner) => without_looks(inner)?,
        Expr::Concat(parts) => Expr::Concat(all(parts)?),
        Expr::Alt(parts) => Expr::Alt(all(parts)?),
        Expr::Repeat { child, lo, hi, greedy } => Expr::Repeat {
            child: Box::new(without_looks(child)?),
            lo: *lo,
            hi: *hi,
            greedy: *greedy,
        },
        Expr::Empty | Expr::Literal { .. } | Expr::Delegate { .. } | Expr::Any { .. } => {
            expression.clone()
        }
        _ => return None,
    })
}

/// Write `expression` as a pattern of its own, if no other part of the pattern matters to it.
fn write(expression: &Expr, out: &mut String) -> Option<()> {
    match expression {
        Expr::Group(inner) => group("(?:", inner, out),
        Expr::AtomicGroup(inner) => group("(?>", inner, out),
        Expr::LookAround(inner, LookAround::LookAhead) => group("(?=", inner, out),
        Expr::LookAround(inner, LookAround::LookAheadNeg) => group("(?!", inner, out),
        Expr::LookAround(inner, LookAround::LookBehind) => group("(?<=", inner, out),
        Expr::LookAround(inner, LookAround::LookBehindNeg) => group("(?<!", inner, out),
        Expr::Concat(parts) => parts.iter().try_for_each(|part| group("(?:", part, out)),
        Expr::Alt(parts) => parts.iter().enumerate().try_for_each(|(number, part)| {
            if number > 0 {
                out.push('|');
            }
            write(part, out)
        }),
        Expr::Repeat { child, lo, hi, greedy } => {
            group("(?:", child, out)?;
            let most = if *hi == usize::MAX { String::new() } else { hi.to_string() };
            let lazy = if *greedy { "" } else { "?" };
            write!(out, "{{{lo},{most}}}{lazy}").ok()
        }
        Expr::Empty
        | Expr::Literal { .. }
        | Expr::Delegate { .. }
        | Expr::Any { .. }
        | Expr::Assertion(
            Assertion::StartText
            | Assertion::EndText
            | Assertion::WordBoundary
            | Assertion::NotWordBoundary
            | Assertion::StartLine { .. }
            | Assertion::EndLine { .. },
        ) => {
            expression.to_str(out, 0);
            Some(())
        }
        _ => None,
    }
}

fn group(open: &str, inner: &Expr, out: &mut String) -> Option<()> {
    out.push_str(open);
    write(inner, out)?;
    out.push(')');
    Some(())
}
