//! Implements `validate`: compares recordings of a real control plane with runs of the same JobSet, script and rates.
//!
//! Nothing is fitted to a recording. The inputs of a run are the contents of the file and the flags. Only `simulate`
//! depends on the engine and the manifest reader.

pub mod admission;
pub mod compare;
pub mod decisions;
pub mod kueue;
pub mod milestones;
pub mod nodes;
pub mod output;
pub mod read;
pub mod recording;
pub mod regression_limits;
pub mod requests;
pub mod result;
pub mod rows;
mod run_steps;
pub mod run_vs_recording;
mod run_vs_recording_inputs;
pub mod scenario;
pub mod scheduling;
pub mod simulate;
pub mod steps;
pub mod text;
mod unobserved_inputs;

use rayon::prelude::*;
use read::file_error::{RecordingFileError, RecordingFileProblem};
use read::value_error::{LATENCY_MAX_MS, LatencyRangeError};
use recording::RecordedRun;
use result::FileResult;
use scenario::{RecordingDefaults, ScenarioOverrides};
use sim_api::spec::{ControlPlane, TimingSpec};
use simulate::replay_error::ReplayError;
use std::io::Read;
use std::path::Path;

/// Contents of one input file.
#[derive(Debug)]
pub enum ValidationInput {
    Recording(Box<RecordedRun>),
    Admission(admission::AdmissionFile),
    Scheduling(scheduling::SchedulingFile),
    Kueue(kueue::KueueFile),
}

/// Reads files, and all files of directories, ordered by name. Returns the contents and all errors.
pub fn read_all(arguments: &[String]) -> (Vec<(String, ValidationInput)>, Vec<RecordingFileError>) {
    let mut errors = Vec::new();
    let mut keep = |error: RecordingFileError| errors.push(error);
    let mut files = Vec::new();
    for argument in arguments {
        match recording_paths(argument) {
            Ok(paths) => files.extend(paths),
            Err(error) => keep(error),
        }
    }
    let read: Vec<Result<(String, ValidationInput), RecordingFileError>> =
        files.into_par_iter().map(read_one).collect();
    let inputs = read.into_iter().filter_map(|r| r.map_err(&mut keep).ok());
    let inputs = inputs.collect();
    (inputs, errors)
}

/// Reads a recording of a run. Files with admission cases or scheduling decisions are rejected, because they do not
/// describe a run.
pub fn read_run_recording(file: &str) -> Result<RecordedRun, RecordingFileError> {
    match read_one(file.to_owned())?.1 {
        ValidationInput::Recording(recording) => Ok(*recording),
        ValidationInput::Admission(_) | ValidationInput::Scheduling(_) | ValidationInput::Kueue(_) => {
            Err(RecordingFileProblem::NotRun.in_file(file))
        }
    }
}

fn read_one(file: String) -> Result<(String, ValidationInput), RecordingFileError> {
    let text = read_text(&file).map_err(|problem| problem.in_file(&file))?;
    let input = if admission::is_admission(&text) {
        ValidationInput::Admission(admission::read(&file, &text)?)
    } else if let Some(decisions) = scheduling::read(&text) {
        ValidationInput::Scheduling(decisions)
    } else if let Some(story) = kueue::read(&text) {
        ValidationInput::Kueue(story)
    } else {
        ValidationInput::Recording(Box::new(read::read(&file, &text)?))
    };
    Ok((file, input))
}

/// Maximum size of a file in bytes. Recordings are considerably smaller, and special files may be endless.
const TEXT_MAX: u64 = 100 << 20;

fn read_text(file: &str) -> Result<String, RecordingFileProblem> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(file).and_then(|f| f.take(TEXT_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|e| RecordingFileProblem::UnreadableFile { reason: e.to_string() })?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(RecordingFileProblem::TooLarge { max_mib: TEXT_MAX >> 20 });
    }
    String::from_utf8(bytes).map_err(|e| RecordingFileProblem::NotUtf8 { byte: e.utf8_error().valid_up_to() })
}

/// Simulates and compares all inputs in parallel. The results are in the order of the files.
pub fn compare_all(
    inputs: &[(String, ValidationInput)], overrides: &ScenarioOverrides, preset: Option<(ControlPlane, TimingSpec)>,
) -> Result<Vec<FileResult>, ReplayError> {
    let mut defaults = simulate::defaults()?;
    if let Some((control_plane, timing)) = preset {
        defaults = RecordingDefaults { control_plane, timing, preset_overrides_recording: true };
    }
    let one = |(file, input): &(String, ValidationInput)| match input {
        ValidationInput::Recording(recording) => simulate::validate(file, recording, &defaults, overrides),
        ValidationInput::Admission(cases) => admission::validate(file, cases),
        ValidationInput::Scheduling(decisions) => scheduling::validate(file, decisions),
        ValidationInput::Kueue(story) => kueue::validate(file, story),
    };
    Ok(inputs.par_iter().map(one).collect())
}

/// Returns the path of a file, or the `*.json` files of a directory, ordered by name.
fn recording_paths(argument: &str) -> Result<Vec<String>, RecordingFileError> {
    let path = Path::new(argument);
    if !path.is_dir() {
        return Ok(vec![argument.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| {
        let reason = e.to_string();
        RecordingFileProblem::UnreadableDirectory { reason }.in_file(argument)
    })?;
    let mut files: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json") && !sim_inputs::files::is_special(p))
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(RecordingFileProblem::EmptyDirectory.in_file(argument));
    }
    Ok(files)
}

/// Checks a pair of latencies in milliseconds, from a flag or from a file.
pub fn check_latency(p50: f64, p95: f64) -> Result<(), LatencyRangeError> {
    if !(p50 > 0.0 && p95 >= p50 && p95 <= LATENCY_MAX_MS) {
        return Err(LatencyRangeError { p50, p95 });
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/mod.rs"]
mod tests;
