//! Reads files, directories and standard input as texts.

use super::text::diagnostic::{Diagnostic, Diagnostics, SourceText};
use super::text::file_error::{FileTextError, TEXT_MAX};
use super::text::node::SourcePosition;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of standard input in messages.
pub const STDIN: &str = "<stdin>";

/// Maximum depth of nested directories; deeper ones are refused.
const DIRECTORY_DEPTH_MAX: usize = 32;

/// Reads one file as UTF-8 text.
pub fn read_source(path: &Path) -> Result<SourceText, Diagnostics> {
    let file = path.display().to_string();
    if path.join("inputs/command.txt").is_file() {
        let message = "this is a directory of results, not a file";
        let mut error = Diagnostic::of_file(&file, message.to_owned());
        error.suggest(format!("its inputs and command are in {file}/inputs; `report` and `why` read the directory"));
        return Err(error.into());
    }
    match open(path, TEXT_MAX) {
        Ok(handle) => from_reader(&file, handle, TEXT_MAX),
        Err(error) => Err(error.in_file(&file).into()),
    }
}

/// Opens a file with at most `limit` bytes.
fn open(path: &Path, limit: u64) -> Result<fs::File, FileTextError> {
    let handle = fs::File::open(path)?;
    match handle.metadata()?.len() {
        bytes if bytes > limit => Err(FileTextError::TooLarge { bytes, limit }),
        _ => Ok(handle),
    }
}

/// Reads a list of objects printed by kubectl, which is larger than other inputs, from a file or standard input (`-`).
pub fn read_dump(path: &str) -> Result<SourceText, Diagnostics> {
    if path == "-" {
        return from_stdin(STORED_MAX);
    }
    match open(Path::new(path), STORED_MAX) {
        Ok(handle) => from_reader(path, handle, STORED_MAX),
        Err(error) => Err(error.in_file(path).into()),
    }
}

/// Opens a list of objects to be read in parts, which is possible more than once. Returns `None` for standard input, a
/// pipe, and a file that cannot be read.
pub fn open_dump(path: &str) -> Option<fs::File> {
    let file = (path != "-").then(|| open(Path::new(path), STORED_MAX).ok()).flatten()?;
    file.metadata().is_ok_and(|metadata| metadata.is_file()).then_some(file)
}

/// Maximum size of a file that the program wrote itself, and of a list of objects, in bytes.
const STORED_MAX: u64 = 1 << 30;

/// Reads a file of a result directory. Fails if it is not a regular file or is larger than 1 GiB.
pub fn read_stored(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(STORED_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > STORED_MAX {
        return Err(io::Error::other("the file is larger than 1 GiB"));
    }
    Ok(bytes)
}

/// Reads a text file of a result directory. Fails like [`read_stored`], and if it is not UTF-8.
pub fn read_stored_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_stored(path)?).map_err(io::Error::other)
}

fn read_bytes(reader: impl Read, limit: u64) -> Result<Vec<u8>, FileTextError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        bytes if bytes > limit => Err(FileTextError::TooLarge { bytes, limit }),
        _ => Ok(bytes),
    }
}

/// The texts read from a path, and the files that were skipped.
pub struct ManifestFile {
    pub texts: Vec<Result<SourceText, Diagnostics>>,
    /// Files of a directory whose extension is not that of a manifest. Hidden files are not listed.
    pub left_out: Vec<String>,
}

/// Reads a file, all manifests below a directory (`*.yaml`, `*.yml`, `*.json`, sorted by path), or standard input
/// (`-`).
pub fn read_path(path: &str) -> Result<ManifestFile, Diagnostics> {
    if path == "-" {
        return Ok(ManifestFile { texts: vec![from_stdin(TEXT_MAX)], left_out: Vec::new() });
    }
    let (files, left_out) = manifest_files(Path::new(path))?;
    Ok(ManifestFile {
        texts: files.iter().map(|file| read_source(file)).collect(),
        left_out: left_out.iter().map(|f| f.display().to_string()).collect(),
    })
}

/// Reads standard input, which is possible only once.
fn from_stdin(limit: u64) -> Result<SourceText, Diagnostics> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if IS_READ.swap(true, Ordering::Relaxed) {
        let mut error =
            Diagnostic::of_file(STDIN, "standard input is given twice, but can be read only once".to_owned());
        error.suggest("separate the documents in one input with ---");
        return Err(error.into());
    }
    from_reader(STDIN, io::stdin().lock(), limit)
}

fn from_reader(file: &str, reader: impl Read, limit: u64) -> Result<SourceText, Diagnostics> {
    let bytes = read_bytes(reader, limit).map_err(|e| e.in_file(file))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(SourceText { file: file.to_owned(), text }),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            Err(not_utf8(file, e.as_bytes(), at).into())
        }
    }
}

/// Returns the error at the first byte that is not valid UTF-8.
fn not_utf8(file: &str, bytes: &[u8], at: usize) -> Diagnostic {
    let valid = String::from_utf8_lossy(&bytes[..at]);
    let line = valid.matches('\n').count();
    let column = valid.rsplit('\n').next().map_or(0, |last| last.chars().count());
    // The 200 bytes from the invalid one on provide the rest of the line for the snippet.
    let after = &bytes[at..bytes.len().min(at + 200)];
    let source = SourceText { file: file.to_owned(), text: format!("{valid}{}", String::from_utf8_lossy(after)) };
    let place = SourcePosition {
        line: line as u32 + 1,
        column: column as u32 + 1,
        len: 1,
        byte: at as u32,
        ..SourcePosition::default()
    };
    let error = FileTextError::NotUtf8 { offset: at, byte: bytes[at] };
    let mut error = Diagnostic::at(&source, place, error.to_string());
    error.legal("text in UTF-8");
    error
}

fn unreadable(file: &str, error: io::Error) -> Diagnostics {
    FileTextError::from(error).in_file(file).into()
}

/// Returns the manifests and all other files below a directory, each sorted by path, or the file itself.
pub fn manifest_files(path: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Diagnostics> {
    let file = path.display().to_string();
    if !path.is_dir() {
        return Ok((vec![path.to_owned()], Vec::new()));
    }
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    walk(path, 0, &mut found, &mut left_out)?;
    found.sort();
    left_out.sort();
    if found.is_empty() {
        let message = "no *.yaml, *.yml or *.json files in this directory";
        return Err(Diagnostic::of_file(&file, message).into());
    }
    Ok((found, left_out))
}

fn walk(
    directory: &Path, depth: usize, result: &mut Vec<PathBuf>, left_out: &mut Vec<PathBuf>,
) -> Result<(), Diagnostics> {
    let file = directory.display().to_string();
    if depth > DIRECTORY_DEPTH_MAX {
        return Err(Diagnostic::of_file(&file, "directories are nested too deeply").into());
    }
    for entry in fs::read_dir(directory).map_err(|e| unreadable(&file, e))? {
        let entry = entry.map_err(|e| unreadable(&file, e))?;
        let path = entry.path();
        let extension = path.extension().and_then(|e| e.to_str());
        // Links to directories are not followed because a cyclic link would never end.
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            walk(&path, depth + 1, result, left_out)?;
        } else if matches!(extension, Some("yaml" | "yml" | "json")) && !path.is_dir() && !is_special(&path) {
            result.push(path);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            left_out.push(path);
        }
    }
    Ok(())
}

/// Returns whether a path leads to a pipe or a device. Reading a pipe may block forever, so only those on the command
/// line are read.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Returns the text of a file named in a scenario.
pub type FileLoader<'l> = dyn Fn(&str) -> Result<String, FileTextError> + 'l;

/// Reads the text of a file that a scenario names.
pub fn file_text(path: &Path) -> Result<String, FileTextError> {
    if is_special(path) {
        return Err(io::Error::other("not a regular file").into());
    }
    String::from_utf8(read_bytes(open(path, TEXT_MAX)?, TEXT_MAX)?).map_err(|e| {
        let offset = e.utf8_error().valid_up_to();
        let byte = e.as_bytes()[offset];
        FileTextError::NotUtf8 { offset, byte }
    })
}
