//! Documents out of files.

mod blocks;
mod texts;

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

pub(crate) use blocks::Block;
use blocks::Blocks;
pub use texts::{Stretches, texts_of};

use crate::{
    error::{Error, Result},
    pretokenize::Pretokenizer,
    special::Matcher,
};

/// The files that `paths` stand for: a folder stands for all files below it, in the order of their
/// paths, except hidden ones.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| Error::io("read", path, error))?;
        if metadata.is_dir() {
            walk(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |error| Error::io("list", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut entries: Vec<fs::DirEntry> = entries.collect::<io::Result<_>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // A link to a folder is not followed: it may lead back up.
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&entry.path(), files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The blocks of one file after the other.
pub(crate) fn blocks_of<'a>(
    files: &'a [PathBuf],
    separators: &'a Matcher,
    pretokenizer: &'a Pretokenizer,
) -> impl Iterator<Item = Result<Block>> + Send + 'a {
    files.iter().flat_map(move |path| {
        let (blocks, error) = match Blocks::open(path, separators, pretokenizer) {
            Ok(blocks) => (Some(blocks), None),
            Err(error) => (None, Some(Err(error))),
        };
        blocks.into_iter().flatten().chain(error)
    })
}

/// The bytes of a file, decompressed if its name ends in `.gz` or `.zst`.
fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = File::open(path).map_err(|error| Error::io("read", path, error))?;
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    Ok(match extension.as_deref().and_then(OsStr::to_str) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(file))),
        Some("zst") => {
            let reader =
                zstd::Decoder::new(file).map_err(|error| Error::io("read", path, error))?;
            Box::new(reader)
        }
        _ => Box::new(file),
    })
}
