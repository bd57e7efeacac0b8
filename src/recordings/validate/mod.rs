//! `validate`: recordings of a real control plane against runs of the same JobSet, script and rates.
//!
//! Must never fit anything to a recording: what it feeds to a run is what the file says was played, and the flags.
//! Only `simulate` knows the engine and the manifest reader.

pub mod admission;
pub mod beside;
mod beside_inputs;
pub mod compare;
pub mod decisions;
pub mod gate;
pub mod milestones;
pub mod nodes;
pub mod output;
mod plays;
pub mod read;
pub mod recording;
pub mod requests;
pub mod result;
pub mod rows;
mod run_steps;
pub mod scenario;
pub mod simulate;
pub mod steps;
pub mod text;

use rayon::prelude::*;
use recording::Recording;
use result::FileResult;
use scenario::{Defaults, Overrides};
use sim_api::spec::{ControlPlane, Timing};
use std::io::Read;
use std::path::Path;

/// What was read from one file.
#[derive(Debug)]
pub enum Input {
    Recording(Box<Recording>),
    Admission(admission::File),
}

/// Files, or all of directories, by name; and everything that is wrong with them.
pub fn read_all(arguments: &[String]) -> (Vec<(String, Input)>, Vec<String>) {
    let mut errors = Vec::new();
    let mut keep = |error: String| errors.push(error);
    let mut files = Vec::new();
    for argument in arguments {
        match paths(argument) {
            Ok(paths) => files.extend(paths),
            Err(error) => keep(error),
        }
    }
    let read: Vec<Result<(String, Input), String>> = files.into_par_iter().map(read_one).collect();
    let inputs = read.into_iter().filter_map(|r| r.map_err(&mut keep).ok());
    let inputs = inputs.collect();
    (inputs, errors)
}

/// The recording in a file of one run; cases of admission are no runs.
pub fn recording_of(file: &str) -> Result<Recording, String> {
    match read_one(file.to_owned())?.1 {
        Input::Recording(recording) => Ok(*recording),
        Input::Admission(_) => Err(format!("{file}: cases of admission; nothing ran in them")),
    }
}

fn read_one(file: String) -> Result<(String, Input), String> {
    let text = text_of(&file)?;
    let input = if admission::is_admission(&text) {
        Input::Admission(admission::read(&file, &text)?)
    } else {
        Input::Recording(Box::new(read::read(&file, &text)?))
    };
    Ok((file, input))
}

/// No recording comes near it; more was given by mistake, and may have no end.
const TEXT_MAX: u64 = 100 << 20;

fn text_of(file: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file).and_then(|f| f.take(TEXT_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|e| format!("{file}: cannot be read: {e}"))?;
    if bytes.len() as u64 > TEXT_MAX {
        let mib = TEXT_MAX >> 20;
        return Err(format!(
            "{file}: the file is too large; legal: at most {mib} MiB"
        ));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        format!("{file}: not a text file: byte {at} is not UTF-8")
    })
}

/// Plays all of them and compares, in parallel; the results come in the order of the files.
pub fn compare_all(
    inputs: &[(String, Input)],
    overrides: &Overrides,
    preset: Option<(ControlPlane, Timing)>,
) -> Result<Vec<FileResult>, String> {
    let mut defaults = simulate::defaults()?;
    if let Some((control_plane, timing)) = preset {
        defaults = Defaults {
            control_plane,
            timing,
            win: true,
        };
    }
    let one = |(file, input): &(String, Input)| match input {
        Input::Recording(recording) => simulate::validate(file, recording, &defaults, overrides),
        Input::Admission(cases) => admission::validate(file, cases),
    };
    Ok(inputs.par_iter().map(one).collect())
}

/// A file itself; of a directory its `*.json` files by name.
fn paths(argument: &str) -> Result<Vec<String>, String> {
    let path = Path::new(argument);
    if !path.is_dir() {
        return Ok(vec![argument.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| format!("{argument}: {e}"))?;
    let mut files: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{argument}: no *.json file in this directory"));
    }
    Ok(files)
}

/// Rules for a pair of latencies in ms, from a flag or from a file.
pub fn check_latency(p50: f64, p95: f64) -> Result<(), String> {
    const LONGEST_MS: f64 = 60_000.0;
    if !(p50 > 0.0 && p95 >= p50 && p95 <= LONGEST_MS) {
        return Err(format!(
            "p50 {p50} and p95 {p95} must be 0 < p50 <= p95 <= {LONGEST_MS} ms"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_for_its_recordings() {
        let dir = read::tests::folder("nodes").display().to_string();
        let (recordings, errors) = read_all(&[dir]);
        assert_eq!(errors, Vec::<String>::new());
        assert!(recordings.len() >= 10);
        assert!(recordings.is_sorted_by(|a, b| a.0 < b.0));
    }
}
