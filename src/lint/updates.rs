//! Traps of updates: changes that admission accepts although they break a running JobSet.

use super::subject::{Change, Rj, Subject};
use super::trap::{Check, Hit, Severity, Trap, hit};
use serde_json::Value;
use sim_api::spec::{EXCLUSIVE_TOPOLOGY, RestartStrategy};
use sim_inputs::text::locate::locate;

pub const TRAPS: &[Trap] = &[
    Trap {
        name: "update-removes-success-policy",
        severity: Severity::Error,
        rules: &["C-76", "UPD-5"],
        title: "the update removes successPolicy",
        consequence: "Nothing fills it in again. From the first complete Job on every pass of the manager panics: the status is frozen, the JobSet never completes, no time to live is over.",
        fix: "Keep successPolicy: {operator: All} in the manifest.",
        check: Check::Update(success_policy),
    },
    Trap {
        name: "update-removes-network",
        severity: Severity::Error,
        rules: &["UPD-5", "SVC-1", "JOB-1"],
        title: "the update removes network",
        consequence: "DNS host names count as off: Jobs created from then on, for instance by a restart, have no subdomain, and their pods do not find each other.",
        fix: "Keep network with enableDNSHostnames: true in the manifest.",
        check: Check::Update(network),
    },
    Trap {
        name: "update-removes-startup-policy",
        severity: Severity::Warning,
        rules: &["UPD-5", "SU-2"],
        title: "the update removes startupPolicy InOrder",
        consequence: "Everything missing is created at once, and a condition StartupPolicyInProgress that is True stays True for ever.",
        fix: "Keep startupPolicy in the manifest.",
        check: Check::Update(startup_policy),
    },
    Trap {
        name: "update-removes-failure-policy",
        severity: Severity::Warning,
        rules: &["UPD-5", "FP-1"],
        title: "the update removes failurePolicy",
        consequence: "The next failed Job fails the JobSet: there are no restarts any more.",
        fix: "Keep failurePolicy in the manifest.",
        check: Check::Update(failure_policy),
    },
    Trap {
        name: "update-unvalidated",
        severity: Severity::Error,
        rules: &["UPD-5", "C-74", "ELA-1", "VAL-19"],
        title: "the update is accepted, a creation of the same would be refused",
        consequence: "Policies added by update, a changed coordinator and elastic sizes are not validated. A wrong value shows later: a JobSet that never completes, errors in every pass, Jobs that are refused after a restart.",
        fix: "Make the manifest one that could be created.",
        check: Check::Update(unvalidated),
    },
    Trap {
        name: "update-adds-claims",
        severity: Severity::Warning,
        rules: &["API-27", "PVC-1", "DEF-6"],
        title: "the update adds volumeClaimPolicies without retentionPolicy",
        consequence: "Defaults are set at creation only: the claims get no owner and are never deleted. Jobs that exist do not mount them.",
        fix: "Write retentionPolicy.whenDeleted out.",
        check: Check::Update(adds_claims),
    },
    Trap {
        name: "update-late-effect",
        severity: Severity::Warning,
        rules: &["UPD-6", "C-74"],
        title: "the change reaches new Jobs only",
        consequence: "Coordinator, exclusive-topology and node-selector are read when a Job is created: Jobs that exist keep the old value, those created by a restart get the new one.",
        fix: "Delete and create the JobSet, if all Jobs are to have it.",
        check: Check::Update(late_effect),
    },
    Trap {
        name: "update-removal-ignored",
        severity: Severity::Warning,
        rules: &["SUS-5", "C-31"],
        title: "what is removed from a pod template stays in existing Jobs",
        consequence: "Resuming merges the template into the Jobs and never removes: node selectors, tolerations, labels and annotations of an earlier admission survive.",
        fix: "Overwrite the value instead of removing the key, or delete the Jobs while the JobSet is suspended.",
        check: Check::Update(removal_ignored),
    },
    Trap {
        name: "update-elastic-in-place",
        severity: Severity::Warning,
        rules: &["ELA-2", "IPR-5", "IPR-9"],
        title: "an elastic scale-up of an InPlaceRestart JobSet",
        consequence: "The new pods start at a higher attempt: everybody restarts in place, and one unit of maxRestarts is used up.",
        fix: "Scale when a restart does no harm, and count it in maxRestarts.",
        check: Check::Update(elastic_in_place),
    },
    Trap {
        name: "update-elastic-unset",
        severity: Severity::Error,
        rules: &["ELA-1", "ELA-2"],
        title: "the update removes parallelism or completions",
        consequence: "Without both the Jobs are scaled to one pod; without completions alone they run on, and are refused when they are created again.",
        fix: "Give both, with the same value.",
        check: Check::Update(elastic_unset),
    },
    Trap {
        name: "update-suspends-in-place",
        severity: Severity::Warning,
        rules: &["SUS-7", "C-46"],
        title: "suspending an InPlaceRestart JobSet",
        consequence: "The pods that come after the resume start at a higher attempt: each cycle uses up one unit of maxRestarts.",
        fix: "Count it in maxRestarts.",
        check: Check::Update(suspends_in_place),
    },
];

fn removed(c: &Change, key: &str) -> bool {
    !c.before["spec"][key].is_null() && c.after["spec"][key].is_null()
}

fn when(found: bool, c: &Change, keys: &[&str], detail: &str) -> Vec<Hit> {
    match found {
        true => vec![hit(c.new.at(keys), detail)],
        false => Vec::new(),
    }
}

fn success_policy(c: &Change) -> Vec<Hit> {
    let detail = "the stored object has one, the new one does not";
    when(removed(c, "successPolicy"), c, &["successPolicy"], detail)
}

fn network(c: &Change) -> Vec<Hit> {
    let on = c.before["spec"]["network"]["enableDNSHostnames"] == Value::Bool(true);
    let detail = "host names are on in the stored object";
    when(on && removed(c, "network"), c, &["network"], detail)
}

fn startup_policy(c: &Change) -> Vec<Hit> {
    let in_order = c.before["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    let detail = "the stored object is InOrder";
    when(
        in_order && removed(c, "startupPolicy"),
        c,
        &["startupPolicy"],
        detail,
    )
}

fn failure_policy(c: &Change) -> Vec<Hit> {
    let detail = "the stored object has one, the new one does not";
    when(removed(c, "failurePolicy"), c, &["failurePolicy"], detail)
}

fn unvalidated(c: &Change) -> Vec<Hit> {
    let Some(refused) = c.creation_refused else {
        return Vec::new();
    };
    let mut errors = refused.errors.iter();
    let place = errors.find_map(|e| locate(c.new.node, e.place()));
    vec![hit(
        place.map_or(c.new.spec_node().at, |p| p.key),
        format!("a creation would get: {}", refused.message),
    )]
}

fn adds_claims(c: &Change) -> Vec<Hit> {
    let policies = &c.after["spec"]["volumeClaimPolicies"];
    let bare = policies
        .as_array()
        .is_some_and(|p| p.iter().any(|p| p["retentionPolicy"].is_null()));
    let new = c.before["spec"]["volumeClaimPolicies"].is_null();
    when(
        bare && new,
        c,
        &["volumeClaimPolicies"],
        "no retentionPolicy",
    )
}

fn late_effect(c: &Change) -> Vec<Hit> {
    let mut hits = Vec::new();
    if c.before["spec"]["coordinator"] != c.after["spec"]["coordinator"] {
        hits.push(hit(c.new.at(&["coordinator"]), "coordinator changes"));
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
    const MAPS: [&[&str]; 3] = [
        &["metadata", "labels"],
        &["metadata", "annotations"],
        &["spec", "nodeSelector"],
    ];
    let mut lost = Vec::new();
    for path in MAPS {
        let at = |template: &Value| path.iter().fold(template.clone(), |v, key| v[*key].clone());
        let (old, new) = (at(before), at(after));
        let keys = old.as_object().into_iter().flat_map(|o| o.keys());
        lost.extend(
            keys.filter(|k| new[k.as_str()].is_null())
                .map(|k| format!("{} {k}", path[1])),
        );
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

fn removal_ignored(c: &Change) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in c.new.rjs() {
        let template = |o: &Value| {
            o["spec"]["replicatedJobs"][rj.index]["template"]["spec"]["template"].clone()
        };
        let lost = lost_keys(&template(c.before), &template(c.after));
        if !lost.is_empty() {
            let detail = format!("{} of replicatedJob {:?}", lost.join(", "), rj.name());
            hits.push(hit(rj.job_at("template"), detail));
        }
    }
    hits
}

fn in_place(s: &Subject) -> bool {
    s.jobset.spec.strategy() == RestartStrategy::InPlaceRestart
}

/// Returns (parallelism, completions) of a replicatedJob.
fn size(object: &Value, rj: &Rj) -> (Option<i64>, Option<i64>) {
    let job = &object["spec"]["replicatedJobs"][rj.index]["template"]["spec"];
    (job["parallelism"].as_i64(), job["completions"].as_i64())
}

fn elastic_in_place(c: &Change) -> Vec<Hit> {
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

fn elastic_unset(c: &Change) -> Vec<Hit> {
    let mut hits = Vec::new();
    for rj in c.new.rjs() {
        let (old, new) = (size(c.before, &rj), size(c.after, &rj));
        let lost = (old.0.is_some() && new.0.is_none()) || (old.1.is_some() && new.1.is_none());
        if lost {
            hits.push(hit(
                rj.at("template"),
                format!("replicatedJob {:?}", rj.name()),
            ));
        }
    }
    hits
}

fn suspends_in_place(c: &Change) -> Vec<Hit> {
    let now = c.new.jobset.spec.suspend && !c.old.jobset.spec.suspend;
    when(
        now && in_place(c.new),
        c,
        &["suspend"],
        "suspend becomes true",
    )
}
