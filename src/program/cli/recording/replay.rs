//! `recording replay`: simulates an incident of a run or a recording unchanged and with a change, with the same
//! faults and random numbers.

use crate::cli::args::{DisplayStyle, FieldOverride, OutputFormat, path_value};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, stored_run};
use crate::cli::recording::replay_plane;
use crate::cli::{interrupt, output};
use serde_json::{Value, json};
use sim_analysis::experiment;
use sim_analysis::experiment::metric::metrics;
use sim_analysis::experiment::{LimitSink, ReplicationResult, SimulatedReplication};
use sim_analysis::format::with_sign;
use sim_analysis::metrics::{MetricFolds, Milestone, RestartMetrics};
use sim_api::spec::ScenarioSpec;
use sim_base::escape::for_terminal;
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use sim_inputs::strategy;
use sim_inputs::text::path;
use sim_recordings::validate::recording::RecordedRun;
use sim_recordings::validate::scenario::SEED;
use sim_recordings::validate::simulate::replay_error::ReplayError;
use sim_recordings::validate::{read_run_recording, simulate};
use sim_reliability::faults;
use sim_report::console::side_by_side;
use sim_report::console::side_by_side::VariantSide;
use sim_report::console::waterfall::WaterfallStyle;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// Run directory written by `run --out`, or recording, such as one written by `recording import`
    #[arg(value_name = "RUN|RECORDING")]
    pub incident: PathBuf,
    /// Change to simulate: a field of the JobSet (spec..., strategy) or of the control plane (controlPlane...,
    /// timing...); for a run, any field except those that define the incident (repeatable)
    #[arg(long, required = true, value_name = "PATH=VALUE", value_parser = path_value)]
    pub counterfactual: Vec<FieldOverride>,
    /// Number of the restart to print, starting at 1 [default: the imported restart, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub restart: Option<u32>,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub display: DisplayStyle,
}

/// The two scenarios to simulate: the original and the changed one.
struct ReplayIncident {
    as_it_was: ScenarioSpec,
    changed: ScenarioSpec,
    seed: u64,
    /// Recorded milestones by name, in seconds.
    recorded: BTreeMap<String, f64>,
    /// Number of the restart to print, starting at 1.
    restart: u32,
}

pub fn cli(args: &ReplayArgs) -> Result<(), CommandFailure> {
    let mut incident = if args.incident.is_dir() {
        of_run(&args.incident, &args.counterfactual)?
    } else {
        of_recording(&args.incident, &args.counterfactual)?
    };
    let request = args.restart.unwrap_or(incident.restart);
    if request != incident.restart {
        // The recorded milestones belong to another restart.
        incident.recorded.clear();
        incident.restart = request;
    }
    let [was, with] = [&incident.as_it_was, &incident.changed].map(|s| replay(s, incident.seed));
    let (was, with) = (was?, with?);
    match args.format {
        OutputFormat::Json => output::json(&as_json(args, &incident, (&was, &with))),
        OutputFormat::Text => {
            let style = output::style(&args.display);
            output::styled(&text(args, &incident, (&was, &with), &style), &style)
        }
    }
}

/// Fields of a scenario that define the incident and must not be changed.
const THE_INCIDENT: [&str; 7] = ["seed", "faults", "faultProcesses", "containers", "stop", "objects", "parameters"];

fn of_run(dir: &Path, changes: &[FieldOverride]) -> Result<ReplayIncident, CommandFailure> {
    let input = stored_run::arguments(dir)?.input;
    for (path, _) in changes {
        let first = path.split(['.', '[']).next().unwrap_or("");
        if THE_INCIDENT.contains(&first) {
            bail!(
                "--counterfactual {path}: this field is the incident itself, so the runs would not be comparable; use `run --set`"
            );
        }
    }
    let given = ExperimentInput::read(&input)?;
    let as_it_was = given.pods(&[], "recording replay")?.scenario;
    let sets = companions(changes, &as_it_was)?;
    let changed = given.pods(&sets, "recording replay")?.scenario;
    let seed = input.seed.unwrap_or(as_it_was.seed);
    checked(ReplayIncident { as_it_was, changed, seed, recorded: BTreeMap::new(), restart: 1 })
}

/// Adds the fields that a restart strategy requires.
fn companions(changes: &[FieldOverride], scenario: &ScenarioSpec) -> Result<Vec<FieldOverride>, CommandFailure> {
    let all = strategy::with_companions(changes, &scenario.jobsets)?;
    Ok(all.into_iter().map(|c| (c.path, c.value)).collect())
}

fn of_recording(file: &Path, changes: &[FieldOverride]) -> Result<ReplayIncident, CommandFailure> {
    let name = file.to_string_lossy();
    let recording = read_run_recording(&name).map_err(|e| e.to_string())?;
    let cannot = |why: ReplayError| CommandFailure::Invalid(format!("{name}: cannot be simulated: {why}"));
    let as_it_was = simulate::default_replay_scenario(&name, &recording).map_err(cannot)?;
    let mut other = recording.clone();
    let sets = companions(changes, &as_it_was)?;
    for (path, _) in &sets {
        let spec = path.split(['.', '[']).next() == Some("spec");
        if !spec && !replay_plane::is_of(path) {
            bail!(
                "--counterfactual {path}: for a recording, expected a field of the JobSet (spec..., strategy), of controlPlane or of \
                 timing; the behavior of containers and users is the incident itself"
            );
        }
    }
    let (plane, spec): (Vec<_>, Vec<_>) = sets.into_iter().partition(|(path, _)| replay_plane::is_of(path));
    other.job_set = set(&recording.job_set, &spec)?;
    needs_gates(&mut other);
    once(&mut other);
    let refused = |why: ReplayError| CommandFailure::Invalid(format!("the counterfactual is invalid: {why}"));
    let mut changed = simulate::default_replay_scenario(&name, &other).map_err(refused)?;
    replay_plane::change(&mut changed, &plane)?;
    let restart = recording.nth_restart() as u32 + 1;
    let recorded = recording.milestones.map(|m| m.milestones_s);
    checked(ReplayIncident { as_it_was, changed, seed: SEED, recorded: recorded.unwrap_or_default(), restart })
}

/// Enables the feature gates that the changed strategy needs.
fn needs_gates(recording: &mut RecordedRun) {
    let policy = recording.job_set["spec"]["failurePolicy"].to_string();
    let gates = &mut recording.control_plane.feature_gates;
    let jobs = policy.replace("\"RestartJobSet", "").contains("\"RestartJob");
    for (gate, needed) in [("InPlaceRestart", policy.contains("\"InPlaceRestart\"")), ("RestartJob", jobs)] {
        if needed && !gates.iter().any(|g| g == gate) {
            gates.push(gate.to_owned());
        }
    }
}

/// Limits recorded failures to the first run of a container, or to the first attempt of a Job, so that they are not
/// repeated after the restart.
fn once(recording: &mut RecordedRun) {
    let policy = recording.job_set["spec"]["failurePolicy"].to_string();
    let in_place = policy.contains("\"InPlaceRestart\"");
    for rule in recording.script.pods.iter_mut().filter(|rule| rule.run_ms >= 0) {
        if in_place {
            rule.container_run.get_or_insert(0);
        } else {
            rule.job_restart.get_or_insert(0);
        }
    }
}

fn set(object: &Value, sets: &[FieldOverride]) -> Result<Value, CommandFailure> {
    let mut node = sim_inputs::text::node::YamlNode::from_json(object);
    let source = path::overrides_source("--counterfactual", sets);
    path::apply_sets(&mut node, &source, sets)?;
    let changed = node.to_json();
    let read = |object: &Value| {
        let text = sim_inputs::print_yaml(object);
        let file = "the JobSet with --counterfactual".to_owned();
        sim_inputs::read_manifests(&sim_inputs::SourceText { file, text })
    };
    // A server has accepted the recorded JobSet, so only the changed one is checked like any manifest.
    match (read(object), read(&changed)) {
        (Ok(_), Err(errors)) => Err(CommandFailure::from(errors)),
        _ => Ok(changed),
    }
}

fn checked(incident: ReplayIncident) -> Result<ReplayIncident, CommandFailure> {
    let (was, with) = (&incident.as_it_was, &incident.changed);
    let objects = |s: &ScenarioSpec| -> Vec<Option<Value>> {
        let all = s.jobsets.iter().map(|j| j.jobset.object.as_deref().cloned());
        all.collect()
    };
    let same = objects(was) == objects(with)
        && format!("{:?}", (&was.control_plane, &was.timing, &was.topology, &was.training))
            == format!("{:?}", (&with.control_plane, &with.timing, &with.topology, &with.training));
    if same {
        Err(CommandFailure::Invalid("--counterfactual: nothing differs from the original incident".to_owned()))
    } else {
        Ok(incident)
    }
}

fn replay(scenario: &ScenarioSpec, seed: u64) -> Result<SimulatedReplication, CommandFailure> {
    let scenario = faults::draw_faults(scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario)?;
    let limits = interrupt::limits();
    let folds = MetricFolds::new(&scenario, false);
    let (replication, _) =
        experiment::simulate_replication(&mut simulation, (seed, 0), folds, LimitSink::sink(&limits));
    match replication.outcome.end_reason {
        EndReason::Stopped => Err(interrupt::failure("no results were kept")),
        _ => Ok(replication),
    }
}

fn nth(replication: &SimulatedReplication, nth: u32) -> Option<RestartMetrics> {
    let view = replication.view(0, &[]);
    view.restarts().get(nth as usize - 1).cloned()
}

/// Returns the milestone from which times are counted: the failure status of the pod, as in recordings, else the fault.
fn origin(restart: &RestartMetrics) -> Milestone {
    let all = [Milestone::PodFailed, Milestone::PodNotReady];
    let matching = all.into_iter().find(|m| restart.milestone(*m).is_some());
    matching.unwrap_or(Milestone::Fault)
}

/// Milestones of both runs: name, then recorded, original and changed time.
type ReplayRows = Vec<(String, [Option<f64>; 3])>;

fn rows(incident: &ReplayIncident, restarts: [Option<&RestartMetrics>; 2]) -> ReplayRows {
    let zero = restarts[0].map_or(Milestone::Fault, origin);
    let seconds = |restart: Option<&RestartMetrics>, m: Milestone| {
        let restart = restart?;
        let from = restart.milestone(zero).unwrap_or(restart.start);
        Some(restart.milestone(m)?.seconds() - from.seconds())
    };
    let one = |m: Milestone| {
        let name = m.as_str();
        let as_recorded = if m == Milestone::LastReady { "lastPodReady" } else { name };
        let recorded = incident.recorded.get(as_recorded).or(incident.recorded.get(name));
        let values = [recorded.copied(), seconds(restarts[0], m), seconds(restarts[1], m)];
        values.iter().any(Option::is_some).then(|| (name.to_owned(), values))
    };
    Milestone::ALL.into_iter().filter_map(one).collect()
}

/// Returns the metrics of the whole run that differ, with both values.
fn differing(trials: (&SimulatedReplication, &SimulatedReplication), seed: u64) -> Vec<(String, f64, f64)> {
    let of = |p: &SimulatedReplication| {
        let view = p.view(seed, &[]);
        let names: Vec<String> = view.names.jobsets.iter().map(|j| j.name.clone()).collect();
        metrics(&ReplicationResult::from_run(&view, 0), &names)
    };
    let with: BTreeMap<String, f64> = of(trials.1).into_iter().filter_map(|(n, m)| Some((n, m.value()?))).collect();
    let pair = |(name, was): (String, experiment::metric::MeasuredMetric)| {
        let (was, with) = (was.value()?, *with.get(&name)?);
        (was != with).then_some((name, was, with))
    };
    of(trials.0).into_iter().filter_map(pair).collect()
}

fn as_json(
    args: &ReplayArgs, incident: &ReplayIncident, (was, with): (&SimulatedReplication, &SimulatedReplication),
) -> Value {
    let restarts = [was, with].map(|p| nth(p, incident.restart));
    let rows = rows(incident, [restarts[0].as_ref(), restarts[1].as_ref()]);
    let row = |(name, [recorded, was, with]): &(String, [Option<f64>; 3])| {
        json!({"name": name, "recorded_s": recorded, "asItWas_s": was, "counterfactual_s": with,
            "difference_s": was.zip(*with).map(|(was, with)| with - was)})
    };
    let total = |r: &Option<RestartMetrics>| r.as_ref().map(|r| r.total().seconds());
    let metric = |(name, was, with): &(String, f64, f64)| json!({"name": name, "asItWas": was, "counterfactual": with, "difference": with - was});
    json!({
        "schema": "jobset-sim/recording-replay/v1", "restart": incident.restart,
        "counterfactual": args.counterfactual.iter().map(|(p, v)| format!("{p}={v}")).collect::<Vec<_>>(),
        "milestones": rows.iter().map(row).collect::<Vec<_>>(),
        "total": {"asItWas_s": total(&restarts[0]), "counterfactual_s": total(&restarts[1])},
        "metrics": differing((was, with), incident.seed).iter().map(metric).collect::<Vec<_>>(),
        "digests": ([was, with].map(|p| format!("{:016x}", p.outcome.digest))),
    })
}

fn text(
    args: &ReplayArgs, incident: &ReplayIncident, (was, with): (&SimulatedReplication, &SimulatedReplication),
    style: &WaterfallStyle,
) -> String {
    let mut out = String::new();
    let changes: Vec<String> = args.counterfactual.iter().map(|(p, v)| format!("{p}={v}")).collect();
    let changes = for_terminal(&changes.join(", "), false).into_owned();
    let _ = writeln!(out, "{}\n", style.bold(&format!("Incident: original run and run with {changes}")));
    let restarts = [was, with].map(|p| nth(p, incident.restart));
    table(&mut out, &rows(incident, [restarts[0].as_ref(), restarts[1].as_ref()]));
    match (&restarts[0], &restarts[1]) {
        (Some(a), Some(b)) => {
            let (a_run, b_run) = (was.view(incident.seed, &[]), with.view(incident.seed, &[]));
            let side = |label, run, restart| VariantSide { label, run, restart };
            out.push('\n');
            let (a, b) = (side("original", a_run, a), side("changed", b_run, b));
            out.push_str(&side_by_side::compare(&a, &b, style));
        }
        (Some(_), None) => {
            let _ = writeln!(out, "\nThe changed run has no restart {}.", incident.restart);
        }
        _ => {
            let _ = writeln!(out, "\nThe original run has no restart {}.", incident.restart);
        }
    }
    let metrics = differing((was, with), incident.seed);
    if metrics.is_empty() {
        return out + "\nNo metric of the whole run differs.\n";
    }
    let _ = writeln!(out, "\n{:<44}{:>14}{:>14}{:>14}", "metric of the whole run", "original", "changed", "difference");
    for (name, a, b) in metrics.iter().take(SHOWN) {
        let _ = writeln!(out, "  {name:<42}{a:>14.3}{b:>14.3}{:>+14.3}", b - a);
    }
    if metrics.len() > SHOWN {
        let _ = writeln!(out, "  and {} more; --format json prints all", metrics.len() - SHOWN);
    }
    out
}

/// Maximum number of metrics in the text.
const SHOWN: usize = 12;

fn table(out: &mut String, rows: &ReplayRows) {
    let recorded = rows.iter().any(|(_, values)| values[0].is_some());
    let cell = |s: Option<f64>| s.map_or("-".to_owned(), |s| format!("{s:.3} s"));
    let head = if recorded { "recorded" } else { "" };
    let _ = writeln!(out, "  {:<26}{head:>12}{:>12}{:>12}{:>13}", "milestone", "original", "changed", "difference");
    for (name, [r, was, with]) in rows {
        let r = if recorded { cell(*r) } else { String::new() };
        let difference = was.zip(*with).map_or("-".to_owned(), |(a, b)| format!("{} s", with_sign(b - a, 3)));
        let _ = writeln!(out, "  {name:<26}{r:>12}{:>12}{:>12}{difference:>13}", cell(*was), cell(*with));
    }
}
