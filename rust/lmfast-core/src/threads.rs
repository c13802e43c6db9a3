//! Worker threads that live for one call.
//!
//! A pool that outlives the call would hang a forked child, in which its threads do not exist.

use std::{num::NonZero, panic::resume_unwind, thread};

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

/// Do `work` on this thread and on others, `threads` in all; what each comes to.
pub(crate) fn everywhere<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        // Where the system gives no more threads, those there are do all of it.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        let own = work();
        let join = |other: thread::ScopedJoinHandle<'_, T>| {
            other.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        std::iter::once(own).chain(others.into_iter().map(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_as_many_threads_as_asked_for() {
        for threads in 1..5 {
            let ids = everywhere(threads, || thread::current().id());
            assert_eq!(ids.len(), threads);
            assert!(ids.iter().enumerate().all(|(at, id)| !ids[..at].contains(id)));
        }
    }

    #[test]
    fn a_wild_number_of_threads_is_not_started() {
        assert_eq!(count(NonZero::new(1)), 1);
        assert_eq!(count(NonZero::new(7)), 7);
        assert!(count(NonZero::new(usize::MAX)) <= 4096);
    }
}
