//! Hand-written scanners of the named schemes, tested against the patterns that they stand for.
//!
//! Each function takes the start of a pretoken and returns its end. Every text is covered without
//! a gap, since the last alternatives of each pattern take any whitespace and the middle one takes
//! anything that is neither space, letter nor number.

use super::unicode::{Classes, HEAD, LETTER, NEWLINE, NUMBER, SPACE, TAIL};

/// Call `visit` with where each pretoken begins and ends.
#[inline]
pub(super) fn cuts(
    text: &str,
    next_end: impl Fn(Classes, &str, usize) -> usize,
    mut visit: impl FnMut(usize, usize),
) {
    let classes = Classes::get();
    let mut start = 0;
    while start < text.len() {
        let end = next_end(classes, text, start);
        visit(start, end);
        start = end;
    }
}

/// `'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
#[inline]
pub(super) fn gpt2(classes: Classes, text: &str, start: usize) -> usize {
    if let Some(end) = contraction(text, start, CaseSensitive) {
        return end;
    }
    let body = start + usize::from(text.as_bytes()[start] == b' ');
    let (class, len) = classes.at(text, body);
    match class {
        _ if len == 0 => body, // a lone space at the end
        c if c & LETTER != 0 => classes.letters(text, body + len),
        c if c & NUMBER != 0 => classes.run(text, body, NUMBER),
        c if c & SPACE == 0 => classes.run_without(text, body, SPACE | LETTER | NUMBER),
        _ => spaces(classes, text, start),
    }
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|`
/// `\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+`
///
/// tiktoken's cl100k keeps whitespace that ends the text as one pretoken; Llama 3 has no `\s+\z`,
/// and cuts it after its last newline.
#[inline]
pub(super) fn cl100k<const KEEPS_FINAL_SPACES: bool>(
    classes: Classes,
    text: &str,
    start: usize,
) -> usize {
    if let Some(end) = contraction(text, start, AnyCase) {
        return end;
    }
    let (class, len) = classes.at(text, start);
    if class & LETTER != 0 {
        return classes.letters(text, start + len);
    }
    if class & NUMBER != 0 {
        return up_to_three_numbers(classes, text, start);
    }
    if class & NEWLINE == 0 {
        let end = classes.letters(text, start + len);
        if end > start + len {
            return end;
        }
    }
    if let Some(end) = symbols(classes, text, start) {
        return classes.run(text, end, NEWLINE);
    }
    if KEEPS_FINAL_SPACES {
        let end = classes.run(text, start, SPACE);
        if end == text.len() {
            return end;
        }
    }
    lines(classes, text, start).unwrap_or_else(|| spaces(classes, text, start))
}

/// `[^\r\n\p{L}\p{N}]?HEAD*TAIL+CONTRACTION?|[^\r\n\p{L}\p{N}]?HEAD+TAIL*CONTRACTION?|`
/// `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
#[inline]
pub(super) fn o200k(classes: Classes, text: &str, start: usize) -> usize {
    let (class, len) = classes.at(text, start);
    let prefix = if class & (NEWLINE | LETTER | NUMBER) == 0 { len } else { 0 };
    let word = cased_word(classes, text, start + prefix)
        .or_else(|| (prefix > 0).then(|| cased_word(classes, text, start)).flatten())
        .or_else(|| head_run(classes, text, start + prefix));
    if let Some(end) = word {
        return contraction(text, end, AnyCase).unwrap_or(end);
    }
    if class & NUMBER != 0 {
        return up_to_three_numbers(classes, text, start);
    }
    if let Some(mut end) = symbols(classes, text, start) {
        while let Some(b'\r' | b'\n' | b'/') = text.as_bytes().get(end) {
            end += 1;
        }
        return end;
    }
    lines(classes, text, start).unwrap_or_else(|| spaces(classes, text, start))
}

/// `HEAD*TAIL+`: the head run gives characters back until one that is also a tail is found.
fn cased_word(classes: Classes, text: &str, start: usize) -> Option<usize> {
    let mut end_of_last_both = None;
    let mut at = start;
    loop {
        let (class, len) = classes.at(text, at);
        if class & HEAD == 0 {
            if class & TAIL != 0 {
                return Some(classes.run(text, at, TAIL));
            }
            return end_of_last_both;
        }
        at += len;
        if class & TAIL != 0 {
            end_of_last_both = Some(at);
        }
    }
}

/// `HEAD+`, where no tail follows.
fn head_run(classes: Classes, text: &str, start: usize) -> Option<usize> {
    let end = classes.run(text, start, HEAD);
    (end > start).then_some(end)
}

/// `\p{N}{1,3}`
fn up_to_three_numbers(classes: Classes, text: &str, start: usize) -> usize {
    let mut end = start;
    for _ in 0..3 {
        let (class, len) = classes.at(text, end);
        if class & NUMBER == 0 {
            break;
        }
        end += len;
    }
    end
}

/// ` ?[^\s\p{L}\p{N}]+`
fn symbols(classes: Classes, text: &str, start: usize) -> Option<usize> {
    let body = start + usize::from(text.as_bytes()[start] == b' ');
    let end = classes.run_without(text, body, SPACE | LETTER | NUMBER);
    (end > body).then_some(end)
}

/// `\s*[\r\n]+`: up to the last newline of the run of whitespace.
fn lines(classes: Classes, text: &str, start: usize) -> Option<usize> {
    let end = classes.run(text, start, SPACE);
    let last = text.as_bytes()[start..end].iter().rposition(|&b| b == b'\r' || b == b'\n')?;
    Some(start + last + 1)
}

/// `\s+(?!\S)|\s+`: a run of whitespace leaves its last character to the pretoken that follows.
fn spaces(classes: Classes, text: &str, start: usize) -> usize {
    let end = classes.run(text, start, SPACE);
    if end == text.len() {
        return end;
    }
    let last = text[start..end].char_indices().next_back().map_or(0, |(at, _)| start + at);
    if last > start { last } else { end }
}

use Case::{Any as AnyCase, Sensitive as CaseSensitive};

#[derive(Clone, Copy)]
pub(super) enum Case {
    Sensitive,
    Any,
}

/// `'(?:[sdmt]|ll|ve|re)`; without regard to case, U+017F (long s) also folds to `s`.
#[inline]
pub(super) fn contraction(text: &str, start: usize, case: Case) -> Option<usize> {
    let bytes = &text.as_bytes()[start..];
    if *bytes.first()? != b'\'' {
        return None;
    }
    let fold = |index: usize| {
        let byte = bytes.get(index).copied().unwrap_or(0);
        if matches!(case, Case::Any) { byte.to_ascii_lowercase() } else { byte }
    };
    match (fold(1), fold(2)) {
        (b's' | b'd' | b'm' | b't', _) => Some(start + 2),
        (b'l', b'l') | (b'v' | b'r', b'e') => Some(start + 3),
        (0xC5, 0xBF) if matches!(case, Case::Any) => Some(start + 3),
        _ => None,
    }
}
