//! GPT-2's way to write bytes as printable characters, which tokenizer files use.

use std::sync::LazyLock;

use crate::utf8::into_string;

/// The character of each byte: itself where Latin-1 prints it, else the next one from U+0100 on.
static CHARS: [char; 256] = {
    let (mut chars, mut next, mut byte) = (['\0'; 256], 0x100, 0);
    while byte < 256 {
        let prints = matches!(byte as u8, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        chars[byte] = if prints {
            byte as u8 as char
        } else {
            next += 1;
            char::from_u32(next - 1).expect("below the surrogates")
        };
        byte += 1;
    }
    chars
};

/// By the number of a character, the byte that it stands for; the last one is U+0143.
static BYTES: [Option<u8>; 0x144] = {
    let (mut bytes, mut byte) = ([None; 0x144], 0);
    while byte < 256 {
        bytes[CHARS[byte] as usize] = Some(byte as u8);
        byte += 1;
    }
    bytes
};

/// The place of each byte when bytes are sorted by their characters: the ids that Hugging Face's
/// trainer gives them.
pub(crate) fn hugging_face_order() -> &'static [u8; 256] {
    static ORDER: LazyLock<[u8; 256]> = LazyLock::new(|| {
        let mut bytes: Vec<u8> = (0..=255).collect();
        bytes.sort_by_key(|&byte| CHARS[byte as usize]);
        let mut order = [0; 256];
        for (place, byte) in bytes.into_iter().enumerate() {
            order[byte as usize] = place as u8;
        }
        order
    });
    &ORDER
}

/// The UTF-8 of each character, and how long it is.
static ENCODED: [([u8; 2], u8); 256] = {
    let (mut encoded, mut byte) = ([([0; 2], 0); 256], 0);
    while byte < 256 {
        let mut two = [0; 2];
        let len = CHARS[byte].encode_utf8(&mut two).len() as u8;
        encoded[byte] = (two, len);
        byte += 1;
    }
    encoded
};

/// Bytes as printable characters.
pub(crate) fn to_chars(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    push_chars(bytes, &mut text);
    into_string(text).expect("characters in UTF-8")
}

/// Append bytes as printable characters, in UTF-8.
pub(crate) fn push_chars(bytes: &[u8], text: &mut Vec<u8>) {
    // Two bytes are written in any case, and the next ones where the character ends.
    let mut end = text.len();
    text.resize(end + 2 * bytes.len(), 0);
    for &byte in bytes {
        let (two, len) = ENCODED[usize::from(byte)];
        text[end..end + 2].copy_from_slice(&two);
        end += usize::from(len);
    }
    text.truncate(end);
}

/// The bytes that such characters stand for, or `None` if one of them stands for none.
pub(crate) fn to_bytes(text: &str) -> Option<Box<[u8]>> {
    let mut all = Vec::with_capacity(text.len());
    for c in text.chars() {
        all.push((*BYTES.get(c as usize)?)?);
    }
    Some(all.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(*to_bytes(&to_chars(&all)).unwrap(), *all);
        assert_eq!(to_chars(b"\n a!"), "ĊĠa!");
        assert_eq!(to_bytes("a b"), None);
    }
}
