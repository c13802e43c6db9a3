//! A large table of fixed length, in huge pages where the system has them.
//!
//! Training reads its text, and encoding its cache, in no order that a processor could foresee, so
//! that nearly every load is of another page: the larger pages are, the fewer must be found.

use std::{
    io::Write as _,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    path::Path,
};

use bytemuck::Pod;
use memmap2::MmapMut;

use crate::{
    error::{Error, ErrorKind, Result},
    huge_pages,
};

/// Zeros to begin with.
#[derive(Debug)]
pub(crate) struct HugeTable<T> {
    map: MmapMut,
    len: usize,
    item: PhantomData<T>,
}

impl<T: Pod> HugeTable<T> {
    /// The bytes of so many items, as many as a map can have at least.
    fn bytes(len: usize) -> usize {
        // What a map begins with, a page, fits any item.
        const { assert!(align_of::<T>() <= 4096) };
        len.checked_mul(size_of::<T>()).expect("as much as there can be").max(1)
    }

    pub(crate) fn new(len: usize) -> Result<Self> {
        let bytes = Self::bytes(len);
        let mut map = MmapMut::map_anon(bytes).map_err(|error| {
            let message = format!("cannot have {bytes} bytes of memory: {error}");
            Error::new(ErrorKind::Io, message)
        })?;
        huge_pages::advise(&mut map);
        Ok(Self { map, len, item: PhantomData })
    }

    /// A table in a file of `folder` that has no name: the system keeps in memory what it has room
    /// for.
    pub(crate) fn on_disk(len: usize, folder: &Path) -> Result<Self> {
        let failed = |error| Error::io("write a temporary file in", folder, error);
        let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
        // Written to the end now: where the disk is full, a mapped page has no way to say so.
        let zeros = vec![0; 1 << 20];
        let mut left = Self::bytes(len);
        while left > 0 {
            let bytes = &zeros[..left.min(zeros.len())];
            file.write_all(bytes).map_err(failed)?;
            left -= bytes.len();
        }
        // SAFETY: The file has no name and no other handle, so nobody else changes or truncates it.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(failed)?;
        Ok(Self { map, len, item: PhantomData })
    }
}

impl<T: Pod> Deref for HugeTable<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: The map begins with a page, has room for so many items (`bytes`), and
        // any bytes are items.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.len) }
    }
}

impl<T: Pod> DerefMut for HugeTable<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: As above, and nobody else has a part of the map.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.len) }
    }
}
