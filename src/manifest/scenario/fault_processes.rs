//! Reads `faultProcesses`: random faults of nodes, domains and pods.

use super::cross::Inputs;
use crate::base::Duration;
use crate::base::random::Dist;
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
    if scenario.get("training").is_none() {
        for (_, node) in &all {
            let does = node.get("does").filter(|does| is_silent(does.as_str()));
            if let Some(does) = does {
                let word = does.as_str().unwrap_or_default();
                let message = format!("does: {word} is felt by training, and no JobSet trains");
                report
                    .error(does.at, message)
                    .suggest("training: {step: 6s}");
            }
        }
    }
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
    let exit_code = node.get("exitCode");
    let written = read::string(node, "does");
    let does = does(node, written.as_deref(), pods, report);
    let exits = matches!(does, RandomAction::Exit(_));
    let silent = is_silent(written.as_deref());
    let slow = matches!(does, RandomAction::Slow(_));
    let place = |key: &str| node.get(key).map_or(node.at, |n| n.at);
    if pods && slow {
        report.error(
            place("does"),
            "machines are slow, not pods: on a Node or a label",
        );
    } else if pods != exits && !silent {
        let message = match pods {
            true => "containers of pods exit; only nodes crash, lose contact or are drained",
            false => "containers of pods exit, nodes do not",
        };
        report
            .error(place("does"), message)
            .suggest("on: Pod with does: Exit");
    }
    let hangs = matches!(does, RandomAction::Hang { .. });
    if exit_code.is_some() && !exits && !hangs {
        report.error(place("exitCode"), "exitCode is of does: Exit or Hang");
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
    let stays = match does {
        RandomAction::Drain => Some("a drained node"),
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

/// Faults of which nobody is told.
const SILENT: [&str; 3] = ["Hang", "Slow", "Corrupt"];

/// Those of them that have no effect yet.
const WITHOUT_EFFECT: [&str; 3] = SILENT;

fn is_silent(does: Option<&str>) -> bool {
    does.is_some_and(|word| SILENT.contains(&word))
}

fn does(node: &Node, written: Option<&str>, pods: bool, report: &mut Report) -> RandomAction {
    let exit_code = read::i32_of(node, "exitCode").unwrap_or(1);
    if let Some(word) = written.filter(|word| WITHOUT_EFFECT.contains(word)) {
        let at = node.get("does").map_or(node.at, |does| does.at);
        report.error(at, format!("does: {word} is not played yet"));
    }
    let of = [
        ("detectedAfter", "Hang"),
        ("factor", "Slow"),
        ("foundAfter", "Corrupt"),
    ];
    for (key, word) in of {
        match node.get(key) {
            Some(value) if written != Some(word) => {
                report.error(value.at, format!("{key} is of does: {word}"));
            }
            None if written == Some(word) && word != "Hang" => {
                let does = node.get("does").map_or(node.at, |does| does.at);
                report.error(does, format!("does: {word} needs {key}"));
            }
            _ => {}
        }
    }
    match written {
        Some("Crash") => RandomAction::Crash,
        Some("Partition") => RandomAction::Partition,
        Some("Drain") => RandomAction::Drain,
        Some("Hang") => RandomAction::Hang {
            detected_after: time(node, "detectedAfter", report),
            exit_code,
        },
        Some("Slow") => RandomAction::Slow(read::number(node, "factor").unwrap_or(1.0)),
        Some("Corrupt") => RandomAction::Corrupt {
            found_after: time(node, "foundAfter", report).unwrap_or(Dist::ZERO),
        },
        None if !pods => RandomAction::Crash,
        _ => RandomAction::Exit(exit_code),
    }
}

/// A time that may be drawn, if it is given.
fn time(node: &Node, key: &str, report: &mut Report) -> Option<Dist> {
    node.get(key).map(|_| dist::delay(Some(node), key, report))
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
