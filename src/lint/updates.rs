//! Traps of updates: changes that admission accepts although they break a running JobSet.

use super::lint_subject::{LintSubject, ReplicatedJobText, TextChange};
use super::trap::{TrapCheck, TrapHit, hit};
use serde_json::Value;
use sim_api::spec::{EXCLUSIVE_TOPOLOGY, RestartStrategy};
use sim_inputs::text::locate::locate;

pub const CHECKS: &[(&str, TrapCheck)] = &[
    ("update-removes-success-policy", TrapCheck::Update(success_policy)),
    ("update-removes-network", TrapCheck::Update(network)),
    ("update-removes-startup-policy", TrapCheck::Update(startup_policy)),
    ("update-removes-failure-policy", TrapCheck::Update(failure_policy)),
    ("update-unvalidated", TrapCheck::Update(unvalidated)),
    ("update-adds-claims", TrapCheck::Update(adds_claims)),
    ("update-late-effect", TrapCheck::Update(late_effect)),
    ("update-removal-ignored", TrapCheck::Update(removal_ignored)),
    ("update-elastic-in-place", TrapCheck::Update(elastic_in_place)),
    ("update-elastic-unset", TrapCheck::Update(elastic_unset)),
    ("update-suspends-in-place", TrapCheck::Update(suspends_in_place)),
];

fn removed(c: &TextChange, key: &str) -> bool {
    !c.before["spec"][key].is_null() && c.after["spec"][key].is_null()
}

fn when(found: bool, c: &TextChange, keys: &[&str], detail: &str) -> Vec<TrapHit> {
    if found { vec![hit(c.new.at(keys), detail)] } else { Vec::new() }
}

fn success_policy(c: &TextChange) -> Vec<TrapHit> {
    let detail = "the stored object has this field, but the new object does not";
    when(removed(c, "successPolicy"), c, &["successPolicy"], detail)
}

fn network(c: &TextChange) -> Vec<TrapHit> {
    let on = c.before["spec"]["network"]["enableDNSHostnames"] == Value::Bool(true);
    let detail = "DNS host names are enabled in the stored object";
    when(on && removed(c, "network"), c, &["network"], detail)
}

fn startup_policy(c: &TextChange) -> Vec<TrapHit> {
    let in_order = c.before["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    let detail = "the stored object has startupPolicyOrder InOrder";
    when(in_order && removed(c, "startupPolicy"), c, &["startupPolicy"], detail)
}

fn failure_policy(c: &TextChange) -> Vec<TrapHit> {
    let detail = "the stored object has this field, but the new object does not";
    when(removed(c, "failurePolicy"), c, &["failurePolicy"], detail)
}

fn unvalidated(c: &TextChange) -> Vec<TrapHit> {
    let Some(refused) = c.creation_refused else {
        return Vec::new();
    };
    let mut errors = refused.errors.iter();
    let place = errors.find_map(|e| locate(c.new.node, e.object_path()));
    vec![hit(
        place.map_or(c.new.spec_node().at, |p| p.key),
        format!("message of the API server on creation: {}", refused.message),
    )]
}

fn adds_claims(c: &TextChange) -> Vec<TrapHit> {
    let policies = &c.after["spec"]["volumeClaimPolicies"];
    let bare = policies.as_array().is_some_and(|p| p.iter().any(|p| p["retentionPolicy"].is_null()));
    let new = c.before["spec"]["volumeClaimPolicies"].is_null();
    when(bare && new, c, &["volumeClaimPolicies"], "no retentionPolicy")
}

fn late_effect(c: &TextChange) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    if c.before["spec"]["coordinator"] != c.after["spec"]["coordinator"] {
        hits.push(hit(c.new.at(&["coordinator"]), "the coordinator changes"));
    }
    for key in [EXCLUSIVE_TOPOLOGY, sim_api::spec::NODE_SELECTOR_STRATEGY] {
        let value = |o: &Value| o["metadata"]["annotations"][key].clone();
        if value(c.before) != value(c.after) {
            hits.push(hit(c.new.annotation_at(key), format!("{key} changes")));
        }
    }
    hits
}

/// Returns the keys of the pod template that the old object has and the new object does not have.
fn lost_keys(before: &Value, after: &Value) -> Vec<String> {
    const MAPS: [&[&str]; 3] = [&["metadata", "labels"], &["metadata", "annotations"], &["spec", "nodeSelector"]];
    let mut lost = Vec::new();
    for path in MAPS {
        let at = |template: &Value| path.iter().fold(template.clone(), |v, key| v[*key].clone());
        let (old, new) = (at(before), at(after));
        let keys = old.as_object().into_iter().flat_map(|o| o.keys());
        lost.extend(keys.filter(|k| new[k.as_str()].is_null()).map(|k| format!("{} {k}", path[1])));
    }
    for list in ["tolerations", "schedulingGates"] {
        let items = |t: &Value| t["spec"][list].as_array().cloned().unwrap_or_default();
        let new = items(after);
        if items(before).iter().any(|item| !new.contains(item)) {
            lost.push(list.to_owned());
        }
    }
    lost
}

fn removal_ignored(c: &TextChange) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in c.new.rjs() {
        let template = |o: &Value| o["spec"]["replicatedJobs"][rj.index]["template"]["spec"]["template"].clone();
        let lost = lost_keys(&template(c.before), &template(c.after));
        if !lost.is_empty() {
            let detail = format!("{} of replicatedJob {:?}", lost.join(", "), rj.name());
            hits.push(hit(rj.job_at("template"), detail));
        }
    }
    hits
}

fn in_place(s: &LintSubject) -> bool {
    s.jobset.spec.strategy() == RestartStrategy::InPlaceRestart
}

/// Returns (parallelism, completions) of a replicatedJob.
fn size(object: &Value, rj: &ReplicatedJobText) -> (Option<i64>, Option<i64>) {
    let job = &object["spec"]["replicatedJobs"][rj.index]["template"]["spec"];
    (job["parallelism"].as_i64(), job["completions"].as_i64())
}

fn elastic_in_place(c: &TextChange) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in c.new.rjs().iter().filter(|_| in_place(c.new)) {
        let (old, new) = (size(c.before, rj), size(c.after, rj));
        if let (Some(from), Some(to)) = (old.0, new.0)
            && to > from
        {
            let detail = format!("{from} to {to} pods in replicatedJob {:?}", rj.name());
            hits.push(hit(rj.job_at("parallelism"), detail));
        }
    }
    hits
}

fn elastic_unset(c: &TextChange) -> Vec<TrapHit> {
    let mut hits = Vec::new();
    for rj in c.new.rjs() {
        let (old, new) = (size(c.before, &rj), size(c.after, &rj));
        let lost = (old.0.is_some() && new.0.is_none()) || (old.1.is_some() && new.1.is_none());
        if lost {
            hits.push(hit(rj.at("template"), format!("replicatedJob {:?}", rj.name())));
        }
    }
    hits
}

fn suspends_in_place(c: &TextChange) -> Vec<TrapHit> {
    let now = c.new.jobset.spec.suspend && !c.old.jobset.spec.suspend;
    when(now && in_place(c.new), c, &["suspend"], "suspend becomes true")
}
