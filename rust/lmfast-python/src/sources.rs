//! `Sources`: where documents come from.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use lmfast_core::source::{self, Input, OnError, ReadOptions};
use pyo3::{prelude::*, types::PyIterator};

use crate::{
    arguments::{FilePath, FilePaths, Str},
    door::detached,
    pump::Pump,
};

/// The files that paths stand for.
#[pyfunction]
pub(crate) fn expand_sources(py: Python<'_>, paths: FilePaths) -> PyResult<Vec<PathBuf>> {
    detached(py, || source::expand(&paths.0))
}

#[pyclass(frozen, module = "lmfast._lmfast")]
pub(crate) struct Sources {
    core: source::Sources,
    /// What is fed, with the number of its source; taken by the call that reads it.
    iterators: Mutex<Vec<(usize, Py<PyIterator>)>>,
}

impl Sources {
    pub(crate) fn core(&self) -> &source::Sources {
        &self.core
    }

    /// What feeds the sources that only Python can read.
    pub(crate) fn pump<'a, 'py>(&'a self, py: Python<'py>) -> Pump<'a, 'py> {
        let mut iterators = self.iterators.lock().unwrap_or_else(PoisonError::into_inner);
        let iterators: Vec<_> = std::mem::take(&mut *iterators);
        let bound = iterators.into_iter().map(|(input, iterator)| (input, iterator.into_bound(py)));
        Pump::new(&self.core, bound.collect())
    }
}

#[pymethods]
impl Sources {
    /// Of each input its path, if it is a file, and its iterator, if Python reads it.
    #[new]
    fn new(
        py: Python<'_>,
        inputs: Vec<(Option<FilePath>, Option<Bound<'_, PyIterator>>)>,
        text_field: Str,
        on_error: Str,
    ) -> PyResult<Self> {
        let options =
            detached(py, || Ok(ReadOptions::new(&text_field.0, OnError::from_name(&on_error.0)?)))?;
        let (mut files, mut iterators) = (Vec::new(), Vec::new());
        for (number, (path, iterator)) in inputs.into_iter().enumerate() {
            files.push(match (path, &iterator) {
                (Some(path), Some(_)) => Input::Rows(path.0),
                (Some(path), None) => Input::File(path.0),
                (None, _) => Input::Items,
            });
            iterators.extend(iterator.map(|iterator| (number, iterator.unbind())));
        }
        Ok(Self { core: source::Sources::new(files, options), iterators: Mutex::new(iterators) })
    }

    /// How many documents were left out for each reason, and what was wrong with the first.
    #[getter]
    fn skipped(&self) -> (Vec<(&'static str, u64)>, Option<String>) {
        let skipped = self.core.skipped();
        let named = |(reason, count): (source::Reason, u64)| (reason.name(), count);
        (skipped.by_reason.into_iter().map(named).collect(), skipped.first)
    }
}
