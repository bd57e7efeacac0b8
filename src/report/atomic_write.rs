//! Atomic file writes: the data goes to a temporary file in the target's directory, which is then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The directories that are not complete yet: the temporary path and the parents created for it, innermost first.
static PARTIAL: Mutex<Vec<(PathBuf, Vec<PathBuf>)>> = Mutex::new(Vec::new());

/// Locks the list of incomplete directories. A thread holds the lock while it creates a temporary file or directory,
/// so that [`remove_partial`] misses none.
pub(crate) fn partial() -> MutexGuard<'static, Vec<(PathBuf, Vec<PathBuf>)>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all incomplete output before the process exits. Threads that write output are blocked from then on.
pub fn remove_partial() {
    remove_all(partial());
}

/// Removes all incomplete directories, unless a thread is writing a file. For a thread that panics: it may be that one,
/// and must not wait for itself.
pub fn remove_partial_unless_locked() {
    match PARTIAL.try_lock() {
        Ok(partial) => remove_all(partial),
        Err(TryLockError::Poisoned(poisoned)) => remove_all(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => {}
    }
}

/// Removes the listed directories and keeps the lock.
fn remove_all(mut partial: MutexGuard<Vec<(PathBuf, Vec<PathBuf>)>>) {
    partial.drain(..).for_each(|directory| remove_directory(&directory));
    std::mem::forget(partial);
}

/// Removes an incomplete directory and those of its parents that are empty.
pub(crate) fn remove_directory((directory, parents): &(PathBuf, Vec<PathBuf>)) {
    let _ = fs::remove_dir_all(directory);
    parents.iter().for_each(|parent| drop(fs::remove_dir(parent)));
}

/// Calls `write` with a temporary path, then renames that file to `target`. If `target` exists and is not a regular
/// file, `write` receives `target` itself.
pub fn write_with<E: From<io::Error>>(target: &Path, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    //  Pipes, devices and symbolic links are written directly so that they are not replaced by a regular file.
    let replaces = fs::symlink_metadata(target).map_or(true, |there| there.is_file());
    if !replaces || target.file_name().is_none() {
        return write(target);
    }
    let _partial = partial();
    let temporary = create_temporary(target, |path| fs::File::create_new(path).map(drop))?;
    let written = write(&temporary).and_then(|()| Ok(fs::rename(&temporary, target)?));
    if written.is_err() {
        //  Removes the incomplete file.
        let _ = fs::remove_file(&temporary);
    }
    written
}

pub fn write(target: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(target, |path| fs::write(path, bytes))
}

/// Largest number of temporary names that are tried for one target.
const NAMES: u32 = 1000;

/// Creates a file or directory with `create` under a hidden name in the directory of `target`, and returns its path.
/// The name keeps the file extension because writers select the format by it.
///
/// `create` must fail with `AlreadyExists` if the path exists: then the next name is tried. Thus two processes never
/// share a temporary path, nor does one take over what a killed process left. Process ids do not ensure this: processes
/// in different containers can have the same one, and WebAssembly has none.
pub(crate) fn create_temporary(target: &Path, create: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    for n in 0..NAMES {
        let temporary = target.with_file_name(format!(".partial-{n}-{name}"));
        match create(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| temporary),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
