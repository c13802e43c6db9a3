//! The post-processor of a `tokenizer.json`: which ids stand before and behind every text.

use serde_json::{Value, json};

use super::not_supported;
use crate::{
    encode::Tokenizer,
    error::Result,
    format::{Template, pre_tokenizer::byte_level},
    vocabulary::TokenId,
};

pub(super) fn write(tokenizer: &Tokenizer) -> Option<Value> {
    let Template { before, after, source } = tokenizer.template();
    if source.is_some() || before.is_empty() && after.is_empty() {
        return source.clone();
    }
    let name = |id: &TokenId| {
        let bytes = tokenizer.token_bytes(*id).expect("a template of tokens");
        String::from_utf8_lossy(bytes).into_owned()
    };
    let special = |id| json!({"SpecialToken": {"id": name(id), "type_id": 0}});
    let text = |name: &str, part: u8| json!({"Sequence": {"id": name, "type_id": part}});
    let around = |texts: Vec<Value>| -> Vec<Value> {
        let before = before.iter().map(special);
        before.chain(texts).chain(after.iter().map(special)).collect()
    };
    let ids = before.iter().chain(after);
    let known =
        ids.map(|id| (name(id), json!({"id": name(id), "ids": [id], "tokens": [name(id)]})));
    Some(json!({"type": "Sequence", "processors": [byte_level(true), {
        "type": "TemplateProcessing",
        "single": around(vec![text("A", 0)]),
        "pair": around(vec![text("A", 0), text("B", 0)]),
        "special_tokens": known.collect::<serde_json::Map<_, _>>(),
    }]}))
}

pub(super) fn read(processor: Option<Value>) -> Result<Template> {
    let mut template = Template::default();
    if let Some(processor) = &processor {
        wrap(processor, &mut template)?;
    }
    template.source = processor;
    Ok(template)
}

/// Put what `processor` adds around what is there.
fn wrap(processor: &Value, template: &mut Template) -> Result<()> {
    let refuse = || not_supported("post_processor", processor);
    let (mut before, after) = match processor["type"].as_str() {
        Some("ByteLevel") => return Ok(()),
        Some("Sequence") => {
            let steps = processor["processors"].as_array().ok_or_else(refuse)?;
            return steps.iter().try_for_each(|step| wrap(step, template));
        }
        Some("TemplateProcessing") => around_text(processor).ok_or_else(refuse)?,
        Some("RobertaProcessing" | "BertProcessing") => {
            let id = |name: &str| number(&processor[name][1]);
            (vec![id("cls").ok_or_else(refuse)?], vec![id("sep").ok_or_else(refuse)?])
        }
        _ => return Err(refuse()),
    };
    before.append(&mut template.before);
    template.before = before;
    template.after.extend(after);
    Ok(())
}

/// The ids before and behind the one text of a template for single texts.
fn around_text(processor: &Value) -> Option<(Vec<TokenId>, Vec<TokenId>)> {
    let (mut before, mut after, mut texts) = (Vec::new(), Vec::new(), 0);
    for piece in processor["single"].as_array()? {
        if let Some(name) = piece["SpecialToken"]["id"].as_str() {
            let ids = processor["special_tokens"][name]["ids"].as_array()?;
            let side = if texts == 0 { &mut before } else { &mut after };
            side.extend(ids.iter().map(number).collect::<Option<Vec<_>>>()?);
        } else if piece["Sequence"]["id"] == "A" {
            texts += 1;
        } else {
            return None;
        }
    }
    (texts == 1).then_some((before, after))
}

fn number(value: &Value) -> Option<TokenId> {
    value.as_u64()?.try_into().ok()
}
