//! From Python iterators into the queue that workers take from.

use std::collections::VecDeque;

use lmfast_core::{
    Error,
    source::{Fed, Feeder, Pushed, Reason, Sources},
};
use numpy::PyReadonlyArray1;
use pyo3::{
    exceptions::PyException,
    prelude::*,
    pybacked::PyBackedStr,
    types::{PyBytes, PyIterator, PyString, PyTuple},
};

use crate::{
    arguments::wrong_type,
    door::{POLL, Supply},
};

/// Feeds the sources that Python reads, one after the other, on the thread of the caller.
pub(crate) struct Pump<'a, 'py> {
    sources: &'a Sources,
    waiting: VecDeque<(Feeder<'a>, Bound<'py, PyIterator>)>,
    /// What found no room yet.
    held: Option<Fed>,
    is_done: bool,
    raised: Option<PyErr>,
}

/// Why a source gives no more.
enum Stop {
    Refused(Error),
    Raised(PyErr),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl<'a, 'py> Pump<'a, 'py> {
    /// Of each source its number and what it yields: documents, or batches of rows.
    pub(crate) fn new(sources: &'a Sources, fed: Vec<(usize, Bound<'py, PyIterator>)>) -> Self {
        let feeder = |(input, iterator)| (sources.feeder(input), iterator);
        let waiting: VecDeque<_> = fed.into_iter().map(feeder).collect();
        Self { sources, is_done: waiting.is_empty(), waiting, held: None, raised: None }
    }

    /// The next batch, or the end of a source; `None` after the last.
    fn gather(&mut self) -> std::result::Result<Option<Fed>, Stop> {
        let Some((feeder, iterator)) = self.waiting.front_mut() else {
            return Ok(None);
        };
        for item in iterator.by_ref() {
            if let Some(fed) = add(feeder, item?)? {
                return Ok(Some(fed));
            }
        }
        if !feeder.is_empty() {
            return Ok(Some(feeder.take(None)));
        }
        self.waiting.pop_front();
        Ok(Some(Fed::End))
    }
}

impl<'py> Supply<'py> for Pump<'_, 'py> {
    fn has_more(&self) -> bool {
        !self.is_done
    }

    fn step(&mut self, py: Python<'py>) -> PyResult<()> {
        let fed = match self.held.take() {
            Some(fed) => fed,
            None => match self.gather() {
                Ok(Some(fed)) => fed,
                Ok(None) => {
                    self.is_done = true;
                    return Ok(());
                }
                Err(stop) => {
                    self.waiting.clear();
                    match stop {
                        Stop::Refused(error) => Fed::Refused(error),
                        Stop::Raised(error) if error.is_instance_of::<PyException>(py) => {
                            self.raised = Some(error);
                            Fed::Broken
                        }
                        Stop::Raised(error) => return Err(error),
                    }
                }
            },
        };
        let feed = self.sources.feed();
        match py.detach(move || feed.push(fed, POLL)) {
            Pushed::Taken => {}
            Pushed::Full(fed) => self.held = Some(fed),
            Pushed::Closed => self.is_done = true,
        }
        Ok(())
    }

    fn close(&mut self) {
        self.sources.feed().close();
    }

    fn raised(mut self) -> Option<PyErr> {
        self.raised.take()
    }
}

impl Drop for Pump<'_, '_> {
    fn drop(&mut self) {
        self.sources.feed().close();
    }
}

/// Add what an iterator yielded; what to feed, once it is enough.
fn add(feeder: &mut Feeder<'_>, item: Bound<'_, PyAny>) -> std::result::Result<Option<Fed>, Stop> {
    if item.is_instance_of::<PyString>() {
        match item.extract::<PyBackedStr>() {
            Ok(text) => feeder.add(text.as_bytes())?,
            Err(_) => feeder.refuse(Reason::LoneSurrogate, LONE_SURROGATE)?,
        }
    } else if let Ok(bytes) = item.cast::<PyBytes>() {
        feeder.add(bytes.as_bytes())?;
    } else if feeder.is_of_rows() {
        return add_rows(feeder, item.cast::<PyTuple>().map_err(PyErr::from)?).map(Some);
    } else {
        let what = format!("item {} of the iterator must be str or bytes", feeder.index());
        return Err(Stop::Raised(wrong_type(item.as_borrowed(), &what)));
    }
    Ok(feeder.is_full().then(|| feeder.take(None)))
}

const LONE_SURROGATE: &str = "holds a lone surrogate (U+D800..U+DFFF), which UTF-8 cannot write; \
                              text.encode('utf-8', 'replace') puts '?' in its place";

type Bytes<'py> = PyReadonlyArray1<'py, u8>;
type Offsets<'py> = PyReadonlyArray1<'py, i64>;
type Mask<'py> = PyReadonlyArray1<'py, bool>;

/// Rows as columns hold them: the bytes of all, where each begins and ends in them, which of them
/// have a value (`None`: all), and how many bytes of the file they count for.
fn add_rows(feeder: &mut Feeder<'_>, rows: &Bound<'_, PyTuple>) -> std::result::Result<Fed, Stop> {
    let (bytes, offsets, has_value, progress): (Bytes<'_>, Offsets<'_>, Option<Mask<'_>>, u64) =
        rows.extract()?;
    let (bytes, offsets) = (bytes.as_array(), offsets.as_array());
    let bytes = bytes.as_slice().expect("the buffer of a column is contiguous");
    let has_value = has_value.as_ref().map(PyReadonlyArray1::as_array);
    for (row, (&start, &end)) in offsets.iter().zip(offsets.iter().skip(1)).enumerate() {
        if has_value.as_ref().is_none_or(|has_value| has_value[row]) {
            feeder.add(&bytes[start as usize..end as usize])?;
        } else {
            feeder.refuse(Reason::Null, "has no value")?;
        }
    }
    Ok(feeder.take(Some(progress)))
}
