//! Hand-written scanners of the named schemes, tested against the patterns that they stand for.
//!
//! Each function takes the start of a pretoken and returns its end. Every text is covered without
//! a gap, since the last alternatives of each pattern take any whitespace and the middle one takes
//! anything that is neither space, letter nor number. `DeepSeek`'s steps leave gaps, each of which is
//! a pretoken.

use super::{
    Ends,
    unicode::{
        Classes, HAN_OR_KANA, HEAD, LETTER, LETTER_OR_MARK, NEWLINE, NUMBER, SPACE, SYMBOL, TAIL,
    },
};

/// Tell `ends` where each pretoken ends.
#[inline]
pub(super) fn ends(
    text: &str,
    next_end: impl Fn(Classes, &str, usize) -> usize,
    ends: &mut impl Ends,
) {
    let classes = Classes::get();
    let mut start = 0;
    while start < text.len() {
        start = next_end(classes, text, start);
        ends.push(start);
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

/// The GPT-2 pattern within what lies between single numbers: `\p{N}|`, then the alternatives of
/// `gpt2`, of which the last but one is `\s+(?![^\s\p{N}])`: a number ends the piece.
#[inline]
pub(super) fn starcoder(classes: Classes, text: &str, start: usize) -> usize {
    if let Some(end) = contraction(text, start, CaseSensitive) {
        return end;
    }
    let has_space = text.as_bytes()[start] == b' ';
    let body = start + usize::from(has_space);
    let (class, len) = classes.at(text, body);
    match class {
        _ if len == 0 => body, // a lone space at the end
        c if c & LETTER != 0 => classes.letters(text, body + len),
        c if c & NUMBER != 0 => {
            if has_space {
                body
            } else {
                body + len
            }
        }
        c if c & SPACE == 0 => classes.run_without(text, body, SPACE | LETTER | NUMBER),
        _ => spaces_before::<NUMBER>(classes, text, start),
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
    words_of_any_case::<KEEPS_FINAL_SPACES, false, 3>(classes, text, start)
}

/// Llama 3's pattern with `\p{N}` in place of `\p{N}{1,3}`.
#[inline]
pub(super) fn qwen2(classes: Classes, text: &str, start: usize) -> usize {
    words_of_any_case::<false, false, 1>(classes, text, start)
}

/// Qwen 2's pattern with marks in words: `[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+` and
/// ` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*`.
#[inline]
pub(super) fn qwen35(classes: Classes, text: &str, start: usize) -> usize {
    words_of_any_case::<false, true, 1>(classes, text, start)
}

/// `cl100k` and the patterns made after it: whether whitespace that ends the text is one pretoken,
/// whether marks are part of words, and how many numbers go together.
#[inline]
pub(super) fn words_of_any_case<
    const KEEPS_FINAL_SPACES: bool,
    const MARKS: bool,
    const NUMBERS: usize,
>(
    classes: Classes,
    text: &str,
    start: usize,
) -> usize {
    let of_words = if MARKS { LETTER_OR_MARK } else { LETTER };
    let word = |at| {
        if MARKS { classes.letters_and_marks(text, at) } else { classes.letters(text, at) }
    };
    if let Some(end) = contraction(text, start, AnyCase) {
        return end;
    }
    let (class, len) = classes.at(text, start);
    if class & of_words != 0 {
        return word(start + len);
    }
    if class & NUMBER != 0 {
        return numbers::<NUMBERS>(classes, text, start);
    }
    if class & NEWLINE == 0 {
        let end = word(start + len);
        if end > start + len {
            return end;
        }
    }
    if let Some(end) = symbols(classes, text, start, SPACE | NUMBER | of_words) {
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
    words_by_case::<true, 3>(classes, text, start)
}

/// The pattern of `o200k` without contractions, and with `\p{N}` in place of `\p{N}{1,3}`.
#[inline]
pub(super) fn tekken(classes: Classes, text: &str, start: usize) -> usize {
    words_by_case::<false, 1>(classes, text, start)
}

/// `o200k` and the pattern made after it.
#[inline]
pub(super) fn words_by_case<const CONTRACTIONS: bool, const NUMBERS: usize>(
    classes: Classes,
    text: &str,
    start: usize,
) -> usize {
    let (class, len) = classes.at(text, start);
    let prefix = if class & (NEWLINE | LETTER | NUMBER) == 0 { len } else { 0 };
    let word = cased_word(classes, text, start + prefix)
        .or_else(|| (prefix > 0).then(|| cased_word(classes, text, start)).flatten())
        .or_else(|| head_run(classes, text, start + prefix));
    if let Some(end) = word {
        let contraction = if CONTRACTIONS { contraction(text, end, AnyCase) } else { None };
        return contraction.unwrap_or(end);
    }
    if class & NUMBER != 0 {
        return numbers::<NUMBERS>(classes, text, start);
    }
    if let Some(mut end) = symbols(classes, text, start, SPACE | LETTER | NUMBER) {
        while let Some(b'\r' | b'\n' | b'/') = text.as_bytes().get(end) {
            end += 1;
        }
        return end;
    }
    lines(classes, text, start).unwrap_or_else(|| spaces(classes, text, start))
}

/// What `DeepSeek`'s first two steps cut out: the third sees numbers, runs of Chinese and Japanese,
/// and what lies between, each as a text of its own.
const CUT_OUT: u8 = NUMBER | HAN_OR_KANA;

/// `\p{N}{1,3}`, then `[一-龥ぁ-ヿ]+`, then in each piece ``[!-/:-@\[-`{-~][A-Za-z]+|``
/// `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
#[inline]
pub(super) fn deepseek(classes: Classes, text: &str, start: usize) -> usize {
    let (class, len) = classes.at(text, start);
    if class & NUMBER != 0 {
        return numbers::<3>(classes, text, start);
    }
    let bytes = text.as_bytes();
    if bytes[start].is_ascii_punctuation() {
        let after = &bytes[start + 1..];
        let letters = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if letters > 0 {
            return start + 1 + letters;
        }
    }
    let piece = class & CUT_OUT;
    if class & (NEWLINE | SYMBOL) == 0 {
        let end = run_in_piece(classes, text, start + len, LETTER_OR_MARK, piece);
        if end > start + len || class & LETTER_OR_MARK != 0 {
            return end;
        }
    }
    let body = start + usize::from(bytes[start] == b' ');
    let end = run_in_piece(classes, text, body, SYMBOL, piece);
    if end > body {
        return if piece == 0 { classes.run(text, end, NEWLINE) } else { end };
    }
    if class & SPACE == 0 {
        return unmatched(classes, text, start + len, piece);
    }
    lines(classes, text, start).unwrap_or_else(|| spaces_before::<CUT_OUT>(classes, text, start))
}

/// The end of the run of characters from `at` on that have any of `flags`, in the same piece.
#[inline]
fn run_in_piece(classes: Classes, text: &str, mut at: usize, flags: u8, piece: u8) -> usize {
    loop {
        let (found, len) = classes.at(text, at);
        if found & flags == 0 || found & CUT_OUT != piece {
            return at;
        }
        at += len;
    }
}

/// The end of a run of characters that nothing matches: the last one belongs to the word after it.
fn unmatched(classes: Classes, text: &str, mut at: usize, piece: u8) -> usize {
    let mut last = at;
    loop {
        let (found, len) = classes.at(text, at);
        if found & CUT_OUT == piece && found & LETTER_OR_MARK != 0 {
            return last;
        }
        if len == 0 || found & CUT_OUT != piece || found & (SPACE | SYMBOL) != 0 {
            return at;
        }
        last = at;
        at += len;
    }
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

/// `\p{N}{1,MOST}`
fn numbers<const MOST: usize>(classes: Classes, text: &str, start: usize) -> usize {
    let mut end = start;
    for _ in 0..MOST {
        let (class, len) = classes.at(text, end);
        if class & NUMBER == 0 {
            break;
        }
        end += len;
    }
    end
}

/// ` ?[^\s\p{L}\p{N}]+`, where `others` are the flags of what it does not match.
fn symbols(classes: Classes, text: &str, start: usize, others: u8) -> Option<usize> {
    let body = start + usize::from(text.as_bytes()[start] == b' ');
    let end = classes.run_without(text, body, others);
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
    spaces_before::<0>(classes, text, start)
}

/// The same where a character that has any of the flags `ENDS` ends the text to be cut.
fn spaces_before<const ENDS: u8>(classes: Classes, text: &str, start: usize) -> usize {
    let end = classes.run(text, start, SPACE);
    let (next, len) = classes.at(text, end);
    if len == 0 || next & ENDS != 0 {
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
