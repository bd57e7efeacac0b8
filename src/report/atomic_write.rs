//! One file, complete or absent: written under a temporary name beside its target and renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What `write` puts into the file of the name it is given.
pub fn through(
    target: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    // A pipe or a device has nothing to replace, and a link stays a link.
    let replaces = fs::symlink_metadata(target).map_or(true, |there| there.is_file());
    let Some(temporary) = beside(target).filter(|_| replaces) else {
        return write(target);
    };
    let written =
        write(&temporary).and_then(|()| fs::rename(&temporary, target).map_err(|e| e.to_string()));
    if written.is_err() {
        // Half a file is none.
        let _ = fs::remove_file(&temporary);
    }
    written
}

pub fn write(target: &Path, bytes: &[u8]) -> Result<(), String> {
    through(target, |path| {
        let written: io::Result<()> = fs::write(path, bytes);
        written.map_err(|e| e.to_string())
    })
}

/// With the same ending, which says what it is.
fn beside(target: &Path) -> Option<PathBuf> {
    let name = target.file_name()?.to_string_lossy();
    let temporary = format!(".partial-{}-{name}", std::process::id());
    Some(target.with_file_name(temporary))
}
