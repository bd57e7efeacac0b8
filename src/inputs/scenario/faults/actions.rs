//! Reads the action of a random fault (`does` of `faultProcesses`) and the fields that depend on it.

use crate::{dist, read};
use crate::{text::diagnostic::DiagnosticReport, text::node::YamlNode};
use sim_api::spec::{LinkKind, RandomAction};
use sim_base::Duration;
use sim_base::random::Distribution;

/// Reads the notice before a machine is removed, and the grace period of its processes within the notice.
pub(crate) fn notice_and_grace(
    node: &YamlNode, (reclaims, drains): (bool, bool), report: &mut DiagnosticReport,
) -> (Duration, Duration) {
    let time = |key| read::duration(node, key).unwrap_or_default();
    let (notice, grace) = (time("notice"), time("grace"));
    let of_trace = node.get("trace").is_some();
    match node.get("notice") {
        Some(notice) if !drains && !of_trace => {
            report.error(notice.at, "notice requires does: Drain or does: Reclaim");
        }
        None if reclaims && !of_trace => {
            let place = node.get("does").map_or(node.at, |n| n.at);
            let error = report.error(place, "does: Reclaim requires notice");
            error.legal("a duration, such as 30s on GKE (NODE-01), 2m on EC2 (NODE-03), or 0s");
        }
        _ => {}
    }
    match node.get("grace") {
        Some(place) if !reclaims => {
            report.error(place.at, "grace requires does: Reclaim");
        }
        Some(place) if grace > notice => {
            let message = format!("grace ({grace}) must not exceed notice ({notice})");
            report.error(place.at, message);
        }
        _ => {}
    }
    (notice, grace)
}

/// Actions that Kubernetes does not detect: the node and its pods appear healthy.
const SILENT: [&str; 4] = ["Hang", "Slow", "Corrupt", "Degrade"];

pub(crate) fn is_silent(does: Option<&str>) -> bool {
    does.is_some_and(|word| SILENT.contains(&word))
}

pub(crate) fn does(node: &YamlNode, written: Option<&str>, pods: bool, report: &mut DiagnosticReport) -> RandomAction {
    let exit_code = read::i32_of(node, "exitCode").unwrap_or(1);
    let of = [
        ("detectedAfter", "Hang"),
        ("factor", "Slow"),
        ("foundAfter", "Corrupt"),
        ("bandwidth", "Degrade"),
        ("links", "Degrade"),
    ];
    for (key, word) in of {
        match node.get(key) {
            Some(value) if written != Some(word) => {
                report.error(value.at, format!("{key} requires does: {word}"));
            }
            None if written == Some(word) && !["detectedAfter", "links"].contains(&key) => {
                let does = node.get("does").map_or(node.at, |does| does.at);
                report.error(does, format!("does: {word} requires {key}"));
            }
            _ => {}
        }
    }
    match written {
        Some("Crash") => RandomAction::Crash,
        Some("Partition") => RandomAction::Partition,
        Some("Drain") => RandomAction::Drain,
        Some("Reclaim") => RandomAction::Reclaim,
        Some("Hang") => RandomAction::Hang { detected_after: time(node, "detectedAfter", report), exit_code },
        Some("Slow") => RandomAction::Slow(read::number(node, "factor").unwrap_or(1.0)),
        Some("Degrade") => RandomAction::Degrade {
            links: match ["links", "on"].iter().find_map(|key| node.get(key)).and_then(YamlNode::as_str) {
                Some("Island") => LinkKind::Island,
                _ => LinkKind::Network,
            },
            factor: 1.0 / read::number(node, "bandwidth").unwrap_or(1.0),
        },
        Some("Corrupt") => {
            RandomAction::Corrupt { found_after: time(node, "foundAfter", report).unwrap_or(Distribution::ZERO) }
        }
        None if !pods => RandomAction::Crash,
        _ => RandomAction::Exit(exit_code),
    }
}

/// Reads a delay, if the field is present.
pub(crate) fn time(node: &YamlNode, key: &str, report: &mut DiagnosticReport) -> Option<Distribution> {
    node.get(key).map(|_| dist::delay(Some(node), key, report))
}

/// Checks that the action is possible for the target of the faults.
pub(crate) fn fits(node: &YamlNode, word: &str, pods: bool, report: &mut DiagnosticReport) {
    let place = node.get("does").map_or(node.at, |does| does.at);
    if pods && ["Slow", "Degrade"].contains(&word) {
        report.error(place, format!("does: {word} applies to nodes, not pods: use on: Node or a label"));
    } else if pods != (word == "Exit") && !is_silent(Some(word)) {
        let message = if pods {
            format!("does: {word} applies to nodes, not pods; with on: Pod, use Exit, Hang or Corrupt")
        } else {
            "does: Exit applies to pods, not nodes".to_owned()
        };
        report.error(place, message).suggest("on: Pod with does: Exit");
    }
}
