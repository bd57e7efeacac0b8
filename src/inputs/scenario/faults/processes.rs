//! Reads `faultProcesses`: random faults of nodes, domains and pods.

use super::actions::{does, fits, is_silent, notice_and_grace, time};
use super::targets::{on, takes_along};
use crate::presets::faults;
use crate::presets::faults::For;
use crate::presets::rate;
use crate::scenario::cross::Inputs;
use crate::scenario::pod_names;
use crate::schema::shapes::fault_processes::DOES;
use crate::text::diagnostic::Report;
use crate::text::node::Node;
use crate::topology::node_names;
use crate::traces;
use crate::traces::{Row, Trace, Traces};
use crate::{node_repair, read};
use sim_api::spec::{
    Arrivals, Exposure, FaultLemons, FaultsOn, NodePool, RandomAction, RandomFaults, TracedFault,
};
use sim_base::Duration;
use std::collections::BTreeSet;

/// Maximum number of random faults in a run. Each fault is an event and a line of the script.
const FAULTS_MAX: f64 = 1e6;

/// Reads the fault processes; `stop` is the time limit of the run.
pub fn read(
    scenario: &Node,
    (inputs, traces): (&Inputs, &Traces),
    stop: Duration,
    report: &mut Report,
) -> Vec<RandomFaults> {
    let written = read::list(scenario, "faultProcesses");
    let around = Around {
        inputs,
        traces,
        scripted: scenario
            .at_path(&["timing", "kubelet", "scripted"])
            .is_some(),
        trains: scenario.get("training").is_some(),
        repairs: scenario.get("nodeRepair").is_some(),
        spares: scenario.get("nodeSpares").is_some(),
    };
    let mut all = Vec::new();
    let mut expected = 0.0;
    for node in faults::expand(written, For::Scenario, report) {
        for process in around.processes(&node, report) {
            let entities = around.entities(&process);
            expected += process.expected(entities, stop) * around.reach(&process);
            all.push(process);
        }
        if expected > FAULTS_MAX {
            let message = format!(
                "about {expected:.0} faults until {stop}; at most 1,000,000 are played in a run"
            );
            report
                .error(node.at, message)
                .suggest("a longer mtbf, or an earlier stop.at");
            break;
        }
    }
    all
}

/// The parts of the scenario that a fault process may depend on.
struct Around<'a> {
    inputs: &'a Inputs<'a>,
    traces: &'a Traces,
    /// Whether the kubelets are scripted.
    scripted: bool,
    /// Whether a JobSet has a training.
    trains: bool,
    /// Whether the scenario has a nodeRepair.
    repairs: bool,
    /// Whether the scenario has nodeSpares.
    spares: bool,
}

impl Around<'_> {
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
                rjs.map(|rj| rj.replicas as usize * rj.template.pods() as usize)
                    .sum()
            }
        }
    }

    /// Returns the number of nodes lost with each failing node, averaged over the nodes.
    fn reach(&self, process: &RandomFaults) -> f64 {
        let along = process.takes_along.as_ref();
        along.map_or(1.0, |key| {
            node_names::neighbours(&self.inputs.topology.pools, key)
        })
    }

    /// Reads one process. A trace with several kinds of faults gives one process for each kind.
    fn processes(&self, node: &Node, report: &mut Report) -> Vec<RandomFaults> {
        let process = process(node, self, report);
        let Some((place, file)) = traces::file_of(node).and_then(|f| Some((f, f.as_str()?))) else {
            return vec![process];
        };
        let Some(trace) = self.traces.get(file) else {
            return Vec::new();
        };
        let kinds = node.at_path(&["trace", "kinds"]).map(Node::items);
        let rows = trace.of_kinds(kinds);
        if rows.is_empty() {
            report.error(place.at, format!("the trace {file:?} has no such fault"));
        }
        self.names_exist(&rows, &process, trace, report);
        // Faults are grouped by kind, in the order of the file.
        let mut groups: Vec<(Option<&str>, Vec<TracedFault>)> = Vec::new();
        for row in rows {
            let kind = row.kind.as_deref().filter(|_| kinds.is_none());
            if kind.is_some_and(|kind| !DOES.contains(&kind)) {
                let message = format!("kind {:?} is no word of `does`", kind.unwrap_or_default());
                let mut error = traces::error(&trace.source, row.line, message);
                error.legal(DOES.join(", "));
                error.suggest("trace: {file, kinds: [...]} with does");
                report.found.push(error);
                break;
            }
            let fault = TracedFault {
                entity: row.name.clone(),
                at: row.at,
                lasts: row.lasts,
            };
            match groups.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, faults)) => faults.push(fault),
                None => groups.push((kind, vec![fault])),
            }
        }
        let one = |(kind, faults): (Option<&str>, Vec<TracedFault>)| {
            let mut process = process.clone();
            if let Some(kind) = kind {
                process.does = does(node, Some(kind), process.on == FaultsOn::Pod, report);
                fits(node, kind, process.on == FaultsOn::Pod, report);
            }
            match process.does {
                RandomAction::Drain | RandomAction::Reclaim => {
                    (process.as_new, process.deleted_after) = (false, None);
                }
                _ => process.notice = Duration::ZERO,
            }
            if process.does != RandomAction::Reclaim {
                process.grace = Duration::ZERO;
            }
            process.arrivals = Arrivals::Trace(faults.into());
            process
        };
        groups.into_iter().map(one).collect()
    }

    fn names_exist(
        &self,
        rows: &[&Row],
        process: &RandomFaults,
        trace: &Trace,
        report: &mut Report,
    ) {
        let pods = process.on == FaultsOn::Pod;
        let nodes: BTreeSet<String> = match pods {
            true => BTreeSet::new(),
            false => node_names::node_names(&self.inputs.topology.pools).collect(),
        };
        for row in rows {
            let wanted = traces::NAMED[usize::from(pods)];
            let message = if row.of != wanted {
                format!("a {} fails here; the process is of a {wanted}", row.of)
            } else if pods && !pod_names::exists(self.inputs.jobsets, &row.name) {
                format!("no JobSet wants a pod {:?}", row.name)
            } else if !pods && !nodes.contains(&row.name) {
                format!("the topology has no node {:?}", row.name)
            } else {
                continue;
            };
            report
                .found
                .push(traces::error(&trace.source, row.line, message));
        }
    }
}

fn process(node: &Node, around: &Around, report: &mut Report) -> RandomFaults {
    let on = on(node, around.inputs, report);
    let pods = on == FaultsOn::Pod;
    let exit_code = node.get("exitCode");
    let written = read::string(node, "does");
    let does = does(node, written.as_deref(), pods, report);
    let silent = is_silent(written.as_deref());
    let slow = matches!(does, RandomAction::Slow(_));
    let place = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if let Some(word) = &written {
        fits(node, word, pods, report);
    }
    if silent && !around.trains {
        let word = written.as_deref().unwrap_or_default();
        let message = format!("does: {word} is felt by training, and no JobSet trains");
        report
            .error(place("does"), message)
            .suggest("training: {step: 6s}");
    }
    let hangs = matches!(does, RandomAction::Hang { .. });
    if exit_code.is_some() && !hangs && !matches!(does, RandomAction::Exit(_)) {
        report.error(place("exitCode"), "exitCode is of does: Exit or Hang");
    }
    let as_new = read::boolean(node, "asNew").unwrap_or(false);
    let deleted_after = read::duration(node, "deletedAfter");
    let reclaims = does == RandomAction::Reclaim;
    for (key, given) in [
        ("asNew", as_new),
        ("deletedAfter", deleted_after.is_some()),
        ("does", reclaims),
    ] {
        if given && around.scripted {
            let message = "a scripted kubelet does not find out that a new Node has none of its pods' containers";
            let error = report.error(place(key), format!("{key}: {message}"));
            error.suggest(format!("leave timing.kubelet.scripted away, or {key}"));
        }
    }
    for key in ["backAfter", "asNew", "deletedAfter", "takesAlong", "lemons"] {
        if pods && node.get(key).is_some() {
            let message = format!("{key} is of nodes: a Job makes its pods anew");
            report.error(place(key), message);
        }
    }
    let stays = match does {
        RandomAction::Drain => Some("a drained node"),
        RandomAction::Reclaim => {
            for key in ["asNew", "deletedAfter"] {
                if let Some(value) = node.get(key) {
                    let message =
                        "what is reclaimed is deleted after its notice, and what comes back is new";
                    report.error(value.at, format!("{key}: {message}"));
                }
            }
            None
        }
        _ if silent => Some("a node that only computes slowly or wrongly"),
        _ => None,
    };
    for key in ["asNew", "deletedAfter"] {
        if let (Some(which), Some(new)) = (stays, node.get(key)) {
            let message = format!("{key}: {which} is the same one afterwards");
            report.error(new.at, message);
        }
    }
    if let (true, Some(back)) = (silent && !slow, node.get("backAfter")) {
        let message = "backAfter: what hangs or is wrong lasts until its process ends";
        report.error(back.at, message);
    }
    let back = time(node, "backAfter", report);
    let noticed = matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    let of_trace = node.get("trace").is_some();
    let may_reclaim = reclaims || (of_trace && written.is_none());
    let (notice, grace) = notice_and_grace(node, (may_reclaim, noticed), report);
    let healed = node.at_path(&["lemons", "healed"]);
    if let (Some(healed), true, None) = (healed, around.repairs, &back) {
        let message = "healed: a repair of nodeRepair heals unless it fails, as its stages say";
        report.error(healed.at, message);
    }
    let from = read::duration(node, "from").unwrap_or_default();
    let until = read::duration(node, "until");
    if until.is_some_and(|until| until <= from) {
        report.error(place("until"), "it ends before it begins");
    }
    let ages = ages(node, (around, &does, back.is_some()), report);
    RandomFaults {
        cause: read::string(node, "cause").unwrap_or_default(),
        takes_along: takes_along(node, &on, around.inputs, report),
        on,
        arrivals: Arrivals::Renewal(rate::life(node, report)),
        ages,
        back,
        does,
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
    node: &Node,
    (around, does, repaired): (&Around, &RandomAction, bool),
    report: &mut Report,
) -> Exposure {
    let exposure = node_repair::exposure(node).unwrap_or(Exposure::Always);
    let Some(place) = node.get("ages").filter(|_| exposure != Exposure::Always) else {
        return Exposure::Always;
    };
    let word = place.as_str().unwrap_or_default();
    let lost = matches!(does, RandomAction::Crash | RandomAction::Partition);
    let gone = lost || matches!(does, RandomAction::Drain | RandomAction::Reclaim);
    let slow = matches!(does, RandomAction::Slow(_));
    for (is, why) in [
        (node.get("from").is_some(), "from is a time of the calendar"),
        (
            node.get("until").is_some(),
            "until is a time of the calendar",
        ),
        (slow, "does: Slow is played by the calendar alone"),
        (
            lost && !repaired && around.repairs,
            "nodeRepair is played by the calendar alone; backAfter says when it is back",
        ),
        (
            gone && around.spares,
            "nodeSpares are played by the calendar alone",
        ),
    ] {
        if is {
            let error = report.error(place.at, format!("ages: {word}: {why}"));
            error.suggest("ages: Always");
        }
    }
    exposure
}

fn lemons(node: &Node) -> FaultLemons {
    let number = |key: &str, otherwise| read::number(node, key).unwrap_or(otherwise);
    FaultLemons {
        share: number("share", 0.0),
        factor: number("factor", 1.0),
        healed: number("healed", 0.0),
    }
}
