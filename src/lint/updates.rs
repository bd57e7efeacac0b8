//! Traps of updates: changes that admission accepts although they break a running JobSet.

use super::lint_subject::{LintSubject, ReplicatedJobText, TextChange};
use super::trap::{LintTrap, TrapCheck, TrapHit, TrapSeverity, hit};
use serde_json::Value;
use sim_api::spec::{EXCLUSIVE_TOPOLOGY, RestartStrategy};
use sim_inputs::text::locate::locate;

pub const TRAPS: &[LintTrap] = &[
    LintTrap {
        name: "update-removes-success-policy",
        severity: TrapSeverity::Error,
        rules: &["C-76", "UPD-5"],
        title: "the update removes successPolicy",
        consequence: "The default is not set again on update. As soon as the first Job has completed, every reconciliation of the manager panics: the status no longer changes, the JobSet never completes, and its TTL never expires.",
        fix: "Keep successPolicy: {operator: All} in the manifest.",
        check: TrapCheck::Update(success_policy),
    },
    LintTrap {
        name: "update-removes-network",
        severity: TrapSeverity::Error,
        rules: &["UPD-5", "SVC-1", "JOB-1"],
        title: "the update removes network",
        consequence: "DNS host names count as disabled. Jobs created afterwards, for example by a restart, have no subdomain, and their pods cannot resolve each other's names.",
        fix: "Keep network with enableDNSHostnames: true in the manifest.",
        check: TrapCheck::Update(network),
    },
    LintTrap {
        name: "update-removes-startup-policy",
        severity: TrapSeverity::Warning,
        rules: &["UPD-5", "SU-2"],
        title: "the update removes startupPolicy InOrder",
        consequence: "All missing Jobs are created at once. If the condition StartupPolicyInProgress is True, it stays True forever.",
        fix: "Keep startupPolicy in the manifest.",
        check: TrapCheck::Update(startup_policy),
    },
    LintTrap {
        name: "update-removes-failure-policy",
        severity: TrapSeverity::Warning,
        rules: &["UPD-5", "FP-1"],
        title: "the update removes failurePolicy",
        consequence: "The next failed Job fails the JobSet, because restarts are no longer allowed.",
        fix: "Keep failurePolicy in the manifest.",
        check: TrapCheck::Update(failure_policy),
    },
    LintTrap {
        name: "update-unvalidated",
        severity: TrapSeverity::Error,
        rules: &["UPD-5", "C-74", "ELA-1", "VAL-19"],
        title: "the update is accepted, but creating the same JobSet would be rejected",
        consequence: "The API server does not validate policies added by an update, a changed coordinator or elastic sizes. A wrong value has its effect later: the JobSet never completes, every reconciliation fails, or Jobs are rejected after a restart.",
        fix: "Correct the manifest so that the API server would also accept it for creation.",
        check: TrapCheck::Update(unvalidated),
    },
    LintTrap {
        name: "update-adds-claims",
        severity: TrapSeverity::Warning,
        rules: &["API-27", "PVC-1", "DEF-6"],
        title: "the update adds volumeClaimPolicies without retentionPolicy",
        consequence: "Defaults are set only at creation. The claims get no owner and are never deleted, and existing Jobs do not mount them.",
        fix: "Set retentionPolicy.whenDeleted explicitly.",
        check: TrapCheck::Update(adds_claims),
    },
    LintTrap {
        name: "update-late-effect",
        severity: TrapSeverity::Warning,
        rules: &["UPD-6", "C-74"],
        title: "the change affects only new Jobs",
        consequence: "The coordinator, exclusive-topology and node-selector are read when a Job is created. Existing Jobs keep the old value; Jobs created by a restart get the new value.",
        fix: "To change all Jobs, delete and recreate the JobSet.",
        check: TrapCheck::Update(late_effect),
    },
    LintTrap {
        name: "update-removal-ignored",
        severity: TrapSeverity::Warning,
        rules: &["SUS-5", "C-31"],
        title: "keys removed from a pod template remain in existing Jobs",
        consequence: "On resume the template is merged into the existing Jobs, and no key is removed. Node selectors, tolerations, labels and annotations of an earlier admission remain.",
        fix: "Set a new value instead of removing the key, or delete the Jobs while the JobSet is suspended.",
        check: TrapCheck::Update(removal_ignored),
    },
    LintTrap {
        name: "update-elastic-in-place",
        severity: TrapSeverity::Warning,
        rules: &["ELA-2", "IPR-5", "IPR-9"],
        title: "an elastic scale-up of an InPlaceRestart JobSet",
        consequence: "The new pods start at a higher attempt. All pods restart in place, and one unit of maxRestarts is used up.",
        fix: "Scale up at a time when a restart is acceptable, and include it in maxRestarts.",
        check: TrapCheck::Update(elastic_in_place),
    },
    LintTrap {
        name: "update-elastic-unset",
        severity: TrapSeverity::Error,
        rules: &["ELA-1", "ELA-2"],
        title: "the update removes parallelism or completions",
        consequence: "If both are removed, the Jobs are scaled to one pod. If only completions is removed, the Jobs keep running but are rejected when they are created again.",
        fix: "Set both fields to the same value.",
        check: TrapCheck::Update(elastic_unset),
    },
    LintTrap {
        name: "update-suspends-in-place",
        severity: TrapSeverity::Warning,
        rules: &["SUS-7", "C-46"],
        title: "the update suspends an InPlaceRestart JobSet",
        consequence: "The pods created by the resume start at a higher attempt. Each suspension uses up one unit of maxRestarts.",
        fix: "Include the suspensions in maxRestarts.",
        check: TrapCheck::Update(suspends_in_place),
    },
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
