//! Writing a folder of shards.
//!
//! All files are written into a folder beside the one asked for, which is renamed when it is whole.
//! So there is never half a folder of shards under the name that a reader will open.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use same_file::Handle;
use sha2::{Digest, Sha256};

use super::manifest::{
    Dtype, FORMAT, IndexEntry, Manifest, ShardEntry, TokenizerIdentity, VERSION,
};
use crate::{
    error::{Error, ErrorKind, Result},
    files::{beside, write_atomically},
    vocabulary::TokenId,
};

const INDEX: &str = "documents.bin";
const LOCK: &str = "lock";
const MANIFEST: &str = "manifest.json";
const TOKENIZER: &str = "tokenizer.json";

/// What a folder of shards holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardTotals {
    /// Documents that are not empty.
    pub documents: u64,
    /// Ids, the separator after each document included.
    pub tokens: u64,
    /// Bytes of text, separators left out.
    pub bytes: u64,
}

pub(super) struct ShardWriter {
    dtype: Dtype,
    shard_tokens: u64,
    shard: Option<OpenShard>,
    shards: Vec<ShardEntry>,
    index: HashedFile,
    totals: ShardTotals,
    in_document: bool,
    /// Dropped last: some systems keep a file that is open.
    claim: Claim,
}

struct OpenShard {
    name: String,
    file: HashedFile,
    totals: ShardTotals,
}

impl ShardWriter {
    /// Begin a folder of shards with ids below `n_vocab`; a shard ends behind the document that fills
    /// it.
    pub(super) fn create(claim: Claim, n_vocab: usize, shard_tokens: u64) -> Result<Self> {
        claim.clear()?;
        Ok(Self {
            index: HashedFile::create(claim.unfinished.join(INDEX))?,
            claim,
            dtype: Dtype::for_vocabulary(n_vocab),
            shard_tokens,
            shard: None,
            shards: Vec::new(),
            totals: ShardTotals::default(),
            in_document: false,
        })
    }

    /// Where a copy of the tokenizer belongs, which whoever writes the shards has to write.
    pub(super) fn tokenizer_path(&self) -> PathBuf {
        self.claim.unfinished.join(TOKENIZER)
    }

    /// Write a part of a document: its ids, and the bytes of text that they stand for.
    pub(super) fn write(&mut self, ids: &[TokenId], bytes: u64) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        if !self.in_document {
            self.in_document = true;
            self.index.write_number(self.totals.tokens)?;
            self.totals.documents += 1;
        }
        self.totals.tokens += ids.len() as u64;
        self.totals.bytes += bytes;
        let shard = match &mut self.shard {
            Some(shard) => shard,
            shard => {
                let name = format!("tokens-{:05}.bin", self.shards.len());
                let file = HashedFile::create(self.claim.unfinished.join(&name))?;
                shard.insert(OpenShard { name, file, totals: ShardTotals::default() })
            }
        };
        shard.totals.tokens += ids.len() as u64;
        shard.totals.bytes += bytes;
        match self.dtype {
            Dtype::Uint16 => shard.file.write_each(ids, |id| (id as u16).to_le_bytes()),
            Dtype::Uint32 => shard.file.write_each(ids, u32::to_le_bytes),
        }
    }

    /// End the document; one without any ids leaves no trace.
    pub(super) fn end_document(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.in_document) {
            return Ok(());
        }
        let shard = self.shard.as_mut().expect("a document is in a shard");
        shard.totals.documents += 1;
        if shard.totals.tokens >= self.shard_tokens { self.end_shard() } else { Ok(()) }
    }

    /// Whether a document has begun and not ended.
    pub(super) fn in_document(&self) -> bool {
        self.in_document
    }

    fn end_shard(&mut self) -> Result<()> {
        if let Some(OpenShard { name, file, totals }) = self.shard.take() {
            let ShardTotals { documents, tokens, bytes } = totals;
            let sha256 = file.finish()?;
            self.shards.push(ShardEntry { file: name, tokens, documents, bytes, sha256 });
        }
        Ok(())
    }

    /// Write the manifest: from here on the folder lacks nothing but its name.
    pub(super) fn seal(mut self, tokenizer: TokenizerIdentity) -> Result<Sealed> {
        let ShardTotals { documents, tokens, bytes } = self.totals;
        self.index.write_number(tokens)?;
        self.index.sync()?;
        self.end_shard()?;
        let manifest = Manifest {
            format: FORMAT,
            version: VERSION,
            tokenizer,
            dtype: self.dtype,
            documents,
            tokens,
            bytes,
            shards: self.shards,
            document_starts: IndexEntry { file: INDEX.to_owned(), sha256: self.index.finish()? },
        };
        let mut text = serde_json::to_string_pretty(&manifest).expect("numbers and strings");
        text.push('\n');
        write_atomically(&self.claim.unfinished.join(MANIFEST), text.as_bytes())?;
        Ok(Sealed { claim: self.claim, totals: self.totals })
    }
}

/// A folder of shards that lacks nothing but its name.
pub(super) struct Sealed {
    claim: Claim,
    totals: ShardTotals,
}

impl Sealed {
    /// Give the folder its name.
    pub(super) fn publish(mut self) -> Result<ShardTotals> {
        if cfg!(windows) {
            self.claim.lock = None; // there, a folder with an open file keeps its name
        }
        let folder = self.claim.folder.clone();
        let failed = |error| Error::io("write shards to", &folder, error);
        fs::rename(&self.claim.unfinished, &folder).map_err(failed)?;
        let _lock = self.claim.lock.take();
        // Only now: who finds no lock takes the folder for abandoned, and clears it.
        fs::remove_file(folder.join(LOCK)).map_err(failed)?;
        Ok(self.totals)
    }
}

/// The right to write a folder of shards, and the folder beside it that is written until then.
/// Given up before the shards have their name, it takes what was written with it.
pub(super) struct Claim {
    folder: PathBuf,
    unfinished: PathBuf,
    /// The folders above that were made for this one, or for another one in them, the nearest first.
    made: Vec<PathBuf>,
    /// Held until the folder is whole, so that no other process writes the same one.
    lock: Option<File>,
}

impl Claim {
    pub(super) fn new(folder: &Path) -> Result<Self> {
        require_absent(folder)?;
        let unfinished = beside(folder, ".unfinished");
        let missing = folder.ancestors().skip(1).take_while(|above| !above.exists());
        let made: Vec<_> = missing.map(Path::to_owned).collect();
        let lock = lock(&unfinished).inspect_err(|_| remove_empty(&unfinished, &made))?;
        let claim = Self { folder: folder.to_owned(), unfinished, made, lock: Some(lock) };
        // Whoever held the lock before may just have finished.
        require_absent(folder)?;
        Ok(claim)
    }

    /// The same, but folders above go with it that `other` made, whichever is dropped last.
    pub(super) fn beside(mut self, other: &Self) -> Self {
        let is_above = |made: &&PathBuf| self.folder.starts_with(made);
        self.made.extend(other.made.iter().filter(is_above).cloned());
        self
    }

    /// Whether an interrupted process was done but for the names.
    pub(super) fn is_sealed(&self) -> bool {
        self.unfinished.join(MANIFEST).exists()
    }

    /// Remove what an interrupted process left behind.
    fn clear(&self) -> Result<()> {
        let failed = |error| Error::io("clear", &self.unfinished, error);
        for entry in fs::read_dir(&self.unfinished).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name() != LOCK {
                fs::remove_file(entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // After a success there is nothing to remove, and without the lock it may be another's. What
        // resists, the next process clears; the error that counts is the one that led here.
        if self.lock.is_some() && self.clear().is_ok() {
            let _ = fs::remove_file(self.unfinished.join(LOCK));
            remove_empty(&self.unfinished, &self.made);
        }
    }
}

/// Remove `folder` and those above it, as far as there is nothing in them.
fn remove_empty(folder: &Path, above: &[PathBuf]) {
    for folder in [folder].into_iter().chain(above.iter().map(PathBuf::as_path)) {
        let _ = fs::remove_dir(folder);
    }
}

/// Make way for the shards of `folder`, which an interrupted process published before it could
/// publish those that belong with them.
pub(super) fn take_back(folder: &Path) -> Result<()> {
    let unfinished = beside(folder, ".unfinished");
    if !folder.join(MANIFEST).exists() || unfinished.exists() {
        return Ok(());
    }
    fs::rename(folder, unfinished).map_err(|error| Error::io("clear", folder, error))
}

fn require_absent(folder: &Path) -> Result<()> {
    // A link that leads nowhere is there, too.
    if folder.symlink_metadata().is_ok() {
        let message = format!("cannot write shards to {}: it is there already", folder.display());
        return Err(Error::new(ErrorKind::Io, message));
    }
    Ok(())
}

/// Create the folder, if need be, and hold the lock in it.
fn lock(folder: &Path) -> Result<File> {
    let failed = |error| Error::io("write shards to", folder, error);
    let path = folder.join(LOCK);
    for _ in 0..ATTEMPTS {
        fs::create_dir_all(folder).map_err(failed)?;
        // Whoever held the lock before may remove the folder or the file any time until it is held.
        let lock = match File::create(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            lock => lock.map_err(failed)?,
        };
        match lock.try_lock() {
            Ok(()) if is_at(&lock, &path) => return Ok(lock),
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => break,
            Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    let message = format!("another process is writing shards to {}", folder.display());
    Err(Error::new(ErrorKind::Io, message))
}

/// More others than these do not give up a folder in the moment before it is taken.
const ATTEMPTS: usize = 100;

fn is_at(file: &File, path: &Path) -> bool {
    let own = file.try_clone().and_then(Handle::from_file);
    own.is_ok_and(|own| Handle::from_path(path).is_ok_and(|there| own == there))
}

/// Bytes are written so many at a time.
const WRITE_BYTES: usize = if cfg!(test) { 16 } else { 1 << 18 };
/// A file goes to disk while it is written, as soon as so many bytes wait for it.
const SYNC_BYTES: usize = if cfg!(test) { 64 } else { 8 << 20 };

/// A file that knows the checksum of what is written to it.
struct HashedFile {
    path: PathBuf,
    file: File,
    hash: Sha256,
    /// What is not written yet, and room.
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes written since the last time that the file was told to go to disk.
    waiting: usize,
    /// What brings the file to disk, so that little is left to wait for at its end.
    syncing: Option<JoinHandle<io::Result<()>>>,
}

impl HashedFile {
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(|error| Error::io("write", &path, error))?;
        let hash = Sha256::new();
        Ok(Self { path, file, hash, buffer: Vec::new(), filled: 0, waiting: 0, syncing: None })
    }

    fn write_number(&mut self, number: u64) -> Result<()> {
        let bytes = number.to_le_bytes();
        self.write(bytes.len(), |to| to.copy_from_slice(&bytes))
    }

    /// Write the bytes of each of `ids`.
    fn write_each<const N: usize>(
        &mut self,
        ids: &[TokenId],
        bytes: impl Fn(TokenId) -> [u8; N],
    ) -> Result<()> {
        self.write(ids.len() * N, |to| {
            for (place, &id) in to.as_chunks_mut().0.iter_mut().zip(ids) {
                *place = bytes(id);
            }
        })
    }

    /// Write so many bytes, which `fill` fills in.
    fn write(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        let end = self.filled + len;
        if end > self.buffer.len() {
            self.buffer.resize(end.max(WRITE_BYTES), 0);
        }
        fill(&mut self.buffer[self.filled..end]);
        self.filled = end;
        if end < WRITE_BYTES {
            return Ok(());
        }
        self.flush()?;
        let is_busy = self.syncing.as_ref().is_some_and(|sync| !sync.is_finished());
        if self.waiting < SYNC_BYTES || is_busy { Ok(()) } else { self.sync() }
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = &self.buffer[..self.filled];
        self.hash.update(bytes);
        let written = self.file.write_all(bytes);
        self.waiting += self.filled;
        self.filled = 0;
        written.map_err(|error| self.failed(error))
    }

    /// Have what is written brought to disk, without waiting for it.
    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.end_sync()?;
        self.waiting = 0;
        let file = self.file.try_clone().map_err(|error| self.failed(error))?;
        // Without another thread, the file is brought to disk when it is whole.
        self.syncing = thread::Builder::new().spawn(move || file.sync_data()).ok();
        Ok(())
    }

    /// The system tells of a failure to one request only, so that no answer may be dropped.
    fn end_sync(&mut self) -> Result<()> {
        let Some(syncing) = self.syncing.take() else { return Ok(()) };
        let synced = syncing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        synced.map_err(|error| self.failed(error))
    }

    /// Flush to disk; the checksum in hexadecimal.
    fn finish(mut self) -> Result<String> {
        self.flush()?;
        self.end_sync()?;
        self.file.sync_all().map_err(|error| self.failed(error))?;
        Ok(crate::files::hexadecimal(self.hash))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("write", &self.path, error)
    }
}
