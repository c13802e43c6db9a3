//! Files that are no text, known by how they begin.

use crate::train::COUNT_FILE_START;

/// By its first bytes, what a file is, and what to do with it.
const KINDS: [(&[u8], &str); 5] = [
    (
        COUNT_FILE_START.as_bytes(),
        "it is a count file, which train_from_counts and PretokenCounts.load take",
    ),
    (b"\x1f\x8b", "it is compressed by gzip, and read as such if its name ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd, and read as such if its name ends in .zst"),
    (b"PAR1", "it is a Parquet file, and read as such if its name ends in .parquet"),
    (b"ARROW1", "it is an Arrow file, and read as such if its name ends in .arrow"),
];

/// What to do about a file that begins so and is not UTF-8.
pub(super) fn advice(start: &[u8]) -> &'static str {
    let kind = KINDS.iter().find(|(first, _)| start.starts_with(first));
    kind.map_or(
        "name the texts of a folder by a pattern such as 'folder/*.txt', or leave out what is not \
         UTF-8 by on_error=\"skip\", where a call takes it",
        |(_, advice)| advice,
    )
}
