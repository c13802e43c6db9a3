//! Any other regular expression, by a backtracking engine: general, not fast.

use fancy_regex::Regex;

use crate::error::{Error, ErrorKind, Result};

/// A user's own pattern. Text between two matches is a pretoken of its own: nothing is skipped.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Self> {
        match Regex::new(pattern) {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => {
                let message = format!("cannot compile the regular expression {pattern:?}: {error}");
                Err(Error::new(ErrorKind::Pattern, message))
            }
        }
    }

    pub(crate) fn for_each(&self, text: &str, visit: &mut impl FnMut(&str)) -> Result<()> {
        let mut done = 0;
        for found in self.regex.find_iter(text) {
            let found = found.map_err(|error| {
                let message = format!(
                    "the regular expression {:?} gave up within the {} bytes from offset {done}: {error}",
                    self.regex.as_str(),
                    text.len() - done,
                );
                Error::new(ErrorKind::Pattern, message)
            })?;
            for piece in [&text[done..found.start()], found.as_str()] {
                if !piece.is_empty() {
                    visit(piece);
                }
            }
            done = found.end();
        }
        if done < text.len() {
            visit(&text[done..]);
        }
        Ok(())
    }
}
