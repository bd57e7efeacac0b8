//! Reads Fleet files, an input of the reduced model.

pub(crate) mod fault_traces;

use super::presets::faults;
use super::presets::faults::For;
use super::presets::rate;
use super::schema::check::{Unmodelled, check};
use super::schema::shape::Shape;
use super::schema::shapes::fleet::{FLEET, ORDERS};
use super::settings::presets_in;
use super::text::diagnostic::{Diagnostic, Diagnostics, Report, Source};
use super::text::node::Node;
use super::text::path;
use super::text::path::Path;
use super::text::yaml;
use super::traces::{self, Traces};
use super::{dist, experiment, files, node_repair, parameters, read, training};
use fault_traces::Named;
use sim_api::spec::*;
use sim_base::random::Dist;
use sim_base::{Duration, time};

/// A fleet and the inputs it was read from.
#[derive(Clone, Debug)]
pub struct LoadedFleet {
    pub fleet: Fleet,
    /// Name and text of every input file.
    pub inputs: Vec<(String, String)>,
    /// Parameters by name, with overrides applied.
    pub parameters: Vec<(String, serde_json::Value)>,
    pub experiment: Experiment,
    /// The document with overrides applied and parameters substituted.
    pub(super) written: Node,
}

impl LoadedFleet {
    /// Returns the fault presets that the fleet uses: index in `faults`, name, and rate multiplier.
    pub(super) fn presets(&self) -> Vec<(usize, String, f64)> {
        presets_in(&self.written, "faults")
    }
}

/// Name of the overrides in messages.
const SETS: &str = "--set";

/// Returns whether a text is a Fleet file. Returns false for invalid YAML, which the scenario reader reports.
pub fn is_fleet(source: &Source) -> bool {
    let kind = |documents: Vec<Node>| {
        documents.len() == 1 && documents[0].get("kind").and_then(Node::as_str) == Some("Fleet")
    };
    source.text.contains("Fleet") && yaml::parse(source).is_ok_and(kind)
}

/// Reads a fleet from its text. Files it names are relative to the fleet file.
pub fn parse_fleet(source: &Source, sets: &[(String, String)]) -> Result<LoadedFleet, Diagnostics> {
    let base = std::path::Path::new(&source.file).parent();
    let base = base.unwrap_or(std::path::Path::new(""));
    let loader = |name: &str| files::file_text(&base.join(name));
    parse_fleet_with(source, sets, &loader)
}

/// Reads a fleet from its text; `loader` returns the texts of the files that it names.
pub fn parse_fleet_with(
    source: &Source,
    sets: &[(String, String)],
    loader: &files::Loader,
) -> Result<LoadedFleet, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    if documents.len() != 1 {
        let message = format!("{} documents; a fleet file holds one", documents.len());
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let mut node = documents.remove(0);
    let overrides = path::overrides_source(SETS, sets);
    path::apply_sets(&mut node, &overrides, sets)?;
    let mut report = Report::new(source, &overrides);
    let parameters = node.get("parameters").map_or(&[][..], Node::entries);
    let parameters = parameters
        .iter()
        .map(|(k, v)| (k.name.clone(), v.to_json()))
        .collect();
    parameters::substitute(&mut node, sets, &mut report);
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let shape = Shape::Object(&FLEET);
    check(
        &node,
        &shape,
        &Path::ROOT,
        &mut report,
        &mut Unmodelled::new(),
    );
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
    Ok(LoadedFleet {
        fleet,
        inputs,
        parameters,
        experiment,
        written: node,
    })
}

fn convert((node, traces): (&Node, &Traces), report: &mut Report) -> Fleet {
    let text = |key: &str| {
        let found = node.at_path(&["metadata", key]).and_then(Node::as_str);
        found.unwrap_or("").to_owned()
    };
    let spares = node.get("spares");
    let lemons = node.get("lemons");
    let chance = |of: Option<&Node>, key: &str, otherwise: f64| {
        of.and_then(|n| read::number(n, key)).unwrap_or(otherwise)
    };
    let nodes = read::u32_of(node, "nodes").unwrap_or(0);
    let spare = spares.and_then(|s| read::u32_of(s, "nodes")).unwrap_or(0);
    let mut named = Named::new(traces, nodes.saturating_add(spare));
    let every = lemons.and_then(|l| read::duration(l, "regenerateEvery"));
    let every = every.filter(|every| *every > Duration::ZERO);
    Fleet {
        name: text("name"),
        description: text("description"),
        nodes,
        spares: SparePool {
            nodes: spare,
            take_over: spares
                .and_then(|s| read::duration(s, "takeOver"))
                .unwrap_or_default(),
        },
        job: job(node, report),
        training: training(node, report),
        faults: processes(node, report)
            .iter()
            .map(|f| process(f, &mut named, report))
            .collect(),
        lemons: Lemons {
            share: chance(lemons, "share", 0.0),
            regeneration: every.map(|every| (every, chance(lemons, "regenerateShare", 0.1))),
        },
        diagnosis: node_repair::diagnosis(node.get("diagnosis")),
        repair: node_repair::repair(node.get("repair"), report),
        retirement: node_repair::retirement(node.get("repair"), report),
        stop_at: node
            .get("stop")
            .and_then(|s| read::duration(s, "at"))
            .unwrap_or(time::LONGEST),
        seed: read::integer(node, "seed")
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(1),
    }
}

fn job(node: &Node, report: &mut Report) -> FleetJob {
    let job = node.get("job").unwrap_or(node);
    let selection = job.get("hostSelection");
    let order = selection.and_then(|s| read::string(s, "order"));
    FleetJob {
        nodes: read::u32_of(job, "nodes").unwrap_or(1),
        standbys: read::u32_of(job, "standbys").unwrap_or(0),
        selection: match order.as_deref() == Some(ORDERS[1]) {
            true => HostSelection::FewestFailures,
            false => HostSelection::LongestInPool,
        },
        select: dist::delay(selection, "takes", report),
        recovery: dist::delay(Some(job), "recovery", report),
        max_restarts: read::u32_of(job, "maxRestarts"),
    }
}

fn training(node: &Node, report: &mut Report) -> Training {
    let training = node.get("training").unwrap_or(node);
    let progress = training::progress(training, report);
    Training {
        work: read::duration(training, "work").unwrap_or_default(),
        progress,
    }
}

/// Returns the fault processes, with presets replaced by their processes.
fn processes(node: &Node, report: &mut Report) -> Vec<Node> {
    faults::expand(read::list(node, "faults"), For::Fleet, report)
}

fn process(node: &Node, named: &mut Named, report: &mut Report) -> FaultProcess {
    let trace = named.of(node, report);
    let of_calendar = trace.is_some();
    FaultProcess {
        cause: read::string(node, "cause").unwrap_or_default(),
        needs_repair: read::boolean(node, "needsRepair").unwrap_or(true),
        only_lemons: read::boolean(node, "onlyLemons").unwrap_or(false),
        life: rate::life(node, report),
        exposure: match of_calendar {
            true => Exposure::Always,
            false => node_repair::exposure(node).unwrap_or(Exposure::Running),
        },
        trace,
    }
}

/// Checks constraints that involve several fields.
fn cross(fleet: &Fleet, node: &Node, report: &mut Report) {
    let all = u64::from(fleet.nodes) + u64::from(fleet.spares.nodes);
    let wanted = u64::from(fleet.job.nodes) + u64::from(fleet.job.standbys);
    let place = node.get("nodes").map_or(node.at, |n| n.at);
    if all > 10_000_000 {
        report.error(
            place,
            format!("{all} nodes; at most 10,000,000 are simulated"),
        );
    }
    if all < wanted {
        let message = format!(
            "{} nodes and {} spares are fewer than the {wanted} that the job wants to own",
            fleet.nodes, fleet.spares.nodes
        );
        report.error(place, message);
    }
    if fleet.lemons.share == 0.0 && fleet.lemons.regeneration.is_none() {
        let written = processes(node, report);
        for (process, at) in fleet.faults.iter().zip(&written) {
            let rate = !matches!(process.life, Dist::Fixed(_));
            if process.only_lemons && rate && node.get("lemons").is_none() {
                let error = report.error(
                    at.at,
                    format!("faults of cause {:?} need lemons", process.cause),
                );
                error.suggest("lemons: {share: 0.1}");
            }
        }
    }
}
