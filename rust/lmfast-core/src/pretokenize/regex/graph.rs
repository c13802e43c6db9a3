//! A pattern as a graph: what may come next, in the order in which a backtracking engine tries it.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::ClassUnicode;

use super::classes::{Partition, class_of, class_of_char};

/// A pattern that needs more is left to the backtracking engine.
const MOST_NODES: usize = 4000;

pub(super) type NodeId = usize;

#[derive(Debug)]
pub(super) enum Node {
    Match,
    /// Take one character of the class of that number.
    Take(usize, NodeId),
    /// Go on where the next character is of that class, or where the text ends if the flag is set.
    Look(usize, bool, NodeId),
    /// Try these, in this order.
    Try(Vec<NodeId>),
}

/// The graph of a pattern, built from its end to its beginning.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) classes: Vec<ClassUnicode>,
    pub(super) start: NodeId,
    /// The class that a possessive quantifier repeats, and what follows it.
    possessive: Vec<(usize, NodeId)>,
}

impl Graph {
    /// The graph of `expression`, or `None` where it asks for more than a look at one character.
    pub(super) fn new(expression: &Expr) -> Option<Self> {
        let nodes = vec![Node::Match];
        let mut graph = Self { nodes, classes: Vec::new(), start: 0, possessive: Vec::new() };
        graph.start = graph.before(expression, 0, false)?;
        Some(graph)
    }

    /// Whether every possessive quantifier takes what a greedy one would take in its place.
    ///
    /// They differ where a greedy one gives characters back and what follows then matches. It never
    /// has to where what follows always matches; and it cannot help where what follows cannot
    /// begin with a character of the class, since what is given back is of the class.
    pub(super) fn possessive_is_greedy(&self, partition: &Partition) -> bool {
        self.possessive.iter().all(|&(class, next)| {
            self.always_matches(next)
                || (0..partition.len()).filter(|&symbol| partition.holds(class, symbol)).all(
                    |symbol| {
                        let (after, matched) = self.step(partition, &[next], symbol);
                        after.is_empty() && !matched
                    },
                )
        })
    }

    /// Whether a path from `node` to the end takes nothing and looks at nothing.
    fn always_matches(&self, node: NodeId) -> bool {
        let (mut stack, mut seen) = (vec![node], vec![false; self.nodes.len()]);
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match &self.nodes[node] {
                Node::Match => return true,
                Node::Try(others) => stack.extend(others),
                Node::Take(..) | Node::Look(..) => {}
            }
        }
        false
    }

    /// Where the paths at `nodes` are after `symbol`, the preferred ones first, and whether one of
    /// them matches before it. What is less preferred than a match is dropped.
    pub(super) fn step(
        &self,
        partition: &Partition,
        nodes: &[NodeId],
        symbol: usize,
    ) -> (Vec<NodeId>, bool) {
        let mut stack: Vec<NodeId> = nodes.iter().rev().copied().collect();
        let mut seen = vec![false; self.nodes.len()];
        let mut after = Vec::new();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match &self.nodes[node] {
                Node::Match => return (after, true),
                Node::Take(class, next) => {
                    if partition.holds(*class, symbol) && !after.contains(next) {
                        after.push(*next);
                    }
                }
                Node::Look(class, at_end, next) => {
                    let is_end = symbol + 1 == partition.len();
                    if partition.holds(*class, symbol) || (*at_end && is_end) {
                        stack.push(*next);
                    }
                }
                Node::Try(others) => stack.extend(others.iter().rev()),
            }
        }
        (after, false)
    }

    fn add(&mut self, node: Node) -> Option<NodeId> {
        self.nodes.push(node);
        (self.nodes.len() < MOST_NODES).then_some(self.nodes.len() - 1)
    }

    fn class(&mut self, class: ClassUnicode) -> usize {
        self.classes.iter().position(|other| *other == class).unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        })
    }

    /// The node of `expression` followed by `next`.
    fn before(&mut self, expression: &Expr, next: NodeId, in_loop: bool) -> Option<NodeId> {
        match expression {
            Expr::Empty => Some(next),
            Expr::Group(inner) => self.before(inner, next, in_loop),
            Expr::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.before(part, next, in_loop))
            }
            Expr::Alt(parts) => {
                let others = parts.iter().map(|part| self.before(part, next, in_loop));
                let others = others.collect::<Option<Vec<_>>>()?;
                self.add(Node::Try(others))
            }
            Expr::Literal { val, casei } => val.chars().rev().try_fold(next, |next, c| {
                let class = self.class(class_of_literal(c, *casei)?);
                self.add(Node::Take(class, next))
            }),
            Expr::Delegate { .. } | Expr::Any { .. } => {
                let class = self.class(class_of_one(expression)?);
                self.add(Node::Take(class, next))
            }
            Expr::Assertion(_) | Expr::LookAround(..) => {
                let (class, at_end) = what_may_be_next(expression)?;
                let class = self.class(class);
                self.add(Node::Look(class, at_end, next))
            }
            Expr::AtomicGroup(inner) => {
                let Expr::Repeat { child, greedy: true, .. } = &**inner else { return None };
                // Within a loop what follows is not known yet.
                let class = if in_loop { None } else { class_of_one(child) }?;
                let class = self.class(class);
                self.possessive.push((class, next));
                self.before(inner, next, in_loop)
            }
            Expr::Repeat { child, lo, hi, greedy } => {
                // What an engine does with a repetition of nothing is its own affair.
                if may_be_empty(child) {
                    return None;
                }
                self.repeat(child, (*lo, *hi), *greedy, next, in_loop)
            }
            _ => None,
        }
    }

    fn repeat(
        &mut self,
        child: &Expr,
        (least, most): (usize, usize),
        greedy: bool,
        next: NodeId,
        in_loop: bool,
    ) -> Option<NodeId> {
        let choice =
            |again, next| Node::Try(if greedy { vec![again, next] } else { vec![next, again] });
        let mut first = next;
        if most == usize::MAX {
            first = self.add(Node::Try(Vec::new()))?;
            let again = self.before(child, first, true)?;
            self.nodes[first] = choice(again, next);
        } else {
            for _ in least..most {
                let again = self.before(child, first, in_loop)?;
                first = self.add(choice(again, next))?;
            }
        }
        (0..least).try_fold(first, |first, _| self.before(child, first, in_loop))
    }
}

/// The class of a part of a pattern that takes exactly one character.
fn class_of_one(expression: &Expr) -> Option<ClassUnicode> {
    match expression {
        Expr::Group(inner) => class_of_one(inner),
        Expr::Literal { val, casei } => {
            let mut chars = val.chars();
            let (first, rest) = (chars.next()?, chars.next());
            if rest.is_none() { class_of_literal(first, *casei) } else { None }
        }
        Expr::Delegate { .. } | Expr::Any { .. } => {
            let mut pattern = String::new();
            expression.to_str(&mut pattern, 0);
            class_of(&pattern)
        }
        _ => None,
    }
}

fn class_of_literal(c: char, any_case: bool) -> Option<ClassUnicode> {
    if !any_case {
        return Some(class_of_char(c));
    }
    class_of(&format!("(?i:{})", regex_syntax::escape(&c.to_string())))
}

/// What a look at the next character lets pass: a class, and whether the end of the text.
fn what_may_be_next(expression: &Expr) -> Option<(ClassUnicode, bool)> {
    let nothing = ClassUnicode::empty;
    match expression {
        Expr::Assertion(Assertion::EndText) => Some((nothing(), true)),
        Expr::Assertion(Assertion::EndLine { crlf: false }) => Some((class_of_char('\n'), true)),
        Expr::Group(inner) => what_may_be_next(inner),
        Expr::LookAround(inner, LookAround::LookAhead) => what_may_be_next(inner),
        Expr::LookAround(inner, LookAround::LookAheadNeg) => {
            let (mut class, at_end) = what_may_be_next(inner)?;
            class.negate();
            Some((class, !at_end))
        }
        Expr::Alt(parts) => parts.iter().try_fold((nothing(), false), |(mut class, end), part| {
            let (other, at_end) = what_may_be_next(part)?;
            class.union(&other);
            Some((class, end || at_end))
        }),
        Expr::Repeat { child, lo: 1, .. } => Some((class_of_one(child)?, false)),
        _ => Some((class_of_one(expression)?, false)),
    }
}

fn may_be_empty(expression: &Expr) -> bool {
    match expression {
        Expr::Literal { val, .. } => val.is_empty(),
        Expr::Delegate { .. } | Expr::Any { .. } => false,
        Expr::Group(inner) => may_be_empty(inner),
        Expr::AtomicGroup(inner) => may_be_empty(inner),
        Expr::Concat(parts) => parts.iter().all(may_be_empty),
        Expr::Alt(parts) => parts.iter().any(may_be_empty),
        Expr::Repeat { child, lo, .. } => *lo == 0 || may_be_empty(child),
        _ => true,
    }
}
