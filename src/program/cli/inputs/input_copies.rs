//! Copies of inputs in a run directory, and the command that repeats the run from there.

use crate::cli::inputs::shell_words::quoted;
use crate::{cli::args::FieldOverride, cli::inputs::fail::FailFlags, cli::inputs::shell_words::options};
use sim_api::spec::ModelLevel;
use std::path::{Component, Path, PathBuf};

/// Name under which the scenario reader lists `--set` overrides. They are part of the command and not a file.
const SETS: &str = "--set";

/// Content of the `inputs/` directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputCopies {
    /// Relative names and contents. The name of an empty directory ends with a slash.
    pub files: Vec<FieldOverride>,
    /// Command to run inside `inputs/`.
    pub command: String,
}

impl InputCopies {
    /// Replaces `run` in the command with another subcommand.
    pub fn of_command(mut self, name: &str) -> InputCopies {
        let other = format!("jobset-sim {name}");
        self.command = self.command.replacen("jobset-sim run", &other, 1);
        self
    }
}

/// Returns copies of a scenario's inputs. The first input is the scenario; the names of the others are relative to
/// it and keep their relative locations. Absolute file names in the scenario, and names with more `..` than there are
/// directories, are replaced with the names of the copies.
pub fn copy_scenario(inputs: &[(String, String)], tail: &str) -> InputCopies {
    let files: Vec<&(String, String)> = inputs.iter().filter(|(name, _)| name != SETS).collect();
    let Some((first, _)) = files.first() else {
        return InputCopies::default();
    };
    let base = Path::new(first).parent().unwrap_or(Path::new("")).to_owned();
    let place = |(i, (name, _)): (usize, &&(String, String))| {
        let path = if i == 0 { PathBuf::from(name) } else { base.join(name) };
        std::path::absolute(&path).unwrap_or(path)
    };
    let written: Vec<PathBuf> = files.iter().enumerate().map(place).collect();
    let places: Vec<PathBuf> = written.iter().map(|path| normal(path)).collect();
    let through = gone_through(&written);
    let all: Vec<PathBuf> = places.iter().chain(&through).cloned().collect();
    let common = common_parent(&all);
    let mut kept: Vec<FieldOverride> = Vec::new();
    for (path, (_, text)) in places.iter().zip(&files) {
        let name = path.strip_prefix(&common).unwrap_or(path);
        let name = name.to_string_lossy().into_owned();
        if kept.iter().all(|(known, _)| *known != name) {
            kept.push((name, text.clone()));
        }
    }
    // Directories that a name traverses and leaves with `..` must exist when it is read again.
    let empty = |directory: &&PathBuf| !places.iter().any(|path| path.starts_with(directory));
    for directory in through.iter().filter(empty) {
        let name = directory.strip_prefix(&common).unwrap_or(directory);
        let name = format!("{}/", name.to_string_lossy());
        if name != "/" && kept.iter().all(|(known, _)| *known != name) {
            kept.push((name, String::new()));
        }
    }
    let base_depth = places[0].components().count().saturating_sub(2);
    let leaves_root = |name: &str| {
        let up = Path::new(name).components().take_while(|part| *part == Component::ParentDir);
        up.count() > base_depth
    };
    let from_root = files.iter().zip(&places).skip(1);
    let from_root = from_root.filter(|((name, _), _)| Path::new(name).is_absolute() || leaves_root(name));
    let mut tail = tail.to_owned();
    for ((name, _), place) in from_root {
        let copy = relative(places[0].parent().unwrap_or(Path::new("")), place);
        kept[0].1 = renamed(&kept[0].1, name, &copy);
        tail = renamed(&tail, name, &copy);
    }
    let command = format!("jobset-sim run {}{tail}", quoted(&kept[0].0));
    InputCopies { files: kept, command }
}

/// Path of the override that sets a preset file.
pub const PRESET: &str = "controlPlane.preset";

/// Returns copies of manifests and, if given, of a topology and preset files.
pub fn copy_manifests(
    manifests: Vec<FieldOverride>, topology: Option<(String, String)>, presets: Vec<FieldOverride>, tail: &str,
) -> InputCopies {
    let mut files = Vec::new();
    let mut command = "jobset-sim run".to_owned();
    for (i, (name, text)) in manifests.into_iter().enumerate() {
        let base = match Path::new(&name).file_name() {
            Some(base) if name != sim_inputs::STDIN => base.to_string_lossy().into_owned(),
            _ => "stdin.yaml".to_owned(),
        };
        // Numbered, because two directories may contain files with the same name and the order matters. A copy of a
        // copy gets one number.
        let kept = format!("manifests/{i:02}-{}", without_number(&base));
        command.push_str(&format!(" -f {}", quoted(&kept)));
        files.push((kept, text));
    }
    if let Some((_, text)) = topology {
        files.push(("topology.yaml".to_owned(), text));
        command.push_str(" -t topology.yaml");
    }
    let mut tail = tail.to_owned();
    for (name, text) in presets {
        let named = |file: &str| quoted(&format!("{PRESET}={file}"));
        tail = tail.replace(&named(&name), &named("preset.yaml"));
        files.push(("preset.yaml".to_owned(), text));
    }
    command.push_str(&tail);
    InputCopies { files, command }
}

/// Returns a file name without the number that a copy has.
fn without_number(base: &str) -> &str {
    match base.split_once('-') {
        Some((number, rest)) if number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => base,
    }
}

/// Formats the command-line options that affect results.
pub fn result_options(
    (sets, fails): (&[FieldOverride], &[FailFlags]), (seed, seeds): (u64, Option<u64>), level: Option<ModelLevel>,
) -> String {
    let level = level.map(|level| level.as_str().to_ascii_lowercase());
    [
        options("set", sets.iter().map(|(path, value)| format!("{path}={value}"))),
        options("fail", fails.iter().map(|fail| &fail.text)),
        options("seed", [seed]),
        options("seeds", seeds),
        options("level", level),
    ]
    .concat()
}

/// Returns the relative path from a directory to a file; both must be absolute.
fn relative(from: &Path, to: &Path) -> String {
    let same = from.components().zip(to.components());
    let same = same.take_while(|(a, b)| a == b).count();
    let up = from.components().skip(same).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(same)).collect();
    way.to_string_lossy().into_owned()
}

/// Replaces a file name in a text wherever it is not part of a longer name.
fn renamed(text: &str, name: &str, other: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let complete = !before.ends_with(part) && !after.starts_with(part);
        out.push_str(before);
        out.push_str(if complete { other } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the directories that the paths leave with `..`.
fn gone_through(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut result = Vec::new();
    for path in paths {
        let mut before = PathBuf::new();
        for part in path.components() {
            if part == Component::ParentDir {
                result.push(normal(&before));
            }
            before.push(part);
        }
    }
    result
}

/// Removes `.` and `..` from a path without file system access.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}

fn common_parent(paths: &[PathBuf]) -> PathBuf {
    let mut common = paths[0].parent().unwrap_or(Path::new("")).to_owned();
    for path in paths {
        while !path.starts_with(&common) {
            common.pop();
        }
    }
    common
}

#[cfg(test)]
#[path = "../../../../tests/inside/program/cli/inputs/input_copies.rs"]
mod tests;
