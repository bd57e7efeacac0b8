//! Reads `faultProcesses`: random faults of nodes, domains and pods.

use super::actions::{does, fits, is_silent, notice_and_grace, time};
use super::rolling;
use super::targets::{on, takes_along};
use crate::presets::faults::{PresetScale, PresetTarget};
use crate::traces::{FaultTrace, FaultTraces, TraceRow};
use crate::{node_repair, read};
use crate::{presets::faults, presets::rate, scenario::cross::CrossInputs, scenario::pod_names};
use crate::{schema::definitions::fault_processes::DOES, text::diagnostic::DiagnosticReport, text::node::YamlNode};
use crate::{topology::node_names, traces};
use sim_api::spec::{
    ArrivalProcess, ExposureSpec, FaultLemons, FaultsOn, NodePool, RandomAction, RandomFaults, ReplicatedJob,
    TracedFault,
};
use sim_base::Duration;
use std::collections::BTreeSet;

/// Maximum number of random faults in a run. Each fault is an event and a line of the script.
const FAULTS_MAX: f64 = 1e6;

/// Reads the fault processes, each with the index of its entry; `stop` is the time limit of the run.
pub fn read(
    scenario: &YamlNode, (inputs, traces): (&CrossInputs, &FaultTraces), stop: Duration, report: &mut DiagnosticReport,
) -> Vec<(RandomFaults, u32)> {
    let written = read::list(scenario, "faultProcesses");
    let around = ProcessContext {
        inputs,
        traces,
        scripted: scenario.at_path(&["timing", "kubelet", "scripted"]).is_some(),
        trains: scenario.get("training").is_some(),
        communicates: scenario.get("training").is_some_and(communicates),
        repairs: scenario.get("nodeRepair").is_some(),
        spares: scenario.get("nodeSpares").is_some(),
    };
    let mut all = Vec::new();
    let mut expected = 0.0;
    let scale = around.preset_scale();
    let mut expanded = Vec::new();
    for (entry, node) in (0..).zip(written) {
        let own = faults::expand(std::slice::from_ref(node), (PresetTarget::Scenario, scale), report);
        expanded.extend(own.into_iter().map(|node| (entry, node)));
    }
    for (entry, node) in expanded {
        for process in around.processes(&node, stop, report) {
            let entities = around.entities(&process);
            expected += process.expected_faults(entities, stop) * around.reach(&process);
            all.push((process, entry));
        }
        if expected > FAULTS_MAX {
            let message =
                format!("about {expected:.0} faults are expected until {stop}; the maximum is 1,000,000 in a run");
            report.error(node.at, message).suggest("increase mtbf or reduce stop.at");
            break;
        }
    }
    all
}

/// Returns whether a training, or one of a list, has `communication`.
fn communicates(training: &YamlNode) -> bool {
    let has = |training: &YamlNode| training.get("communication").or(training.get("model")).is_some();
    has(training) || training.items().iter().any(has)
}

/// The parts of the scenario that a fault process may depend on.
struct ProcessContext<'a> {
    inputs: &'a CrossInputs<'a>,
    traces: &'a FaultTraces,
    /// Whether the kubelets are scripted.
    scripted: bool,
    /// Whether a JobSet has a training, and whether one has `communication`.
    trains: bool,
    communicates: bool,
    /// Whether the scenario has a nodeRepair.
    repairs: bool,
    /// Whether the scenario has nodeSpares.
    spares: bool,
}

impl ProcessContext<'_> {
    /// Returns an upper bound of the number of components that have the process.
    fn entities(&self, process: &RandomFaults) -> usize {
        let nodes = self.inputs.topology.nodes() as usize;
        match process.on {
            FaultsOn::Node | FaultsOn::Label(_) | FaultsOn::Island => nodes,
            FaultsOn::Accelerator => {
                let pools = self.inputs.topology.pools.iter();
                let of = |p: &NodePool| p.allocatable.get(&p.accelerator).map_or(0, |n| n / 1000);
                let most = pools.map(of).max().unwrap_or(0);
                nodes.saturating_mul(usize::try_from(most).unwrap_or(0))
            }
            FaultsOn::Pod => {
                let jobsets = self.inputs.jobsets.iter();
                let rjs = jobsets.flat_map(|js| &js.jobset.spec.replicated_jobs);
                rjs.map(|rj| rj.replicas as usize * rj.template.pods() as usize).sum()
            }
        }
    }

    /// Returns the mean numbers of accelerators of the nodes and pods that have some. Pods without requests count as
    /// their nodes.
    fn preset_scale(&self) -> PresetScale {
        let pools = &self.inputs.topology.pools;
        let of = |p: &NodePool| p.allocatable.get(&p.accelerator).map_or(0, |n| n / 1000);
        let nodes = |p: &NodePool| i64::from(p.count) * i64::from(p.islands) * i64::from(p.nodes_per_island);
        let requested = |rj: &ReplicatedJob| {
            let pod = &rj.template.template.spec;
            let of_pool = |p: &NodePool| pod.requests().get(&p.accelerator).map_or(0, |n| n / 1000);
            pools.iter().map(of_pool).max().unwrap_or(0)
        };
        let jobs = self.inputs.jobsets.iter().flat_map(|js| &js.jobset.spec.replicated_jobs);
        let pods = |rj: &ReplicatedJob| i64::from(rj.replicas) * i64::from(rj.template.pods());
        let per_node = mean(pools.iter().map(|p| (of(p), nodes(p))));
        PresetScale { per_node, per_pod: mean(jobs.map(|rj| (requested(rj), pods(rj)))).or(per_node) }
    }

    /// Returns the number of nodes lost with each failing node, averaged over the nodes.
    fn reach(&self, process: &RandomFaults) -> f64 {
        let along = process.takes_along.as_ref();
        along.map_or(1.0, |key| node_names::neighbours(&self.inputs.topology.pools, key))
    }

    /// Reads one process. A trace with several kinds of faults gives one process for each kind.
    fn processes(&self, node: &YamlNode, stop: Duration, report: &mut DiagnosticReport) -> Vec<RandomFaults> {
        let mut process = process(node, self, report);
        if let Some(rolling) = node.get("rolling") {
            let pools = &self.inputs.topology.pools;
            let all = rolling::schedule((node, rolling), (&process, pools), stop, report);
            process.arrivals = ArrivalProcess::Trace(all.into());
            return vec![process];
        }
        let Some((place, file)) = traces::file_of(node).and_then(|f| Some((f, f.as_str()?))) else {
            return vec![process];
        };
        let Some(trace) = self.traces.get(file) else {
            return Vec::new();
        };
        let kinds = node.at_path(&["trace", "kinds"]).map(YamlNode::items);
        let rows = trace.of_kinds(kinds);
        traces::check_kinds((trace, node), &rows, place, report);
        self.names_exist(&rows, &process, trace, report);
        // Faults are grouped by kind, in the order of the file.
        let mut groups: Vec<(Option<&str>, Vec<TracedFault>)> = Vec::new();
        for row in rows {
            let kind = row.kind.as_deref().filter(|_| kinds.is_none());
            if kind.is_some_and(|kind| !DOES.contains(&kind)) {
                let message = format!("kind {:?} is not a valid value of does", kind.unwrap_or_default());
                let mut error = traces::error(&trace.source, row.line, message);
                error.legal(DOES.join(", "));
                error.suggest("select kinds with trace: {file, kinds: [...]} and set does");
                report.found.push(error);
                break;
            }
            let fault = TracedFault { entity: row.name.clone(), at: row.at, outage: row.lasts };
            match groups.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, faults)) => faults.push(fault),
                None => groups.push((kind, vec![fault])),
            }
        }
        let one = |(kind, faults): (Option<&str>, Vec<TracedFault>)| {
            let mut process = process.clone();
            if let Some(kind) = kind {
                process.action = does(node, Some(kind), process.on == FaultsOn::Pod, report);
                fits(node, kind, process.on == FaultsOn::Pod, report);
            }
            match process.action {
                RandomAction::Drain | RandomAction::Reclaim => {
                    (process.as_new, process.deleted_after) = (false, None);
                }
                _ => process.notice = Duration::ZERO,
            }
            if process.action != RandomAction::Reclaim {
                process.grace = Duration::ZERO;
            }
            process.arrivals = ArrivalProcess::Trace(faults.into());
            process
        };
        groups.into_iter().map(one).collect()
    }

    fn names_exist(
        &self, rows: &[&TraceRow], process: &RandomFaults, trace: &FaultTrace, report: &mut DiagnosticReport,
    ) {
        let pods = process.on == FaultsOn::Pod;
        let nodes: BTreeSet<String> =
            if pods { BTreeSet::new() } else { node_names::node_names(&self.inputs.topology.pools).collect() };
        let mut errors = 0;
        for row in rows {
            if errors >= traces::TRACE_ERRORS_MAX {
                break;
            }
            let wanted = traces::NAMED[usize::from(pods)];
            let message = if row.of != wanted {
                format!("this line names a {}, but the process is about a {wanted}", row.of)
            } else if pods && !pod_names::exists(self.inputs.jobsets, &row.name) {
                format!("no JobSet has a pod {:?}", row.name)
            } else if !pods && !nodes.contains(&row.name) {
                format!("the topology does not contain node {:?}", row.name)
            } else {
                continue;
            };
            errors += 1;
            report.found.push(traces::error(&trace.source, row.line, message));
        }
    }
}

/// Returns the mean of positive values with their weights; `None` without any.
fn mean(values: impl Iterator<Item = (i64, i64)>) -> Option<f64> {
    let positive = values.filter(|(value, weight)| *value > 0 && *weight > 0);
    let (sum, weights) =
        positive.fold((0, 0), |(sum, weights), (value, weight)| (sum + value * weight, weights + weight));
    (weights > 0).then(|| sum as f64 / weights as f64)
}

fn process(node: &YamlNode, around: &ProcessContext, report: &mut DiagnosticReport) -> RandomFaults {
    let on = on(node, around.inputs, report);
    let pods = on == FaultsOn::Pod;
    let exit_code = node.get("exitCode");
    let rolling = node.get("rolling").map(|_| "Drain".to_owned());
    let written = read::string(node, "does").or(rolling);
    let does = does(node, written.as_deref(), pods, report);
    let silent = is_silent(written.as_deref());
    let slow = matches!(does, RandomAction::Slow(_) | RandomAction::Degrade { .. });
    let place = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if let Some(word) = &written {
        fits(node, word, pods, report);
    }
    if silent && !around.trains {
        let word = written.as_deref().unwrap_or_default();
        let message = format!("does: {word} only affects training, but no JobSet has a training");
        report.error(place("does"), message).suggest("training: {step: 6s}");
    }
    if around.trains && !around.communicates && matches!(does, RandomAction::Degrade { .. }) {
        let message = "does: Degrade only affects training with communication, but no training has it";
        let example = "communication: [{axis: data, collective: AllReduce, bytes: 140G}]";
        report.error(place("does"), message).suggest(example);
    }
    let is_hang = matches!(does, RandomAction::Hang { .. });
    if exit_code.is_some() && !is_hang && !matches!(does, RandomAction::Exit(_)) {
        report.error(place("exitCode"), "exitCode requires does: Exit or does: Hang");
    }
    let as_new = read::boolean(node, "asNew").unwrap_or(false);
    let deleted_after = read::duration(node, "deletedAfter");
    let reclaims = does == RandomAction::Reclaim;
    for (key, given) in [("asNew", as_new), ("deletedAfter", deleted_after.is_some()), ("does", reclaims)] {
        if given && around.scripted {
            let message =
                "not supported by scripted kubelets, which cannot detect that a new Node lacks the pods' containers";
            let error = report.error(place(key), format!("{key}: {message}"));
            error.suggest(format!("remove timing.kubelet.scripted or {key}"));
        }
    }
    for key in ["backAfter", "asNew", "deletedAfter", "takesAlong", "lemons"] {
        if pods && node.get(key).is_some() {
            let message = format!("{key} applies to nodes only: a Job always replaces its pods");
            report.error(place(key), message);
        }
    }
    let stays = match does {
        RandomAction::Drain => Some("a drained node"),
        RandomAction::Reclaim => {
            for key in ["asNew", "deletedAfter"] {
                if let Some(value) = node.get(key) {
                    let message = "not allowed with does: Reclaim, which always deletes the Node and returns a new one";
                    report.error(value.at, format!("{key}: {message}"));
                }
            }
            None
        }
        _ if silent => Some("a node that hangs or computes slowly or wrongly"),
        _ => None,
    };
    for key in ["asNew", "deletedAfter"] {
        if let (Some(which), Some(new)) = (stays, node.get(key)) {
            let message = format!("{key}: {which} is not replaced by a new Node");
            report.error(new.at, message);
        }
    }
    if let (true, Some(back)) = (silent && !slow, node.get("backAfter")) {
        let message = "backAfter is not allowed: the fault lasts until the affected process ends";
        report.error(back.at, message);
    }
    let back = time(node, "backAfter", report);
    let noticed = matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    let of_trace = node.get("trace").is_some();
    let may_reclaim = reclaims || (of_trace && written.is_none());
    let (notice, grace) = notice_and_grace(node, (may_reclaim, noticed), report);
    let healed = node.at_path(&["lemons", "healed"]);
    if let (Some(healed), true, None) = (healed, around.repairs, &back) {
        let message = "healed has no effect: with nodeRepair, the stages decide whether a repair succeeds";
        report.error(healed.at, message);
    }
    let from = read::duration(node, "from").unwrap_or_default();
    let until = read::duration(node, "until");
    if until.is_some_and(|until| until <= from) {
        report.error(place("until"), "until must be later than from");
    }
    let ages = ages(node, (around, &does, back.is_some()), report);
    RandomFaults {
        cause: read::string(node, "cause").unwrap_or_default(),
        takes_along: takes_along(node, &on, around.inputs, report),
        on,
        arrivals: ArrivalProcess::Renewal(rate::life(node, report)),
        exposure: ages,
        repair_time: back,
        action: does,
        as_new,
        deleted_after,
        from,
        until,
        notice,
        grace,
        comes_back: read::number(node, "comesBack").unwrap_or(1.0),
        lemons: node.get("lemons").map(lemons),
    }
}

/// Reads when a component accumulates age. Aging with use is refused where the fault times must be known in advance.
fn ages(
    node: &YamlNode, (around, does, repaired): (&ProcessContext, &RandomAction, bool), report: &mut DiagnosticReport,
) -> ExposureSpec {
    let exposure = node_repair::exposure(node).unwrap_or(ExposureSpec::Always);
    let Some(place) = node.get("ages").filter(|_| exposure != ExposureSpec::Always) else {
        return ExposureSpec::Always;
    };
    let word = place.as_str().unwrap_or_default();
    let lost = matches!(does, RandomAction::Crash | RandomAction::Partition);
    let gone = lost || matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    let slow = matches!(does, RandomAction::Slow(_) | RandomAction::Degrade { .. });
    for (is, why) in [
        (node.get("from").is_some(), "from"),
        (node.get("until").is_some(), "until"),
        (slow, "does: Slow or Degrade"),
        (lost && !repaired && around.repairs, "nodeRepair, unless backAfter is set"),
        (gone && around.spares, "nodeSpares"),
    ] {
        if is {
            let error = report.error(place.at, format!("ages: {word} is not supported with {why}"));
            error.suggest("ages: Always");
        }
    }
    exposure
}

fn lemons(node: &YamlNode) -> FaultLemons {
    let number = |key: &str, otherwise| read::number(node, key).unwrap_or(otherwise);
    FaultLemons { share: number("share", 0.0), factor: number("factor", 1.0), healed: number("healed", 0.0) }
}
