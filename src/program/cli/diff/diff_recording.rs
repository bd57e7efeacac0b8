//! `diff RUN RECORDING`: simulates a run again from its inputs and compares it with a recording of a real control
//! plane.

use crate::cli::diff::record_text::{cut, format_value, gate, record_line};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, LoadedInput, experiment_input, stored_run};
use crate::cli::run::simulate::{RunInput, simulation};
use crate::{cli::args::OutputFormat, cli::diff::args::DiffArgs, cli::output};
use sim_base::condition::FieldCondition;
use sim_base::escape::for_terminal;
use sim_base::time::NANOS_PER_SECOND;

use serde::Serialize;
use serde_json::{Value, json};
use sim_analysis::format;
use sim_api::spec::ScenarioSpec;
use sim_recordings::validate::recording::RecordedRun;
use sim_recordings::validate::result::{ComparedMoment, RecordedDifference};
use sim_recordings::validate::run_vs_recording::{FirstDifference, RunVsRecording, compare_run};
use sim_recordings::validate::{read_run_recording, simulate};
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::decisions::DecisionLog;
use sim_report::rundiff;
use sim_report::rundiff::{MetricDiff, newest_decision};
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordingDiff {
    schema: &'static str,
    equal: bool,
    /// Version of the program that wrote the run, and version of this program, which simulated it again.
    versions: [String; 2],
    digests: [String; 2],
    #[serde(flatten)]
    beside: RunVsRecording,
    /// Last decision of the simulated run before the first difference.
    decision: Option<Value>,
}

pub fn cli(args: &DiffArgs, conditions: &[FieldCondition]) -> Result<u8, CommandFailure> {
    let diff = compare(&args.a, &args.b)?;
    match args.format {
        OutputFormat::Json => output::json(&diff)?,
        OutputFormat::Text => {
            let style = output::style(&args.display);
            output::styled(&text(&diff, &style), &style)?;
        }
    }
    gate(conditions, |name| match name {
        "diff.inputs" => diff.beside.inputs.len() as f64,
        "diff.records" => f64::from(u8::from(diff.beside.first.is_some())),
        _ => diff.beside.differences.len() as f64,
    })
}

fn compare(dir: &Path, file: &Path) -> Result<RecordingDiff, CommandFailure> {
    let file = file.to_string_lossy();
    let recording = read_run_recording(&file).map_err(|e| e.to_string())?;
    if !stored_run::is_run(dir) {
        bail!("{} is not a run directory: inputs/command.txt is missing", dir.display());
    }
    let summary = sim_inputs::files::read_stored(&dir.join("summary.json"));
    let summary: Value = summary.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let made = |key: &str| summary[key].as_str().unwrap_or("unknown").to_owned();
    let of = stored_run::arguments(dir)?;
    let input = ExperimentInput::read(&of.input)?;
    let loaded = match input.load(&[])? {
        LoadedInput::Pods(loaded) => RunInput::of_run(&input, *loaded, &of),
        LoadedInput::Fleet(_) => return Err(experiment_input::needs_pods("diff")),
    };
    let mut simulation = simulation(&loaded)?;
    let log = DecisionLog::new(simulation.scenario());
    let (observed, log) = simulate::run_observed(&recording, &mut simulation, loaded.seed, log);
    let simulated = (simulation.scenario(), &format::fault as _);
    let mut beside = compare_run(&file, &recording, simulated, &observed);
    beside.inputs.extend(jobset(&recording, &loaded.scenario));
    let parts_s = beside.first.as_ref().map(|first| first.moment.simulated_s.unwrap_or(first.moment.at_s()));
    let until = parts_s.map(|s| (s + observed.sink.history.created_s()) * NANOS_PER_SECOND as f64);
    let decision = match until {
        Some(until) => newest_decision(log.ndjson.as_slice(), until as u64 + 1)?,
        None => None,
    };
    let is = format!("{:016x}", observed.outcome.digest);
    // A directory of several replications stores the digest of all of them, so the digest of the first cannot be
    // compared.
    let was = match of.seeds {
        Some(_) => is.clone(),
        None => made("digest"),
    };
    Ok(RecordingDiff {
        schema: "jobset-sim/recording-diff/v1",
        equal: beside.inputs.is_empty() && beside.first.is_none() && beside.differences.is_empty(),
        versions: [made("version"), env!("CARGO_PKG_VERSION").to_owned()],
        digests: [was, is],
        beside,
        decision,
    })
}

/// Returns the fields of the stored JobSet that differ between the recording and the run.
fn jobset(recording: &RecordedRun, own: &ScenarioSpec) -> Vec<RecordedDifference> {
    let object = own.jobsets.first().and_then(|j| j.jobset.object.as_ref());
    let own = object.and_then(|object| sim_inputs::server::stored(object).ok());
    let Some((recorded, own)) = simulate::stored_jobset(recording).zip(own) else {
        return Vec::new();
    };
    let of = |object: &Value| json!({"name": object["metadata"]["name"], "spec": object["spec"]});
    let mut result = Vec::new();
    rundiff::diff_values(&of(&recorded), &of(&own), "jobSet", &mut result);
    let one = |d: MetricDiff| RecordedDifference::new(d.metric, d.a, d.b);
    result.into_iter().map(one).collect()
}

fn text(diff: &RecordingDiff, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    if diff.equal {
        let _ = writeln!(out, "No differences in the inputs and in the compared decisions.");
    }
    let ([made, now], [was, is]) = (&diff.versions, &diff.digests);
    if was != is {
        let _ = writeln!(
            out,
            "The run (version {made}, digest {was}) was simulated again with version {now}: digest {is}. The following \
             comparison is with the new run.\n"
        );
    }
    let RunVsRecording { inputs, first, differences, restart_error } = &diff.beside;
    listed(&mut out, "Inputs that differ", inputs, style);
    if let Some(first) = first {
        first_text(&mut out, first, diff.decision.as_ref(), style);
    } else if !differences.is_empty() {
        let _ = writeln!(out, "All times are equal, but the results differ.\n");
    }
    listed(&mut out, "Differences, as reported by validate", differences, style);
    if let Some(error) = restart_error {
        let _ = writeln!(out, "restart time {} % off", format::with_sign(error * 100.0, 1));
    }
    out
}

fn listed(out: &mut String, title: &str, all: &[RecordedDifference], style: &WaterfallStyle) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style.bold(title));
    for difference in all {
        let path = for_terminal(&difference.path, false);
        let (recorded, own) = (format_value(&difference.recorded), format_value(&difference.simulated));
        let _ = writeln!(out, "  {}\n    recording {recorded}\n    run       {own}", cut(&path));
    }
    out.push('\n');
}

fn first_text(out: &mut String, first: &FirstDifference, decision: Option<&Value>, style: &WaterfallStyle) {
    let title = "First decision that differs (seconds after creation: recording, run)";
    let _ = writeln!(out, "{}", style.bold(title));
    for moment in &first.before {
        let _ = writeln!(out, "    {}", style.dim(&moment_line(moment)));
    }
    let _ = writeln!(out, "  ! {}", moment_line(&first.moment));
    if let Some(decision) = decision {
        let _ = writeln!(out, "      last decision of the run before: {}", cut(&record_line(decision)));
    }
    out.push('\n');
}

fn moment_line(moment: &ComparedMoment) -> String {
    let at = |s: Option<f64>| s.map_or("never".to_owned(), |s| format!("{s:.3}"));
    let (recorded, own) = (at(moment.recorded_s), at(moment.simulated_s));
    cut(&format!("{recorded:>9} {own:>9}  {}", moment.what))
}
