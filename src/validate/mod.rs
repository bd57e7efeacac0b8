//! `validate`: recordings of a real control plane against runs of the same JobSet, script and rates.
//!
//! Must never fit anything to a recording: what it feeds to a run is what the file says was played, and the flags.
//! Only `simulate` knows the engine and the manifest reader.

pub mod admission;
mod admission_compare;
mod admission_create;
mod admission_update;
pub mod children;
mod children_cluster;
mod children_compare;
pub mod children_documents;
mod children_schedule;
mod clock;
pub mod compare;
pub mod decisions;
#[cfg(test)]
mod decisions_tests;
pub mod gate;
pub mod history;
mod mask;
pub mod milestones;
pub mod nodes;
pub mod output;
mod plays;
pub mod read;
pub mod recording;
pub mod requests;
pub mod result;
mod rows;
mod run_steps;
pub mod scenario;
mod script;
mod script_requests;
pub mod simulate;
pub mod steps;
mod surroundings;
pub mod text;
mod topology;

use gate::Gate;
use rayon::prelude::*;
use recording::Recording;
use result::{FileResult, Totals};
use scenario::Overrides;
use std::io::Write;
use std::path::Path;

const DONE: u8 = 0;
const INTERNAL_ERROR: u8 = 1;
const INVALID_INPUT: u8 = 2;
const GATE_FAILED: u8 = 5;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Recordings (schema jobset-sim/recording/v1 or jobset-sim/admission-recording/v1), or directories of them
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<String>,
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Exit with code 5 if this is true, e.g. 'restart.error.p50 > 5%'; repeatable
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Median and 95th percentile of one API request in ms, e.g. 8,40 [default: the recording's, else the program's]
    #[arg(long, value_name = "P50,P95")]
    pub api_latency: Option<String>,
    /// Requests per second that all kubelets and agents together get answered [default: 240, as when recorded]
    #[arg(long, value_name = "N")]
    pub node_requests_per_s: Option<f64>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
    Csv,
}

/// Runs the command; the result is the exit code.
pub fn run(args: &Args) -> u8 {
    let (overrides, gates, recordings) = match prepare(args) {
        Ok(prepared) => prepared,
        Err(errors) => {
            for error in errors {
                eprintln!("error: {error}");
            }
            return INVALID_INPUT;
        }
    };
    let defaults = match simulate::defaults() {
        Ok(defaults) => defaults,
        Err(error) => {
            eprintln!("error: {error}");
            return INTERNAL_ERROR;
        }
    };
    let files: Vec<FileResult> = recordings
        .par_iter()
        .map(|(file, input)| match input {
            Input::Recording(recording) => {
                simulate::validate(file, recording, &defaults, &overrides)
            }
            Input::Admission(cases) => admission::validate(file, cases),
        })
        .collect();
    let totals = Totals::of(&files);
    let verdict = check_gates(&gates, &totals);
    if let Err(error) = &verdict {
        eprintln!("error: {error}");
        return INVALID_INPUT;
    }
    if let Err(error) = print(&render(args.format, &files, &totals)) {
        eprintln!("error: {error}");
        return INTERNAL_ERROR;
    }
    match verdict {
        Ok(true) => GATE_FAILED,
        _ => DONE,
    }
}

/// What was read from one file.
#[derive(Debug)]
enum Input {
    Recording(Box<Recording>),
    Admission(admission::File),
}

type Prepared = (Overrides, Vec<Gate>, Vec<(String, Input)>);

/// Everything that can be wrong before the first run, all of it at once.
fn prepare(args: &Args) -> Result<Prepared, Vec<String>> {
    let mut errors = Vec::new();
    let mut keep = |error: String| errors.push(error);
    let overrides = overrides(args).map_err(&mut keep).unwrap_or_default();
    let gates = args
        .fail_if
        .iter()
        .filter_map(|text| text.parse().map_err(&mut keep).ok());
    let gates: Vec<Gate> = gates.collect();
    let mut files = Vec::new();
    for argument in &args.recordings {
        match paths(argument) {
            Ok(paths) => files.extend(paths),
            Err(error) => keep(error),
        }
    }
    let read: Vec<Result<(String, Input), String>> = files
        .into_par_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
            let input = if admission::is_admission(&text) {
                Input::Admission(admission::read(&file, &text)?)
            } else {
                Input::Recording(Box::new(read::read(&file, &text)?))
            };
            Ok((file, input))
        })
        .collect();
    let recordings = read.into_iter().filter_map(|r| r.map_err(&mut keep).ok());
    let recordings: Vec<(String, Input)> = recordings.collect();
    if errors.is_empty() {
        Ok((overrides, gates, recordings))
    } else {
        Err(errors)
    }
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

fn overrides(args: &Args) -> Result<Overrides, String> {
    if let Some(n) = args.node_requests_per_s
        && !(n.is_finite() && n > 0.0)
    {
        return Err(format!(
            "--node-requests-per-s {n}: must be a number greater than 0"
        ));
    }
    let latency = args.api_latency.as_deref().map(parse_latency).transpose();
    Ok(Overrides {
        api_latency_ms: latency.map_err(|e| format!("--api-latency {e}"))?,
        node_requests_per_s: args.node_requests_per_s,
    })
}

/// `8,40` or `8ms,40ms`.
fn parse_latency(text: &str) -> Result<(f64, f64), String> {
    let bad = || format!("{text:?}: write the median and the 95th percentile in ms, e.g. 8,40");
    let (p50, p95) = text.split_once(',').ok_or_else(bad)?;
    let number = |s: &str| {
        let s = s.trim();
        s.strip_suffix("ms").unwrap_or(s).trim().parse::<f64>().ok()
    };
    let (p50, p95) = (number(p50).ok_or_else(bad)?, number(p95).ok_or_else(bad)?);
    check_latency(p50, p95).map_err(|e| format!("{text:?}: {e}"))?;
    Ok((p50, p95))
}

/// Rules for a pair of latencies in ms, from a flag or from a file.
fn check_latency(p50: f64, p95: f64) -> Result<(), String> {
    const LONGEST_MS: f64 = 60_000.0;
    if !(p50 > 0.0 && p95 >= p50 && p95 <= LONGEST_MS) {
        return Err(format!(
            "p50 {p50} and p95 {p95} must be 0 < p50 <= p95 <= {LONGEST_MS} ms"
        ));
    }
    Ok(())
}

/// Whether any gate failed; all that failed are named on stderr.
fn check_gates(gates: &[Gate], totals: &Totals) -> Result<bool, String> {
    let mut failed = false;
    for gate in gates {
        let (value, is_true) = gate.check(totals)?;
        if is_true {
            eprintln!(
                "gate failed: {gate} (it is {})",
                (value * 1e6).round() / 1e6
            );
        }
        failed |= is_true;
    }
    Ok(failed)
}

fn render(format: Format, files: &[FileResult], totals: &Totals) -> Result<String, String> {
    match format {
        Format::Text => {
            let text = text::text(files, totals);
            Ok(format!("{text}{}", text::not_modelled(files)))
        }
        Format::Json => serde_json::to_string_pretty(&output::json(files, totals))
            .map(|text| text + "\n")
            .map_err(|e| e.to_string()),
        Format::Csv => output::csv(files),
    }
}

/// To stdout; a reader that closed the pipe has what it wanted.
fn print(text: &Result<String, String>) -> Result<(), String> {
    let text = text.as_ref().map_err(Clone::clone)?;
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.to_string()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Args {
        let words = ["validate"].into_iter().chain(words.iter().copied());
        Cli::try_parse_from(words).map(|c| c.args).unwrap()
    }

    #[test]
    fn bad_flags_and_files_are_reported_together() {
        let bad = args(&[
            "no-such-file.json",
            "--fail-if",
            "x > 1",
            "--api-latency",
            "9,8",
            "Cargo.toml",
        ]);
        let errors = prepare(&bad).unwrap_err();
        for part in [
            "no-such-file.json: ",
            "the names are",
            "must be 0 < p50",
            "Cargo.toml: not JSON",
        ] {
            assert!(
                errors.iter().any(|e| e.contains(part)),
                "{part}: {errors:?}"
            );
        }
        assert_eq!(errors.len(), 4);
        assert_eq!(run(&bad), INVALID_INPUT);
    }

    #[test]
    fn latencies_are_read_with_or_without_their_unit() {
        for (text, expected) in [
            ("8,40", Some((8.0, 40.0))),
            ("0.5ms, 2ms", Some((0.5, 2.0))),
            ("8", None),
            ("8,x", None),
            ("0,1", None),
            ("nan,1", None),
            ("1,inf", None),
        ] {
            assert_eq!(parse_latency(text).ok(), expected, "{text}");
        }
        assert!(overrides(&args(&["f", "--node-requests-per-s", "0"])).is_err());
    }

    #[test]
    fn a_directory_stands_for_its_recordings() {
        let dir = read::tests::folder("nodes").display().to_string();
        let (_, _, recordings) = prepare(&args(&[&dir])).unwrap();
        assert!(recordings.len() >= 10);
        assert!(recordings.is_sorted_by(|a, b| a.0 < b.0));
    }
}
