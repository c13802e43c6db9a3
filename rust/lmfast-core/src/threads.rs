//! Worker threads that live for one call.
//!
//! A pool that outlives the call would hang a forked child, in which its threads do not exist.

use std::num::NonZero;

use crate::error::{Error, ErrorKind, Result};

/// More workers than cores help nobody, and each costs some blocks of text in memory.
const MOST: usize = 64;

/// The number of workers: what was asked for, within reason, or one for each core that this process
/// may use.
pub(crate) fn count(threads: Option<NonZero<usize>>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    threads.map_or(cores, |threads| threads.get().min(cores.max(MOST)))
}

/// Run `work` where rayon's parallel iterators use `threads` workers.
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        let message = format!("cannot start {threads} threads: {error}");
        Error::new(ErrorKind::Io, message)
    })?;
    Ok(pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_number_of_threads_is_not_started() {
        assert_eq!(count(NonZero::new(1)), 1);
        assert_eq!(count(NonZero::new(7)), 7);
        assert!(count(NonZero::new(usize::MAX)) <= 4096);
    }
}
