//! The characters that a pattern tells apart.

use std::collections::BTreeMap;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::super::table::{CODE_POINTS, CodePointTable, decode};

/// Beyond these a pattern is left to the backtracking engine.
const MOST_CLASSES: usize = 64;
const MOST_SYMBOLS: usize = 255;

/// What one character of a pattern may be: a class such as `\p{L}`, `[^\s]`, `.` or a letter.
pub(super) fn class_of(pattern: &str) -> Option<ClassUnicode> {
    single(&regex_syntax::parse(pattern).ok()?)
}

fn single(hir: &Hir) -> Option<ClassUnicode> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            let (first, rest) = (chars.next()?, chars.next());
            rest.is_none().then(|| class_of_char(first))
        }
        _ => None,
    }
}

pub(super) fn class_of_char(c: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(c, c)])
}

/// A number for each set of characters that no class of the pattern tells apart, and one for the
/// end of the text.
#[derive(Debug)]
pub(super) struct Symbols {
    ascii: [u8; 0x80],
    table: CodePointTable,
    end: u8,
}

/// The symbols, and for each but the end the classes that hold it, as bits, and some characters.
pub(super) struct Partition {
    pub(super) symbols: Symbols,
    pub(super) classes_of: Vec<u64>,
    pub(super) examples: Vec<Vec<char>>,
}

impl Partition {
    pub(super) fn new(classes: &[ClassUnicode]) -> Option<Self> {
        if classes.len() > MOST_CLASSES {
            return None;
        }
        let mut changes: BTreeMap<usize, u64> = BTreeMap::from([(0, 0), (CODE_POINTS, 0)]);
        for (number, class) in classes.iter().enumerate() {
            for range in class.ranges() {
                for at in [range.start() as usize, range.end() as usize + 1] {
                    *changes.entry(at).or_default() ^= 1 << number;
                }
            }
        }
        let mut symbol_of = vec![0; CODE_POINTS];
        let (mut classes_of, mut examples) = (Vec::new(), Vec::<Vec<char>>::new());
        let (mut held_by, mut from) = (0, 0);
        for (at, change) in changes {
            let mut chars = (from as u32..at as u32).filter_map(char::from_u32);
            if let Some(first) = chars.next() {
                let known = classes_of.iter().position(|&other| other == held_by);
                let symbol = known.unwrap_or_else(|| {
                    classes_of.push(held_by);
                    examples.push(Vec::new());
                    classes_of.len() - 1
                });
                symbol_of[from..at].fill(u8::try_from(symbol).ok()?);
                examples[symbol].extend([Some(first), chars.next_back()].into_iter().flatten());
            }
            held_by ^= change;
            from = at;
        }
        if classes_of.len() >= MOST_SYMBOLS {
            return None;
        }
        let symbols = Symbols {
            ascii: symbol_of[..0x80].try_into().expect("the codes of ASCII"),
            table: CodePointTable::new(&symbol_of),
            end: classes_of.len() as u8,
        };
        Some(Self { symbols, classes_of, examples })
    }

    /// How many symbols there are, the end of the text among them.
    pub(super) fn len(&self) -> usize {
        self.classes_of.len() + 1
    }

    /// Whether `class` holds `symbol`; none holds the end of the text.
    pub(super) fn holds(&self, class: usize, symbol: usize) -> bool {
        self.classes_of.get(symbol).is_some_and(|classes| classes >> class & 1 != 0)
    }
}

impl Symbols {
    /// The symbol at `at`, and the length of its character.
    #[inline]
    pub(super) fn at(&self, text: &str, at: usize) -> (u8, usize) {
        match text.as_bytes().get(at) {
            None => (self.end, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[byte as usize], 1),
            Some(_) => {
                let (code, len) = decode(&text.as_bytes()[at..]);
                (self.table.of(code), len)
            }
        }
    }

    pub(super) fn of(&self, c: char) -> u8 {
        self.table.of(c as u32)
    }
}
