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
    bytes.iter().map(|&byte| CHARS[byte as usize]).collect()
}

/// The bytes that such characters stand for, or `None` if one of them stands for none.
pub(crate) fn to_bytes(text: &str) -> Option<Box<[u8]>> {
    static BYTES: LazyLock<std::collections::HashMap<char, u8>> =
        LazyLock::new(|| (0..=255u8).map(|byte| (CHARS[byte as usize], byte)).collect());
    text.chars().map(|c| BYTES.get(&c).copied()).collect()
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
