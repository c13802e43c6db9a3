//! The one way from Python into the core: the interpreter is released, errors become exceptions, a
//! panic never reaches Python, and long work can be watched and interrupted.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use lmfast_core::{Error, ErrorKind, Result, Watch};
use pyo3::prelude::*;

use crate::errors;

/// How often long work is checked for signals and progress.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// What the thread of the caller hands on, while others work on what it has handed on before.
pub(crate) trait Supply<'py> {
    /// Whether there may be more.
    fn has_more(&self) -> bool;

    /// Hand on a little, waiting for room no longer than [`POLL`]. An exception waits until the work
    /// on what was before it has ended, unless it is one that ends programs.
    fn step(&mut self, py: Python<'py>) -> PyResult<()>;

    /// Let nobody wait for more; so does dropping it.
    fn close(&mut self);

    /// The exception that waits.
    fn raised(self) -> Option<PyErr>;
}

/// Nothing to hand on.
struct Nothing;

impl Supply<'_> for Nothing {
    fn has_more(&self) -> bool {
        false
    }

    fn step(&mut self, _: Python<'_>) -> PyResult<()> {
        Ok(())
    }

    fn close(&mut self) {}

    fn raised(self) -> Option<PyErr> {
        None
    }
}

/// Short work, on the caller's thread.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    converted(py, result)
}

/// Long work, on a thread of its own, while the caller's thread checks for signals and passes how
/// much is done to `on_progress`.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    fed(py, on_progress, Nothing, work)
}

/// Long work, watched, which takes what the caller's thread supplies meanwhile. What the work reports
/// of an earlier document goes before an exception.
pub(crate) fn fed<'py, T: Send>(
    py: Python<'py>,
    on_progress: Option<&Bound<'_, PyAny>>,
    supply: impl Supply<'py>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let mut outcome = Ok(());
    let mut looked = Instant::now();
    let (result, raised) = thread::scope(|scope| {
        // Dropped before a panic here waits for the worker, who may wait for more.
        let mut supply = supply;
        let (finished, mut is_finished) = channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            let _finished = finished; // dropped however the work ends
            work(&watch)
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => {
                let message = format!("cannot start a thread: {error}");
                return (Ok(Err(Error::new(ErrorKind::Io, message))), None);
            }
        };
        loop {
            let has_more = outcome.is_ok() && supply.has_more();
            let patience = if has_more { Duration::ZERO } else { POLL };
            // The receiver goes along so that it need not be shared.
            let (waited, receiver) = py.detach(move || {
                let waited = is_finished.recv_timeout(patience);
                (waited, is_finished)
            });
            is_finished = receiver;
            if waited != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if has_more {
                outcome = supply.step(py);
            }
            if outcome.is_ok() && (!has_more || looked.elapsed() >= POLL) {
                looked = Instant::now();
                outcome = py.check_signals().and_then(|()| report(on_progress, &watch));
            }
            if outcome.is_err() {
                watch.stop();
                supply.close();
            }
        }
        (py.detach(|| worker.join()), supply.raised())
    });
    outcome.and_then(|()| {
        let value = match (result, raised) {
            (Ok(Ok(_)), Some(raised)) => return Err(raised),
            (Ok(Err(error)), Some(raised)) if error.kind() == ErrorKind::Interrupted => {
                return Err(raised);
            }
            (result, _) => converted(py, result)?,
        };
        report(on_progress, &watch)?;
        Ok(value)
    })
}

fn report(on_progress: Option<&Bound<'_, PyAny>>, watch: &Watch) -> PyResult<()> {
    on_progress.map_or(Ok(()), |call| call.call1((watch.done(),)).map(|_| ()))
}

fn converted<T>(
    py: Python<'_>,
    result: std::result::Result<Result<T>, Box<dyn Any + Send>>,
) -> PyResult<T> {
    match result {
        Ok(result) => result.map_err(|error| errors::from_core(py, &error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
            Err(errors::raise(py, "LmfastError", format!("internal error in lmfast: {text}")))
        }
    }
}
