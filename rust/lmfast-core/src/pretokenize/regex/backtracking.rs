//! Any regular expression, by a backtracking engine: general, not fast, the oracle of the others.

use fancy_regex::{Regex, RegexInput};

use crate::error::{Error, ErrorKind, Result};

#[derive(Debug)]
pub(in crate::pretokenize) struct Backtracking {
    regex: Regex,
}

impl Backtracking {
    pub(in crate::pretokenize) fn new(pattern: &str) -> Result<Self> {
        match Regex::new(pattern) {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => {
                let message = format!("cannot compile the regular expression {pattern:?}: {error}");
                Err(Error::new(ErrorKind::Pattern, message))
            }
        }
    }

    /// Call `visit` with where each match, and each stretch between two, begins and ends, and
    /// whether it is a match.
    pub(in crate::pretokenize) fn for_each(
        &self,
        text: &str,
        visit: &mut impl FnMut(usize, usize, bool),
    ) -> Result<()> {
        let mut done = 0;
        for found in self.regex.find_iter(text) {
            let found = found.map_err(|error| self.gave_up(text.len(), done, &error))?;
            if done < found.start() {
                visit(done, found.start(), false);
            }
            if !found.as_str().is_empty() {
                visit(found.start(), found.end(), true);
            }
            done = found.end();
        }
        if done < text.len() {
            visit(done, text.len(), false);
        }
        Ok(())
    }

    /// Where the match that begins at `start` ends.
    pub(in crate::pretokenize) fn match_at(
        &self,
        text: &str,
        start: usize,
    ) -> Result<Option<usize>> {
        let input = RegexInput::new(text).from_pos(start).anchored(true);
        match self.regex.find_input(input) {
            Ok(found) => Ok(found.map(|found| found.end())),
            Err(error) => Err(self.gave_up(text.len(), start, &error)),
        }
    }

    fn gave_up(&self, len: usize, from: usize, error: &fancy_regex::Error) -> Error {
        let message = format!(
            "the regular expression {:?} gave up within the {} bytes from offset {from}: {error}",
            self.regex.as_str(),
            len - from,
        );
        Error::new(ErrorKind::Pattern, message)
    }
}
