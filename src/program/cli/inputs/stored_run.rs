//! A run directory as input: the command that wrote it, with paths into its `inputs/` directory.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::input_copies::{InputCopies, PRESET};
use crate::{cli::args::InputArgs, cli::compare::args::CompareArgs, cli::inputs::shell_words::words, cli::output};
use crate::{cli::run::args::RunArgs, cli::sweep::args::SweepArgs};
use clap::{Parser, Subcommand};
use std::path::Path;

/// Returns whether a path is a run directory.
pub fn is_run(path: &Path) -> bool {
    path.join("inputs/command.txt").is_file()
}

/// The command that wrote a directory; its paths point into the directory.
pub enum StoredRun {
    Run(Box<RunArgs>),
    Compare(Box<CompareArgs>),
    Sweep(Box<SweepArgs>),
}

/// Parser for the line in `inputs/command.txt`.
#[derive(Parser)]
#[command(name = "jobset-sim")]
struct StoredLine {
    #[command(subcommand)]
    command: StoredCommand,
}

#[derive(Subcommand)]
enum StoredCommand {
    Run(Box<RunArgs>),
    Compare(Box<CompareArgs>),
    Sweep(Box<SweepArgs>),
    #[command(external_subcommand)]
    Other(Vec<String>),
}

impl StoredRun {
    pub fn command(&self) -> &'static str {
        match self {
            StoredRun::Run(_) => "run",
            StoredRun::Compare(_) => "compare",
            StoredRun::Sweep(_) => "sweep",
        }
    }
}

/// Commands that write a directory with their inputs but cannot be repeated from it.
const NOT_REPEATED: [&str; 2] = ["plan", "sensitivity"];

pub fn stored(dir: &Path) -> Result<StoredRun, CommandFailure> {
    let base = dir.join("inputs");
    let file = base.join("command.txt");
    let display_path = file.display();
    let text = sim_inputs::files::read_stored_text(&file);
    let text = text.map_err(|e| CommandFailure::Invalid(format!("cannot read {display_path}: {e}")))?;
    let mark = text.trim_end().rsplit_once("  # interrupted: ").map(|(_, mark)| mark);
    let words = words(text.trim_end());
    let refused = |reason: &str| {
        CommandFailure::Invalid(format!("{display_path} does not contain a command of this version: {reason}"))
    };
    let line = StoredLine::try_parse_from(&words).map_err(|e| {
        let reason = e.render().to_string();
        refused(reason.lines().next().unwrap_or_default())
    })?;
    if let Some(mark) = mark {
        let which = match line.command {
            StoredCommand::Compare(_) => "these",
            _ => "all",
        };
        output::note(&format!(
            "note: {} is of an interrupted command: {mark}; {which} are simulated again",
            dir.display()
        ));
    }
    match line.command {
        StoredCommand::Run(mut args) => {
            lead(&mut args.input, &base);
            Ok(StoredRun::Run(args))
        }
        StoredCommand::Compare(mut args) => {
            lead(&mut args.input, &base);
            if mark.is_some() {
                args.held = held(dir)?;
            }
            Ok(StoredRun::Compare(args))
        }
        StoredCommand::Sweep(mut args) if args.command.is_none() => {
            lead(&mut args.input, &base);
            Ok(StoredRun::Sweep(args))
        }
        StoredCommand::Other(other) if !NOT_REPEATED.contains(&other[0].as_str()) => {
            let name = &other[0];
            Err(refused(&format!("error: unrecognized subcommand '{name}'")))
        }
        _ => {
            let other = words.iter().skip(1).take_while(|w| w.chars().all(|c| c.is_ascii_lowercase()));
            let other: Vec<&str> = other.take(2).map(String::as_str).collect();
            let (other, dir) = (other.join(" "), dir.display());
            bail!(
                "{dir} was written by `{other}`; only directories of `run`, `compare` and `sweep` can be simulated again"
            )
        }
    }
}

/// Returns the replications in `replications.csv`, each with its variant.
fn held(dir: &Path) -> Result<Vec<(String, u64)>, CommandFailure> {
    let file = dir.join("replications.csv");
    let refused = |reason: String| CommandFailure::Invalid(format!("{}: {reason}", file.display()));
    let text = sim_inputs::files::read_stored_text(&file).map_err(|e| refused(e.to_string()))?;
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.map_err(|e| refused(e.to_string()))?;
        let number = row.get(1).and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| refused("no number of a replication in the second column".to_owned()))?;
        Ok((row.get(0).unwrap_or_default().to_owned(), number))
    };
    table.records().map(row).collect()
}

/// Makes the paths of a stored command line relative to the current directory.
fn lead(input: &mut InputArgs, base: &Path) {
    input.scenario = input.scenario.as_deref().map(|path| base.join(path));
    // The value may be the name of a shipped topology instead of a file.
    let topology = input.topology.as_deref().map(|path| base.join(path));
    input.topology = topology.filter(|path| path.exists()).or(input.topology.take());
    for (path, value) in &mut input.sets {
        // With a scenario, the preset file is resolved relative to the scenario file.
        if !input.manifests.is_empty() && path == PRESET && sim_inputs::is_preset_file(value) {
            *value = base.join(&*value).to_string_lossy().into_owned();
        }
    }
    for path in &mut input.manifests {
        *path = base.join(&*path).to_string_lossy().into_owned();
    }
}

/// Returns the `run` command line that wrote a directory; its paths point into the directory.
pub fn arguments(dir: &Path) -> Result<RunArgs, CommandFailure> {
    if !is_run(dir) {
        let dir = dir.display();
        bail!("{dir} is not a run directory: inputs/command.txt is missing");
    }
    match stored(dir)? {
        StoredRun::Run(args) => Ok(*args),
        other => {
            let (dir, of) = (dir.display(), other.command());
            bail!("{dir} was written by `{of}`; only directories of `run` can be simulated again")
        }
    }
}

/// Replaces a run directory with its inputs and adds the given options to the stored ones.
pub fn resolved(given: &InputArgs) -> Result<InputArgs, CommandFailure> {
    let Some(dir) = given.scenario.as_deref().filter(|path| path.is_dir()) else {
        return Ok(given.clone());
    };
    let mut stored = arguments(dir)?.input;
    stored.sets.extend(given.sets.iter().cloned());
    stored.fails.extend(given.fails.iter().cloned());
    stored.seed = given.seed.or(stored.seed);
    Ok(stored)
}

/// Reads the copies of inputs in a directory, sorted by name, and the command. The name of an empty directory ends
/// with a slash.
pub fn stored_inputs(dir: &Path) -> Result<InputCopies, CommandFailure> {
    let root = dir.join("inputs");
    let failed = |path: &Path, e: std::io::Error| format!("cannot read {}: {e}", path.display());
    let mut copies = InputCopies::default();
    let mut open = vec![root.clone()];
    while let Some(dir) = open.pop() {
        let name = |path: &Path| {
            let name = path.strip_prefix(&root).unwrap_or(path);
            name.to_string_lossy().into_owned()
        };
        let mut is_empty = dir != root;
        for entry in std::fs::read_dir(&dir).map_err(|e| failed(&dir, e))? {
            let path = entry.map_err(|e| failed(&dir, e))?.path();
            is_empty = false;
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let text = sim_inputs::files::read_stored_text(&path).map_err(|e| failed(&path, e))?;
            match name(&path).as_str() {
                "command.txt" => copies.command = text.trim_end().to_owned(),
                name => copies.files.push((name.to_owned(), text)),
            }
        }
        if is_empty {
            copies.files.push((name(&dir) + "/", String::new()));
        }
    }
    copies.files.sort();
    Ok(copies)
}
