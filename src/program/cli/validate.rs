//! `validate`: compares runs with recordings, prints text, JSON or CSV, and checks gates on the totals.

use crate::cli::failure::{CommandFailure, GATE_FAILED};
use crate::cli::output as console;
use sim_report::table::Table;

use sim_api::spec::{ControlPlane, TimingSpec};
use sim_recordings::validate;
use sim_recordings::validate::regression_limits::ConformanceGate;
use sim_recordings::validate::result::{FileResult, ResultTotals};
use sim_recordings::validate::scenario::ScenarioOverrides;
use sim_recordings::validate::{ValidationInput, check_latency, output, text};

#[derive(Clone, Debug, clap::Args)]
pub struct ValidateArgs {
    /// Recordings (schema jobset-sim/recording/v1 or jobset-sim/admission-recording/v1), or directories of them
    #[arg(required = true, value_name = "RECORDING")]
    pub recordings: Vec<String>,
    #[arg(long, value_enum, default_value = "text")]
    pub format: ValidateFormat,
    /// Exit with code 5 if this condition is true, e.g. 'restart.error.p50 > 5%' (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Median and 95th percentile of the latency of one API request in ms, e.g. 8,40 [default: that of the
    /// recording, else of the model]
    #[arg(long, value_name = "P50,P95")]
    pub api_latency: Option<String>,
    /// Preset file, as written by `recording calibrate`, whose rates and latencies replace those of the recordings
    #[arg(long, value_name = "FILE")]
    pub preset: Option<std::path::PathBuf>,
    /// Maximum number of requests per second of all kubelets and agents together [default: that of the
    /// recording, else unlimited for imported incidents and 240, as on the recording machine, for others]
    #[arg(long, value_name = "N")]
    pub node_requests_per_s: Option<f64>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ValidateFormat {
    Text,
    Json,
    Csv,
}

/// Runs the command and returns its exit code.
pub fn cli(args: &ValidateArgs) -> Result<u8, CommandFailure> {
    let prepared = prepare(args).map_err(|errors| {
        errors.join(
            "
error: ",
        )
    });
    let (overrides, gates, recordings, preset) = prepared?;
    let files = validate::compare_all(&recordings, &overrides, preset);
    let files = files.map_err(|e| CommandFailure::Internal(e.to_string()))?;
    let totals = ResultTotals::from_files(&files);
    let failed = check_gates(&gates, &totals)?;
    let text = render(args.format, &files, &totals)?;
    match args.format {
        ValidateFormat::Text => console::text(&text)?,
        _ => console::result(&text)?,
    }
    Ok(if failed { GATE_FAILED } else { 0 })
}

type PreparedRecording =
    (ScenarioOverrides, Vec<ConformanceGate>, Vec<(String, ValidationInput)>, Option<(ControlPlane, TimingSpec)>);

/// Reads and checks all inputs before the first run, and returns all errors together.
fn prepare(args: &ValidateArgs) -> Result<PreparedRecording, Vec<String>> {
    let mut errors = Vec::new();
    let mut keep = |error: String| errors.push(error);
    let overrides = overrides(args).map_err(&mut keep).unwrap_or_default();
    let gates = args.fail_if.iter().filter_map(|text| {
        let gate = text.parse::<ConformanceGate>();
        gate.map_err(|e| keep(e.to_string())).ok()
    });
    let gates: Vec<ConformanceGate> = gates.collect();
    let (recordings, unreadable) = validate::read_all(&args.recordings);
    errors.extend(unreadable.iter().map(ToString::to_string));
    let preset = args.preset.as_deref().map(|path| {
        let source = sim_inputs::read_source(path)?;
        sim_inputs::read_preset(&source)
    });
    let preset = preset.transpose().unwrap_or_else(|e| {
        errors.push(e.to_string());
        None
    });
    if errors.is_empty() { Ok((overrides, gates, recordings, preset)) } else { Err(errors) }
}

fn overrides(args: &ValidateArgs) -> Result<ScenarioOverrides, String> {
    if let Some(n) = args.node_requests_per_s
        && !(n.is_finite() && n > 0.0)
    {
        return Err(format!("--node-requests-per-s {n}: must be a number greater than 0"));
    }
    let latency = args.api_latency.as_deref().map(parse_latency).transpose();
    Ok(ScenarioOverrides {
        api_latency_ms: latency.map_err(|e| format!("--api-latency {e}"))?,
        node_requests_per_s: args.node_requests_per_s,
    })
}

/// Parses the median and the 95th percentile in ms, written as `8,40` or `8ms,40ms`.
fn parse_latency(text: &str) -> Result<(f64, f64), String> {
    let bad = || format!("{text:?}: expected the median and the 95th percentile in ms, e.g. 8,40");
    let (p50, p95) = text.split_once(',').ok_or_else(bad)?;
    let number = |s: &str| {
        let s = s.trim();
        s.strip_suffix("ms").unwrap_or(s).trim().parse::<f64>().ok()
    };
    let (p50, p95) = (number(p50).ok_or_else(bad)?, number(p95).ok_or_else(bad)?);
    check_latency(p50, p95).map_err(|e| format!("{text:?}: {e}"))?;
    Ok((p50, p95))
}

/// Returns whether any gate failed. Prints every failed gate to standard error.
fn check_gates(gates: &[ConformanceGate], totals: &ResultTotals) -> Result<bool, String> {
    let mut failed = false;
    for gate in gates {
        let (value, is_true) = gate.check(totals).map_err(|e| e.to_string())?;
        if is_true {
            let value = (value * 1e6).round() / 1e6;
            console::notice(&format!("gate failed: {gate} (value: {value})"));
        }
        failed |= is_true;
    }
    Ok(failed)
}

fn render(format: ValidateFormat, files: &[FileResult], totals: &ResultTotals) -> Result<String, String> {
    match format {
        ValidateFormat::Text => {
            let text = text::text(files, totals);
            Ok(format!("{text}{}", text::not_modelled(files)))
        }
        ValidateFormat::Json => serde_json::to_string_pretty(&output::json(files, totals))
            .map(|text| text + "\n")
            .map_err(|e| e.to_string()),
        ValidateFormat::Csv => {
            let table = Table::new(output::COLUMNS).with_rows(output::rows(files));
            Ok(String::from_utf8_lossy(&table.csv()).into_owned())
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/validate.rs"]
mod tests;
