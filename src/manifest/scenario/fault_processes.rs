//! Reads `faultProcesses`: random faults of nodes, domains and pods.

use super::cross::Inputs;
use crate::base::Duration;
use crate::manifest::diagnostic::Report;
use crate::manifest::node::Node;
use crate::manifest::{dist, rate, read};
use crate::spec::{FaultsOn, RandomAction, RandomFaults};
use std::collections::BTreeSet;

/// More faults than this in one run are refused: each is an event, and a line of the script.
const FAULTS_MAX: f64 = 1e6;

/// `stop`: when the run ends in any case.
pub fn read(
    scenario: &Node,
    inputs: &Inputs,
    stop: Duration,
    report: &mut Report,
) -> Vec<RandomFaults> {
    let scripted = scenario
        .at_path(&["timing", "kubelet", "scripted"])
        .is_some();
    let processes = read::list(scenario, "faultProcesses").iter();
    let all: Vec<(RandomFaults, &Node)> = processes
        .map(|p| (process(p, inputs, scripted, report), p))
        .collect();
    let mut expected = 0.0;
    for (process, node) in &all {
        expected += process.expected(entities(process, inputs), stop);
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
    all.into_iter().map(|(process, _)| process).collect()
}

/// At most so many of them have the process.
fn entities(process: &RandomFaults, inputs: &Inputs) -> usize {
    match process.on {
        FaultsOn::Node | FaultsOn::Label(_) => inputs.topology.nodes() as usize,
        FaultsOn::Pod => {
            let rjs = inputs
                .jobsets
                .iter()
                .flat_map(|js| &js.jobset.spec.replicated_jobs);
            rjs.map(|rj| rj.replicas as usize * rj.template.pods() as usize)
                .sum()
        }
    }
}

fn process(node: &Node, inputs: &Inputs, scripted: bool, report: &mut Report) -> RandomFaults {
    let on = on(node, inputs, report);
    let pods = on == FaultsOn::Pod;
    let exit_code = read::i32_of(node, "exitCode");
    let does = match read::string(node, "does").as_deref() {
        Some("Crash") => RandomAction::Crash,
        Some("Partition") => RandomAction::Partition,
        Some("Drain") => RandomAction::Drain,
        None if !pods => RandomAction::Crash,
        _ => RandomAction::Exit(exit_code.unwrap_or(1)),
    };
    let exits = matches!(does, RandomAction::Exit(_));
    let place = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if pods != exits {
        let message = match pods {
            true => "containers of pods exit; only nodes crash, lose contact or are drained",
            false => "containers of pods exit, nodes do not",
        };
        report
            .error(place("does"), message)
            .suggest("on: Pod with does: Exit");
    }
    if exit_code.is_some() && !exits {
        report.error(place("exitCode"), "exitCode is of does: Exit");
    }
    let as_new = read::boolean(node, "asNew").unwrap_or(false);
    let deleted_after = read::duration(node, "deletedAfter");
    for (key, given) in [("asNew", as_new), ("deletedAfter", deleted_after.is_some())] {
        if given && scripted {
            let message = "a scripted kubelet does not find out that a new Node has none of its pods' containers";
            let error = report.error(place(key), format!("{key}: {message}"));
            error.suggest(format!("leave timing.kubelet.scripted away, or {key}"));
        }
    }
    for key in ["backAfter", "asNew", "deletedAfter"] {
        if pods && node.get(key).is_some() {
            let message = format!("{key} is of nodes: a Job makes its pods anew");
            report.error(place(key), message);
        }
    }
    for key in ["asNew", "deletedAfter"] {
        if let (RandomAction::Drain, Some(new)) = (does, node.get(key)) {
            let message = format!("{key}: a drained node is the same one afterwards");
            report.error(new.at, message);
        }
    }
    let back = node.get("backAfter").map(|back| {
        dist::dist(back).unwrap_or_else(|message| {
            report.error(back.at, message);
            crate::base::random::Dist::ZERO
        })
    });
    RandomFaults {
        cause: read::string(node, "cause").unwrap_or_default(),
        on,
        life: rate::life(node, report),
        back,
        does,
        as_new,
        deleted_after,
    }
}

fn on(node: &Node, inputs: &Inputs, report: &mut Report) -> FaultsOn {
    let Some(on) = node.get("on") else {
        return FaultsOn::Node;
    };
    let Some(label) = on.get("label").and_then(|l| Some((l, l.as_str()?))) else {
        return match on.as_str() {
            Some("Pod") => FaultsOn::Pod,
            _ => FaultsOn::Node,
        };
    };
    let (place, key) = label;
    let pools = inputs.topology.pools.iter();
    let known: BTreeSet<&str> = pools
        .flat_map(|p| p.labels.keys().map(String::as_str))
        .collect();
    if !known.contains(key) {
        let error = report.error(place.at, format!("no node has the label {key:?}"));
        error.nearest(key, known.iter().copied());
        error.legal(known.into_iter().collect::<Vec<_>>().join(", "));
    }
    FaultsOn::Label(key.to_owned())
}
