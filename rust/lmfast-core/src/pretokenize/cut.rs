//! Where a text may be cut so that its parts, cut into pretokens one by one, give what the whole
//! would give.
//!
//! The rule: between a letter and a character that can neither continue a word nor be the
//! apostrophe of a contraction. In every named scheme the pretoken that holds the letter ends
//! there. No scheme looks back, so what follows is cut as before; and schemes look ahead only after
//! whitespace, so ending the text after a letter changes nothing before it.

use super::{
    Pretokenizer,
    unicode::{Classes, HEAD, LETTER, TAIL},
};

/// The last safe cut of `text`, or `None` if it has none or its pretokenizer allows none.
pub(crate) fn last_safe_cut(pretokenizer: &Pretokenizer, text: &str) -> Option<usize> {
    if !matches!(pretokenizer, Pretokenizer::Scheme(_)) {
        return None;
    }
    let classes = Classes::get();
    let mut next_ends_word = false;
    for (at, c) in text.char_indices().rev() {
        let class = classes.of(c);
        if next_ends_word && class & LETTER != 0 {
            return Some(at + c.len_utf8());
        }
        next_ends_word = class & (LETTER | HEAD | TAIL) == 0 && c != '\'';
    }
    None
}
