//! Worker threads that live for one call.
//!
//! A pool that outlives the call would hang a forked child, in which its threads do not exist.

use std::num::NonZero;

use crate::error::{Error, ErrorKind, Result};

/// The number of workers: what was asked for, or one for each core that this process may use.
pub(crate) fn count(threads: Option<NonZero<usize>>) -> usize {
    threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get)
}

/// Run `work` where rayon's parallel iterators use `threads` workers.
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        let message = format!("cannot start {threads} threads: {error}");
        Error::new(ErrorKind::Io, message)
    })?;
    Ok(pool.install(work))
}
