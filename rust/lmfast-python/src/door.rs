//! The one way from Python into the core: the interpreter is released, errors become exceptions, a
//! panic never reaches Python, and long work can be watched and interrupted.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use lmfast_core::{Result, Watch};
use pyo3::prelude::*;

use crate::errors;

/// How often long work is checked for signals and progress.
const POLL: Duration = Duration::from_millis(50);

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
    let watch = Watch::default();
    let mut outcome = Ok(());
    let result = std::thread::scope(|scope| {
        let (finished, is_finished) = channel::<()>();
        let worker = scope.spawn(|| {
            let _finished = finished; // dropping it ends the wait, however the work ends
            work(&watch)
        });
        // The receiver goes along so that it need not be shared.
        let mut is_finished = is_finished;
        loop {
            let (waited, receiver) = py.detach(move || {
                let waited = is_finished.recv_timeout(POLL);
                (waited, is_finished)
            });
            is_finished = receiver;
            if waited != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if outcome.is_ok() {
                outcome = py.check_signals().and_then(|()| report(on_progress, &watch));
                if outcome.is_err() {
                    watch.stop();
                }
            }
        }
        py.detach(|| worker.join())
    });
    outcome.and_then(|()| {
        let value = converted(py, result)?;
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
