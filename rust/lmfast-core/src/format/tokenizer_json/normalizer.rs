//! The normalizer of a `tokenizer.json`: Unicode normal forms, or none.

use serde_json::{Value, json};

use super::not_supported;
use crate::{
    error::Result,
    normalize::{Form, Normalizer},
};

pub(super) fn write(normalizer: &Normalizer) -> Option<Value> {
    let mut forms: Vec<Value> =
        normalizer.forms().iter().map(|form| json!({"type": form.name()})).collect();
    match forms.len() {
        0 => None,
        1 => forms.pop(),
        _ => Some(json!({"type": "Sequence", "normalizers": forms})),
    }
}

pub(super) fn read(normalizer: Option<&Value>) -> Result<Normalizer> {
    let mut forms = Vec::new();
    if let Some(normalizer) = normalizer {
        push(normalizer, &mut forms)?;
    }
    Ok(Normalizer::new(forms))
}

fn push(normalizer: &Value, forms: &mut Vec<Form>) -> Result<()> {
    let refuse = || not_supported("normalizer", normalizer);
    let name = normalizer["type"].as_str().ok_or_else(refuse)?;
    if name == "Sequence" {
        let steps = normalizer["normalizers"].as_array().ok_or_else(refuse)?;
        return steps.iter().try_for_each(|step| push(step, forms));
    }
    forms.push(Form::from_name(name).ok_or_else(refuse)?);
    Ok(())
}
