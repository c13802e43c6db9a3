//! The Unicode normal forms, which some tokenizers give text before they look at it.

use std::{borrow::Cow, fmt};

use unicode_normalization::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Canonical, composed.
    Nfc,
    /// Canonical, decomposed.
    Nfd,
    /// Compatible, composed.
    Nfkc,
    /// Compatible, decomposed.
    Nfkd,
}

impl Form {
    const ALL: [Self; 4] = [Self::Nfc, Self::Nfd, Self::Nfkc, Self::Nfkd];

    /// The name by which tokenizer files ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nfc => "NFC",
            Self::Nfd => "NFD",
            Self::Nfkc => "NFKC",
            Self::Nfkd => "NFKD",
        }
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    fn holds(self, text: &str) -> bool {
        // Every form leaves ASCII as it is.
        let quick = match self {
            _ if text.is_ascii() => return true,
            Self::Nfc => is_nfc_quick(text.chars()),
            Self::Nfd => is_nfd_quick(text.chars()),
            Self::Nfkc => is_nfkc_quick(text.chars()),
            Self::Nfkd => is_nfkd_quick(text.chars()),
        };
        quick == IsNormalized::Yes
    }

    fn of(self, text: &str) -> String {
        match self {
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
        }
    }
}

/// Normal forms, one after the other; none of them leaves text as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normalizer(Vec<Form>);

impl Normalizer {
    /// These forms, the first one first.
    pub fn new(forms: Vec<Form>) -> Self {
        Self(forms)
    }

    /// The forms, the first one first.
    pub fn forms(&self) -> &[Form] {
        &self.0
    }

    /// Whether it leaves all text as it is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `bytes` in the normal form; those that are not UTF-8 stay, and what is between them is
    /// normalized as if it stood alone.
    pub fn normalize<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.0.iter().fold(Cow::Borrowed(bytes), |bytes, &form| {
            if bytes.utf8_chunks().all(|chunk| form.holds(chunk.valid())) {
                return bytes;
            }
            let mut normal = Vec::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                normal.extend_from_slice(form.of(chunk.valid()).as_bytes());
                normal.extend_from_slice(chunk.invalid());
            }
            Cow::Owned(normal)
        })
    }
}

impl fmt::Display for Normalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|form| form.name()).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_follow_each_other_and_leave_bad_bytes() {
        let of = |forms: &[Form], bytes: &[u8]| {
            Normalizer::new(forms.to_vec()).normalize(bytes).into_owned()
        };
        assert_eq!(of(&[Form::Nfc], "e\u{301}".as_bytes()), "é".as_bytes());
        assert_eq!(of(&[Form::Nfkc, Form::Nfd], "ﬁé".as_bytes()), "fie\u{301}".as_bytes());
        assert_eq!(of(&[Form::Nfc], b"e\xFF\xCC\x81\xC3"), b"e\xFF\xCC\x81\xC3");
        assert!(matches!(Normalizer::new(vec![Form::Nfd]).normalize(b"ab\xFF"), Cow::Borrowed(_)));
    }
}
