//! Work on many threads whose results come in order.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use crate::{
    error::{Error, Result},
    threads,
};

/// Items that may be in hand for each thread, finished ones that wait for their turn included.
const ITEMS_PER_THREAD: usize = 4;

/// Have `threads` workers do `work` on each of `items`, and give the results to `sink` in the order
/// of the items.
///
/// Workers wait for nothing but the next item, which one reads at a time, and for room where the
/// worker with the earliest item has fallen far behind. One at a time is in `sink`; nobody waits for
/// that. Of several errors, the one of the earliest item is returned, whatever the number of threads.
pub(crate) fn for_each<I: Send, T: Send>(
    threads: usize,
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> Result<T> + Sync,
    sink: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let line = Line {
        room: threads * ITEMS_PER_THREAD,
        state: Mutex::new(State { taken: 0, next: 0, done: BTreeMap::new(), end: None }),
        has_room: Condvar::new(),
        items: Mutex::new(items),
        sink: Mutex::new(sink),
    };
    let worker = || {
        let _guard = StopOnPanic(&line.state, &line.has_room);
        while let Some((index, item)) = line.take() {
            line.deliver(index, work(item));
        }
    };
    threads::everywhere(threads, worker);
    match lock(&line.state).end.take() {
        Some(End::Failed(error)) => Err(error),
        _ => Ok(()),
    }
}

struct Line<Items, Sink, T> {
    room: usize,
    state: Mutex<State<T>>,
    has_room: Condvar,
    items: Mutex<Items>,
    sink: Mutex<Sink>,
}

struct State<T> {
    /// Items taken so far.
    taken: usize,
    /// The item whose result the sink gets next.
    next: usize,
    /// Results that wait for their turn.
    done: BTreeMap<usize, Result<T>>,
    /// Why no more items are taken, unless there are none.
    end: Option<End>,
}

enum End {
    Failed(Error),
    Panicked,
}

impl<I, Items, T, Sink> Line<Items, Sink, T>
where
    Items: Iterator<Item = I>,
    Sink: FnMut(T) -> Result<()>,
{
    /// The next item, as soon as there is room for its result.
    fn take(&self) -> Option<(usize, I)> {
        let mut items = lock(&self.items);
        let is_full =
            |state: &mut State<T>| state.end.is_none() && state.taken - state.next >= self.room;
        let state = self
            .has_room
            .wait_while(lock(&self.state), is_full)
            .unwrap_or_else(PoisonError::into_inner);
        if state.end.is_some() {
            return None;
        }
        drop(state);
        let item = items.next()?;
        let mut state = lock(&self.state);
        state.taken += 1;
        Some((state.taken - 1, item))
    }

    fn deliver(&self, index: usize, result: Result<T>) {
        lock(&self.state).done.insert(index, result);
        // Whoever is in the sink looks again once it is free, so nothing is left behind.
        while lock(&self.state).has_next() {
            let Ok(mut sink) = self.sink.try_lock() else { return };
            self.drain(&mut sink);
        }
    }

    fn drain(&self, sink: &mut Sink) {
        loop {
            let Some(result) = lock(&self.state).take_next() else { return };
            let result = result.and_then(&mut *sink);
            let mut state = lock(&self.state);
            state.next += 1;
            if let Err(error) = result {
                state.end.get_or_insert(End::Failed(error));
            }
            self.has_room.notify_all();
        }
    }
}

impl<T> State<T> {
    fn has_next(&self) -> bool {
        self.end.is_none() && self.done.contains_key(&self.next)
    }

    fn take_next(&mut self) -> Option<Result<T>> {
        if self.end.is_some() { None } else { self.done.remove(&self.next) }
    }
}

/// Lets the others end where a worker panics: the panic goes on in the thread that waits for it.
struct StopOnPanic<'a, T>(&'a Mutex<State<T>>, &'a Condvar);

impl<T> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(self.0).end.get_or_insert(End::Panicked);
            self.1.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 7] {
            let mut seen = Vec::new();
            // The first of each ten takes longest.
            let work = |n: u64| {
                thread::sleep(Duration::from_micros([2000, 20][(n % 10).min(1) as usize]));
                Ok(n)
            };
            for_each(threads, 0..300, work, |n| {
                seen.push(n);
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, (0..300).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_earliest_error_ends_it() {
        for threads in [1, 2, 7] {
            let mut seen = Vec::new();
            let work = |n: u64| {
                thread::sleep(Duration::from_micros(1000 - n));
                if n >= 40 { Err(Error::new(ErrorKind::Text, n.to_string())) } else { Ok(n) }
            };
            let result = for_each(threads, 0..1000, work, |n| {
                seen.push(n);
                Ok(())
            });
            assert_eq!(result.unwrap_err().to_string(), "40");
            assert_eq!(seen, (0..40).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_of_the_sink_ends_it() {
        let sink = |n| if n == 5 { Err(Error::new(ErrorKind::Io, "full")) } else { Ok(()) };
        assert_eq!(for_each(3, 0.., Ok, sink).unwrap_err().to_string(), "full");
    }

    #[test]
    fn nobody_waits_for_one_that_panicked() {
        let run = || for_each(3, 0.., |n| if n == 7 { panic!("seven") } else { Ok(n) }, |_| Ok(()));
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn nobody_waits_for_a_sink_that_panicked() {
        let run = || for_each(3, 0.., Ok, |n| if n == 7 { panic!("seven") } else { Ok(()) });
        assert!(std::panic::catch_unwind(run).is_err());
    }

    #[test]
    fn no_more_is_in_hand_than_there_is_room_for() {
        let given = std::sync::atomic::AtomicUsize::new(0);
        let items = (0..200).inspect(|_| {
            given.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        let mut taken = 0;
        for_each(2, items, Ok, |_| {
            thread::sleep(Duration::from_micros(100));
            taken += 1;
            let in_hand = given.load(std::sync::atomic::Ordering::Relaxed) - taken;
            assert!(in_hand <= 2 * ITEMS_PER_THREAD, "{in_hand}");
            Ok(())
        })
        .unwrap();
    }
}
