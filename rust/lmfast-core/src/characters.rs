//! Which characters a class holds, from the Unicode data of `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};

use crate::error::{Error, ErrorKind, Result};

/// The first and last code point of each range of a class such as `\p{Script=Han}` or `\s`, in
/// order.
pub fn ranges_of_class(class: &str) -> Result<Vec<(u32, u32)>> {
    let refuse =
        |why: &str| Error::new(ErrorKind::Pattern, format!("{class:?} is no class: {why}"));
    let hir = regex_syntax::parse(class).map_err(|error| refuse(&error.to_string()))?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let bounds = |range: &regex_syntax::hir::ClassUnicodeRange| {
                (u32::from(range.start()), u32::from(range.end()))
            };
            Ok(class.ranges().iter().map(bounds).collect())
        }
        _ => Err(refuse("it must be one of characters, such as \\p{Script=Han}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_its_ranges() {
        assert_eq!(ranges_of_class("[a-cx]").unwrap(), [(97, 99), (120, 120)]);
        let han = ranges_of_class(r"\p{Script=Han}").unwrap();
        let holds = |code: u32| han.iter().any(|&(first, last)| (first..=last).contains(&code));
        assert!(holds(0x4E2D) && !holds(0x3042));
        assert!(ranges_of_class(r"\p{Script=None}").is_err());
        assert!(ranges_of_class("word").is_err());
    }
}
