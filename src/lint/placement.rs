//! Traps of exclusive placement that can be detected without a cluster.

use super::lint_subject::{LintSubject, ReplicatedJobText, annotation_at, template_annotation_at, text};
use super::trap::{JobSetHits, TrapCheck, TrapHit, hit};
use sim_api::spec::{CompletionMode, EXCLUSIVE_TOPOLOGY, NODE_SELECTOR_STRATEGY};
use sim_inputs::text::node::SourcePosition;
use sim_policy::placement::NodeChoice;
use std::collections::BTreeSet;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("exclusive-non-indexed", TrapCheck::JobSet(non_indexed)),
    ("exclusive-leader-ends-first", TrapCheck::JobSet(leader_ends_first)),
    ("exclusive-key-malformed", TrapCheck::JobSet(key_malformed)),
    ("exclusive-mixed-keys", TrapCheck::JobSet(mixed_keys)),
    ("exclusive-mixed-levels", TrapCheck::JobSet(mixed_levels)),
    ("node-selector-alone", TrapCheck::JobSet(selector_alone)),
    ("node-selector-strategy", TrapCheck::JobSet(selector_strategy)),
    ("node-selector-value-long", TrapCheck::JobSet(selector_value_long)),
    ("exclusive-on-pod-template", TrapCheck::JobSet(on_pod_template)),
    ("exclusive-neighbors", TrapCheck::Together(neighbors)),
    ("exclusive-priorities", TrapCheck::Together(priorities)),
];

const LABEL_VALUE_MAX: usize = 63;

fn name_text(rj: &ReplicatedJobText) -> String {
    format!("replicatedJob {:?}", rj.name())
}

/// Returns the position of the exclusive-topology key that applies to this replicatedJob.
pub fn key_at(s: &LintSubject, rj: &ReplicatedJobText) -> SourcePosition {
    let own = rj.node.get("template");
    own.and_then(|t| annotation_at(t, EXCLUSIVE_TOPOLOGY))
        .or_else(|| annotation_at(s.node, EXCLUSIVE_TOPOLOGY))
        .or_else(|| template_annotation_at(rj, EXCLUSIVE_TOPOLOGY))
        .unwrap_or(s.node.at)
}

fn non_indexed(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let plain = rj.template().completion_mode == CompletionMode::NonIndexed;
        if plain && rj.pods() > 0 && s.webhook_key(&rj).is_some() {
            hits.push(hit(rj.job_at("completionMode"), name_text(&rj)));
        }
    }
    hits
}

fn leader_ends_first(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let limit = rj.template().backoff_limit();
        let indexed = rj.template().completion_mode == CompletionMode::Indexed;
        let many = rj.template().pods() > 1 && rj.spec.replicas > 0;
        if limit > 0 && indexed && many && s.webhook_key(&rj).is_some() {
            let detail = format!("backoffLimit is {limit} in {}", name_text(&rj));
            hits.push(hit(rj.job_at("backoffLimit"), detail));
        }
    }
    hits
}

/// Returns whether the key is a valid label key: an optional DNS prefix, a slash, a name.
fn is_label_key(key: &str) -> bool {
    let name = |text: &str| {
        let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        text.len() <= LABEL_VALUE_MAX
            && ends(text.chars().next())
            && ends(text.chars().next_back())
            && text.chars().all(inner)
    };
    let prefix = |text: &str| {
        let part = |p: &str| {
            let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            p.starts_with(lower) && p.ends_with(lower) && p.chars().all(|c| lower(c) || c == '-')
        };
        text.len() <= 253 && text.split('.').all(part)
    };
    match key.split_once('/') {
        Some((before, after)) => prefix(before) && name(after),
        None => name(key),
    }
}

pub fn key_malformed(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits: Vec<TrapHit> = Vec::new();
    for rj in s.rjs() {
        if let Some(key) = s.webhook_key(&rj).filter(|k| !is_label_key(k)) {
            let result = hit(key_at(s, &rj), format!("the topology key is {key:?}"));
            if !hits.contains(&result) {
                hits.push(result);
            }
        }
    }
    hits
}

/// Returns the requested extended resources, which determine the kind of node that the pods run on.
fn devices(rj: &ReplicatedJobText) -> BTreeSet<String> {
    let requests = rj.pod_spec().requests();
    requests.into_iter().filter(|(name, milli)| name.contains('/') && *milli > 0).map(|(name, _)| name).collect()
}

/// Returns whether pods of both can run on the same node, judging by node selection, devices and tolerations.
fn may_meet(a: &ReplicatedJobText, b: &ReplicatedJobText) -> bool {
    let keys = |rj: &ReplicatedJobText| {
        let tolerations = &rj.pod_spec().tolerations;
        tolerations.iter().map(|t| (t.key.clone(), t.value.clone())).collect::<BTreeSet<_>>()
    };
    let choice = |rj: &ReplicatedJobText| NodeChoice::from_spec(rj.pod_spec());
    !choice(a).is_disjoint_from(&choice(b)) && devices(a) == devices(b) && keys(a) == keys(b)
}

fn mixed_keys(s: &LintSubject) -> Vec<TrapHit> {
    let rjs = s.rjs();
    let mut hits = Vec::new();
    let exclusive: Vec<(&ReplicatedJobText, &str)> =
        rjs.iter().filter(|rj| rj.pods() > 0).filter_map(|rj| Some((rj, s.webhook_key(rj)?))).collect();
    for (i, (rj, key)) in exclusive.iter().enumerate() {
        let other = exclusive[..i].iter().find(|(o, k)| k != key && may_meet(o, rj));
        if let Some((other, first)) = other {
            let detail = format!("{:?} has {first}, {:?} has {key}", other.name(), rj.name());
            hits.push(hit(key_at(s, rj), detail));
        }
    }
    hits
}

fn mixed_levels(s: &LintSubject) -> Vec<TrapHit> {
    let top = &s.jobset.annotations;
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let own = &rj.spec.annotations;
        let both = s.jobset.uses_node_selector_strategy(rj.spec);
        let key = top.contains_key(EXCLUSIVE_TOPOLOGY) || own.contains_key(EXCLUSIVE_TOPOLOGY);
        if both || !key {
            continue;
        }
        if own.contains_key(NODE_SELECTOR_STRATEGY) {
            let at = template_annotation_at(&rj, NODE_SELECTOR_STRATEGY);
            let detail = format!("node-selector is on {}, exclusive-topology is not", name_text(&rj));
            hits.push(hit(at.unwrap_or(rj.at("template")), detail));
        } else if top.contains_key(NODE_SELECTOR_STRATEGY) {
            let detail = format!("exclusive-topology is on {}, node-selector is not", name_text(&rj));
            hits.push(hit(key_at(s, &rj), detail));
        }
    }
    hits
}

fn selector_alone(s: &LintSubject) -> Vec<TrapHit> {
    let rjs = s.rjs();
    let top = &s.jobset.annotations;
    let top_key = top.contains_key(EXCLUSIVE_TOPOLOGY);
    let any_key = top_key || rjs.iter().any(|rj| rj.spec.annotations.contains_key(EXCLUSIVE_TOPOLOGY));
    let mut hits = Vec::new();
    if top.contains_key(NODE_SELECTOR_STRATEGY) && !any_key {
        hits.push(hit(s.annotation_at(NODE_SELECTOR_STRATEGY), "on the JobSet"));
    }
    for rj in &rjs {
        let own = &rj.spec.annotations;
        if own.contains_key(NODE_SELECTOR_STRATEGY) && !own.contains_key(EXCLUSIVE_TOPOLOGY) && !top_key {
            let at = template_annotation_at(rj, NODE_SELECTOR_STRATEGY);
            hits.push(hit(at.unwrap_or(rj.at("template")), format!("on {}", name_text(rj))));
        }
    }
    hits
}

fn selector_strategy(s: &LintSubject) -> Vec<TrapHit> {
    let used = |rj: &ReplicatedJobText| {
        let applies = s.jobset.has_exclusive_job(rj.spec) && s.jobset.uses_node_selector_strategy(rj.spec);
        rj.pods() > 0 && applies
    };
    let Some(rj) = s.rjs().into_iter().find(used) else {
        return Vec::new();
    };
    let at =
        template_annotation_at(&rj, NODE_SELECTOR_STRATEGY).unwrap_or_else(|| s.annotation_at(NODE_SELECTOR_STRATEGY));
    vec![hit(at, name_text(&rj))]
}

pub fn selector_value_long(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if !s.jobset.selects_labelled_nodes(rj.spec) || rj.spec.replicas == 0 {
            continue;
        }
        let last = rj.spec.replicas - 1;
        let value = format!("{}_{}-{}-{last}", s.jobset.namespace, s.jobset.name, rj.name());
        if value.len() > LABEL_VALUE_MAX {
            let detail = format!("{}: {value:?} has {} characters", name_text(&rj), value.len());
            hits.push(hit(s.metadata_at("name"), detail));
        }
    }
    hits
}

fn on_pod_template(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj.job.get("template").and_then(|t| annotation_at(t, EXCLUSIVE_TOPOLOGY));
        let live = s.jobset.has_exclusive_job(rj.spec);
        if let Some(at) = pod.filter(|_| !live) {
            hits.push(hit(at, name_text(&rj)));
        }
    }
    hits
}

/// Returns the priority and the priority class name as written in the manifest.
fn priority<'a>(rj: &ReplicatedJobText<'a>) -> (i32, Option<&'a str>) {
    (rj.pod_spec().priority, text(rj.pod, "priorityClassName"))
}

fn neighbors(all: &[LintSubject]) -> JobSetHits {
    let mut hits = Vec::new();
    for (i, s) in all.iter().enumerate() {
        for rj in s.rjs().iter().filter(|rj| rj.pods() > 0) {
            if s.webhook_key(rj).is_none() {
                continue;
            }
            // The manifest does not show whether the other Jobs finish earlier or start later, so all of them count.
            let met = all.iter().find_map(|o| {
                let rjs = o.rjs();
                let other = rjs.iter().find(|other| {
                    other.pods() > 0
                        && o.jobset.exclusive_key(other.spec).is_none()
                        && priority(other) == priority(rj)
                        && may_meet(other, rj)
                })?;
                Some(format!("{:?} of JobSet {:?}", other.name(), o.jobset.name))
            });
            if let Some(other) = met {
                let detail = format!("{} may meet pods of {other}", name_text(rj));
                hits.push((i, hit(key_at(s, rj), detail)));
            }
        }
    }
    hits
}

/// Topology key, priority, replicatedJob and the name of its JobSet.
type PlacedJob<'a> = (&'a str, (i32, Option<&'a str>), ReplicatedJobText<'a>, &'a str);

fn priorities(all: &[LintSubject]) -> JobSetHits {
    let mut hits = Vec::new();
    let mut seen: Vec<PlacedJob> = Vec::new();
    for (i, s) in all.iter().enumerate() {
        for rj in s.rjs() {
            let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0) else {
                continue;
            };
            let own = priority(&rj);
            let other = seen.iter().find(|(k, p, o, _)| *k == key && *p != own && may_meet(o, &rj));
            if let Some((_, _, o, jobset)) = other {
                let detail = format!("{} and {:?} of JobSet {jobset:?}", name_text(&rj), o.name());
                hits.push((i, hit(key_at(s, &rj), detail)));
            }
            seen.push((key, own, rj, &s.jobset.name));
        }
    }
    hits
}
