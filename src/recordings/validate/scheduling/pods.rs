//! Replays situations of single pods: each pending pod is decided by the model and compared with the recording.

use super::differences::Differences;
use super::situation::{admit, build_cluster, profile};
use crate::validate::result::RecordedDifference;
use serde_json::{Value, json};
use sim_api::objects::value_access::{list, pairs, text};
use sim_scheduler::decision::ScoredNodes;
use sim_scheduler::preemption::{Candidate, Preemption};
use sim_scheduler::{Cluster, Decision, PodView, schedule};
use std::collections::{BTreeMap, BTreeSet};

pub const KEYS: [&str; 15] = [
    "schema", "kind", "name", "kubernetes", "about", "namespaces", "nodes", "existing", "refusedExisting", "pdbs",
    "pending", "results", "persistentVolumeClaims", "persistentVolumes", "storageClasses",
];

/// Compares all decisions. A pod that was bound stays on the recorded node.
pub fn compare(recording: &Value) -> Vec<RecordedDifference> {
    let (mut cluster, refused) = build_cluster(recording);
    let mut found = Differences::default();
    let recorded = pairs(&recording["refusedExisting"]);
    let recorded: BTreeMap<&str, &str> = recorded.map(|(n, m)| (n.as_str(), m.as_str().unwrap_or(""))).collect();
    let refused: BTreeMap<&str, &str> = refused.iter().map(|(n, m)| (n.as_str(), m.as_str())).collect();
    found.compare("refusedExisting", json!(recorded), json!(refused));
    for result in list(recording, "results") {
        let name = text(result, "pod");
        let Some(posted) = list(recording, "pending").iter().find(|p| p["metadata"]["name"] == name) else {
            found.compare(name, json!("in pending"), Value::Null);
            continue;
        };
        let stored = match admit(posted) {
            Err(message) => {
                found.compare(&format!("{name}.refused"), result["refused"].clone(), json!(message));
                continue;
            }
            Ok(stored) => stored,
        };
        found.compare(&format!("{name}.refused"), result["refused"].clone(), Value::Null);
        let mut pod = PodView::read(&stored, &mut cluster.columns);
        let mut decision = schedule(&cluster, &pod, &profile(&pod.scheduler_name), 0);
        if let Some(node) = remove_victims(&mut cluster, result, &decision) {
            pod.nominated_node = node;
            decision = schedule(&cluster, &pod, &profile(&pod.scheduler_name), 0);
        }
        compare_decision(&cluster, name, result, &decision, &mut found);
        if let Some(node) = cluster.find_node(text(result, "node")) {
            cluster.bind_claims(&pod, node);
            cluster.add_pod(node, pod);
        }
    }
    found.0
}

/// Removes the victims of a preemption if all of them vanish when they are deleted, and returns the nominated node.
/// The pod is then scheduled again at once, and the recording shows only the second attempt.
fn remove_victims(cluster: &mut Cluster, result: &Value, decision: &Decision) -> Option<String> {
    let Decision::Unschedulable { preemption, .. } = decision else {
        return None;
    };
    let candidate = choose(cluster, result, "node", preemption.best()?)?;
    if !candidate.victims.iter().all(|victim| cluster.pods[*victim].is_removed_at_once) {
        return None;
    }
    candidate.victims.iter().for_each(|victim| cluster.remove_pod(candidate.node, *victim));
    Some(cluster.nodes[candidate.node].name.clone())
}

/// Returns the candidate on the recorded node, or the first one.
fn choose<'a>(cluster: &Cluster, result: &Value, key: &str, best: &'a [Candidate]) -> Option<&'a Candidate> {
    let recorded = best.iter().find(|c| cluster.nodes[c.node].name == text(result, key));
    recorded.or(best.first())
}

fn compare_decision(cluster: &Cluster, name: &str, result: &Value, decision: &Decision, found: &mut Differences) {
    let outcome = match decision {
        Decision::Scheduled(_) => "Scheduled",
        Decision::Unschedulable { .. } => "Unschedulable",
    };
    found.compare(&format!("{name}.outcome"), result["outcome"].clone(), json!(outcome));
    match decision {
        Decision::Scheduled(scored) => compare_scores(cluster, name, result, scored, found),
        Decision::Unschedulable { message, preemption, .. } => {
            found.compare(&format!("{name}.message"), result["message"].clone(), json!(message));
            compare_preemption(cluster, name, result, preemption, found);
        }
    }
}

/// Compares the scored nodes, the score of each plugin on each node, and the totals. The chosen node must have the
/// highest total.
fn compare_scores(cluster: &Cluster, name: &str, result: &Value, scored: &ScoredNodes, found: &mut Differences) {
    let node_name = |node: usize| cluster.nodes[node].name.as_str();
    if scored.nodes.len() > 1 || !result["scores"].is_null() {
        let (mut scores, mut totals) = (BTreeMap::new(), BTreeMap::new());
        for (at, (node, total)) in scored.nodes.iter().zip(scored.totals()).enumerate() {
            let of_node = scored.scores.iter().map(|(plugin, scores)| (plugin.name(), scores[at]));
            scores.insert(node_name(*node), of_node.collect::<BTreeMap<&str, i64>>());
            totals.insert(node_name(*node), total);
        }
        found.compare(&format!("{name}.total"), result["total"].clone(), json!(totals));
        let nodes = pairs(&result["scores"]).map(|(node, _)| node.as_str()).chain(scores.keys().copied());
        for node in nodes.collect::<BTreeSet<&str>>() {
            let simulated = scores.get(node).map_or(Value::Null, |scores| json!(scores));
            found.compare(&format!("{name}.scores.{node}"), result["scores"][node].clone(), simulated);
        }
    }
    let best: Vec<&str> = scored.best().into_iter().map(node_name).collect();
    if !best.contains(&text(result, "node")) {
        found.compare(&format!("{name}.node"), result["node"].clone(), json!(best));
    }
}

/// Compares the nominated node and the victims with the candidate on that node. Pods that were already terminating
/// are no recorded victims.
fn compare_preemption(cluster: &Cluster, name: &str, result: &Value, preemption: &Preemption, found: &mut Differences) {
    let chosen = preemption.best().and_then(|best| choose(cluster, result, "nominated", best));
    let nominated = chosen.map(|c| cluster.nodes[c.node].name.as_str());
    found.compare(&format!("{name}.nominated"), result["nominated"].clone(), json!(nominated));
    let victims = chosen.iter().flat_map(|c| &c.victims).map(|row| &cluster.pods[*row]);
    let victims = victims.filter(|pod| !pod.is_terminating).map(|pod| format!("{}/{}", pod.namespace, pod.name));
    let recorded = list(result, "victims").iter().map(|victim| text(victim, "pod").to_owned());
    let (recorded, victims): (BTreeSet<String>, BTreeSet<String>) = (recorded.collect(), victims.collect());
    found.compare(&format!("{name}.victims"), json!(recorded), json!(victims));
}
