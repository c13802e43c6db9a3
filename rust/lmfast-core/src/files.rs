//! Reading small files whole, and writing them so that a reader never sees half of one.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// Files written by this process, so that threads do not write to the same temporary file.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Write a file as [`write_whole`] does.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(path, |out| out.write_all(bytes).map_err(|error| Error::io("write", path, error)))
}

/// Call `write` with a file beside `path`, flush that to disk, then rename it: `path` holds the old
/// bytes or all of the new ones, whatever happens in between. A link stays one, and so does a pipe
/// or a device such as `/dev/null`, which is written to as it is.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let failed = |error| Error::io("write", path, error);
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_special = fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_special {
        let mut out = BufWriter::new(File::create(&target).map_err(failed)?);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = beside(&target, &format!(".{}-{number}.tmp", std::process::id()));
    let whole = || {
        let mut out = BufWriter::new(File::create(&temporary).map_err(failed)?);
        write(&mut out)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().and_then(|()| fs::rename(&temporary, &target)).map_err(failed)
    };
    whole().inspect_err(|_| {
        // The error that counts is the first; failing to clean up adds nothing to it.
        let _ = fs::remove_file(&temporary);
    })
}

/// `path` with `suffix` after its last part.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The bytes of a vocabulary file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::io("read", path, error))
}

/// The text of a vocabulary file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|error| {
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();

        write_atomically(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();

        // A socket stands for a device, which a test had better not risk.
        write_atomically(&path, b"new").unwrap_err();
        assert!(!path.is_file());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
