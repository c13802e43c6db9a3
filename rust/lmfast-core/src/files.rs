//! Reading small files whole, and writing them so that a reader never sees half of one.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Write `bytes` beside `path`, flush them to disk, then rename: `path` holds the old bytes or all
/// of the new ones, whatever happens in between.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = format!(".{}.tmp", std::process::id());
    let temporary = beside(path, &name);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        // The error that counts is the first; failing to clean up adds nothing to it.
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, error)
    })
}

/// `path` with `suffix` after its last part.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The text of a vocabulary file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|error| Error::io("read", path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::vocabulary(format!("{} is not UTF-8: invalid at byte {at}", path.display()))
    })
}

/// A checksum in hexadecimal.
pub(crate) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}
