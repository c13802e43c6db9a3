//! Progress of long work, and the request to stop it, between two threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::error::{Error, Result};

/// Shared by the thread that works and the one that waits.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    stop: AtomicBool,
}

impl Watch {
    /// Ask the work to stop; it ends with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// How much is done: bytes of input, or merges.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Add `amount` to what is done; an error if the work is to stop.
    pub(crate) fn advance(&self, amount: u64) -> Result<()> {
        self.done.fetch_add(amount, Relaxed);
        self.check()
    }

    /// An error if the work is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stop.load(Relaxed) { Err(Error::interrupted()) } else { Ok(()) }
    }
}
