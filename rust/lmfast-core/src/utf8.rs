//! Checking UTF-8 by vector.

use simdutf8::compat::Utf8Error;

/// The bytes as text, or the same bytes if they are not UTF-8.
pub(crate) fn into_string(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if simdutf8::basic::from_utf8(&bytes).is_err() {
        return Err(bytes);
    }
    // SAFETY: They were just found to be UTF-8.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

/// The longest text that `bytes` begin with, and what is wrong behind it.
pub(crate) fn valid_start(bytes: &[u8]) -> (&str, Option<Utf8Error>) {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = simdutf8::basic::from_utf8(&bytes[..error.valid_up_to()]);
            (valid.expect("valid up to here"), Some(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text_or_come_back() {
        let text = "añ中😀".repeat(40);
        assert_eq!(into_string(text.clone().into()).unwrap(), text);
        for len in 1..20 {
            let mut bytes = text.as_bytes()[..text.len() - len].to_vec();
            let (valid, error) = valid_start(&bytes);
            let expected = std::str::from_utf8(&bytes).map_err(|error| error.valid_up_to());
            assert_eq!(error.map_or(Ok(valid), |error| Err(error.valid_up_to())), expected);
            assert_eq!(valid.len(), expected.map_or_else(|end| end, str::len));
            let valid = valid.to_owned();
            bytes.push(0xFF);
            assert_eq!(valid_start(&bytes).0, valid);
            assert_eq!(into_string(bytes.clone()).unwrap_err(), bytes);
        }
    }
}
