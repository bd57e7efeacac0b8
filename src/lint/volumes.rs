//! Traps of volumeClaimPolicies: claims that cannot be created, mounted or reused.

use super::job_template::claims;
use super::lint_subject::{LintSubject, ReplicatedJobText, list, place, text};
use super::trap::{LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};
use sim_api::spec::PodReplacementPolicy;
use sim_inputs::text::node::YamlNode;

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "claim-name-dot",
        severity: TrapSeverity::Error,
        rules: &["VAL-15", "PVC-1", "C-16"],
        title: "the name of a claim template contains a dot",
        consequence: "A PersistentVolumeClaim name may contain a dot, but a volume name may not. The claim is created, and the API server rejects the Job on every attempt (JobCreationFailed).",
        fix: "Use only letters, digits and dashes in the name.",
        check: TrapCheck::JobSet(name_dot),
    },
    LintTrap {
        name: "claim-incomplete",
        severity: TrapSeverity::Error,
        rules: &["PVC-1"],
        title: "a claim template has no access modes or no storage request",
        consequence: "The API server rejects the claim on every attempt (PVCCreationFailed), and no Job is created.",
        fix: "Set spec.accessModes and spec.resources.requests.storage.",
        check: TrapCheck::JobSet(incomplete),
    },
    LintTrap {
        name: "claim-not-reusable",
        severity: TrapSeverity::Warning,
        rules: &["C-69", "D-12", "VAL-19"],
        title: "a retained claim cannot be reused",
        consequence: "The API server sets volumeMode and storageClassName of the stored claim. When a JobSet of the same name is created later, it is rejected: spec does not match existing PVC.",
        fix: "Set volumeMode: Filesystem and storageClassName explicitly, and volumeName once the claim is bound.",
        check: TrapCheck::JobSet(not_reusable),
    },
    LintTrap {
        name: "claim-single-node",
        severity: TrapSeverity::Warning,
        rules: &["PVC-1"],
        title: "pods on several nodes share a claim for a single node",
        consequence: "A claim is created per JobSet, not per pod. ReadWriteOnce allows the pods of one node to use it, and ReadWriteOncePod allows one pod. The other pods stay in ContainerCreating or Pending.",
        fix: "Use ReadWriteMany or ReadOnlyMany with a storage class that supports it.",
        check: TrapCheck::JobSet(single_node),
    },
    LintTrap {
        name: "two-pods-of-one-index",
        severity: TrapSeverity::Warning,
        rules: &["FP-20", "API-5"],
        title: "a replacement pod may write to a claim while the old pod is terminating",
        consequence: "With the default podReplacementPolicy the replacement of a deleted or evicted pod starts while the old pod is terminating. Two pods of the same index use the volume at the same time.",
        fix: "Set podReplacementPolicy to Failed, or backoffLimit to 0.",
        check: TrapCheck::JobSet(two_pods),
    },
];

/// Returns the claim templates, each with whether its claims are retained.
fn templates<'a>(s: &LintSubject<'a>) -> Vec<(&'a YamlNode, bool)> {
    let mut result = Vec::new();
    for policy in list(s.spec_node(), "volumeClaimPolicies") {
        let when = policy.at_path(&["retentionPolicy", "whenDeleted"]);
        let retained = when.and_then(YamlNode::as_str) == Some("Retain");
        result.extend(list(policy, "templates").iter().map(|t| (t, retained)));
    }
    result
}

fn name(template: &YamlNode) -> &str {
    let node = template.at_path(&["metadata", "name"]);
    node.and_then(YamlNode::as_str).unwrap_or("")
}

fn name_dot(s: &LintSubject) -> Vec<TrapHit> {
    let dotted = templates(s).into_iter().filter(|(t, _)| name(t).contains('.'));
    let one = |(t, _): (&YamlNode, bool)| {
        let at = t.at_path(&["metadata", "name"]).map_or(t.at, |n| n.at);
        hit(at, format!("claim template {:?}", name(t)))
    };
    dotted.map(one).collect()
}

fn incomplete(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s) {
        let spec = template.get("spec").unwrap_or(template);
        let modes = !list(spec, "accessModes").is_empty();
        let storage = spec.at_path(&["resources", "requests", "storage"]).is_some();
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

fn not_reusable(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s).into_iter().filter(|(_, retained)| *retained) {
        let spec = template.get("spec").unwrap_or(template);
        let lacks: Vec<&str> =
            ["volumeMode", "storageClassName"].into_iter().filter(|key| spec.get(key).is_none()).collect();
        if !lacks.is_empty() {
            let detail = format!("claim template {:?} has no {}", name(template), lacks.join(" and no "));
            hits.push(hit(place(template, "spec"), detail));
        }
    }
    hits
}

/// Returns whether pods of a replicatedJob mount the claim of this template.
fn mounts(rj: &ReplicatedJobText, claim: &str) -> bool {
    let mut all = rj.containers().flat_map(|c| list(c, "volumeMounts"));
    all.any(|m| text(m, "name") == Some(claim))
}

fn single_node(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for (template, _) in templates(s) {
        let spec = template.get("spec").unwrap_or(template);
        let modes: Vec<&str> = list(spec, "accessModes").iter().filter_map(YamlNode::as_str).collect();
        let single = |m: &&str| matches!(*m, "ReadWriteOnce" | "ReadWriteOncePod");
        let rjs = s.rjs();
        let user = rjs.iter().find(|rj| rj.pods() > 1 && mounts(rj, name(template)));
        if let Some(rj) = user.filter(|_| !modes.is_empty() && modes.iter().all(single)) {
            let detail = format!(
                "claim template {:?} has access mode {}, and replicatedJob {:?} has {} pods",
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

fn two_pods(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in s.rjs() {
        let template = rj.template();
        let unset = rj.job.get("podReplacementPolicy").is_none();
        let overlaps = template.pod_replacement_policy() == PodReplacementPolicy::TerminatingOrFailed;
        let policy_claim = templates(s).into_iter().find(|(t, _)| mounts(&rj, name(t)));
        let claim = policy_claim.map(|(t, _)| name(t)).or(claims(&rj).first().copied());
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
