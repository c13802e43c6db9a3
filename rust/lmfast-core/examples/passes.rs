//! So many passes over a made text, for tools that count instructions: `benches/instructions.py`.
//!
//! `passes make FOLDER` writes a tokenizer and the texts; `passes scan|encode FOLDER TEXT N` makes
//! N passes over one of them. What N + 1 passes take more than N is the cost of one pass alone.

#[path = "../benches/made/mod.rs"]
mod made;

use std::{env, fs, hint::black_box, path::Path};

use lmfast_core::{Result, format::tokenizer_json, special::SpecialPolicy};
use made::Script;

const TEXT_BYTES: usize = 1 << 20;
const VOCAB_SIZE: usize = 8_192;
const TOKENIZER: &str = "tokenizer.json";

fn make(folder: &Path) -> Result<()> {
    let tokenizer = made::tokenizer("gpt2", VOCAB_SIZE, TEXT_BYTES)?;
    tokenizer_json::save(&tokenizer, &folder.join(TOKENIZER))?;
    for script in Script::ALL {
        fs::write(folder.join(script.name()), script.text(TEXT_BYTES)).expect("FOLDER is there");
    }
    Ok(())
}

fn pass(what: &str, folder: &Path, text: &str, passes: usize) -> Result<()> {
    let tokenizer = tokenizer_json::load(&folder.join(TOKENIZER))?;
    let text = fs::read_to_string(folder.join(text)).expect("`passes make` has written it");
    for _ in 0..passes {
        if what == "scan" {
            let mut pretokens = 0;
            tokenizer.pretokenizer().for_each(&text, |_| pretokens += 1)?;
            black_box(pretokens);
        } else {
            black_box(tokenizer.encode(text.as_bytes(), &SpecialPolicy::default())?);
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["make", folder] => make(Path::new(folder)),
        [what @ ("scan" | "encode"), folder, text, passes] => {
            let passes = passes.parse().expect("N is a number");
            pass(what, Path::new(folder), text, passes)
        }
        _ => panic!("usage: passes make FOLDER | passes scan|encode FOLDER TEXT N"),
    }
}
