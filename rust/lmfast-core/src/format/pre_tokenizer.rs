//! The `pre_tokenizer` of a `tokenizer.json`: how text is cut.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    error::{Error, Result},
    pretokenize::{
        Behavior, Cut, Finds, Pretokenizer, Scheme, SplitPattern, Step, Steps, UserPattern,
    },
};

/// Or why not.
type Answer<T> = std::result::Result<T, String>;

/// The step that cuts nothing, and spells bytes as characters.
pub(super) fn byte_level(use_regex: bool) -> Value {
    json!(byte_level_step(use_regex))
}

fn byte_level_step(use_regex: bool) -> Step {
    Step::ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex }
}

/// As Hugging Face tokenizers read it.
pub(super) fn write(pretokenizer: &Pretokenizer) -> Value {
    match pretokenizer {
        Pretokenizer::Scheme(scheme) => sequence(&steps_of(*scheme)),
        Pretokenizer::Regex(user) => sequence(&[isolated(user.source())]),
        Pretokenizer::Sequence(steps) => {
            serde_json::from_str(steps.spelling()).expect("steps are spelled as JSON")
        }
        Pretokenizer::None => byte_level(false),
    }
}

/// The pretokenizer that a `tokenizer.json` describes.
pub(super) fn read(value: Option<&Value>) -> Result<Pretokenizer> {
    let Some(value) = value else { return Ok(Pretokenizer::None) };
    let mut steps = Vec::new();
    collect(value, &mut steps).and_then(|()| of_steps(&steps)).map_err(|reason| {
        Error::vocabulary(format!("its pre_tokenizer is not supported: {reason}"))
    })
}

/// The pretokenizer that `text` spells, if it spells a sequence of steps.
pub(crate) fn read_spelling(text: &str) -> Option<Result<Pretokenizer>> {
    let is_object = text.starts_with('{');
    let value: Value = is_object.then(|| serde_json::from_str(text).ok()).flatten()?;
    Some(read(Some(&value)))
}

/// The steps by which Hugging Face tokenizers cut as `scheme` does.
fn steps_of(scheme: Scheme) -> Vec<Step> {
    match scheme {
        Scheme::StarCoder => vec![Step::Digits { individual_digits: true }, byte_level_step(true)],
        Scheme::DeepSeek => DEEPSEEK.into_iter().map(isolated).collect(),
        other => vec![isolated(other.pattern())],
    }
}

/// The patterns of the three steps of `DeepSeek` V3.
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*",
        "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
];

fn isolated(pattern: &str) -> Step {
    let pattern = SplitPattern::Regex(pattern.to_owned());
    Step::Split { pattern, behavior: Behavior::Isolated, invert: false }
}

/// A sequence that ends in the step that spells bytes as characters.
fn sequence(steps: &[Step]) -> Value {
    let spells_bytes = matches!(steps.last(), Some(Step::ByteLevel { .. }));
    let last = (!spells_bytes).then(|| byte_level_step(false));
    let steps: Vec<&Step> = steps.iter().chain(&last).collect();
    json!({"type": "Sequence", "pretokenizers": steps})
}

/// Append the steps of `value`, and of sequences in it, to `steps`; what cuts nothing is left out.
fn collect(value: &Value, steps: &mut Vec<Step>) -> Answer<()> {
    if value["type"] == "Sequence" {
        let inner = value["pretokenizers"].as_array().map_or(&[][..], Vec::as_slice);
        return inner.iter().try_for_each(|step| collect(step, steps));
    }
    let step: Step =
        serde_json::from_value(value.clone()).map_err(|error| format!("{error} in {value}"))?;
    if let Step::ByteLevel { add_prefix_space: true, .. } = step {
        return Err("add_prefix_space would add a space to the text".to_owned());
    }
    if matches!(steps.last(), Some(Step::ByteLevel { .. })) {
        return Err("what follows ByteLevel would cut within characters".to_owned());
    }
    steps.push(step);
    Ok(())
}

fn of_steps(steps: &[Step]) -> Answer<Pretokenizer> {
    let cutting: Vec<Step> = steps
        .iter()
        .filter(|step| !matches!(step, Step::ByteLevel { use_regex: false, .. }))
        .map(|step| match step {
            Step::ByteLevel { .. } => byte_level_step(true),
            other => other.clone(),
        })
        .collect();
    if cutting == [byte_level_step(true)] {
        return Ok(Pretokenizer::Scheme(Scheme::Gpt2));
    }
    if let Some(scheme) = Scheme::ALL.into_iter().find(|scheme| steps_of(*scheme) == cutting) {
        return Ok(Pretokenizer::Scheme(scheme));
    }
    cutting_by(&cutting)
}

fn cutting_by(steps: &[Step]) -> Answer<Pretokenizer> {
    let mut cuts = steps.iter().map(cut).collect::<Answer<Vec<_>>>()?;
    match (cuts.pop(), cuts.is_empty()) {
        (None, _) => Ok(Pretokenizer::None),
        (Some(Cut { finds: Finds::Everything(only), .. }), true) => Ok(only),
        (Some(last), _) => {
            cuts.push(last);
            let spelling = sequence(steps).to_string();
            Ok(Pretokenizer::Sequence(Arc::new(Steps::new(spelling, cuts))))
        }
    }
}

fn cut(step: &Step) -> Answer<Cut> {
    match step {
        Step::ByteLevel { .. } => Ok(everything(Pretokenizer::Scheme(Scheme::Gpt2))),
        Step::Digits { individual_digits } => {
            let pattern = if *individual_digits { r"\p{N}" } else { r"\p{N}+" };
            cut_by(pattern, Behavior::Isolated, false)
        }
        Step::Punctuation { behavior } => cut_by(r"[\p{P}$+<=>^`|~]", *behavior, false),
        Step::Split { pattern: SplitPattern::Regex(pattern), behavior, invert } => {
            cut_by(pattern, *behavior, *invert)
        }
        Step::Split { pattern: SplitPattern::String(text), behavior, invert } => {
            cut_by(&fancy_regex::escape(text), *behavior, *invert)
        }
    }
}

fn everything(pretokenizer: Pretokenizer) -> Cut {
    let (behavior, invert) = (Behavior::Isolated, false);
    Cut { finds: Finds::Everything(pretokenizer), behavior, invert }
}

fn cut_by(pattern: &str, behavior: Behavior, invert: bool) -> Answer<Cut> {
    let message = |error: Error| error.to_string();
    let known = Scheme::from_pattern(pattern);
    if behavior == Behavior::Isolated {
        return Pretokenizer::of_pattern(pattern).map(everything).map_err(message);
    }
    let user = UserPattern::new(pattern).map_err(message)?;
    match behavior {
        // Some write it so where the pattern matches all text: then nothing is removed.
        Behavior::Removed if invert && user.covers_all_text() => {
            return Ok(everything(match known {
                Some(scheme) => Pretokenizer::Scheme(scheme),
                None => Pretokenizer::Regex(Arc::new(user)),
            }));
        }
        Behavior::Removed => return Err("Removed would drop text".to_owned()),
        _ if user.may_match_nothing().map_err(message)? => {
            return Err(format!("the pattern {pattern:?} matches nothing at all places"));
        }
        _ => {}
    }
    Ok(Cut { finds: Finds::Matches(Box::new(user)), behavior, invert })
}

/// The steps of a scheme, as if they were not known by its name.
#[cfg(test)]
pub(crate) fn steps_without_name(scheme: Scheme) -> Pretokenizer {
    cutting_by(&steps_of(scheme)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_steps(steps: &Value) -> Result<Pretokenizer> {
        read(Some(&json!({"type": "Sequence", "pretokenizers": steps})))
    }

    fn cuts(pretokenizer: &Pretokenizer, text: &str) -> Vec<String> {
        let mut cuts = Vec::new();
        pretokenizer.for_each(text, |cut| cuts.push(cut.to_owned())).unwrap();
        cuts
    }

    #[test]
    fn schemes_are_written_and_read() {
        for scheme in Scheme::ALL {
            let pretokenizer = Pretokenizer::Scheme(scheme);
            let read = read(Some(&write(&pretokenizer))).unwrap();
            assert_eq!(read.to_string(), scheme.name());
        }
        let gpt2 = read(Some(&byte_level(true))).unwrap();
        assert_eq!(gpt2.to_string(), "gpt2");
    }

    #[test]
    fn sequences_are_spelled_and_read_again() {
        let steps = json!([
            {"type": "Punctuation", "behavior": "Contiguous"},
            {"type": "Digits", "individual_digits": false},
            {"type": "Split", "pattern": {"String": "ab"}, "behavior": "MergedWithNext", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
        ]);
        let pretokenizer = read_steps(&steps).unwrap();
        let text = "xaby!! 123 cab";
        let expected = ["x", "aby", "!!", " ", "123", " c", "ab"];
        assert_eq!(cuts(&pretokenizer, text), expected);
        let again = Pretokenizer::new(pretokenizer.pattern().unwrap()).unwrap();
        assert_eq!(again.pattern(), pretokenizer.pattern());
        assert_eq!(cuts(&again, text), expected);
        assert_eq!(write(&again), write(&pretokenizer));
    }

    #[test]
    fn what_would_drop_or_add_text_is_refused() {
        let refused = |step: Value| read_steps(&json!([step])).unwrap_err().to_string();
        let split = |behavior: &str, invert: bool, pattern: &str| {
            json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior,
                   "invert": invert})
        };
        assert!(refused(split("Removed", false, "a")).contains("drop text"));
        assert!(refused(split("Removed", true, "a")).contains("drop text"));
        assert!(refused(split("Contiguous", false, "a*")).contains("nothing"));
        assert!(refused(byte_level(true)["type"].clone()).contains("not supported"));
        let with_space = json!({"type": "ByteLevel", "add_prefix_space": true});
        assert!(refused(with_space).contains("add_prefix_space"));
        let steps = json!([byte_level(true), {"type": "Digits", "individual_digits": true}]);
        assert!(read_steps(&steps).unwrap_err().to_string().contains("follows ByteLevel"));
        let pattern = Scheme::Cl100k.pattern();
        let all = read_steps(&json!([split("Removed", true, pattern)])).unwrap();
        assert_eq!(all.to_string(), "cl100k");
    }
}
