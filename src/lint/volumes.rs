//! Traps of volumeClaimPolicies: claims that cannot be created, mounted or reused.

use super::job_template::claims;
use super::subject::{Rj, Subject, list, place, text};
use super::trap::{Check, Hit, Severity, Trap, hit};
use sim_api::spec::PodReplacementPolicy;
use sim_inputs::text::node::Node;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "claim-name-dot",
        severity: Severity::Error,
        rules: &["VAL-15", "PVC-1", "C-16"],
        title: "a claim template's name has a dot",
        consequence: "A claim may have such a name, a volume may not: the claim is created, the Job is refused for ever (JobCreationFailed).",
        fix: "Use letters, digits and dashes.",
        check: Check::JobSet(name_dot),
    },
    Trap {
        name: "claim-incomplete",
        severity: Severity::Error,
        rules: &["PVC-1"],
        title: "a claim template without access modes or storage request",
        consequence: "The claim is refused for ever (PVCCreationFailed), and no Job is created.",
        fix: "Give spec.accessModes and spec.resources.requests.storage.",
        check: Check::JobSet(incomplete),
    },
    Trap {
        name: "claim-not-reusable",
        severity: Severity::Warning,
        rules: &["C-69", "D-12", "VAL-19"],
        title: "a retained claim cannot be used again",
        consequence: "The API server completes the stored claim with volumeMode and storageClassName. A second JobSet of this name is then refused: spec does not match existing PVC.",
        fix: "Write volumeMode: Filesystem and storageClassName out, and volumeName once the claim is bound.",
        check: Check::JobSet(not_reusable),
    },
    Trap {
        name: "claim-single-node",
        severity: Severity::Warning,
        rules: &["PVC-1"],
        title: "pods of several nodes share a claim for one node",
        consequence: "There is one claim per JobSet, not per pod. ReadWriteOnce lets the pods of one node use it, ReadWriteOncePod one pod; the others wait in ContainerCreating or stay Pending.",
        fix: "Use ReadWriteMany or ReadOnlyMany with a storage class that has it.",
        check: Check::JobSet(single_node),
    },
    Trap {
        name: "two-pods-of-one-index",
        severity: Severity::Warning,
        rules: &["FP-20", "API-5"],
        title: "a replacement may write to a claim while the old pod still ends",
        consequence: "With the default podReplacementPolicy the replacement of a deleted or evicted pod starts while the old one terminates: two pods of one index use the volume at the same time.",
        fix: "Set podReplacementPolicy: Failed, or backoffLimit: 0.",
        check: Check::JobSet(two_pods),
    },
];

/// Returns the claim templates, each with whether its claims are retained.
fn templates<'a>(s: &Subject<'a>) -> Vec<(&'a Node, bool)> {
    let mut found = Vec::new();
    for policy in list(s.spec_node(), "volumeClaimPolicies") {
        let when = policy.at_path(&["retentionPolicy", "whenDeleted"]);
        let retained = when.and_then(Node::as_str) == Some("Retain");
        found.extend(list(policy, "templates").iter().map(|t| (t, retained)));
    }
    found
}

fn name(template: &Node) -> &str {
    let node = template.at_path(&["metadata", "name"]);
    node.and_then(Node::as_str).unwrap_or("")
}

fn name_dot(s: &Subject) -> Vec<Hit> {
    let dotted = templates(s)
        .into_iter()
        .filter(|(t, _)| name(t).contains('.'));
    let one = |(t, _): (&Node, bool)| {
        let at = t.at_path(&["metadata", "name"]).map_or(t.at, |n| n.at);
        hit(at, format!("claim template {:?}", name(t)))
    };
    dotted.map(one).collect()
}

fn incomplete(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s) {
        let spec = template.get("spec").unwrap_or(template);
        let modes = !list(spec, "accessModes").is_empty();
        let storage = spec
            .at_path(&["resources", "requests", "storage"])
            .is_some();
        let lacks = match (modes, storage) {
            (true, true) => continue,
            (false, true) => "accessModes",
            (true, false) => "resources.requests.storage",
            (false, false) => "accessModes and resources.requests.storage",
        };
        let detail = format!("claim template {:?} has no {lacks}", name(template));
        hits.push(hit(place(template, "spec"), detail));
    }
    hits
}

fn not_reusable(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s).into_iter().filter(|(_, retained)| *retained) {
        let spec = template.get("spec").unwrap_or(template);
        let lacks: Vec<&str> = ["volumeMode", "storageClassName"]
            .into_iter()
            .filter(|key| spec.get(key).is_none())
            .collect();
        if !lacks.is_empty() {
            let detail = format!(
                "claim template {:?} has no {}",
                name(template),
                lacks.join(" and no ")
            );
            hits.push(hit(place(template, "spec"), detail));
        }
    }
    hits
}

/// Returns whether pods of a replicatedJob mount the claim of this template.
fn mounts(rj: &Rj, claim: &str) -> bool {
    let mut all = rj.containers().flat_map(|c| list(c, "volumeMounts"));
    all.any(|m| text(m, "name") == Some(claim))
}

fn single_node(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s) {
        let spec = template.get("spec").unwrap_or(template);
        let modes: Vec<&str> = list(spec, "accessModes")
            .iter()
            .filter_map(Node::as_str)
            .collect();
        let single = |m: &&str| matches!(*m, "ReadWriteOnce" | "ReadWriteOncePod");
        let rjs = s.rjs();
        let user = rjs
            .iter()
            .find(|rj| rj.pods() > 1 && mounts(rj, name(template)));
        if let Some(rj) = user.filter(|_| !modes.is_empty() && modes.iter().all(single)) {
            let detail = format!(
                "claim template {:?} is {}, replicatedJob {:?} has {} pods",
                name(template),
                modes.join(", "),
                rj.name(),
                rj.pods()
            );
            hits.push(hit(place(spec, "accessModes"), detail));
        }
    }
    hits
}

fn two_pods(s: &Subject) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let unset = rj.job.get("podReplacementPolicy").is_none();
        let overlaps =
            template.pod_replacement_policy() == PodReplacementPolicy::TerminatingOrFailed;
        let policy_claim = templates(s).into_iter().find(|(t, _)| mounts(&rj, name(t)));
        let claim = policy_claim
            .map(|(t, _)| name(t))
            .or(claims(&rj).first().copied());
        if let Some(claim) = claim
            && unset
            && overlaps
            && template.backoff_limit() > 0
            && rj.pods() > 0
        {
            let detail = format!("claim {claim:?} in replicatedJob {:?}", rj.name());
            hits.push(hit(rj.at("template"), detail));
        }
    }
    hits
}
