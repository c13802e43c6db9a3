//! Texts and characters, for reports that Python makes.

use lmfast_core::{
    Watch,
    characters::ranges_of_class,
    pretokenize::Scheme,
    source::{Sources, Stretches, texts_of},
};
use pyo3::prelude::*;

use crate::{
    arguments::{FilePaths, Str},
    door::detached,
    tokenizer::Tokenizer,
};

/// Call `on_texts` with the next stretches of the files' text, each with whether it ends a
/// document, until there are no more. The special tokens of `first` end documents, and a stretch
/// ends where `first` and `others` may cut.
#[pyfunction]
pub(crate) fn for_each_text(
    py: Python<'_>,
    files: FilePaths,
    first: &Bound<'_, Tokenizer>,
    others: Vec<Bound<'_, Tokenizer>>,
    on_texts: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let others: Vec<_> = others.iter().map(|other| &*other.get().core).collect();
    let (sources, watch) = (Sources::of_files(files.0), Watch::default());
    let mut texts = texts_of(&sources, &first.get().core, &others, &watch);
    let mut next = || -> PyResult<Option<Stretches>> { detached(py, || texts.next().transpose()) };
    while let Some(stretches) = next()? {
        py.check_signals()?;
        on_texts.call1((stretches,))?;
    }
    Ok(())
}

/// The ranges of code points of a class such as `\p{Script=Han}`, first and last.
#[pyfunction]
pub(crate) fn character_class(py: Python<'_>, class_: Str) -> PyResult<Vec<(u32, u32)>> {
    detached(py, || ranges_of_class(&class_.0))
}

/// The names of the pretokenizers that need no pattern.
#[pyfunction]
pub(crate) fn pretokenizer_names() -> Vec<&'static str> {
    let aliases = Scheme::ALIASES.into_iter().map(|(alias, _)| alias);
    Scheme::ALL.into_iter().map(Scheme::name).chain(aliases).collect()
}
