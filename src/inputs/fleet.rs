//! Reads Fleet files.

pub(crate) mod fault_traces;

use super::presets::faults;
use super::presets::faults::{PresetScale, PresetTarget};
use super::presets::rate;
use super::scenario::stop;
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::fleet::{FLEET, ORDERS};
use super::schema::field_type::FieldType;
use super::settings::presets_in;
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::node::YamlNode;
use super::text::path;
use super::text::path::YamlPath;
use super::text::yaml;
use super::traces::{self, FaultTraces};
use super::{dist, experiment, files, node_repair, parameters, read, training};
use fault_traces::NamedTrace;
use sim_api::spec::{
    ExperimentSpec, ExposureSpec, FaultProcess, FleetJob, FleetSpec, FleetTraining, HostSelection, LemonSpec, SparePool,
};
use sim_base::random::Distribution;
use sim_base::{Duration, time};

/// A fleet and the inputs it was read from.
#[derive(Clone, Debug)]
pub struct LoadedFleet {
    pub fleet: FleetSpec,
    /// Name and text of every input file.
    pub inputs: Vec<(String, String)>,
    /// Parameters by name, with overrides applied.
    pub parameters: Vec<(String, serde_json::Value)>,
    pub experiment: ExperimentSpec,
    /// The document with overrides applied and parameters substituted.
    pub(super) written: YamlNode,
}

impl LoadedFleet {
    /// Returns the fault presets that the fleet uses: index in `faults`, name, and rate multiplier.
    pub(super) fn presets(&self) -> Vec<(usize, String, f64)> {
        presets_in(&self.written, "faults")
    }
}

/// Minimum interval between two regenerations of lemons. Shorter intervals make a simulation of years endless.
const LEMON_INTERVAL_MIN: Duration = Duration::from_secs(60);

/// Name of the overrides in messages.
const SETS: &str = "--set";

/// Returns whether a text is a Fleet file. Returns false for invalid YAML, which the scenario reader reports.
pub fn is_fleet(source: &SourceText) -> bool {
    let kind = |documents: Vec<YamlNode>| {
        documents.len() == 1 && documents[0].get("kind").and_then(YamlNode::as_str) == Some("Fleet")
    };
    source.text.contains("Fleet") && yaml::parse(source).is_ok_and(kind)
}

/// Reads a fleet from its text. Files it names are relative to the fleet file.
pub fn parse_fleet(source: &SourceText, sets: &[(String, String)]) -> Result<LoadedFleet, Diagnostics> {
    let base = std::path::Path::new(&source.file).parent();
    let base = base.unwrap_or(std::path::Path::new(""));
    let loader = |name: &str| files::file_text(&base.join(name));
    parse_fleet_with(source, sets, &loader)
}

/// Reads a fleet from its text; `loader` returns the texts of the files that it names.
pub fn parse_fleet_with(
    source: &SourceText, sets: &[(String, String)], loader: &files::FileLoader,
) -> Result<LoadedFleet, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    if documents.len() != 1 {
        let message = format!("found {} YAML documents; a fleet file must contain exactly one", documents.len());
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let mut node = documents.remove(0);
    let overrides = path::overrides_source(SETS, sets);
    path::apply_sets(&mut node, &overrides, sets)?;
    let mut report = DiagnosticReport::new(source, &overrides);
    let parameters = node.get("parameters").map_or(&[][..], YamlNode::entries);
    let parameters = parameters.iter().map(|(k, v)| (k.name.clone(), v.to_json())).collect();
    parameters::substitute(&mut node, sets, &mut report);
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let shape = FieldType::Object(&FLEET);
    check(&node, &shape, &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let mut inputs = vec![(source.file.clone(), source.text.clone())];
    let traces = traces::load((&node, "faults"), loader, &mut inputs, &mut report);
    let fleet = convert((&node, &traces), &mut report);
    cross(&fleet, &node, &mut report);
    let experiment = experiment::read(&node, &mut report);
    report.finish()?;
    if !sets.is_empty() {
        inputs.push((SETS.to_owned(), overrides.text.clone()));
    }
    Ok(LoadedFleet { fleet, inputs, parameters, experiment, written: node })
}

fn convert((node, traces): (&YamlNode, &FaultTraces), report: &mut DiagnosticReport) -> FleetSpec {
    let text = |key: &str| {
        let result = node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
        result.unwrap_or("").to_owned()
    };
    let spares = node.get("spares");
    let lemons = node.get("lemons");
    let chance =
        |of: Option<&YamlNode>, key: &str, otherwise: f64| of.and_then(|n| read::number(n, key)).unwrap_or(otherwise);
    let nodes = read::u32_of(node, "nodes").unwrap_or(0);
    let spare = spares.and_then(|s| read::u32_of(s, "nodes")).unwrap_or(0);
    let mut named = NamedTrace::new(traces, nodes.saturating_add(spare));
    let every = lemons.and_then(|l| read::duration(l, "regenerateEvery"));
    let every = every.filter(|every| *every > Duration::ZERO);
    if let (Some(every), Some(lemons)) = (every, lemons)
        && every < LEMON_INTERVAL_MIN
    {
        let at = lemons.get("regenerateEvery").map_or(lemons.at, |n| n.at);
        let least = LEMON_INTERVAL_MIN;
        report.error(at, format!("regenerateEvery must be at least {least}"));
    }
    FleetSpec {
        name: text("name"),
        description: text("description"),
        nodes,
        spares: SparePool {
            nodes: spare,
            take_over: spares.and_then(|s| read::duration(s, "takeOver")).unwrap_or_default(),
        },
        job: job(node, report),
        training: training(node, report),
        faults: processes(node, report).iter().map(|f| process(f, &mut named, report)).collect(),
        lemons: LemonSpec {
            share: chance(lemons, "share", 0.0),
            regeneration: every.map(|every| (every, chance(lemons, "regenerateShare", 0.1))),
        },
        diagnosis: node_repair::diagnosis(node.get("diagnosis")),
        repair: node_repair::repair(node.get("repair"), report),
        retirement: node_repair::retirement(node.get("repair"), report),
        stop_at: node.get("stop").and_then(|s| read::duration(s, "at")).unwrap_or(time::MAX_INPUT_DURATION),
        seed: read::integer(node, "seed").and_then(|s| u64::try_from(s).ok()).unwrap_or(1),
    }
}

fn job(node: &YamlNode, report: &mut DiagnosticReport) -> FleetJob {
    let job = node.get("job").unwrap_or(node);
    let selection = job.get("hostSelection");
    let order = selection.and_then(|s| read::string(s, "order"));
    FleetJob {
        nodes: read::u32_of(job, "nodes").unwrap_or(1),
        standbys: read::u32_of(job, "standbys").unwrap_or(0),
        selection: if order.as_deref() == Some(ORDERS[1]) {
            HostSelection::FewestFailures
        } else {
            HostSelection::LongestInPool
        },
        selection_time: dist::delay(selection, "takes", report),
        recovery: dist::delay(Some(job), "recovery", report),
        max_restarts: read::u32_of(job, "maxRestarts"),
    }
}

fn training(node: &YamlNode, report: &mut DiagnosticReport) -> FleetTraining {
    let training = node.get("training").unwrap_or(node);
    let progress = training::progress(training, report);
    FleetTraining { work: read::duration(training, "work").unwrap_or_default(), progress }
}

/// Returns the fault processes, with presets replaced by their processes.
fn processes(node: &YamlNode, report: &mut DiagnosticReport) -> Vec<YamlNode> {
    let scale = PresetScale { per_node: read::number(node, "acceleratorsPerNode"), per_pod: None };
    faults::expand(read::list(node, "faults"), (PresetTarget::Fleet, scale), report)
}

fn process(node: &YamlNode, named: &mut NamedTrace, report: &mut DiagnosticReport) -> FaultProcess {
    let trace = named.node_trace(node, report);
    let of_calendar = trace.is_some();
    FaultProcess {
        cause: read::string(node, "cause").unwrap_or_default(),
        needs_repair: read::boolean(node, "needsRepair").unwrap_or(true),
        only_lemons: read::boolean(node, "onlyLemons").unwrap_or(false),
        life: rate::life(node, report),
        exposure: if of_calendar {
            ExposureSpec::Always
        } else {
            node_repair::exposure(node).unwrap_or(ExposureSpec::Running)
        },
        trace,
    }
}

/// Checks constraints that involve several fields.
fn cross(fleet: &FleetSpec, node: &YamlNode, report: &mut DiagnosticReport) {
    if let Some(at) = node.at_path(&["stop", "at"]) {
        stop::is_zero(fleet.stop_at, at.at, report);
    }
    if let Some(repair) = node.get("repair").filter(|_| !fleet.faults.iter().any(|fault| fault.needs_repair)) {
        report.error(repair.at, "repair has no effect: no fault process sends a node to repair");
    }
    if let Some(lemons) = node.get("lemons").filter(|_| !fleet.faults.iter().any(|fault| fault.only_lemons)) {
        report.error(lemons.at, "lemons has no effect: no fault process has onlyLemons");
    }
    let all = u64::from(fleet.nodes) + u64::from(fleet.spares.nodes);
    let wanted = u64::from(fleet.job.nodes) + u64::from(fleet.job.standbys);
    let place = node.get("nodes").map_or(node.at, |n| n.at);
    if all > 10_000_000 {
        report.error(place, format!("the fleet has {all} nodes; the maximum is 10,000,000"));
    }
    if all < wanted {
        let message = format!(
            "{} nodes and {} spares are fewer than the {wanted} nodes that the job requires",
            fleet.nodes, fleet.spares.nodes
        );
        report.error(place, message);
    }
    if fleet.lemons.share == 0.0 && fleet.lemons.regeneration.is_none() {
        let written = processes(node, report);
        for (process, at) in fleet.faults.iter().zip(&written) {
            let rate = !matches!(process.life, Distribution::Fixed(_));
            if process.only_lemons && rate && node.get("lemons").is_none() {
                let error =
                    report.error(at.at, format!("faults with cause {:?} require the field lemons", process.cause));
                error.suggest("lemons: {share: 0.1}");
            }
        }
    }
}
