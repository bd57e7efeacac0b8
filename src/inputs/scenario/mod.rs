//! Reads Scenario files: everything a run needs, from one file and the files it names.
//!
//! All references between the parts of a scenario (pods, nodes, aliases, JobSets, labels, resources) are checked
//! here, so that the engine never encounters an unknown name.

mod cluster;
pub mod commands;
pub use commands::containers_finish as ends_by_its_command;
pub use control_plane::{UnmodelledSetting, version as kubernetes_version};
pub use surroundings::EXISTING_WORKLOADS;
mod containers;
mod control_plane;
mod cross;
mod faults;
mod generate;
mod jobsets;
pub mod node_patch;
mod node_repair;
pub(super) mod objects;
pub mod pod_names;
pub mod preset_file;
mod prices;
pub mod requests;
mod running_jobsets;
pub(crate) mod stop;
mod surroundings;
mod timing;
mod training;

use super::files::{FileLoader, file_text};
use super::kube::{self, ManifestSet, SETS};
use super::schema::check::{UnmodelledFields, check};
use super::schema::definitions::control_plane::SCHEDULER_CONFIGURATION;
use super::schema::definitions::scenario::{SCENARIO, SETTINGS};
use super::schema::field_type::FieldType;
use super::settings::InputSettings;
use super::text::diagnostic::{Diagnostic, DiagnosticReport, Diagnostics, SourceText};
use super::text::file_error::FileTextError;
use super::text::node::YamlNode;
use super::text::path;
use super::text::path::YamlPath;
use super::text::yaml;
use super::{experiment, files, kueue, parameters, read, topology, traces};
use cross::CrossInputs;
pub use generate::topology as generated;
use kueue::InlineObjects;
use objects::ScenarioObjects;
use sim_api::spec::{ClaimController, ExperimentSpec, FaultAction, ObjectKind, RequestVerb, ScenarioSpec};
use sim_api::spec::{ScriptedFault, SubmittedJobSet, TopologySpec};
use sim_base::Duration;
use std::collections::BTreeSet;

const DEFAULT_SEED: u64 = 1;
/// First path segment of overrides that apply to the JobSets. A scenario has no field of this name.
const SPEC: &str = "spec";

/// A scenario and the inputs it was read from.
#[derive(Clone, Debug)]
pub struct LoadedScenario {
    pub scenario: ScenarioSpec,
    /// Name and text of every input, in the order in which they were read.
    pub inputs: Vec<(String, String)>,
    /// Objects of the manifests that are not simulated.
    pub skipped: Vec<String>,
    /// Known fields of the manifests that are not modelled, each with its number of occurrences.
    pub unmodelled: Vec<(String, usize)>,
    /// The experiment that `compare` and `sweep` run.
    pub experiment: ExperimentSpec,
    /// Values set by the inputs where a preset has a default.
    pub settings: InputSettings,
}

impl LoadedScenario {
    /// Returns the known fields of the manifests that are not modelled, with their number of occurrences.
    pub fn not_modelled(&self) -> Vec<String> {
        let field = |(path, n): &(String, usize)| match n {
            1 => path.clone(),
            n => format!("{path} ({n} times)"),
        };
        let mut all: Vec<String> = self.unmodelled.iter().map(field).collect();
        all.extend(unmodelled_conditions(&self.scenario));
        if !self.scenario.topology.slices.is_empty() && self.scenario.slice_formation.is_none() {
            all.push("topology.slices: a slice that lost a cube is not formed again without sliceFormation".to_owned());
        }
        all
    }
}

/// Names the pod conditions in rules of Jobs that pods in the simulation never have.
fn unmodelled_conditions(scenario: &ScenarioSpec) -> BTreeSet<String> {
    let jobs = scenario.jobsets.iter().flat_map(|s| &s.jobset.spec.replicated_jobs);
    let rules = jobs.filter_map(|rj| rj.template.pod_failure_policy.as_ref()).flatten();
    let patterns = rules.flat_map(|rule| &rule.on_pod_conditions).filter(|pattern| !pattern.is_modelled());
    let text = |name: &str| format!("podFailurePolicy: no failed pod has the condition {name}");
    patterns.map(|pattern| text(&pattern.condition)).collect()
}

/// Overrides as pairs of path and value.
pub type FieldSettings = [(String, String)];

/// Reads a scenario file. Files it names are relative to the scenario file.
pub fn read_scenario(path: &std::path::Path, sets: &FieldSettings) -> Result<LoadedScenario, Diagnostics> {
    parse_scenario_of(&files::read_source(path)?, path, sets)
}

/// Reads a scenario from its text. Files it names are relative to `path`.
pub fn parse_scenario_of(
    source: &SourceText, path: &std::path::Path, sets: &FieldSettings,
) -> Result<LoadedScenario, Diagnostics> {
    let base = path.parent().unwrap_or(std::path::Path::new(""));
    let loader = |name: &str| file_text(&base.join(name));
    parse_scenario(source, sets, &loader)
}

/// Reads a scenario from its text; `loader` returns the texts of the files that it names.
pub fn parse_scenario(
    source: &SourceText, sets: &FieldSettings, loader: &FileLoader,
) -> Result<LoadedScenario, Diagnostics> {
    let mut documents = yaml::parse(source)?;
    if documents.len() != 1 {
        let message = match documents.len() {
            0 => "the file is empty: it contains no Scenario".to_owned(),
            n => format!("found {n} YAML documents; a scenario file must contain exactly one"),
        };
        return Err(Diagnostic::of_file(&source.file, message).into());
    }
    let mut node = documents.remove(0);
    let (own, of_jobsets) = path::split_sets(sets, &[SPEC]);
    let overrides = path::overrides_source(SETS, &own);
    let mut inputs = vec![(source.file.clone(), source.text.clone())];
    cluster::inline(&mut node, &own, loader, &mut inputs)?;
    path::apply_sets(&mut node, &overrides, &own)?;
    let mut report = DiagnosticReport::new(source, &overrides);
    if wrong_kind(&node, &mut report) {
        return Err(Diagnostics(report.found));
    }
    parameters::substitute(&mut node, &own, &mut report);
    if !sets.is_empty() {
        let all = path::overrides_source(SETS, sets);
        inputs.push((SETS.to_owned(), all.text));
    }
    preset_file::merge(&mut node, loader, &mut inputs, &mut report);
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    check(&node, &FieldType::Object(&SCENARIO), &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let (topology, left_out) = cluster::load(&node, loader, &mut inputs, &mut report);
    let mut loaded = jobsets::load((&node, &of_jobsets), loader, &mut inputs, &mut report);
    let others = objects::load(&node, loader, &mut inputs, &mut report);
    let traces = traces::load((&node, "faultProcesses"), loader, &mut inputs, &mut report);
    if !others.scheduler.is_null() && !loaded.schedulers.is_empty() {
        let set = ManifestSet { schedulers: std::mem::take(&mut loaded.schedulers), ..ManifestSet::default() };
        report.found.extend(set.further_schedulers(1));
    }
    check_names(&loaded, &others, &mut report);
    cluster::check(&node, &topology, &others, &mut report);
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let metadata = |key: &str| {
        let text = node.at_path(&["metadata", key]).and_then(YamlNode::as_str);
        text.unwrap_or("").to_owned()
    };
    let names = (metadata("name"), metadata("description"));
    let others = (&others, &traces);
    let submitted = loaded.jobsets.len();
    let mut scenario = assemble(&node, names, topology, loaded.jobsets, others, &mut report);
    let (others, traces) = others;
    let mut with_kueue = loaded.kueue;
    with_kueue.extend(others.kueue.iter().filter(|source| !with_kueue.contains(source)).cloned().collect::<Vec<_>>());
    let inline = InlineObjects { nodes: &others.kueue_inline, texts: Some((source, &overrides)) };
    if with_kueue.is_empty() && inline.nodes.is_empty() {
        surroundings::assume_admission(&mut scenario, submitted);
    }
    cross::check(&scenario, others, &loaded.written, &mut report.found);
    let experiment = experiment::read(&node, &mut report);
    report.finish()?;
    let mut unmodelled = loaded.unmodelled;
    unmodelled.extend(others.unmodelled.clone());
    add_companions(&node, &mut scenario, loaded.companions);
    unmodelled.extend(add_kueue(&mut scenario, &with_kueue, inline, &loaded.written)?);
    unmodelled.extend(running_jobsets::release(&mut scenario));
    kueue::add_outcomes(&node, &mut scenario, DiagnosticReport::new(source, &overrides))?;
    kueue::add_run_times(&node, &mut scenario, DiagnosticReport::new(source, &overrides))?;
    scenario.service_accounts = loaded.service_accounts;
    unmodelled.extend(surroundings::notes(&scenario));
    unmodelled.extend(traces::notes(traces));
    Ok(LoadedScenario {
        scenario,
        inputs,
        skipped: [loaded.skipped, left_out].concat(),
        unmodelled,
        experiment,
        settings: InputSettings::from_document(&node),
    })
}

/// Builds a scenario for manifests alone, with the default control plane. If `topology` is `None`, a cluster is
/// generated.
pub fn scenario_from_manifests(
    manifests: Vec<ManifestSet>, topology: Option<TopologySpec>, sets: &FieldSettings,
) -> Result<LoadedScenario, Diagnostics> {
    from_manifests(manifests, topology, sets, false)
}

/// Builds the scenario of manifests on a cluster. Pods that no node can run are not an error; they stay Pending in its
/// run.
pub fn scenario_with_unplaceable(manifests: ManifestSet, topology: TopologySpec) -> Result<ScenarioSpec, Diagnostics> {
    from_manifests(vec![manifests], Some(topology), &[], true).map(|loaded| loaded.scenario)
}

fn from_manifests(
    manifests: Vec<ManifestSet>, topology: Option<TopologySpec>, sets: &FieldSettings, admit_unplaceable: bool,
) -> Result<LoadedScenario, Diagnostics> {
    let manifests = ManifestSet::merge(manifests);
    let twice = manifests.further_schedulers(0);
    if !twice.is_empty() {
        return Err(Diagnostics(twice));
    }
    let submitted = manifests.jobsets.into_iter().map(|(jobset, source)| SubmittedJobSet {
        jobset,
        submit_at: Duration::ZERO,
        source,
    });
    let submitted: Vec<SubmittedJobSet> = submitted.collect();
    let (own, of_topology) = path::split_sets(sets, &["topology"]);
    let overrides = path::overrides_source(SETS, &own);
    let none = SourceText::default();
    let mut report = DiagnosticReport::new(&none, &overrides);
    jobsets::check_together(&submitted, &manifests.written, &mut report);
    if submitted.is_empty() {
        let place = manifests.other.clone();
        let skipped = &manifests.skipped;
        report.found.push(kube::no_jobset("run", place, skipped));
    }
    let mut node = YamlNode::empty_map();
    if let Err(errors) = path::apply_sets(&mut node, &overrides, &own) {
        report.found.extend(errors.0);
    }
    // There is no scenario file, so preset files are relative to the working directory.
    let mut presets = Vec::new();
    let beside = |name: &str| file_text(std::path::Path::new(name));
    preset_file::merge(&mut node, &beside, &mut presets, &mut report);
    check(&node, &FieldType::Object(&SETTINGS), &YamlPath::ROOT, &mut report, &mut UnmodelledFields::new());
    if !report.is_readable() {
        return Err(Diagnostics(report.found));
    }
    let topology = topology.unwrap_or_else(|| generated(&submitted, has_random_faults(&node)));
    let topology = match topology::with_overrides(topology, SETS, &of_topology) {
        Ok(topology) => topology,
        Err(errors) => return Err(Diagnostics([report.found, errors.0].concat())),
    };
    let names = (submitted[0].jobset.name.clone(), String::new());
    let none = |_: &str| Err(FileTextError::NotProvided);
    let others = objects::load(&node, &none, &mut Vec::new(), &mut report);
    let traces = traces::load((&node, "faultProcesses"), &none, &mut Vec::new(), &mut report);
    let all = (&others, &traces);
    let count = submitted.len();
    let mut scenario = assemble(&node, names, topology, submitted, all, &mut report);
    if manifests.kueue.is_empty() {
        surroundings::assume_admission(&mut scenario, count);
    }
    cross::check(&scenario, &others, &manifests.written, &mut report.found);
    if admit_unplaceable {
        report.found.retain(|error| !error.no_place);
        scenario.admit_unplaceable = true;
    }
    report.finish()?;
    let mut unmodelled = manifests.unmodelled;
    add_companions(&node, &mut scenario, manifests.companions);
    let inline = InlineObjects::default();
    unmodelled.extend(add_kueue(&mut scenario, &manifests.kueue, inline, &manifests.written)?);
    let none = SourceText::default();
    unmodelled.extend(running_jobsets::release(&mut scenario));
    kueue::add_outcomes(&node, &mut scenario, DiagnosticReport::new(&none, &overrides))?;
    kueue::add_run_times(&node, &mut scenario, DiagnosticReport::new(&none, &overrides))?;
    scenario.service_accounts = manifests.service_accounts;
    unmodelled.extend(surroundings::notes(&scenario));
    let all = path::overrides_source(SETS, sets).text;
    let mut inputs = if sets.is_empty() { Vec::new() } else { vec![(SETS.to_owned(), all)] };
    inputs.extend(presets);
    Ok(LoadedScenario {
        scenario,
        inputs,
        skipped: [manifests.skipped, manifests.not_tried].concat(),
        unmodelled,
        experiment: ExperimentSpec::default(),
        settings: InputSettings::from_document(&node),
    })
}

fn has_random_faults(node: &YamlNode) -> bool {
    node.get("faultProcesses").is_some_and(|list| !list.items().is_empty())
}

/// Checks that no JobSet of `objects` has the same name as a submitted JobSet.
fn check_names(loaded: &jobsets::LoadedJobSets, others: &ScenarioObjects, report: &mut DiagnosticReport) {
    let submitted = &loaded.jobsets;
    let all: Vec<SubmittedJobSet> = others.at_start().chain(submitted).cloned().collect();
    if all.len() > submitted.len() {
        jobsets::check_together(&all, &loaded.written, report);
    }
}

/// Reports a file of another kind with one error instead of one error for each of its fields.
fn wrong_kind(node: &YamlNode, report: &mut DiagnosticReport) -> bool {
    let text = |key: &str| node.get(key).and_then(|n| Some((n.at, n.as_str()?)));
    let schema = text("schema").and_then(|(at, schema)| Some((at, schema.strip_prefix("jobset-sim/")?)));
    let (at, result, advice) = match (schema, text("kind")) {
        (Some((at, schema)), _) => {
            let name = schema.split('/').next().unwrap_or_default();
            let (result, advice) = result_file(name);
            (at, result.to_owned(), advice)
        }
        (None, Some((_, "Scenario"))) => return false,
        (None, Some((at, kind))) => match kind_of_file(kind) {
            Some(advice) => (at, kind.to_owned(), advice),
            None => return false,
        },
        _ => return false,
    };
    let article = if result.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" };
    report.error(at, format!("this is {article} {result}, not a Scenario")).suggest(advice);
    true
}

/// Returns what to do with a file of another kind; `None` for unknown kinds.
fn kind_of_file(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "JobSet" | "TrainJob" => "pass it with -f",
        "Topology" => "pass it with -t",
        "Gates" => "pass it to `bench ttr` with --gates",
        "Node" | "NodeList" => "pass it with -t, or convert it with `topology import`",
        "List" | "JobSetList" => "pass a list of manifests with -f, and a list of Nodes with -t",
        "Preset" | "Timing" => "name it in controlPlane.preset of a scenario",
        _ => return None,
    })
}

/// Returns the name of a file written by the program and what to do with it. `schema` is the name in its schema.
fn result_file(schema: &str) -> (&'static str, &'static str) {
    match schema {
        "recording" | "admission-recording" => ("recording", "use `validate` or `recording replay`"),
        "bench-ttr" => ("result of `bench ttr`", "use `bench ttr --against`, `report` or `plot scaling`"),
        "summary" | "compare" | "sweep" | "sweep-experiment" => (
            "result of a run or experiment",
            "its directory has the inputs under inputs/; use `report DIR`, `why DIR` or `diff`",
        ),
        _ => ("result of jobset-sim", "pass the scenario that it was made from"),
    }
}

fn assemble(
    node: &YamlNode, (name, description): (String, String), mut topology: TopologySpec, jobsets: Vec<SubmittedJobSet>,
    (others, traces): (&ScenarioObjects, &traces::FaultTraces), report: &mut DiagnosticReport,
) -> ScenarioSpec {
    prices::apply(node, &mut topology, report);
    let inputs = CrossInputs { topology: &topology, jobsets: &jobsets, others };
    let mut containers = containers::read(node, &inputs, report);
    containers.extend(commands::rules(&jobsets, &containers));
    let (faults, created) = faults::read(node, &inputs, report);
    let stop = stop::read(node, &faults, &jobsets, report);
    let processes = faults::processes::read(node, (&inputs, traces), stop.at, report);
    let (fault_processes, process_entries): (Vec<_>, Vec<_>) = processes.into_iter().unzip();
    let node_repair = node_repair::repair(node, &fault_processes, report);
    let node_spares = node_repair::spares(node, &inputs, &fault_processes, report);
    let slice_formation = node_repair::slice_formation(node, &topology, report);
    let seed = read::integer(node, "seed").and_then(|s| u64::try_from(s).ok());
    let at_start: Vec<SubmittedJobSet> = jobsets.iter().chain(others.at_start()).cloned().collect();
    let control_plane = control_plane::read(node, &at_start, report);
    let mut jobsets = jobsets;
    jobsets.extend(created);
    let training = training::read(node, &jobsets, &topology, report);
    training::replaces_commands(&training, &jobsets, &mut containers);
    ScenarioSpec {
        name,
        description,
        control_plane,
        timing: timing::read(node, report),
        topology,
        jobsets,
        objects: others.objects.clone(),
        containers,
        training,
        faults: faults.into_iter().map(|(fault, _)| fault).collect(),
        fault_processes,
        process_entries,
        node_repair,
        node_spares,
        slice_formation,
        clocks: Vec::new(),
        has_repairs_after_end: false,
        has_random_faults: false,
        drawn_contradictions: Vec::new(),
        admit_unplaceable: false,
        claim_controller: ClaimController::Assumed,
        requires_listed_classes: false,
        service_accounts: Vec::new(),
        scheduler: others.scheduler.clone(),
        kueue: None,
        ties: sim_api::spec::TieBreak::default(),
        decoders: kube::DECODERS,
        stop,
        seed: seed.unwrap_or(DEFAULT_SEED),
    }
}

/// Part of the names of texts that are rendered from TrainJobs.
const OF_TRAIN_JOB: &str = "#TrainJob/";

/// Adds the objects of Kueue. Returns their fields that are not modelled.
fn add_kueue(
    scenario: &mut ScenarioSpec, sources: &[SourceText], inline: InlineObjects, written: &jobsets::WrittenAt,
) -> Result<Vec<(String, usize)>, Diagnostics> {
    if sources.is_empty() && inline.nodes.is_empty() {
        return Ok(Vec::new());
    }
    let manifests = kueue::read_with_inline(sources, inline)?;
    let mut objects = manifests.objects;
    objects.namespaces = kueue::namespace_labels(&scenario.objects);
    let of_train_jobs = scenario.jobsets.iter().filter(|submitted| submitted.source.contains(OF_TRAIN_JOB));
    objects.train_jobs = of_train_jobs.map(|s| (s.jobset.namespace.clone(), s.jobset.name.clone())).collect();
    scenario.kueue = Some(objects);
    kueue::admit(scenario, written)?;
    Ok(manifests.unmodelled)
}

/// Adds the other objects of the manifests, of which an object of the same name in `objects` takes precedence, and the
/// configuration of kube-scheduler.
fn add_companions(node: &YamlNode, scenario: &mut ScenarioSpec, companions: Vec<serde_json::Value>) {
    for object in companions {
        if object["kind"] == SCHEDULER_CONFIGURATION.kind {
            scenario.scheduler = object;
            continue;
        }
        let name = |o: &serde_json::Value| (o["metadata"]["namespace"].clone(), o["metadata"]["name"].clone());
        let same = |o: &serde_json::Value| o["kind"] == object["kind"] && name(o) == name(&object);
        if !scenario.objects.iter().any(same) {
            scenario.objects.push(object);
        }
    }
    if lists_storage(scenario) {
        scenario.claim_controller = ClaimController::Simulated;
    }
    let connection = &scenario.scheduler["clientConnection"];
    if connection.is_object() && node.at_path(&["controlPlane", "kubeScheduler"]).is_none() {
        let rate = &mut scenario.control_plane.kube_scheduler;
        rate.qps = connection["qps"].as_f64().unwrap_or(rate.qps);
        rate.burst = connection["burst"].as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(rate.burst);
        scenario.control_plane.preset = "custom".to_owned();
    }
}

/// Returns whether the inputs contain or create a PersistentVolume or a StorageClass, and therefore all of them.
fn lists_storage(scenario: &ScenarioSpec) -> bool {
    let is_storage = |object: &serde_json::Value| {
        let kind = kube::kind_of(object);
        matches!(kind, ObjectKind::PersistentVolume | ObjectKind::StorageClass)
    };
    let created = |fault: &ScriptedFault| match &fault.action {
        FaultAction::Request(request) => match &request.verb {
            RequestVerb::Create { object, .. } => is_storage(object),
            _ => false,
        },
        _ => false,
    };
    scenario.objects.iter().any(is_storage) || scenario.faults.iter().any(created)
}
