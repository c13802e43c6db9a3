//! What a tokenizer file says beside merges: added tokens that are not plain, a normal form, and
//! the ids that stand around every text.

use std::sync::Mutex;

use super::{Memory, Tokenizer};
use crate::{
    error::{Error, Result},
    format::Template,
    pretokenize::SafeCuts,
    special::{Flags, Rule},
    vocabulary::TokenId,
};

impl Tokenizer {
    /// The tokenizer with ids around every text, for callers who ask for them.
    pub fn with_template(mut self, template: Template) -> Result<Self> {
        for &id in template.before.iter().chain(&template.after) {
            self.token_bytes(id).map_err(|error| {
                Error::vocabulary(format!("its post_processor names an unknown token: {error}"))
            })?;
        }
        self.template = template;
        self.identity = Mutex::default();
        Ok(self)
    }

    /// The ids that stand before and behind a text, where a caller asks for them.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Where a text may be cut so that its parts give the ids of the whole.
    pub(crate) fn safe_cuts(&self) -> SafeCuts {
        // A token or a normal form may reach across any place, and so none is safe.
        let plain = self.special_tokens.is_plain();
        if plain { SafeCuts::of(&self.pretokenizer) } else { SafeCuts::NONE }
    }

    /// As `encode_into`, where the added tokens are not plain.
    pub(super) fn encode_parts_into(
        &self,
        text: &[u8],
        rule: &Rule,
        memory: &mut Memory,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.special_tokens.for_each_part(text, rule, |part| self.encode_part(part, memory, out))
    }

    /// What `identity` hashes of all this: nothing, where there is nothing of it.
    pub(super) fn settings_for_identity(&self) -> Vec<u8> {
        let mut settings = Vec::new();
        let mut part = |name: &str, bytes: &[u8]| {
            settings.extend_from_slice(name.as_bytes());
            settings.extend((bytes.len() as u64).to_le_bytes());
            settings.extend_from_slice(bytes);
        };
        for token in self.special_tokens.added().iter().filter(|t| t.flags != Flags::SPECIAL) {
            let Flags { special, normalized, lstrip, rstrip, single_word } = token.flags;
            part("flags", &token.id.to_le_bytes());
            part("of", &[special, normalized, lstrip, rstrip, single_word].map(u8::from));
        }
        for form in self.special_tokens.normalizer().forms() {
            part("normal form", form.name().as_bytes());
        }
        for (name, ids) in [("before", &self.template.before), ("after", &self.template.after)] {
            for id in ids {
                part(name, &id.to_le_bytes());
            }
        }
        settings
    }
}
