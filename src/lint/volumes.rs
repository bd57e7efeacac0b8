//! Traps of volumeClaimPolicies: claims that cannot be created, mounted or reused.

use super::job_template::claims;
use super::lint_subject::{LintSubject, ReplicatedJobText, list, place, text};
use super::trap::{TrapCheck, TrapHit, hit};
use sim_api::spec::PodReplacementPolicy;
use sim_inputs::text::node::YamlNode;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("claim-name-dot", TrapCheck::JobSet(name_dot)),
    ("claim-incomplete", TrapCheck::JobSet(incomplete)),
    ("claim-not-reusable", TrapCheck::JobSet(not_reusable)),
    ("claim-single-node", TrapCheck::JobSet(single_node)),
    ("two-pods-of-one-index", TrapCheck::JobSet(two_pods)),
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

/// Returns the access modes of a claim or of its template if all are for one node.
fn modes_of_one_node(claim: &YamlNode) -> Option<Vec<&str>> {
    let modes = list(claim.get("spec").unwrap_or(claim), "accessModes");
    let modes: Vec<&str> = modes.iter().filter_map(YamlNode::as_str).collect();
    let single = |m: &&str| matches!(*m, "ReadWriteOnce" | "ReadWriteOncePod");
    (!modes.is_empty() && modes.iter().all(single)).then_some(modes)
}

fn single_node(s: &LintSubject) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    let rjs = s.rjs();
    for claim in s.objects.iter().filter(|object| object.kind == "PersistentVolumeClaim") {
        let name = name(&claim.node);
        let user = rjs.iter().find(|rj| rj.pods() > 1 && claims(rj).contains(&name));
        if let Some((rj, modes)) = user.zip(modes_of_one_node(&claim.node)) {
            let (modes, pods) = (modes.join(", "), rj.pods());
            let detail =
                format!("claim {name:?} has access mode {modes}, and replicatedJob {:?} has {pods} pods", rj.name());
            hits.push(hit(rj.pod_at("volumes"), detail));
        }
    }
    for (template, _) in templates(s) {
        let spec = template.get("spec").unwrap_or(template);
        let user = rjs.iter().find(|rj| rj.pods() > 1 && mounts(rj, name(template)));
        if let Some((rj, modes)) = user.zip(modes_of_one_node(template)) {
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
