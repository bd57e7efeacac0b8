//! Relations between combined cases: changes of the inputs that change no record, the records of a shorter run, and the
//! answer of `admit` compared with a run of the same objects.

use super::combined::{EVENTS_MAX, drawn_scenario};
use super::generate::Case;
use super::kueue::{FILE, V1BETA1, V1BETA2};
use serde_json::{Value, json};
use sim_analysis::admission::{JobSetVerdict, admission_report, admission_verdicts};
use sim_engine::SimulationInput;
use sim_engine::record::digest::records_digest;
use sim_engine::record::*;
use std::collections::BTreeSet;

/// A run with its records.
pub struct Played {
    pub outcome: RunOutcome,
    pub names: RecordNames,
    pub records: Vec<SimulationRecord>,
}

/// A sink that keeps the records and stops a long run.
#[derive(Default)]
struct Kept(Vec<SimulationRecord>);

impl RecordSink for Kept {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.0.push(*record);
    }

    fn events_until_stop_check(&self, events: u64) -> u64 {
        EVENTS_MAX.saturating_sub(events).max(1)
    }

    fn should_stop(&mut self, events: u64) -> bool {
        events >= EVENTS_MAX
    }
}

/// Changes the files, or returns false if they have nothing to change.
type FilesChange = fn(&mut Files) -> bool;

/// Names and changes of inputs that change no record.
const RELATIONS: [(&str, FilesChange); 9] = [
    ("unused objects of Kueue are added", add_unused_kueue_objects),
    ("an unused topology is added", add_unused_topology),
    ("the order of Kueue's objects is reversed", reverse_kueue_objects),
    ("quantities are written in thousandths, and durations in milliseconds", change_units),
    ("Kueue's objects have the other API version", change_version),
    ("Kueue's objects are in the scenario instead of a file", move_inline),
    ("nodes have an unused label", label_nodes),
    ("unrelated objects are added", add_unrelated_objects),
    ("empty lists, names and prices are changed", change_ignored_fields),
];

type Files = Vec<(String, Value)>;

/// Tries some of the relations, which depend on the seed. Returns those that were tried.
pub fn check(case: &Case, run: &Played) -> Result<BTreeSet<String>, String> {
    let mut tried = BTreeSet::new();
    let count = RELATIONS.len() as u64;
    let first = case.seed % count;
    for at in [first, (first + 1 + case.seed / count % (count - 1)) % count] {
        let (name, change) = RELATIONS[at as usize];
        let mut changed = case.clone();
        if change(&mut changed.files) {
            tried.insert(name.to_owned());
            let other = play(&changed)?.ok_or_else(|| format!("rejected if {name}"))?;
            // The limit of events may stop the runs at different records: an unused ClusterQueue has events of its own.
            let is_stopped = [run, &other].iter().any(|run| run.outcome.end_reason == EndReason::Stopped);
            let both = run.records.len().min(other.records.len());
            let count = if is_stopped { both } else { run.records.len() };
            same_records(run, &other, count).map_err(|difference| format!("if {name}: {difference}"))?;
        }
    }
    if case.seed % 4 == 1 {
        tried.insert("prefix".to_owned());
        check_prefix(case, run)?;
    }
    if case.seed.is_multiple_of(2) {
        tried.extend(check_admission(case)?);
    }
    Ok(tried)
}

fn play(case: &Case) -> Result<Option<Played>, String> {
    let Some(scenario) = drawn_scenario(case)? else { return Ok(None) };
    let mut simulation = SimulationInput::new(&scenario).map_err(|e| e.to_string())?;
    let mut sink = Kept::default();
    let outcome = simulation.run(case.seed, 0, &mut sink);
    Ok(Some(Played { outcome, names: simulation.names().clone(), records: sink.0 }))
}

/// Compares the first records of two runs, and all of them if both have no more.
fn same_records(one: &Played, other: &Played, count: usize) -> Result<(), String> {
    let is_whole = count == one.records.len() && count == other.records.len();
    if is_whole && one.outcome.digest == other.outcome.digest {
        return Ok(());
    }
    let digest = |run: &Played, at: usize| records_digest(&run.records[at..=at], &run.names);
    let has_both = |at: usize| at < one.records.len() && at < other.records.len();
    match (0..count).find(|at| !has_both(*at) || digest(one, *at) != digest(other, *at)) {
        None if is_whole => Err("only the digests differ".to_owned()),
        None => Ok(()),
        Some(at) => {
            let text =
                |run: &Played| run.records.get(at).map_or("none".to_owned(), |r| format!("{} {:?}", r.at, r.body));
            Err(format!("record {at} is {} instead of {}", text(other), text(one)))
        }
    }
}

/// The records of a run with an earlier time limit are the first ones of the longer run. An action with a time after
/// the limit is refused, so that it gets a time that is never reached.
fn check_prefix(case: &Case, run: &Played) -> Result<(), String> {
    let mut shorter = case.clone();
    let scenario = &mut shorter.files[0].1;
    let submissions =
        scenario["jobSets"].as_array().into_iter().flatten().filter_map(|entry| milliseconds(entry, "submitAt"));
    let limit = (run.outcome.end.0 / 2_000_000).max(submissions.max().unwrap_or(0) + 1);
    scenario["stop"]["at"] = json!(format!("{limit}ms"));
    for fault in scenario["faults"].as_array_mut().into_iter().flatten() {
        if milliseconds(fault, "at").is_some_and(|at| at > limit) {
            fault["afterReady"] = json!("9000h");
            fault.as_object_mut().map(|fields| fields.remove("at"));
        }
    }
    // Random faults that begin after the limit are refused.
    let Ok(Some(mut short)) = play(&shorter) else { return Ok(()) };
    let count = short.records.len() - usize::from(short.outcome.end_reason != EndReason::Stopped);
    // Actions are numbered by their process, and a process has fewer until an earlier limit.
    let mut run = Played { outcome: run.outcome.clone(), names: run.names.clone(), records: run.records.clone() };
    for record in run.records.iter_mut().chain(&mut short.records) {
        if let Body::Fault { index, .. } = &mut record.body {
            *index = 0;
        }
    }
    for one in [&mut run, &mut short] {
        one.outcome.digest = records_digest(&one.records, &one.names);
    }
    same_records(&run, &short, count).map_err(|difference| format!("with an earlier time limit: {difference}"))
}

/// Returns a time of the scenario: `90s` or `1500ms`.
fn milliseconds(entry: &Value, key: &str) -> Option<u64> {
    let text = entry[key].as_str()?;
    let seconds = || text.strip_suffix('s')?.parse::<u64>().ok().map(|seconds| 1000 * seconds);
    text.strip_suffix("ms").map_or_else(seconds, |number| number.parse().ok())
}

fn is_of_kueue(object: &Value) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.contains("kueue.x-k8s.io/"))
}

/// Returns the list of objects that has Kueue's: in the scenario or in a file.
fn kueue_objects(files: &mut Files) -> Option<&mut Vec<Value>> {
    let in_file = files.iter().position(|(name, _)| name == FILE);
    let list = match in_file {
        Some(at) => files[at].1["items"].as_array_mut(),
        None => files[0].1["objects"].as_array_mut(),
    };
    list.filter(|objects| objects.iter().any(is_of_kueue))
}

fn add_unused_kueue_objects(files: &mut Files) -> bool {
    let Some(objects) = kueue_objects(files) else { return false };
    let metadata = json!({"name": "unused"});
    let named =
        |kind: &str, spec: Value| json!({"apiVersion": V1BETA2, "kind": kind, "metadata": metadata, "spec": spec});
    let quota = json!({"name": "example.com/accelerator", "nominalQuota": 64});
    let groups = json!([{"coveredResources": ["example.com/accelerator"],
        "flavors": [{"name": "unused", "resources": [quota]}]}]);
    let mut queue = named("LocalQueue", json!({"clusterQueue": "unused"}));
    queue["metadata"]["namespace"] = json!("unused");
    objects.insert(0, queue);
    objects.insert(0, named("ClusterQueue", json!({"namespaceSelector": {}, "resourceGroups": groups})));
    objects.push(named("ResourceFlavor", json!({"nodeLabels": {"example.com/kind": "unused"}})));
    objects.push(named("Cohort", json!({"resourceGroups": groups})));
    objects.push(named("AdmissionCheck", json!({"controllerName": "example.com/unused"})));
    objects.push(json!({"apiVersion": V1BETA2, "kind": "WorkloadPriorityClass", "metadata": {"name": "unused"},
        "value": 7}));
    true
}

fn add_unused_topology(files: &mut Files) -> bool {
    let Some(objects) = kueue_objects(files) else { return false };
    let levels = json!([{"nodeLabel": "example.com/unused"}, {"nodeLabel": "kubernetes.io/hostname"}]);
    objects.push(json!({"apiVersion": V1BETA2, "kind": "Topology", "metadata": {"name": "unused"},
        "spec": {"levels": levels}}));
    true
}

fn reverse_kueue_objects(files: &mut Files) -> bool {
    let Some(objects) = kueue_objects(files) else { return false };
    let (mut own, others): (Vec<Value>, Vec<Value>) = objects.drain(..).partition(is_of_kueue);
    own.reverse();
    own.extend(others);
    *objects = own;
    true
}

fn change_units(files: &mut Files) -> bool {
    for (_, content) in files.iter_mut() {
        visit(content, &mut |key, value| match (key, value.as_u64(), value.as_str()) {
            ("nominalQuota" | "borrowingLimit" | "lendingLimit", Some(units), _) => {
                *value = json!(format!("{units}000m"));
            }
            ("at" | "afterReady" | "submitAt", _, Some(text)) => {
                let seconds = text.strip_suffix('s').and_then(|number| number.parse::<u64>().ok());
                if let Some(seconds) = seconds {
                    *value = json!(format!("{seconds}000ms"));
                }
            }
            _ => {}
        });
    }
    true
}

/// Calls a function with every field.
fn visit(value: &mut Value, change: &mut impl FnMut(&str, &mut Value)) {
    for (key, value) in value.as_object_mut().into_iter().flatten() {
        change(key, value);
        visit(value, change);
    }
    for item in value.as_array_mut().into_iter().flatten() {
        visit(item, change);
    }
}

fn change_version(files: &mut Files) -> bool {
    let Some(objects) = kueue_objects(files) else { return false };
    let from = if objects.iter().any(|object| object["apiVersion"] == V1BETA1) { V1BETA1 } else { V1BETA2 };
    for object in objects.iter_mut().filter(|object| object["apiVersion"] == from) {
        let is_old = from == V1BETA1;
        object["apiVersion"] = json!(if is_old { V1BETA2 } else { V1BETA1 });
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { continue };
        let (old, new) = if is_old { ("cohort", "cohortName") } else { ("cohortName", "cohort") };
        if let Some(cohort) = spec.remove(old) {
            spec.insert(new.to_owned(), cohort);
        }
        if let Some(checks) = spec.remove("admissionChecks") {
            let rules: Vec<Value> = checks.as_array().into_iter().flatten().map(|name| json!({"name": name})).collect();
            spec.insert("admissionChecksStrategy".to_owned(), json!({"admissionChecks": rules}));
        }
        if let Some(fungibility) = spec.get_mut("flavorFungibility") {
            visit(fungibility, &mut |_, word| {
                if *word == "Borrow" || *word == "Preempt" {
                    *word = json!("MayStopSearch");
                }
            });
        }
    }
    true
}

fn move_inline(files: &mut Files) -> bool {
    let Some(at) = files.iter().position(|(name, _)| name == FILE) else { return false };
    let Value::Array(objects) = files.remove(at).1["items"].take() else { return false };
    let Some(inline) = files[0].1["objects"].as_array_mut() else { return false };
    inline.retain(|object| object["manifest"] != FILE);
    inline.extend(objects);
    true
}

fn label_nodes(files: &mut Files) -> bool {
    // A Node that is shown has all its labels.
    let shows_node = |fault: &Value| fault["show"]["kind"] == "Node";
    if files[0].1["faults"].as_array().into_iter().flatten().any(shows_node) {
        return false;
    }
    for pool in files[0].1["topology"]["pools"].as_array_mut().into_iter().flatten() {
        pool["labels"]["example.com/unused"] = json!("x");
    }
    true
}

fn add_unrelated_objects(files: &mut Files) -> bool {
    let has_classes = files.iter().any(|(_, content)| content.to_string().contains("\"PriorityClass\""));
    let mut added = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "unused"}}),
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "unused", "namespace": "unused"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"example.com/unused": "x"}}}}),
    ];
    // If the inputs have no PriorityClass, all classes are assumed to exist.
    if has_classes {
        added.push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": "unused"}, "value": 5}));
    }
    super::objects::add_objects(&mut files[0].1, added);
    true
}

fn change_ignored_fields(files: &mut Files) -> bool {
    let scenario = &mut files[0].1;
    for key in ["faults", "faultProcesses", "admissionChecks", "existingWorkloads", "containers"] {
        if scenario.get(key).is_none() {
            scenario[key] = json!([]);
        }
    }
    scenario["metadata"] = json!({"name": "renamed", "description": "another one"});
    if let Some(fields) = scenario.as_object_mut() {
        fields.remove("experiment");
        fields.remove("prices");
    }
    true
}

/// Number of placements that are tried if they are drawn: most cases fit always or never.
const DRAWS: u64 = 4;
/// Time between two submissions, in which Kueue and the pods come to rest.
const SPACING_S: usize = 120;

/// Compares `admit` with a run in which the same JobSets are submitted one after the other and nothing else happens.
fn check_admission(case: &Case) -> Result<BTreeSet<String>, String> {
    let mut seen = BTreeSet::new();
    let mut quiet = case.clone();
    if !make_quiet(&mut quiet.files) {
        return Ok(seen);
    }
    let Some(scenario) = drawn_scenario(&quiet)? else { return Ok(seen) };
    let report = if case.seed.is_multiple_of(16) {
        admission_report(&scenario, true, None)
    } else {
        admission_verdicts(&scenario, true, DRAWS)
    };
    let report = report.map_err(|e| format!("admit: {e}"))?;
    let mut simulation = SimulationInput::new(&scenario).map_err(|e| e.to_string())?;
    let mut sink = Kept::default();
    let outcome = simulation.run(case.seed, 0, &mut sink);
    let is_settled = !report.notes.iter().any(|note| note.contains("did not settle"));
    // A JobSet that ends, or restarts because its pods fail, returns its quota, of which `admit` knows nothing.
    let lasts = |state: &JobSetOutcome| state.terminal_state.is_empty() && state.restarts == 0;
    if !is_settled || outcome.end_reason == EndReason::Stopped || !outcome.jobsets.iter().all(lasts) {
        return Ok(seen);
    }
    // The run has one placement of all.
    let is_drawn = |verdict: &JobSetVerdict| verdict.nodes.as_ref().is_some_and(|n| !n.fits && n.fitting_draws > 0);
    if report.job_sets.iter().any(is_drawn) {
        return Ok(seen);
    }
    let workloads = simulation.workloads();
    for (at, verdict) in report.job_sets.iter().enumerate() {
        let holds = workloads[at].as_ref().is_some_and(|own| own.has_reservation() && !own.is_evicted());
        let Some(expected) = holds_quota(verdict) else { continue };
        if holds != expected {
            let own = workloads[at].as_ref().map(|own| format!("{:?}", own.status.conditions));
            return Err(format!("admit: {}; the run: {own:?}", described(verdict)));
        }
        seen.insert(if expected { "admit starts" } else { "admit waits" }.to_owned());
    }
    Ok(seen)
}

/// Returns whether the JobSet has quota in the end; `None` if Kueue does not decide.
fn holds_quota(verdict: &JobSetVerdict) -> Option<bool> {
    match verdict.verdict {
        "Admitted" | "AlreadyAdmitted" | "ChecksPending" => Some(true),
        "Pending" | "Preempted" => Some(false),
        _ => None,
    }
}

fn described(verdict: &JobSetVerdict) -> String {
    let JobSetVerdict { name, verdict, cause, reason, message, .. } = verdict;
    format!("JobSet {name} is {verdict} ({cause:?}) {reason}: {message}")
}

/// Removes the objects with pods beside the submitted JobSets. `admit` knows other pods only from their nodes.
fn remove_other_pods(files: &mut Files) {
    let has_pods = |object: &Value| ["JobSet", "Job", "Pod"].iter().any(|kind| object["kind"] == *kind);
    let mut emptied = Vec::new();
    for (name, content) in files.iter_mut() {
        for key in ["objects", "items"] {
            let Some(objects) = content.get_mut(key).and_then(Value::as_array_mut) else { continue };
            objects.retain(|object| !has_pods(object));
            if objects.is_empty() {
                emptied.push(name.clone());
            }
        }
    }
    if let Some(objects) = files[0].1["objects"].as_array_mut() {
        objects.retain(|object| !emptied.iter().any(|name| object["manifest"] == name.as_str()));
    }
}

/// Removes everything that happens after the submissions. Returns false without objects of Kueue.
fn make_quiet(files: &mut Files) -> bool {
    let Some(objects) = kueue_objects(files) else { return false };
    for configuration in objects.iter_mut().filter(|object| object["kind"] == "Configuration") {
        let Some(fields) = configuration.as_object_mut() else { continue };
        for key in ["waitForPodsReady", "admissionFairSharing"] {
            fields.remove(key);
        }
    }
    let scenario = &mut files[0].1;
    let plane = &scenario["controlPlane"];
    let mut kept = json!({});
    for key in ["kubernetes", "jobset", "featureGates"] {
        if let Some(value) = plane.get(key) {
            kept[key] = value.clone();
        }
    }
    scenario["controlPlane"] = kept;
    if let Some(fields) = scenario.as_object_mut() {
        for key in [
            "faults", "faultProcesses", "nodeRepair", "nodeSpares", "training", "containers", "timing",
            "admissionChecks", "existingWorkloads",
        ] {
            fields.remove(key);
        }
    }
    remove_other_pods(files);
    let scenario = &mut files[0].1;
    let mut entries = scenario["jobSets"].as_array_mut().into_iter().flatten();
    let mut submissions = 0;
    for entry in entries.by_ref() {
        entry["submitAt"] = json!(format!("{}s", submissions * SPACING_S));
        submissions += 1;
    }
    scenario["stop"] = json!({"at": format!("{}s", submissions * SPACING_S), "when": "Time"});
    for (_, content) in files.iter_mut().filter(|(_, content)| content["kind"] == "JobSet") {
        visit(content, &mut |key, value| {
            // Deadlines end JobSets, and finalizers keep pods, of which `admit` knows nothing.
            let ends = ["finalizers", "activeDeadlineSeconds", "kueue.x-k8s.io/max-exec-time-seconds"];
            if let Some(fields) = value.as_object_mut().filter(|_| key != "matchLabels") {
                fields.retain(|name, _| !ends.contains(&name.as_str()));
            }
        });
    }
    true
}
