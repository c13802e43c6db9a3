//! What calls leave behind for the next one.

use std::sync::Mutex;

/// More calls than these at once leave nothing behind.
const SLOTS: usize = 64;

/// A few things to reuse, taken and put back by any thread.
///
/// Nobody ever waits: a process that forks while another thread holds a lock leaves that lock held
/// in the child for good. So a slot that is locked is passed over, and the child lacks that one.
#[derive(Debug)]
pub(crate) struct Idle<T> {
    slots: [Mutex<Option<Box<T>>>; SLOTS],
}

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Self { slots: [const { Mutex::new(None) }; SLOTS] }
    }
}

impl<T> Idle<T> {
    /// What an earlier call left.
    pub(crate) fn take(&self) -> Option<Box<T>> {
        self.slots.iter().find_map(|slot| slot.try_lock().ok()?.take())
    }

    /// Leave `value` for a later call.
    pub(crate) fn put(&self, value: Box<T>) {
        for slot in &self.slots {
            if let Ok(mut slot) = slot.try_lock()
                && slot.is_none()
            {
                *slot = Some(value);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let idle = Idle::default();
        assert_eq!(idle.take(), None);
        idle.put(Box::new(1));
        idle.put(Box::new(2));
        let mut both = [idle.take(), idle.take()].map(|value| *value.unwrap());
        both.sort_unstable();
        assert_eq!(both, [1, 2]);
        assert_eq!(idle.take(), None);
    }

    #[test]
    fn a_lock_that_is_held_is_passed_over() {
        let idle = Idle::default();
        let _held = idle.slots[0].lock().unwrap(); // as in the child of a fork
        idle.put(Box::new(1));
        assert_eq!(idle.take(), Some(Box::new(1)));
        assert_eq!(idle.take(), None);
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        let idle = Idle::default();
        (0..SLOTS + 3).for_each(|value| idle.put(Box::new(value)));
        assert_eq!(std::iter::from_fn(|| idle.take()).count(), SLOTS);
    }
}
