//! The directory of `--out DIR`. It is written under a temporary name next to its target and renamed when complete.
//!
//! A directory that is not committed is removed on drop, so no partial directory remains.

use super::csv;
use super::events::EventWriter;
use super::rundir_error::RunDirError;
use crate::atomic_write::{create_temporary, partial, remove_directory};
use crate::{draw::scene::DrawScene, export, export::ExportSubject, export_error::ExportError};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::summary::RunSummary;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

pub struct RunDir {
    target: PathBuf,
    temporary: PathBuf,
    /// Path shown in error messages, and a note on the remaining files if writing fails.
    display_path: PathBuf,
    failure_note: String,
}

impl RunDir {
    /// Creates the temporary directory and missing parents. Fails if the target exists.
    pub fn create(target: &Path) -> Result<RunDir, RunDirError> {
        let path = || target.to_owned();
        if fs::symlink_metadata(target).is_ok() {
            return Err(RunDirError::AlreadyExists { path: path() });
        }
        if target.file_name().is_none() {
            return Err(RunDirError::InvalidName { path: path() });
        }
        let parent = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let failed = |e: io::Error| RunDirError::CannotCreate { path: path(), reason: e.to_string() };
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let new_parents = parent.ancestors().take_while(missing);
        let new_parents = new_parents.map(Path::to_owned).collect();
        let mut incomplete = partial();
        fs::create_dir_all(parent).map_err(failed)?;
        let temporary = create_temporary(target, |path| fs::create_dir(path)).map_err(failed)?;
        incomplete.push((temporary.clone(), new_parents));
        Ok(RunDir {
            target: target.to_owned(),
            temporary,
            display_path: target.to_owned(),
            failure_note: "no output was kept".to_owned(),
        })
    }

    /// Returns the path of a file before the directory is committed.
    pub fn path(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Creates a run directory at `place` that is later renamed to `path_text` by the caller. Error messages contain
    /// `path_text` and `kept`.
    pub fn create_for_rename(place: &Path, path_text: &Path, kept: String) -> Result<RunDir, RunDirError> {
        let mut dir = RunDir::create(place)?;
        (dir.display_path, dir.failure_note) = (path_text.to_owned(), kept);
        Ok(dir)
    }

    /// Creates a directory inside this one. It must be committed first.
    pub fn create_subdirectory(&self, name: &str) -> Result<RunDir, RunDirError> {
        let displayed = self.display_path.join(name);
        RunDir::create_for_rename(&self.path(name), &displayed, self.failure_note.clone())
    }

    /// Writes a chart as SVG, and as PNG with the feature `png`.
    pub fn write_chart(&self, name: &str, scene: &DrawScene) -> Result<(), RunDirError> {
        self.write_svg(name, scene)?;
        if cfg!(feature = "png") { self.draw(&format!("{name}.png"), scene) } else { Ok(()) }
    }

    pub fn write_svg(&self, name: &str, scene: &DrawScene) -> Result<(), RunDirError> {
        self.draw(&format!("{name}.svg"), scene)
    }

    fn draw(&self, name: &str, scene: &DrawScene) -> Result<(), RunDirError> {
        let path = self.temporary.join(name);
        self.create_parent(&path)
            .map_err(ExportError::from)
            .and_then(|()| export::write(ExportSubject::Chart(scene), &path))
            .map_err(|e| self.write_error(name, e))
    }

    /// Creates a writer for `events.ndjson`.
    pub fn events(&self) -> Result<EventWriter<File>, RunDirError> {
        let path = self.temporary.join("events.ndjson");
        let file = File::create(&path).map_err(|e| self.write_error("events.ndjson", e))?;
        Ok(EventWriter::new(file))
    }

    pub fn finish_events(&self, events: EventWriter<File>, digest: &str) -> Result<(), RunDirError> {
        events.finish(digest).map(drop).map_err(|e| self.write_error("events.ndjson", e))
    }

    /// Creates the directory of a file, unless a signal removes this run directory.
    fn create_parent(&self, path: &Path) -> io::Result<()> {
        let _partial = partial();
        path.parent().map_or(Ok(()), fs::create_dir_all)
    }

    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), RunDirError> {
        let path = self.temporary.join(name);
        self.create_parent(&path).and_then(|()| fs::write(&path, content)).map_err(|e| self.write_error(name, e))
    }

    /// Writes all files except the event log.
    pub fn write_run(&self, run: &RunView<'_>) -> Result<(), RunDirError> {
        self.write_json("summary.json", &RunSummary::from_run(run))?;
        for (name, table) in csv::tables(run) {
            self.write(&format!("{name}.csv"), &table.csv())?;
        }
        Ok(())
    }

    pub fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<(), RunDirError> {
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| {
            let reason = e.to_string();
            self.write_error(name, ExportError::Serialization { reason })
        })?;
        bytes.push(b'\n');
        self.write(name, &bytes)
    }

    /// Writes the inputs as read to `inputs/`, and the command that repeats the run with them.
    pub fn write_inputs(&self, inputs: &[(String, String)], command: &str) -> Result<(), RunDirError> {
        for (name, text) in inputs {
            let kept = input_path(name);
            if name.ends_with('/') {
                fs::create_dir_all(self.temporary.join(&kept)).map_err(|e| self.write_error(&kept, e))?
            } else {
                self.write(&kept, text.as_bytes())?
            }
        }
        self.write("inputs/command.txt", format!("{command}\n").as_bytes())
    }

    pub fn commit(self) -> Result<PathBuf, RunDirError> {
        let _partial = partial();
        //  Another process may have created the target in the meantime, and `rename` would silently replace an empty
        //  directory.
        if fs::symlink_metadata(&self.target).is_ok() {
            return Err(RunDirError::CreatedDuringRun { path: self.target.clone() });
        }
        fs::rename(&self.temporary, &self.target)
            .map_err(|e| RunDirError::CannotRename { path: self.target.clone(), reason: e.to_string() })?;
        Ok(self.target.clone())
    }

    fn write_error(&self, file: &str, cause: impl Into<ExportError>) -> RunDirError {
        RunDirError::CannotWrite {
            file: file.to_owned(),
            directory: self.display_path.clone(),
            cause: cause.into(),
            failure_note: self.failure_note.clone(),
        }
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        //  After a commit the temporary directory no longer exists and the parents are not empty, so nothing is
        //  removed.
        let mut incomplete = partial();
        for own in incomplete.extract_if(.., |(directory, _)| *directory == self.temporary) {
            remove_directory(&own);
        }
    }
}

/// Returns the path of an input below the run directory. Components that lead outside of it are removed.
pub fn input_path(name: &str) -> String {
    let mut path = PathBuf::from("inputs");
    for part in Path::new(name).components() {
        if let Component::Normal(part) = part {
            path.push(part);
        }
    }
    if path.as_os_str() == "inputs" {
        path.push("stdin.yaml");
    }
    path.to_string_lossy().into_owned()
}
