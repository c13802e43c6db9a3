//! Texts and characters, for reports that Python makes.

use lmfast_core::{
    Watch,
    characters::ranges_of_class,
    source::{Sources, Stretches, texts_of},
    special::SpecialTokens,
};
use pyo3::prelude::*;

use crate::{
    arguments::{FilePaths, PretokenizerName, SpecialNames, Str},
    door::detached,
    tokenizer::pretokenizer,
};

/// Call `on_texts` with the next stretches of the files' text, each with whether it ends a
/// document, until there are no more.
#[pyfunction]
pub(crate) fn for_each_text(
    py: Python<'_>,
    files: FilePaths,
    pretokenizer: PretokenizerName,
    special_tokens: SpecialNames,
    on_texts: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let (special_tokens, pretokenizer) = detached(py, || {
        let numbered = special_tokens.0.into_iter().zip(0..).collect();
        Ok((SpecialTokens::new(numbered)?, self::pretokenizer(pretokenizer.name())?))
    })?;
    let (sources, watch) = (Sources::of_files(files.0), Watch::default());
    let mut texts = texts_of(&sources, &special_tokens, &pretokenizer, &watch);
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
