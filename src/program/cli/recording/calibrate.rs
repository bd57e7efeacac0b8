//! `recording calibrate`: estimates client rates, latencies and start-up times from recordings and metrics, and
//! writes a preset file.

use crate::cli::failure::{CommandFailure, bail};
use crate::{cli::args::OutputFormat, cli::output, cli::recording::import};
use sim_analysis::format::wrap;
use sim_api::spec::KubeletTiming;
use sim_base::escape::for_terminal;
use sim_inputs::Diagnostic;
use sim_recordings::calibrate;
use sim_recordings::calibrate::groups;
use sim_recordings::calibrate::groups::{GroupKey, SampleGroup};
use sim_recordings::calibrate::{FitResult, FitValue, FittedParameter, PrometheusMetrics, preset};
use sim_recordings::validate::read_run_recording;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct CalibrateArgs {
    /// Recordings written by `recording import`
    #[arg(required_unless_present = "metrics", value_name = "RECORDING")]
    pub recordings: Vec<String>,
    /// Metrics text of the API server, the controller manager, the scheduler or the JobSet manager (repeatable)
    #[arg(long, value_name = "FILE")]
    pub metrics: Vec<String>,
    /// Preset whose values are used for parameters that the data do not determine
    #[arg(long, value_name = "NAME", default_value = sim_inputs::presets::DEFAULT_PRESET)]
    pub base: String,
    /// Also fit each phase of pods separately, grouped by phase, image, pool
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub by: Vec<FitGrouping>,
    /// Node label that contains the name of the pool [default: the label of the cloud provider, else pool]
    #[arg(long, value_name = "KEY", requires = "by")]
    pub pool_label: Option<String>,
    /// Write the preset to this new file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FitGrouping {
    Phase,
    Image,
    Pool,
}

impl From<FitGrouping> for GroupKey {
    fn from(by: FitGrouping) -> GroupKey {
        match by {
            FitGrouping::Phase => GroupKey::Phase,
            FitGrouping::Image => GroupKey::Image,
            FitGrouping::Pool => GroupKey::Pool,
        }
    }
}

pub fn cli(args: &CalibrateArgs) -> Result<(), CommandFailure> {
    if sim_inputs::control_plane(&args.base).is_none() {
        let names = sim_inputs::preset_names().join(", ");
        bail!("--base: unknown preset {:?}; known: {names}", args.base);
    }
    let mut recordings = Vec::new();
    for file in &args.recordings {
        let recording = read_run_recording(file).map_err(|e| e.to_string())?;
        recordings.push((file.clone(), recording));
    }
    let mut metrics = PrometheusMetrics::default();
    for file in &args.metrics {
        let source = import::source(file)?;
        let read = metrics.read(&source.text);
        read.map_err(|(line, column, message)| match line {
            0 => CommandFailure::Invalid(Diagnostic::of_file(&source.file, message).to_string()),
            _ => import::error_at(&source, line, column, message),
        })?;
    }
    let value = calibrate::calibrate(&recordings, &metrics, rest_s());
    let by: Vec<GroupKey> = args.by.iter().map(|by| GroupKey::from(*by)).collect();
    let groups = if by.is_empty() { Vec::new() } else { groups::groups(&recordings, &by, args.pool_label.as_deref()) };
    let name = args.out.as_deref().and_then(Path::file_stem);
    let name = name.map_or("calibrated".into(), |n| n.to_string_lossy());
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    let mut document = preset::preset_document(&value, sim_inputs::API_VERSION, &name.to_lowercase(), &args.base);
    if !groups.is_empty() {
        document["groups"] = serde_json::json!(groups);
    }
    if let Some(path) = &args.out {
        let text = sim_inputs::print_yaml(&document);
        // Reads the preset back, so that a scenario can refer to the file.
        let source = sim_inputs::SourceText { file: path.display().to_string(), text: text.clone() };
        sim_inputs::read_preset(&source).map_err(|e| match CommandFailure::from(e) {
            CommandFailure::Invalid(e) => CommandFailure::Internal(e),
            other => other,
        })?;
        import::new_file(path, text.as_bytes())?;
    }
    match args.format {
        OutputFormat::Json => output::json(&serde_json::json!({
            "schema": "jobset-sim/calibration/v1", "parameters": value.parameters, "undecided": value.undecided,
            "unseen": value.unseen, "groups": groups, "preset": document,
        })),
        OutputFormat::Text => output::result(&text(&value, &groups, args)),
    }
}

/// Returns the default start-up time outside the container in seconds: the status write of the kubelet and one API
/// request.
fn rest_s() -> f64 {
    let timing = sim_inputs::timing();
    let write = match &timing.kubelet {
        KubeletTiming::Real(kubelet) => kubelet.status_write.median().seconds(),
        KubeletTiming::Scripted { .. } => 0.0,
    };
    write + timing.api_write.median().seconds()
}

fn number(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.1}"),
        x if x >= 0.1 => format!("{x:.3}"),
        x => format!("{x:.5}"),
    }
}

fn format_parameter(p: &FittedParameter) -> (String, &'static str) {
    let unit = if p.id.starts_with("timing.") { " s" } else { "" };
    match &p.value {
        FitValue::Number(n) => (number(*n), unit),
        FitValue::LogNormal(median, _) => (number(*median), unit),
        FitValue::Empirical(values) => (number(values[values.len() / 2]), unit),
    }
}

/// Writes one line per group with its quantiles.
fn table(out: &mut String, groups: &[SampleGroup]) {
    if groups.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{:<10}{:>6}{:>10}{:>8}{:>8}{:>10}{:>9}{:>9}{:>9}  confidence",
        "phase", "n", "median_s", "sigma", "fit p", "p5_s", "p50_s", "p95_s", "p99_s"
    );
    for g in groups {
        let at = |name: &str| g.quantiles_s.get(name).map_or("-".to_owned(), |s| format!("{s:.3}"));
        let fit = g.log_normal.as_ref();
        let cell = |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
        let _ = writeln!(
            out,
            "{:<10}{:>6}{:>10}{:>8}{:>8}{:>10}{:>9}{:>9}{:>9}  {}",
            g.phase,
            g.n,
            cell(fit.map(|f| f.median_s), 3),
            cell(fit.map(|f| f.sigma), 3),
            cell(fit.map(|f| f.p), 3),
            at("p5"),
            at("p50"),
            at("p95"),
            at("p99"),
            g.confidence
        );
        let own = [("image", &g.image), ("pool", &g.pool)];
        let own = own.into_iter().filter_map(|(what, value)| Some(format!("{what} {}", value.as_ref()?)));
        let own = own.collect::<Vec<_>>().join(", ");
        if !own.is_empty() {
            for line in wrap(&for_terminal(&own, false), 94) {
                let _ = writeln!(out, "      {line}");
            }
        }
    }
}

fn text(result: &FitResult, groups: &[SampleGroup], args: &CalibrateArgs) -> String {
    let mut out = String::new();
    if !result.parameters.is_empty() {
        let _ = writeln!(out, "{:<42}{:>10}  95 % interval", "parameter", "value");
    }
    for p in &result.parameters {
        let (value, unit) = format_parameter(p);
        let [low, high] = p.interval.map(number);
        let _ = writeln!(out, "  {:<40}{value:>10}  {low} to {high}{unit}", p.id);
        if let (FitValue::LogNormal(_, sigma), Some([low, high])) = (&p.value, p.sigma_interval) {
            let _ = writeln!(out, "    {:<38}{sigma:>10.3}  {low:.3} to {high:.3}", "sigma");
        }
        let few = match preset::confidence(p) {
            "measured" => "",
            _ => "; too few values: unverified",
        };
        for line in wrap(&for_terminal(&format!("{}{few}", p.from), false), 94) {
            let _ = writeln!(out, "      {line}");
        }
    }
    table(&mut out, groups);
    for (title, all) in [("Not distinguished by the data", &result.undecided), ("Not observed", &result.unseen)] {
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{title}:");
        for item in all {
            let lines = wrap(&for_terminal(item, false), 96);
            let _ = writeln!(out, "  {}", lines.join("\n    "));
        }
    }
    if let Some(path) = &args.out {
        let displayed = path.display();
        let _ = writeln!(
            out,
            "\nWritten to {displayed}: use it in a scenario as controlPlane.preset, or with `validate --preset`"
        );
    }
    out
}
