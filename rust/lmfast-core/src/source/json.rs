//! The text in one field of a line of JSON, without building the rest of it.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::skip::Reason;

/// Fields that a message lists, at most.
const LISTED: usize = 8;

/// A field of an object, or of an object within it: names, outermost first.
#[derive(Clone, Debug)]
pub(super) struct FieldPath(Vec<String>);

impl FieldPath {
    /// A dot leads into an object.
    pub(super) fn new(dotted: &str) -> Self {
        Self(dotted.split('.').map(str::to_owned).collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.join("."))
    }
}

/// Why a line gives no text; the sentence goes on after "line 7 of FILE".
pub(super) type Refused = (Reason, String);

/// What `then` makes of the text in the field; of equal fields the last counts.
pub(super) fn text_in_field<T>(
    line: &[u8],
    field: &FieldPath,
    then: impl FnOnce(&str) -> T,
) -> Result<T, Refused> {
    let mut json = std::str::from_utf8(line).map_err(|error| {
        (Reason::NotUtf8, format!("is not UTF-8: invalid at byte {}", error.valid_up_to()))
    })?;
    for name in &field.0 {
        json = member(json, name)?.ok_or_else(|| no_field(json, name, field))?.get();
    }
    let Some('"') = json.chars().next() else {
        let found = format!("has no string in the field {field} but {}", kind_of(json));
        return Err((Reason::NotString, found));
    };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let text = deserializer.deserialize_bytes(Utf8(then, PhantomData));
    text.map_err(|error| not_json(&error))?.map_err(|()| {
        let found = format!(
            "has a lone surrogate (\\ud800 to \\udfff) in the field {field}, which UTF-8 cannot write"
        );
        (Reason::LoneSurrogate, found)
    })
}

/// The value under `name` in the object that `json` is, as it is written there.
fn member<'a>(json: &'a str, name: &str) -> Result<Option<&'a RawValue>, Refused> {
    if !json.trim_ascii_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(json).map_err(|error| not_json(&error))?;
        let found = format!("is no JSON object but {}", kind_of(json.trim_ascii_start()));
        return Err((Reason::NoField, found));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = deserializer.deserialize_map(Member(name));
    value.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| not_json(&error))
}

fn no_field(json: &str, name: &str, field: &FieldPath) -> Refused {
    #[expect(clippy::zero_sized_map_values, reason = "no set is read from an object")]
    let fields = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(json).unwrap_or_default();
    let fields: Vec<String> = fields.keys().map(|name| format!("{name:?}")).collect();
    let more = if fields.len() > LISTED { ", ..." } else { "" };
    let listed = fields.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let has = if fields.is_empty() { "nothing".to_owned() } else { format!("{listed}{more}") };
    let step = if field.0.len() > 1 { format!(" (no {name:?} in it)") } else { String::new() };
    (Reason::NoField, format!("has no field {field}{step}; there is {has}"))
}

/// The kind of value that `json` begins with.
fn kind_of(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a Boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn not_json(error: &serde_json::Error) -> Refused {
    let (text, column) = (error.to_string(), error.column());
    // It counts lines within the one that it is given.
    let what = text.split(" at line ").next().unwrap_or(&text);
    (Reason::NotJson, format!("is not JSON: {what} at column {column}"))
}

/// Takes an object and gives the last value under a name.
struct Member<'n>(&'n str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = object.next_key_seed(IsName(self.0))? {
            if is_it {
                found = Some(object.next_value()?);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Takes a key and tells whether it is this one. As bytes, since a key that UTF-8 cannot write is
/// just another key.
struct IsName<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E: de::Error>(self, key: &[u8]) -> Result<bool, E> {
        Ok(key == self.0.as_bytes())
    }
}

/// Takes a string and passes it on; an error inside if it holds a lone surrogate, which comes out
/// as bytes that are not UTF-8.
struct Utf8<F, T>(F, PhantomData<T>);

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for Utf8<F, T> {
    type Value = Result<T, ()>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(std::str::from_utf8(bytes).map(self.0).map_err(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str, field: &str) -> Result<String, Refused> {
        text_in_field(line.as_bytes(), &FieldPath::new(field), str::to_owned)
    }

    #[test]
    fn the_field_is_found_wherever_it_stands() {
        for (line, field) in [
            (r#"{"text": "a\né"}"#, "text"),
            (r#" {"id": [1, {"text": 2}], "text":"a\né" , "z": null}  "#, "text"),
            ("{\"te\\u0078t\": \"a\\n\\u00e9\"}\r", "text"),
            (r#"{"text": 1, "text": "a\né"}"#, "text"),
            (r#"{"a": {"b": 1, "text": "a\né"}}"#, "a.text"),
            (r#"{"\ud800": 1, "text": "a\né"}"#, "text"),
            (r#"{"": "a\né"}"#, ""),
        ] {
            assert_eq!(text(line, field).unwrap(), "a\né", "{line}");
        }
        assert_eq!(text(r#"{"t": "\ud83d\ude00\u0000"}"#, "t").unwrap(), "😀\0");
    }

    #[test]
    fn what_is_no_text_is_named() {
        let deep = format!(r#"{{"text": {}"#, "[".repeat(100_000));
        for (line, reason, found) in [
            ("", Reason::NotJson, "EOF while parsing"),
            ("{\"text\": \"a\"", Reason::NotJson, "at column 12"),
            ("{\"text\": \"a\"} x", Reason::NotJson, "trailing characters at column 15"),
            ("{\"text\": \"a\tb\"}", Reason::NotJson, "control character"),
            (r#"{"text": "\x"}"#, Reason::NotJson, "invalid escape"),
            (r#"{"text": NaN}"#, Reason::NotJson, "expected value"),
            (&deep, Reason::NotJson, "EOF"),
            ("[1]", Reason::NoField, "is no JSON object but an array"),
            ("\"text\"", Reason::NoField, "is no JSON object but a string"),
            ("{}", Reason::NoField, "has no field \"text\"; there is nothing"),
            (r#"{"body": "a", "id": 1}"#, Reason::NoField, r#"there is "body", "id""#),
            (r#"{"text": null}"#, Reason::NotString, "but null"),
            (r#"{"text": "a", "text": 1.5}"#, Reason::NotString, "but a number"),
            (r#"{"text": ["a"]}"#, Reason::NotString, "but an array"),
            (r#"{"text": "a\ud800"}"#, Reason::LoneSurrogate, "lone surrogate"),
            (r#"{"text": "\udc00\ud800b"}"#, Reason::LoneSurrogate, "lone surrogate"),
        ] {
            let (because, message) = text(line, "text").unwrap_err();
            assert_eq!(because, reason, "{message}");
            assert!(message.contains(found), "{message}");
        }
        let (reason, message) = text(r#"{"a": {"b": 1}}"#, "a.text").unwrap_err();
        assert_eq!(reason, Reason::NoField);
        assert!(
            message.contains(r#"no field "a.text" (no "text" in it); there is "b""#),
            "{message}"
        );
        let field = FieldPath::new("text");
        let (reason, message) = text_in_field(b"{\"text\": \"\xff\"}", &field, |_| ()).unwrap_err();
        assert_eq!(reason, Reason::NotUtf8);
        assert!(message.contains("invalid at byte 10"), "{message}");
    }
}
