//! Traps of exclusive placement that can be detected without a cluster.

use super::subject::{Rj, Subject, annotation_at, template_annotation_at, text};
use super::trap::{Check, Hit, HitsOf, Severity, Trap, hit};
use sim_api::spec::{CompletionMode, EXCLUSIVE_TOPOLOGY, NODE_SELECTOR_STRATEGY};
use sim_inputs::text::node::Pos;
use sim_policy::placement::NodeChoice;
use std::collections::BTreeSet;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "exclusive-non-indexed",
        severity: Severity::Error,
        rules: &["EXC-27", "C-61"],
        title: "exclusive placement of NonIndexed Jobs",
        consequence: "Pods without completion index are all followers, and a follower is refused until its leader, index 0, has a node: no pod is ever created.",
        fix: "Use completionMode: Indexed (JobSet's default).",
        check: Check::JobSet(non_indexed),
    },
    Trap {
        name: "exclusive-leader-ends-first",
        severity: Severity::Warning,
        rules: &["EXC-26", "C-62"],
        title: "exclusive placement with retries of single pods",
        consequence: "When the leader (index 0) has ended and a follower is retried, there is no leader to follow: the new pod is refused for ever and the Job hangs.",
        fix: "Set backoffLimit: 0, so that a failure restarts the whole Job, or let index 0 end last.",
        check: Check::JobSet(leader_ends_first),
    },
    Trap {
        name: "exclusive-key-malformed",
        severity: Severity::Error,
        rules: &["API-30", "EXC-7"],
        title: "the exclusive-topology key cannot be a node label",
        consequence: "The webhook writes it as topologyKey into every leader, and the API server refuses the pod. The Job exists without pods; the JobSet shows nothing.",
        fix: "Give a label key that your nodes carry, such as cloud.google.com/gke-nodepool.",
        check: Check::JobSet(key_malformed),
    },
    Trap {
        name: "exclusive-mixed-keys",
        severity: Severity::Warning,
        rules: &["C-66", "EXC-1", "EXC-17"],
        title: "replicatedJobs with different exclusive-topology keys",
        consequence: "Repulsion is symmetric: a Job with the coarser key keeps all others of its priority out of its whole domain, so Jobs with the finer key stay Pending beside free domains.",
        fix: "Use one key for all, or keep the replicatedJobs apart with nodeSelectors.",
        check: Check::JobSet(mixed_keys),
    },
    Trap {
        name: "exclusive-mixed-levels",
        severity: Severity::Warning,
        rules: &["EXC-2", "C-67"],
        title: "exclusive-topology and node-selector at different levels",
        consequence: "The two belong together. JobSet-level exclusive-topology with a node-selector on a replicatedJob applies both strategies at once; the other way round node-selector is ignored.",
        fix: "Put both annotations on the JobSet, or both on the replicatedJob's template.metadata.",
        check: Check::JobSet(mixed_levels),
    },
    Trap {
        name: "node-selector-alone",
        severity: Severity::Warning,
        rules: &["API-31", "EXC-2"],
        title: "node-selector without exclusive-topology",
        consequence: "It has no effect and is not even copied to the Jobs.",
        fix: "Add alpha.jobset.sigs.k8s.io/exclusive-topology beside it, or remove it.",
        check: Check::JobSet(selector_alone),
    },
    Trap {
        name: "node-selector-strategy",
        severity: Severity::Warning,
        rules: &["EXC-2", "EXC-16", "C-67"],
        title: "the node-selector strategy of exclusive placement",
        consequence: "Every node has to be labelled and tainted for its Job beforehand, otherwise all pods stay Pending. The manager takes each leader event for a violation: constant errors in its log, and with the right to write pods/status it deletes all followers.",
        fix: "Leave the node-selector annotation out. If you need it, never grant the manager pods/status.",
        check: Check::JobSet(selector_strategy),
    },
    Trap {
        name: "node-selector-value-long",
        severity: Severity::Error,
        rules: &["C-68", "JOB-1"],
        title: "<namespace>_<job> is too long for a label value",
        consequence: "The node-selector strategy writes it as a nodeSelector value, of 63 characters at most. Admission does not look; the Job is refused for ever (JobCreationFailed).",
        fix: "Shorten the namespace, the JobSet's or the replicatedJob's name.",
        check: Check::JobSet(selector_value_long),
    },
    Trap {
        name: "exclusive-on-pod-template",
        severity: Severity::Warning,
        rules: &["EXC-1", "API-30"],
        title: "exclusive-topology on the pod template",
        consequence: "The webhook looks at pods, so it takes effect, but the Job does not carry it and the JobSet-level value still overwrites it: half of the machinery is on.",
        fix: "Put the annotation on the JobSet or on the replicatedJob's template.metadata.",
        check: Check::JobSet(on_pod_template),
    },
    Trap {
        name: "exclusive-neighbors",
        severity: Severity::Warning,
        rules: &["EXC-17", "C-64", "C-66"],
        title: "pods without exclusive placement may take the domains",
        consequence: "A pod of any JobSet with the same priority, exclusive or not, keeps exclusive leaders out of its domain. If the scheduler puts one there first, a Job waits beside free nodes.",
        fix: "Keep them apart with a nodeSelector, or give the others another priority.",
        check: Check::Together(neighbors),
    },
    Trap {
        name: "exclusive-priorities",
        severity: Severity::Warning,
        rules: &["EXC-18", "C-63"],
        title: "exclusive placement with different priorities",
        consequence: "Repulsion holds only among equal priorities: Jobs of the two share a domain, or the higher one preempts the other in it.",
        fix: "Give all JobSets that use the same topology key the same priority.",
        check: Check::Together(priorities),
    },
];

const LABEL_VALUE_MAX: usize = 63;

fn of(rj: &Rj) -> String {
    format!("replicatedJob {:?}", rj.name())
}

/// Returns the position of the exclusive-topology key that applies to this replicatedJob.
pub fn key_at(s: &Subject, rj: &Rj) -> Pos {
    let own = rj.node.get("template");
    own.and_then(|t| annotation_at(t, EXCLUSIVE_TOPOLOGY))
        .unwrap_or_else(|| s.annotation_at(EXCLUSIVE_TOPOLOGY))
}

fn non_indexed(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let plain = rj.template().completion_mode == CompletionMode::NonIndexed;
        if plain && rj.pods() > 0 && s.webhook_key(&rj).is_some() {
            hits.push(hit(rj.job_at("completionMode"), of(&rj)));
        }
    }
    hits
}

fn leader_ends_first(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let limit = rj.template().backoff_limit();
        let indexed = rj.template().completion_mode == CompletionMode::Indexed;
        let many = rj.template().pods() > 1 && rj.spec.replicas > 0;
        if limit > 0 && indexed && many && s.webhook_key(&rj).is_some() {
            let detail = format!("backoffLimit is {limit} in {}", of(&rj));
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

fn key_malformed(s: &Subject) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for rj in s.rjs() {
        if let Some(key) = s.webhook_key(&rj).filter(|k| !is_label_key(k)) {
            let found = hit(key_at(s, &rj), format!("the key is {key:?}"));
            if !hits.contains(&found) {
                hits.push(found);
            }
        }
    }
    hits
}

/// Returns the requested extended resources, which determine the kind of node that the pods run on.
fn devices(rj: &Rj) -> BTreeSet<String> {
    let requests = rj.pod_spec().requests();
    requests.into_keys().filter(|r| r.contains('/')).collect()
}

/// Returns whether pods of both can run on the same node, judging by node selection, devices and tolerations.
fn may_meet(a: &Rj, b: &Rj) -> bool {
    let keys = |rj: &Rj| {
        let tolerations = &rj.pod_spec().tolerations;
        tolerations
            .iter()
            .map(|t| (t.key.clone(), t.value.clone()))
            .collect::<BTreeSet<_>>()
    };
    let choice = |rj: &Rj| NodeChoice::of(rj.pod_spec());
    !choice(a).is_apart_from(&choice(b)) && devices(a) == devices(b) && keys(a) == keys(b)
}

fn mixed_keys(s: &Subject) -> Vec<Hit> {
    let rjs = s.rjs();
    let mut hits = Vec::new();
    let exclusive: Vec<(&Rj, &str)> = rjs
        .iter()
        .filter(|rj| rj.pods() > 0)
        .filter_map(|rj| Some((rj, s.webhook_key(rj)?)))
        .collect();
    for (i, (rj, key)) in exclusive.iter().enumerate() {
        let other = exclusive[..i]
            .iter()
            .find(|(o, k)| k != key && may_meet(o, rj));
        if let Some((other, first)) = other {
            let detail = format!("{:?} has {first}, {:?} has {key}", other.name(), rj.name());
            hits.push(hit(key_at(s, rj), detail));
        }
    }
    hits
}

fn mixed_levels(s: &Subject) -> Vec<Hit> {
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
            let detail = format!("node-selector is on {}, exclusive-topology is not", of(&rj));
            hits.push(hit(at.unwrap_or(rj.at("template")), detail));
        } else if top.contains_key(NODE_SELECTOR_STRATEGY) {
            let detail = format!("exclusive-topology is on {}, node-selector is not", of(&rj));
            hits.push(hit(key_at(s, &rj), detail));
        }
    }
    hits
}

fn selector_alone(s: &Subject) -> Vec<Hit> {
    let rjs = s.rjs();
    let top = &s.jobset.annotations;
    let top_key = top.contains_key(EXCLUSIVE_TOPOLOGY);
    let any_key = top_key
        || rjs
            .iter()
            .any(|rj| rj.spec.annotations.contains_key(EXCLUSIVE_TOPOLOGY));
    let mut hits = Vec::new();
    if top.contains_key(NODE_SELECTOR_STRATEGY) && !any_key {
        hits.push(hit(
            s.annotation_at(NODE_SELECTOR_STRATEGY),
            "on the JobSet",
        ));
    }
    for rj in &rjs {
        let own = &rj.spec.annotations;
        if own.contains_key(NODE_SELECTOR_STRATEGY)
            && !own.contains_key(EXCLUSIVE_TOPOLOGY)
            && !top_key
        {
            let at = template_annotation_at(rj, NODE_SELECTOR_STRATEGY);
            hits.push(hit(
                at.unwrap_or(rj.at("template")),
                format!("on {}", of(rj)),
            ));
        }
    }
    hits
}

fn selector_strategy(s: &Subject) -> Vec<Hit> {
    let used = |rj: &Rj| rj.pods() > 0 && s.jobset.uses_node_selector_strategy(rj.spec);
    let Some(rj) = s.rjs().into_iter().find(used) else {
        return Vec::new();
    };
    let at = template_annotation_at(&rj, NODE_SELECTOR_STRATEGY)
        .unwrap_or_else(|| s.annotation_at(NODE_SELECTOR_STRATEGY));
    vec![hit(at, of(&rj))]
}

pub fn selector_value_long(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        if !s.jobset.selects_labelled_nodes(rj.spec) || rj.spec.replicas == 0 {
            continue;
        }
        let last = rj.spec.replicas - 1;
        let value = format!(
            "{}_{}-{}-{last}",
            s.jobset.namespace,
            s.jobset.name,
            rj.name()
        );
        if value.len() > LABEL_VALUE_MAX {
            let detail = format!("{}: {value:?} has {} characters", of(&rj), value.len());
            hits.push(hit(s.metadata_at("name"), detail));
        }
    }
    hits
}

fn on_pod_template(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let pod = rj
            .job
            .get("template")
            .and_then(|t| annotation_at(t, EXCLUSIVE_TOPOLOGY));
        let live = s.jobset.exclusive_key(rj.spec).is_some();
        if let Some(at) = pod.filter(|_| !live) {
            hits.push(hit(at, of(&rj)));
        }
    }
    hits
}

/// Returns the priority and the priority class name as written in the manifest.
fn priority<'a>(rj: &Rj<'a>) -> (i32, Option<&'a str>) {
    (rj.pod_spec().priority, text(rj.pod, "priorityClassName"))
}

fn neighbors(all: &[Subject]) -> HitsOf {
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
                let detail = format!("{} may meet pods of {other}", of(rj));
                hits.push((i, hit(key_at(s, rj), detail)));
            }
        }
    }
    hits
}

/// Topology key, priority, replicatedJob and the name of its JobSet.
type Placed<'a> = (&'a str, (i32, Option<&'a str>), Rj<'a>, &'a str);

fn priorities(all: &[Subject]) -> HitsOf {
    let mut hits = Vec::new();
    let mut seen: Vec<Placed> = Vec::new();
    for (i, s) in all.iter().enumerate() {
        for rj in s.rjs() {
            let Some(key) = s.webhook_key(&rj).filter(|_| rj.pods() > 0) else {
                continue;
            };
            let own = priority(&rj);
            let other = seen
                .iter()
                .find(|(k, p, o, _)| *k == key && *p != own && may_meet(o, &rj));
            if let Some((_, _, o, jobset)) = other {
                let detail = format!("{} and {:?} of JobSet {jobset:?}", of(&rj), o.name());
                hits.push((i, hit(key_at(s, &rj), detail)));
            }
            seen.push((key, own, rj, &s.jobset.name));
        }
    }
    hits
}
