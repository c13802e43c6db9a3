//! A user's own regular expression.
//!
//! It is turned into an [`Automaton`] if it can be, else alternative by alternative as far as that
//! goes, else left to a backtracking engine. That engine defines what a pattern means: the others
//! are compared with it before they are used.

mod alternatives;
mod automaton;
mod backtracking;
mod check;
mod classes;
mod graph;

use fancy_regex::Expr;

use alternatives::Alternatives;
use automaton::Automaton;
pub(super) use backtracking::Backtracking;

use super::SafeCuts;
use crate::error::Result;

/// What finds the matches of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// Nothing is cut.
    None,
    /// Written for the scheme.
    Scanner,
    /// A table made from the pattern: linear time.
    Automaton,
    /// It goes back where the pattern asks for it: any pattern, slower, and it may give up.
    Backtracking,
}

impl Engine {
    /// The name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Scanner => "scanner",
            Self::Automaton => "automaton",
            Self::Backtracking => "backtracking",
        }
    }
}

/// A regular expression, compiled.
#[derive(Debug)]
pub struct UserPattern {
    source: String,
    compiled: Compiled,
    safe_cuts: SafeCuts,
}

#[derive(Debug)]
enum Compiled {
    Automaton(Box<Automaton>),
    Alternatives(Alternatives),
    Backtracking(Box<Backtracking>),
}

impl UserPattern {
    pub(crate) fn new(source: &str) -> Result<Self> {
        let oracle = Backtracking::new(source)?;
        let compiled = compiled(source, oracle);
        let safe_cuts = match &compiled {
            Compiled::Automaton(automaton) => automaton.safe_cuts(),
            Compiled::Alternatives(_) | Compiled::Backtracking(_) => SafeCuts::NONE,
        };
        Ok(Self { source: source.to_owned(), compiled, safe_cuts })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn engine(&self) -> Engine {
        match self.compiled {
            Compiled::Automaton(_) => Engine::Automaton,
            Compiled::Alternatives(_) | Compiled::Backtracking(_) => Engine::Backtracking,
        }
    }

    /// Whether it is known that no text lies between matches.
    pub(crate) fn covers_all_text(&self) -> bool {
        matches!(&self.compiled, Compiled::Automaton(automaton) if automaton.covers_all_text())
    }

    /// Whether the pattern matches the empty text.
    pub(crate) fn may_match_nothing(&self) -> Result<bool> {
        Ok(match &self.compiled {
            Compiled::Automaton(automaton) => automaton.match_at("", 0).is_some(),
            Compiled::Alternatives(alternatives) => alternatives.match_at("", 0)?.is_some(),
            Compiled::Backtracking(engine) => engine.match_at("", 0)?.is_some(),
        })
    }

    /// Where a text may be cut.
    pub(crate) fn safe_cuts(&self) -> SafeCuts {
        self.safe_cuts
    }

    /// Call `visit` with where each match, and each stretch between two, begins and ends, and
    /// whether it is a match: nothing is skipped.
    pub(crate) fn for_each(
        &self,
        text: &str,
        visit: &mut impl FnMut(usize, usize, bool),
    ) -> Result<()> {
        match &self.compiled {
            Compiled::Automaton(automaton) => {
                pieces(text, |at| Ok(automaton.match_at(text, at)), visit)
            }
            Compiled::Alternatives(alternatives) => {
                pieces(text, |at| alternatives.match_at(text, at), visit)
            }
            Compiled::Backtracking(engine) => engine.for_each(text, visit),
        }
    }
}

/// The fastest engine that cuts as `oracle` does.
fn compiled(source: &str, oracle: Backtracking) -> Compiled {
    let Ok(tree) = Expr::parse_tree(source) else {
        return Compiled::Backtracking(Box::new(oracle));
    };
    if let Some(automaton) = Automaton::new(&tree.expr)
        && check::agree(automaton.examples(), &oracle, |text, at| Ok(automaton.match_at(text, at)))
    {
        return Compiled::Automaton(Box::new(automaton));
    }
    if let Some(alternatives) = Alternatives::new(&tree.expr)
        && check::agree(alternatives.examples(), &oracle, |text, at| {
            alternatives.match_at(text, at)
        })
    {
        return Compiled::Alternatives(alternatives);
    }
    Compiled::Backtracking(Box::new(oracle))
}

/// Call `visit` with the matches that `match_at` finds and what lies between them. As in other
/// engines, an empty match ends the stretch before it.
#[inline]
fn pieces(
    text: &str,
    match_at: impl Fn(usize) -> Result<Option<usize>>,
    visit: &mut impl FnMut(usize, usize, bool),
) -> Result<()> {
    let (mut done, mut at) = (0, 0);
    while at < text.len() {
        let found = match_at(at)?;
        if found.is_some() && done < at {
            visit(done, at, false);
            done = at;
        }
        match found {
            Some(end) if end > at => {
                visit(at, end, true);
                (done, at) = (end, end);
            }
            _ => at += len_of_char(text.as_bytes()[at]),
        }
    }
    if done < text.len() {
        visit(done, text.len(), false);
    }
    Ok(())
}

/// The length of the character that begins with `lead`.
fn len_of_char(lead: u8) -> usize {
    match lead {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// What the pattern takes each character for, if it becomes a table.
#[cfg(test)]
pub(super) fn symbols_of(pattern: &str) -> Option<impl Fn(char) -> u8> {
    let automaton = Automaton::new(&Expr::parse_tree(pattern).ok()?.expr)?;
    Some(move |c| automaton.symbol(c))
}

#[cfg(test)]
mod tests;
