//! Generates users' requests to the API server: patches, creations, deletions, reads, and status changes.

use super::draw::{Draw, set};
use super::environment;
use super::job;
use super::jobset::{JobSet, RACK};
use super::objects;
use super::script::Stage;
use serde_json::{Value, json};

/// Draws an action on JobSet `j`, its pod or another object, and the action that reverts it.
pub fn draw(d: &mut Draw, stage: &Stage, j: usize, pod: &str) -> (Value, Option<Value>) {
    let js = &stage.jobsets[j];
    match d.below(18) {
        0..=4 => jobset(d, js),
        5 | 6 => {
            let job = js.any_job(d);
            let (merge, status) = job_merge(d, js);
            (patch("Job", &job, merge, status), None)
        }
        7 => pod_patch(d, pod),
        8 | 9 => node(d, stage),
        10 => (json!({"create": {"object": objects::any(d, stage.jobsets)}}), None),
        11 => delete_and_recreate(d, js),
        12 => other_request(d, stage),
        13 => delete(d, stage, js, pod),
        14 => (show(d, stage, js, pod), None),
        15 | 16 => (manager(d, stage), None),
        _ => (job_condition(d, js), None),
    }
}

fn patch(kind: &str, name: &str, merge: Value, status: bool) -> Value {
    let mut body = json!({"kind": kind, "name": name, "merge": merge});
    if status {
        body["status"] = json!(true);
    }
    json!({ "patch": body })
}

/// Stops the manager for a short or a long time, possibly with changed feature gates afterwards.
fn manager(d: &mut Draw, stage: &Stage) -> Value {
    if d.rare(6) {
        let image = d.pick(&["x:1", "x", "y:1"]);
        return json!({"failImagePulls": {"image": image, "for": d.pick(&["5s", "10m"]), "cached": d.one_in(2)}});
    }
    let in_place = stage.jobsets.iter().any(|js| js.in_place);
    let mut stop = json!({"for": format!("{}s", d.pick(&[0, 1, 15, 60, 700]))});
    for gate in ["InPlaceRestart", "RestartJob", "ElasticJobSet"] {
        if d.one_in(4) {
            let on = d.one_in(2) || in_place && gate == "InPlaceRestart";
            stop["featureGates"][gate] = json!(on);
        }
    }
    json!({ "stopManager": stop })
}

/// Draws a status patch: invalid values, or values that a manager would write at another time.
fn status(d: &mut Draw, js: &JobSet) -> Value {
    match d.below(4) {
        0 => json!({"terminalState": d.pick(&["Failed", "Completed", "", "Lost"])}),
        1 | 2 => {
            let kind = d.pick(&[
                "Failed", "Completed", "Suspended", "RestartingJobSet", "StartupPolicyCompleted",
                "StartupPolicyInProgress", "Paused",
            ]);
            let at = d.pick(&["1970-01-01T00:00:30Z", "2026-01-01T00:00:00.5+01:00", "today"]);
            let status = d.pick(&["True", "True", "False", "Unknown"]);
            json!({"conditions": [{"type": kind, "status": status, "reason": d.pick(&["ByHand", "", "FailurePolicy_x"]),
                "message": "by hand", "lastTransitionTime": at}]})
        }
        _ => {
            let entry = |d: &mut Draw, name: &str| {
                let n = d.pick(&[0, 1, i32::MAX, -1]);
                let mut entry =
                    json!({"name": name, "ready": n, "succeeded": 0, "failed": n, "active": 0, "suspended": 0});
                if d.one_in(2) {
                    entry["jobRestarts"] = json!([d.between(0, 3)]);
                }
                entry
            };
            let rjs: Vec<Value> = js.jobs.iter().map(|j| entry(d, &j.name)).collect();
            json!({ "replicatedJobsStatus": rjs })
        }
    }
}

fn jobset(d: &mut Draw, js: &JobSet) -> (Value, Option<Value>) {
    if d.one_in(8) {
        let merge = json!({"status": status(d, js)});
        return (patch("JobSet", &js.name, merge, true), None);
    }
    if d.one_in(6) {
        let extreme = d.pick(&[i64::from(i32::MAX), -1, 1 << 40]);
        let n = if d.one_in(3) { extreme } else { i64::from(d.between(0, 9)) };
        let key = d.pick(&[
            "restarts", "restartsCountTowardsMax", "currentInPlaceRestartAttempt", "previousInPlaceRestartAttempt",
        ]);
        return (patch("JobSet", &js.name, json!({"status": {key: n}}), true), None);
    }
    let (merge, undo) = jobset_merge(d, js);
    let undo = undo.map(|undo| patch("JobSet", &js.name, undo, false));
    (patch("JobSet", &js.name, merge, false), undo)
}

/// Draws a merge patch of the JobSet, valid or rejected by the API server.
fn jobset_merge(d: &mut Draw, js: &JobSet) -> (Value, Option<Value>) {
    let spec = &js.object["spec"];
    let mut rjs = spec["replicatedJobs"].clone();
    let k = d.below(js.jobs.len() as u32) as usize;
    let with = |rjs: Value| json!({"spec": {"replicatedJobs": rjs}});
    match d.below(14) {
        0 => (json!({"spec": {"suspend": true}}), Some(json!({"spec": {"suspend": false}}))),
        1 => (json!({"spec": {"suspend": false}}), None),
        2 => {
            elastic(d, &mut rjs[k]);
            (with(rjs), Some(with(spec["replicatedJobs"].clone())))
        }
        3 => {
            elastic(d, &mut rjs[k]);
            (with(rjs), None)
        }
        // Like Kueue: changes and resumes the JobSet at once, or suspends it and restores the template.
        4 | 5 => {
            template(d, &mut rjs[k]);
            let mut merge = with(rjs);
            merge["spec"]["suspend"] = json!(d.one_in(2));
            (merge, Some(json!({"spec": {"suspend": false}})))
        }
        6 => {
            template(d, &mut rjs[k]);
            (with(rjs), None)
        }
        7 => {
            rjs[k]["replicas"] = json!(d.between(0, 5));
            (with(rjs), None)
        }
        8 => {
            let key = d.pick(&["maxRestarts", "restartStrategy"]);
            let value = if key == "maxRestarts" { json!(d.between(0, 9)) } else { json!("Recreate") };
            (json!({"spec": {"failurePolicy": {key: value}}}), None)
        }
        9 => (json!({"spec": {"ttlSecondsAfterFinished": d.pick(&[0, 5, 3600])}}), None),
        10 => {
            let labels = json!({"example.com/team": d.pick(&["y", "z"]), "extra": "1"});
            (json!({"metadata": {"labels": labels, "annotations": {"example.com/note": null}}}), None)
        }
        11 => {
            let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
            (hold, Some(json!({"metadata": {"finalizers": null}})))
        }
        12 => (
            json!({"spec": {"managedBy": d.pick(&["example.com/other", "jobset.sigs.k8s.io/jobset-controller"])}}),
            None,
        ),
        _ => (json!({"spec": {"successPolicy": {"operator": "Any"}, "network": {"subdomain": "moved"}}}), None),
    }
}

/// Changes the size of a replicatedJob's Jobs.
fn elastic(d: &mut Draw, rj: &mut Value) {
    let spec = &mut rj["template"]["spec"];
    let n = d.between(0, 8);
    match d.below(4) {
        0 => spec["parallelism"] = json!(n),
        1 => spec["completions"] = json!(n),
        _ => (spec["parallelism"], spec["completions"]) = (json!(n), json!(n)),
    }
}

/// Changes fields of a pod template that are mutable while the JobSet is suspended, or the image, which is
/// immutable.
fn template(d: &mut Draw, rj: &mut Value) {
    let template = &mut rj["template"]["spec"]["template"];
    match d.below(6) {
        0 => template["spec"]["tolerations"] = json!([job::toleration(d)]),
        1 => set(template, "spec.nodeSelector", json!({RACK: "rack-0"})),
        2 => template["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "node-999"}),
        3 => {
            template["metadata"]["labels"] = json!({"app": "new"});
            template["metadata"]["annotations"] = json!({"note": "new"});
        }
        4 => template["spec"]["schedulingGates"] = json!([{"name": "example.com/gate"}]),
        _ => template["spec"]["containers"][0]["image"] = json!("z:2"),
    }
}

fn job_merge(d: &mut Draw, js: &JobSet) -> (Value, bool) {
    let n = d.between(0, 8);
    let merge = match d.below(11) {
        0 => json!({"spec": {"suspend": d.one_in(2)}}),
        1 => json!({"spec": {"parallelism": n}}),
        2 => json!({"spec": {"parallelism": n, "completions": n}}),
        3 => json!({"spec": {"completions": d.pick(&[-1, 0, 3, i32::MAX])}}),
        4 => {
            json!({"metadata": {"labels": {"jobset.sigs.k8s.io/restart-attempt": d.pick(&["0", "1", "7", "x"])}}})
        }
        5 => json!({"metadata": {"labels": {"jobset.sigs.k8s.io/jobset-name": null,
            "jobset.sigs.k8s.io/replicatedjob-name": d.pick(&[js.jobs[0].name.as_str(), "none"])}}}),
        6 => {
            json!({"metadata": {"finalizers": d.pick(&[json!(["example.com/hold"]), json!(null)])}})
        }
        7 => json!({"spec": {"parallelism": d.pick(&[-1, 0])}}),
        8 => json!({"spec": {"backoffLimit": d.pick(&[-1, 0, 1, i32::MAX])}}),
        9 => {
            json!({"spec": {"activeDeadlineSeconds": d.pick(&[json!(null), json!(0), json!(5), json!(-1)])}})
        }
        _ => return (json!({"status": {"conditions": [condition(d)]}}), true),
    };
    (merge, false)
}

fn condition(d: &mut Draw) -> Value {
    let kind = d.pick(&["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet", "Suspended"]);
    let reason = d.pick(&["BackoffLimitExceeded", "DeadlineExceeded", "Other", ""]);
    json!({"type": kind, "status": d.pick(&["True", "True", "False"]), "reason": reason, "message": "by hand"})
}

fn job_condition(d: &mut Draw, js: &JobSet) -> Value {
    let mut body = condition(d);
    body["job"] = json!(js.any_job(d));
    json!({ "jobCondition": body })
}

fn pod_patch(d: &mut Draw, pod: &str) -> (Value, Option<Value>) {
    let free = json!({"metadata": {"finalizers": null}});
    let (merge, undo) = match d.below(5) {
        0 | 1 => {
            let attempt = d.pick(&[json!("0"), json!("1"), json!("9"), json!("x"), json!("4294967295"), json!(null)]);
            let key = "jobset.sigs.k8s.io/in-place-restart-attempt";
            (json!({"metadata": {"annotations": {key: attempt}}}), None)
        }
        2 => (json!({"spec": {"schedulingGates": []}}), None),
        3 => (json!({"metadata": {"finalizers": ["example.com/hold"]}}), Some(free)),
        _ => (free, None),
    };
    (patch("Pod", pod, merge, false), undo.map(|undo| patch("Pod", pod, undo, false)))
}

fn node(d: &mut Draw, stage: &Stage) -> (Value, Option<Value>) {
    let name = d.pick(&stage.cluster.nodes);
    let (merge, undo, status) = match d.below(8) {
        0 => (json!({"metadata": {"labels": {RACK: d.pick(&["rack-0", "rack-new"])}}}), None, false),
        1 => (
            json!({"metadata": {"labels": {RACK: null}}}),
            Some(json!({"metadata": {"labels": {RACK: "rack-1"}}})),
            false,
        ),
        2 => {
            let effect = d.pick(&["NoSchedule", "PreferNoSchedule", "NoExecute"]);
            (
                json!({"spec": {"taints": [{"key": "example.com/broken", "value": "v", "effect": effect}]}}),
                Some(json!({"spec": {"taints": null}})),
                false,
            )
        }
        3 => (json!({"spec": {"taints": []}}), None, false),
        4 => (json!({"spec": {"unschedulable": true}}), Some(json!({"spec": {"unschedulable": null}})), false),
        5 => (
            json!({"status": {"allocatable": {"example.com/accelerator": d.pick(&["0", "2", "100"])}}}),
            Some(json!({"status": {"allocatable": {"example.com/accelerator": "4"}}})),
            true,
        ),
        6 => (
            json!({"status": {"allocatable": {"pods": d.pick(&["0", "1"]), "example.com/accelerator": null}}}),
            Some(json!({"status": {"allocatable": {"pods": "110", "example.com/accelerator": "4"}}})),
            true,
        ),
        // Node repair: a new machine with the same node name.
        _ => {
            let delete = json!({"delete": {"kind": "Node", "name": name}});
            let object = environment::node(d, &name);
            return (delete, Some(json!({"create": {"object": object}})));
        }
    };
    (patch("Node", &name, merge, status), undo.map(|undo| patch("Node", &name, undo, status)))
}

/// Deletes the JobSet and creates it again.
fn delete_and_recreate(d: &mut Draw, js: &JobSet) -> (Value, Option<Value>) {
    let delete = json!({"delete": {"kind": "JobSet", "name": js.name,
        "propagation": d.pick(&["Background", "Foreground", "Orphan"])}});
    (delete, Some(json!({"create": {"jobSet": js.with_fixed_name()}})))
}

/// Draws a request for a Service, a claim or another object.
fn other_request(d: &mut Draw, stage: &Stage) -> (Value, Option<Value>) {
    let (kind, name) = objects::any_name(d, stage.jobsets);
    match d.below(3) {
        0 => (patch(kind, &name, json!({"metadata": {"labels": {"extra": "1"}}}), false), None),
        1 => (patch(kind, &name, json!({"metadata": {"finalizers": ["example.com/hold"]}}), false), None),
        _ if kind == "Namespace" => (json!({"show": {"kind": kind, "name": name, "fields": ["metadata"]}}), None),
        _ => (json!({"delete": {"kind": kind, "name": name}}), None),
    }
}

fn delete(d: &mut Draw, stage: &Stage, js: &JobSet, pod: &str) -> (Value, Option<Value>) {
    let propagation = d.pick(&["Background", "Foreground", "Orphan"]);
    let job = json!({"kind": "Job", "name": js.any_job(d), "propagation": propagation});
    let body = match d.below(6) {
        0 | 1 => {
            return (json!({ "delete": job.clone() }), Some(json!({ "delete": job })));
        }
        2 => json!({"kind": "JobSet", "name": js.name, "propagation": propagation}),
        3 => json!({"kind": "Node", "name": d.pick(&stage.cluster.nodes)}),
        4 => json!({"kind": "Pod", "name": pod}),
        _ => json!({"kind": "Pod", "name": pod, "gracePeriodSeconds": d.pick(&[0, 1, 600])}),
    };
    (json!({ "delete": body }), None)
}

fn show(d: &mut Draw, stage: &Stage, js: &JobSet, pod: &str) -> Value {
    let (kind, name) = match d.below(5) {
        0 => ("JobSet", js.name.clone()),
        1 => ("Job", js.any_job(d)),
        2 => ("Pod", pod.to_owned()),
        3 => ("Node", d.pick(&stage.cluster.nodes)),
        _ => objects::any_name(d, stage.jobsets),
    };
    json!({"show": {"kind": kind, "name": name, "fields": ["metadata", "spec.suspend", "status"]}})
}
