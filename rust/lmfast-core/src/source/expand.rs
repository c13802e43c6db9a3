//! The files that paths, folders and patterns stand for.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use crate::error::{Error, ErrorKind, Result};

const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The files that `paths` stand for.
///
/// A folder stands for all files below it, in the order of their paths, except hidden ones. A path
/// that is not there but holds `*`, `?` or `[` is a pattern: it stands for all that it matches, in
/// the order of their paths; `**` matches any number of folders, but does not follow links to them.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        match fs::metadata(path) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && is_pattern(path.as_os_str()) =>
            {
                expand_pattern(path, &mut files)?;
            }
            Err(error) => return Err(Error::io("read", path, error)),
            Ok(metadata) if metadata.is_dir() => walk(path, &mut files)?,
            Ok(_) => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in entries(folder)? {
        if is_hidden(&entry.file_name()) {
            continue;
        }
        // A link to a folder is not followed: it may lead back up.
        if entry.file_type().map_err(|error| Error::io("list", folder, error))?.is_dir() {
            walk(&entry.path(), files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    let list = || {
        let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        Ok(entries)
    };
    list().map_err(|error| Error::io("list", folder, error))
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_pattern(part: &OsStr) -> bool {
    part.as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// One part of a pattern, between separators.
enum Part {
    Name(PathBuf),
    Match(Pattern),
    AnyFolders,
}

fn expand_pattern(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut parts = Vec::new();
    for component in path.components() {
        parts.push(match component {
            Component::Normal(part) if part == "**" => Part::AnyFolders,
            Component::Normal(part) if is_pattern(part) => Part::Match(pattern(path, part)?),
            other => Part::Name(other.as_os_str().into()),
        });
    }
    let mut found = Vec::new();
    match_parts(PathBuf::new(), &parts, &mut found)?;
    found.sort();
    // Where `**` stands twice, a file may be reached in several ways.
    found.dedup();
    if found.is_empty() {
        let message = format!("cannot read {}: as a pattern, it matches no file", path.display());
        return Err(Error::new(ErrorKind::Missing, message));
    }
    files.append(&mut found);
    Ok(())
}

fn pattern(path: &Path, part: &OsStr) -> Result<Pattern> {
    let invalid = |reason: &dyn std::fmt::Display| {
        let message = format!("cannot use the pattern {}: {reason}", path.display());
        Error::new(ErrorKind::Config, message)
    };
    let text = part.to_str().ok_or_else(|| invalid(&"it is not Unicode"))?;
    Pattern::new(text).map_err(|error| invalid(&error.msg))
}

fn match_parts(base: PathBuf, parts: &[Part], found: &mut Vec<PathBuf>) -> Result<()> {
    let Some((part, rest)) = parts.split_first() else {
        if base.is_dir() {
            walk(&base, found)?;
        } else if base.exists() {
            found.push(base);
        }
        return Ok(());
    };
    let folder = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
    match part {
        Part::Name(name) => match_parts(base.join(name), rest, found),
        _ if !folder.is_dir() => Ok(()),
        Part::Match(pattern) => {
            for entry in entries(folder)? {
                let name = entry.file_name();
                if name.to_str().is_some_and(|name| pattern.matches_with(name, OPTIONS)) {
                    match_parts(base.join(name), rest, found)?;
                }
            }
            Ok(())
        }
        Part::AnyFolders => {
            for entry in entries(folder)? {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && !is_hidden(&entry.file_name()) {
                    match_parts(base.join(entry.file_name()), parts, found)?;
                }
            }
            match_parts(base, rest, found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_what_they_match() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("data/deep/er")).unwrap();
        fs::create_dir_all(at("data/.hidden")).unwrap();
        let names = [
            "b.txt",
            "a.txt",
            "c.jsonl",
            "deep/d.txt",
            "deep/er/e.txt",
            ".f.txt",
            ".hidden/g.txt",
            "[x].txt",
        ];
        for name in names {
            fs::write(at("data").join(name), "").unwrap();
        }
        let expanded = |pattern: &str| -> Result<Vec<String>> {
            let inside = |path: PathBuf| {
                let rest = path.strip_prefix(at("data")).unwrap().to_owned();
                rest.into_os_string().into_string().unwrap()
            };
            Ok(expand(&[at(pattern)])?.into_iter().map(inside).collect())
        };
        for (pattern, files) in [
            ("data/*.txt", vec!["[x].txt", "a.txt", "b.txt"]),
            ("data/?.txt", vec!["a.txt", "b.txt"]),
            ("data/[ac].*", vec!["a.txt", "c.jsonl"]),
            ("data/[x].txt", vec!["[x].txt"]),
            ("data/**/*.txt", vec!["[x].txt", "a.txt", "b.txt", "deep/d.txt", "deep/er/e.txt"]),
            ("data/**/**/e.txt", vec!["deep/er/e.txt"]),
            ("data/*/d.txt", vec!["deep/d.txt"]),
            ("data/d*", vec!["deep/d.txt", "deep/er/e.txt"]),
            ("data/.*.txt", vec![".f.txt"]),
            ("*/**", vec!["[x].txt", "a.txt", "b.txt", "c.jsonl", "deep/d.txt", "deep/er/e.txt"]),
        ] {
            assert_eq!(expanded(pattern).unwrap(), files, "{pattern}");
        }
        let error = expanded("data/*.parquet").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
        assert!(error.to_string().contains("as a pattern, it matches no file"), "{error}");
        assert_eq!(expanded("data/[a.txt").unwrap_err().kind(), ErrorKind::Config);
        assert_eq!(expanded("nowhere/a.txt").unwrap_err().kind(), ErrorKind::Missing);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_back_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("a")).unwrap();
        fs::write(at("a/x.txt"), "").unwrap();
        for name in ["a/up", "a/again"] {
            std::os::unix::fs::symlink(folder.path(), at(name)).unwrap();
        }
        for pattern in ["**/*.txt", "a/**", "*/*.txt"] {
            assert_eq!(expand(&[at(pattern)]).unwrap(), [at("a/x.txt")], "{pattern}");
        }
        assert_eq!(expand(&[folder.path().into()]).unwrap(), [at("a/x.txt")]);
        assert_eq!(expand(&[at("a/up/a/*.txt")]).unwrap(), [at("a/up/a/x.txt")]);
    }
}
