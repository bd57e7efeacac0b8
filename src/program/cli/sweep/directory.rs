//! Directory of a sweep while it runs and after it has finished.
//!
//! `DIR` is complete or absent, like every output directory. The finished part of an unfinished sweep is in
//! `DIR.unfinished`: `sweep.json` identifies the experiment and shard, `inputs/` contains the inputs and the
//! command, `journal` the replications. The directory appears with the first two in one step. A finished shard is
//! renamed to `DIR`. For a whole sweep, the final files are written inside the directory and moved to `DIR` in one
//! step; then the rest is removed.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::InputCopies;
use sim_analysis::sweep::identity::ShardIdentity;
use sim_analysis::sweep::journal::{JournalHead, SweepJournal};
use sim_analysis::sweep::{SweepIdentity, SweepRow, SweepShard};
use sim_report::files::rundir::RunDir;
use std::fs;
use std::path::{Path, PathBuf};

pub const PART: &str = "sweep.json";
pub const JOURNAL: &str = "journal";
/// Name of the directory inside `DIR.unfinished` for the final files.
const FINISHED: &str = "finished";
/// Suffix of `DIR` until the sweep is finished.
const UNFINISHED: &str = ".unfinished";

/// The directory of an unfinished sweep.
pub struct SweepDirectory {
    target: PathBuf,
    work: PathBuf,
    part: Option<SweepShard>,
    pub journal: SweepJournal,
}

/// Result of opening a directory.
pub enum DirectoryState {
    /// The sweep is unfinished; contains the replications finished so far.
    Open(Box<SweepDirectory>, Vec<SweepRow>),
    /// The sweep is already finished.
    Done,
}

impl SweepDirectory {
    /// Opens the directory that an earlier process left of the same sweep and shard, or creates it.
    pub fn open(
        target: &Path, (identity, part): (&SweepIdentity, Option<SweepShard>), inputs: &InputCopies,
    ) -> Result<DirectoryState, CommandFailure> {
        let shard = part.unwrap_or(SweepShard::WHOLE);
        let work = unfinished(target)?;
        if fs::symlink_metadata(target).is_ok() {
            if !is_done(target, identity, part) {
                bail!(
                    "{} already exists and contains another result; remove it or choose another name for --out",
                    target.display()
                );
            }
            // The process that finished the sweep ended before it could remove this directory.
            let _ = fs::remove_dir_all(&work);
            return Ok(DirectoryState::Done);
        }
        let of = ShardIdentity { shard: shard.into(), experiment: identity.clone() };
        if fs::symlink_metadata(&work).is_err() {
            let dir = RunDir::create(&work)?;
            dir.write_json(PART, &of)?;
            dir.write_inputs(&inputs.files, &inputs.command)?;
            dir.commit()?;
        }
        same(&work, &of)?;
        let head = JournalHead { experiment: identity.digest(), shard };
        let path = work.join(JOURNAL);
        let (journal, rows) = if path.exists() {
            SweepJournal::open(&path, &head)
        } else {
            SweepJournal::create(&path, &head).map(|journal| (journal, Vec::new()))
        }
        .map_err(|e| e.to_string())?;
        let directory = SweepDirectory { target: target.to_owned(), work, part, journal };
        Ok(DirectoryState::Open(Box::new(directory), rows))
    }

    /// Returns the path of the unfinished directory for messages.
    pub fn display_path(&self) -> String {
        self.work.display().to_string()
    }

    /// Finishes the sweep and renames its directory. `write` writes the files of a whole sweep.
    pub fn finish(mut self, write: impl FnOnce(&RunDir) -> Result<(), CommandFailure>) -> Result<(), CommandFailure> {
        self.journal.sync().map_err(|e| e.to_string())?;
        let failed = |e: std::io::Error| format!("cannot create {}: {e}", self.target.display());
        let from = match self.part {
            None => {
                let complete = self.work.join(FINISHED);
                // An earlier process may have ended while writing it.
                let _ = fs::remove_dir_all(&complete);
                let work = self.work.display();
                let kept = format!("finished replications are in {work}; the same command resumes the sweep");
                let dir = RunDir::create_for_rename(&complete, &self.target, kept)?;
                write(&dir)?;
                dir.commit()?
            }
            Some(_) => self.work.clone(),
        };
        if fs::symlink_metadata(&self.target).is_ok() {
            bail!("{} was created by another process during the sweep", self.target.display());
        }
        fs::rename(from, &self.target).map_err(failed)?;
        sync(&self.target);
        if self.part.is_none() {
            // The journal is no longer needed.
            let _ = fs::remove_dir_all(&self.work);
        }
        Ok(())
    }
}

/// Syncs the parent directory, so that the rename is durable where the platform supports it.
fn sync(directory: &Path) {
    let parent = directory.parent().filter(|p| !p.as_os_str().is_empty());
    let parent = fs::File::open(parent.unwrap_or(Path::new(".")));
    let _ = parent.and_then(|parent| parent.sync_all());
}

/// Returns the path of `DIR.unfinished` for `DIR`.
fn unfinished(target: &Path) -> Result<PathBuf, CommandFailure> {
    let display_path = target.display();
    let name = target.file_name();
    let name = name.ok_or_else(|| format!("{display_path} is not a name for a directory"))?;
    let mut name = name.to_owned();
    name.push(UNFINISHED);
    Ok(target.with_file_name(name))
}

/// Reads the sweep and shard that a directory belongs to; `None` if it has no `sweep.json`.
pub fn part_of(dir: &Path) -> Result<Option<ShardIdentity>, CommandFailure> {
    let path = dir.join(PART);
    let Ok(text) = sim_inputs::files::read_stored_text(&path) else {
        return Ok(None);
    };
    let part = serde_json::from_str(&text);
    part.map(Some).map_err(|e| CommandFailure::Invalid(format!("{}: {e}", path.display())))
}

/// Returns whether the directory belongs to an unfinished sweep.
pub fn is_unfinished(dir: &Path) -> bool {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    name.is_some_and(|name| name.ends_with(UNFINISHED))
}

/// Returns an error unless the directory belongs to the same sweep and shard.
fn same(work: &Path, part: &ShardIdentity) -> Result<(), CommandFailure> {
    let display_path = work.display();
    let result = part_of(work)?;
    let result = result
        .ok_or_else(|| format!("{display_path} is not the directory of an unfinished sweep: {PART} is missing"))?;
    let mut differences = result.experiment.differences(&part.experiment);
    if result.shard != part.shard {
        let text = |s: sim_analysis::sweep::identity::ShardText| format!("{}/{}", s.index, s.of);
        let (a, b) = (text(result.shard), text(part.shard));
        differences.push(format!("shard ({a} and {b})"));
    }
    if differences.is_empty() {
        Ok(())
    } else {
        Err(CommandFailure::Invalid(format!(
            "{display_path} belongs to another sweep that differs in: {}; remove it or choose another name for --out",
            differences.join(", ")
        )))
    }
}

/// Returns whether the directory contains the finished result of this sweep and shard.
fn is_done(target: &Path, identity: &SweepIdentity, part: Option<SweepShard>) -> bool {
    if let Some(shard) = part {
        let result = part_of(target).ok().flatten();
        return result.is_some_and(|p| p.shard == shard.into() && p.experiment == *identity);
    }
    let text = sim_inputs::files::read_stored_text(&target.join("summary.json")).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    summary["experiment"] == serde_json::Value::String(identity.digest())
}
