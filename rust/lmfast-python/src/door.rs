//! The one way from Python into the core: the interpreter is released, errors become exceptions, a
//! panic never reaches Python, and long work can be watched and interrupted.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use lmfast_core::{Error, ErrorKind, Result, Watch, source::Feed};
use pyo3::prelude::*;

use crate::{errors, pump::Pump};

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
    fed(py, on_progress, None, work)
}

/// Long work, watched, to which the caller's thread feeds what Python iterators yield. What the
/// work reports of an earlier document goes before what the iterators raise.
pub(crate) fn fed<'py, T: Send>(
    py: Python<'py>,
    on_progress: Option<&Bound<'_, PyAny>>,
    mut pump: Option<Pump<'_, 'py>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let feed = pump.as_ref().map(Pump::feed);
    let mut outcome = Ok(());
    let mut looked = Instant::now();
    let result = thread::scope(|scope| {
        let (finished, mut is_finished) = channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            let _finished = (Closing(feed), finished); // dropped however the work ends
            work(&watch)
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => {
                let message = format!("cannot start a thread: {error}");
                return Ok(Err(Error::new(ErrorKind::Io, message)));
            }
        };
        loop {
            let is_pumping = outcome.is_ok() && pump.as_ref().is_some_and(Pump::has_more);
            let patience = if is_pumping { Duration::ZERO } else { POLL };
            // The receiver goes along so that it need not be shared.
            let (waited, receiver) = py.detach(move || {
                let waited = is_finished.recv_timeout(patience);
                (waited, is_finished)
            });
            is_finished = receiver;
            if waited != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if let (true, Some(pump)) = (is_pumping, &mut pump) {
                outcome = pump.step(py, POLL);
            }
            if outcome.is_ok() && (!is_pumping || looked.elapsed() >= POLL) {
                looked = Instant::now();
                outcome = py.check_signals().and_then(|()| report(on_progress, &watch));
            }
            if outcome.is_err() {
                watch.stop();
                feed.inspect(|feed| feed.close());
            }
        }
        py.detach(|| worker.join())
    });
    outcome.and_then(|()| {
        if let (Ok(Err(error)), Some(raised)) = (&result, pump.and_then(Pump::raised))
            && error.kind() == ErrorKind::Interrupted
        {
            return Err(raised);
        }
        let value = converted(py, result)?;
        report(on_progress, &watch)?;
        Ok(value)
    })
}

/// Closes the queue when it is dropped, so that nobody waits for what does not come.
struct Closing<'a>(Option<&'a Feed>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.inspect(|feed| feed.close());
    }
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
