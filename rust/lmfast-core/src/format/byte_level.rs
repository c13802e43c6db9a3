//! GPT-2's way to write bytes as printable characters, which tokenizer files use.

use std::sync::LazyLock;

/// The character of each byte: itself where Latin-1 prints it, else the next one from U+0100 on.
static CHARS: LazyLock<[char; 256]> = LazyLock::new(|| {
    let mut chars = ['\0'; 256];
    let mut next = 0x100;
    for byte in 0..=255u8 {
        let prints = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        chars[byte as usize] = if prints {
            byte as char
        } else {
            next += 1;
            char::from_u32(next - 1).expect("below the surrogates")
        };
    }
    chars
});

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

/// Bytes as printable characters.
pub(crate) fn to_chars(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().map(|&byte| CHARS[byte as usize]));
    text
}

/// The bytes that such characters stand for, or `None` if one of them stands for none.
pub(crate) fn to_bytes(text: &str) -> Option<Box<[u8]>> {
    /// By the number of the character; the last one is U+0143.
    static BYTES: LazyLock<[Option<u8>; 0x144]> = LazyLock::new(|| {
        let mut bytes = [None; 0x144];
        for byte in 0..=255u8 {
            bytes[CHARS[byte as usize] as usize] = Some(byte);
        }
        bytes
    });
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
