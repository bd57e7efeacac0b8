//! Converts the life of a JobSet and one of its restarts to a recording (`jobset-sim/recording/v1`) that can be
//! replayed.
//!
//! Watches do not show client rate limits. The values of a preset are used instead and are listed as assumed.

use super::lifecycle::{JobLife, ObservedEvent, ObservedLifecycle, PodLife};
use super::milestones::{self, ObservedRestart};
use super::restart_error::RestartImportError;
use super::timestamp::ClockTime;
use super::{cluster, script};
use serde_json::{Value, json};
use sim_analysis::metrics::restarts::restart::Milestone;
use sim_api::spec::ControlPlane;

pub struct ImportedRecording {
    pub json: Value,
    pub restart: ObservedRestart,
    pub zero: ClockTime,
    pub assumed: Vec<String>,
    pub notes: Vec<String>,
}

pub const SCHEMA: &str = "jobset-sim/recording/v1";

const JOB_CONTROLLER: &str = "job-controller";

const COLUMNS: [&str; 16] = [
    "replicatedJob", "jobIndex", "podIndex", "restartAttempt", "node", "createdMs", "boundMs", "readyMs", "finishedMs",
    "deletingMs", "goneMs", "phase", "containerRestarts", "allReadyMs", "inPlaceMs", "countedMs",
];

/// Imports restart `nth` of a JobSet. Control-plane settings that were not observed are taken from `defaults`.
pub fn import(
    life: &ObservedLifecycle, nth: u32, defaults: &ControlPlane,
) -> Result<ImportedRecording, RestartImportError> {
    let restart = milestones::observed_restart(life, nth)?;
    let zero = life.jobset.created.ok_or(RestartImportError::NoCreationTime)?;
    let script = script::build_script(life, &restart, (zero, defaults));
    let cluster = cluster::cluster(life);
    let mut assumed = script.assumed;
    assumed.extend(cluster.assumed);
    let version = cluster.version.unwrap_or_else(|| {
        let own = defaults.kubernetes;
        assumed.push(format!("controlPlane.kubernetes: not reported by any Node; assumed {}.{}", own.major, own.minor));
        format!("{}.{}", own.major, own.minor)
    });
    assumed.push(format!(
        "controlPlane: rate limits and workers are those of the preset {}; `recording calibrate` estimates them from the recording",
        defaults.preset
    ));
    let mut notes = life.notes.clone();
    notes.extend(script.not_reproduced.into_iter().map(|what| format!("not replayed: {what}")));
    if restart.derived {
        notes.push(
            "the failed pod was removed without a trace; its failure is assumed one batch period of the Job controller (1 s) before \
             the first pod deletion by that controller"
                .to_owned(),
        );
    }
    let json = json!({
        "schema": SCHEMA, "kind": "times", "name": life.jobset.namespace,
        "about": format!("{} restart {nth} of {}, imported", strategy(life), life.jobset.name),
        "controlPlane": control_plane(life, defaults, &version),
        "jobSet": life.jobset.manifest, "objects": cluster.nodes, "script": script.json,
        "playedForMs": end_ms(life, zero),
        "milestones": milestones_json(life, &restart),
        "imported": {
            "restart": nth, "at": uncertainties(&restart), "assumed": assumed, "notes": notes,
            "unknown": restart.unknown.iter().map(|(m, why)| json!({"name": milestone_name(&restart, *m), "why": why.to_string()})).collect::<Vec<_>>(),
        },
        "status": status(life), "deleted": false,
        "jobs": life.jobs.iter().map(|j| job(life, j)).collect::<Vec<_>>(),
        "events": events(life), "log": log(life, zero),
        "podColumns": COLUMNS, "pods": life.pods.iter().filter(|p| !p.is_only_from_events).map(|p| pod(p, zero)).collect::<Vec<_>>(),
    });
    let json = limit_scored(json, &restart);
    Ok(ImportedRecording { json, restart, zero, assumed, notes })
}

fn strategy(life: &ObservedLifecycle) -> &str {
    let strategy = &life.jobset.manifest["spec"]["failurePolicy"]["restartStrategy"];
    strategy.as_str().unwrap_or("Recreate")
}

/// Returns the name of a milestone in recordings. The readiness of the last pod has a different name for recreated
/// JobSets than for restarts in place.
pub fn milestone_name(restart: &ObservedRestart, milestone: Milestone) -> &'static str {
    match milestone {
        Milestone::LastReady if !restart.in_place => "lastPodReady",
        other => other.as_str(),
    }
}

fn seconds_since_origin(restart: &ObservedRestart, at: ClockTime) -> Option<f64> {
    let (_, origin) = restart.origin?;
    Some(at.ms_after(origin) as f64 / 1e3)
}

fn milestones_json(life: &ObservedLifecycle, restart: &ObservedRestart) -> Value {
    let one = |(m, at): &(Milestone, ClockTime)| {
        Some((milestone_name(restart, *m).to_owned(), json!(seconds_since_origin(restart, *at)?)))
    };
    let of: serde_json::Map<String, Value> = restart.at.iter().filter_map(one).collect();
    let mut json = json!({
        "name": life.jobset.name, "strategy": strategy(life), "pods": milestones::specified_pods(life), "milestones_s": of,
    });
    if let Some((origin, _)) = restart.origin
        && origin != milestones::ORIGINS[usize::from(restart.in_place)]
    {
        json["origin"] = json!(milestone_name(restart, origin));
    }
    json
}

/// Returns the uncertainty of each instant in seconds.
fn uncertainties(restart: &ObservedRestart) -> Value {
    let one = |(m, at): &(Milestone, ClockTime)| {
        let off = restart.origin.map_or(0.0, |(_, origin)| at.uncertainty_with(origin));
        (milestone_name(restart, *m).to_owned(), json!({"plusMinus_s": (off * 1e3).round() / 1e3}))
    };
    restart.at.iter().map(one).collect::<serde_json::Map<_, _>>().into()
}

/// Limits the comparison to the last milestone that is present if the restart did not complete.
fn limit_scored(mut json: Value, restart: &ObservedRestart) -> Value {
    let end = Milestone::LastReady;
    if restart.get(end).is_none()
        && let Some((last, _)) = restart.at.iter().max_by_key(|(_, at)| at.ns)
    {
        json["scoredUpTo"] = json!(milestone_name(restart, *last));
    }
    json
}

fn control_plane(life: &ObservedLifecycle, defaults: &ControlPlane, version: &str) -> Value {
    let rate = |r: sim_api::spec::ClientRate| json!({"qps": r.qps, "burst": r.burst});
    let mut kcm = rate(defaults.kube_controller_manager);
    kcm["concurrentJobSyncs"] = json!(defaults.concurrent_job_syncs);
    let mut gates = Vec::new();
    if milestones::is_in_place(life) {
        gates.push("InPlaceRestart");
    }
    let text = life.jobset.manifest["spec"]["failurePolicy"].to_string();
    if text.contains("\"RestartJob") && text.replace("\"RestartJobSet", "").contains("\"RestartJob") {
        gates.push("RestartJob");
    }
    json!({
        "kubernetes": version, "featureGates": gates, "kubeControllerManager": kcm,
        "kubeScheduler": rate(defaults.kube_scheduler), "jobsetManager": rate(defaults.jobset_manager),
        "nodes": 0, "nodesPerPool": 1, "podsPerNode": 110,
    })
}

fn end_ms(life: &ObservedLifecycle, zero: ClockTime) -> i64 {
    let statuses = life.jobset.statuses.iter().map(|(at, _)| *at);
    let pods = life.pods.iter().flat_map(|p| p.created.into_iter().chain(p.bound).chain(p.gone));
    let ready = life.pods.iter().flat_map(|p| p.ready.iter().map(|(at, _)| *at));
    let all = statuses.chain(pods).chain(ready).chain(life.jobset.deleted);
    all.map(|at| at.ms_after(zero)).max().unwrap_or(0).max(1)
}

fn status(life: &ObservedLifecycle) -> Value {
    let last = life.jobset.statuses.last().map(|(_, status)| status.clone());
    last.filter(Value::is_object).unwrap_or(json!({}))
}

fn condition_text(c: &super::facts::ObservedCondition) -> String {
    format!("{}={} {}: {}", c.kind, c.status, c.reason, c.message)
}

fn job(life: &ObservedLifecycle, job: &JobLife) -> Value {
    let [active, ready, succeeded, failed, terminating] = job.counts;
    let n = |n: Option<u32>| n.unwrap_or(0);
    let gone = job.gone.is_some();
    let own: Vec<String> = job.conditions.iter().map(|(_, c)| condition_text(c)).collect();
    let mut row = json!({
        "name": job.name, "restartAttempt": job.attempt, "conditions": own, "active": n(active), "ready": n(ready),
        "succeeded": n(succeeded), "failed": n(failed), "suspended": job.suspended,
        "exists": !gone || life.jobset.deleted.is_some(),
    });
    if let Some(terminating) = terminating {
        row["terminating"] = json!(terminating);
    }
    row
}

fn pod(pod: &PodLife, zero: ClockTime) -> Value {
    let ms = |at: Option<ClockTime>| at.map_or(-1, |at| at.ms_after(zero).max(0));
    let last = &pod.last_observed;
    let changes = pod.ready.iter().map(|(at, ready)| {
        let ms = at.ms_after(zero).max(1);
        if *ready { ms } else { -ms }
    });
    let all: Vec<i64> = changes.collect();
    let in_place: Vec<i64> = pod.in_place.iter().map(|(at, _)| at.ms_after(zero)).collect();
    let ready = pod.ready.first().filter(|(_, ready)| *ready).map(|(at, _)| *at);
    json!([
        last.replicated_job,
        last.job_index.unwrap_or(0),
        last.index.unwrap_or(0),
        last.attempt.unwrap_or(0),
        last.node,
        ms(pod.created),
        ms(pod.bound),
        ms(ready),
        ms(pod.finished),
        ms(pod.deleting),
        ms(pod.gone),
        last.phase,
        last.restarts,
        all,
        in_place,
        ms(pod.finalizer_removed)
    ])
}

fn events(life: &ObservedLifecycle) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    let wanted = |e: &&ObservedEvent| !e.object.starts_with("Pod/") || e.reason == "FailedScheduling";
    for e in life.events.iter().filter(wanted) {
        let row = json!({"object": mask_pod_suffixes(&e.object, life), "type": e.kind, "reason": e.reason,
            "message": mask_pod_suffixes(&e.message, life)});
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// Replaces the random suffix that the server appends to pod names.
fn mask_pod_suffixes(text: &str, life: &ObservedLifecycle) -> String {
    let name = text.rsplit(['/', ' ']).next().unwrap_or("");
    let pod = life.pods.iter().any(|p| p.name == name);
    match name.rsplit_once('-') {
        Some((short, _)) if pod => text.replace(name, &format!("{short}-<rand>")),
        _ => text.to_owned(),
    }
}

/// Returns the log rows `[ms, kind, name, what, detail]` as a watcher would have seen them.
fn log(life: &ObservedLifecycle, zero: ClockTime) -> Vec<Value> {
    let mut rows: Vec<(ClockTime, Value)> = Vec::new();
    let mut row = |at: ClockTime, kind: &str, name: &str, what: &str, detail: Value| {
        let ms = at.ms_after(zero).max(0);
        let row = if detail.is_null() && what != "status" {
            json!([ms, kind, name, what])
        } else {
            json!([ms, kind, name, what, detail])
        };
        rows.push((at, row));
    };
    let name = &life.jobset.name;
    row(zero, "JobSet", name, "created", Value::Null);
    for (at, status) in &life.jobset.statuses {
        let mut status = status.clone();
        if !status.is_object() {
            continue;
        }
        let conditions = status["conditions"].as_array_mut().into_iter().flatten();
        for c in conditions.filter_map(Value::as_object_mut) {
            c.remove("lastTransitionTime");
        }
        row(*at, "JobSet", name, "status", status);
    }
    for job in &life.jobs {
        if let Some(at) = job.created {
            let detail = json!(format!("restart-attempt={}", job.attempt));
            row(at, "Job", &job.name, "created", detail);
        }
        for (at, c) in &job.conditions {
            row(*at, "Job", &job.name, "condition", json!(condition_text(c)));
        }
        for at in &job.statuses {
            row(*at, "Job", &job.name, "counted", Value::Null);
        }
        if let Some(at) = job.deleting {
            row(at, "Job", &job.name, "deleting", Value::Null);
        }
        if let Some(at) = job.gone {
            row(at, "Job", &job.name, "gone", Value::Null);
        }
    }
    // Events of the Job controller consume tokens of its rate limit. Calibration needs their times.
    for event in life.events.iter().filter(|e| e.component == JOB_CONTROLLER) {
        if let Some(at) = event.at {
            row(at, "Event", &event.object, JOB_CONTROLLER, Value::Null);
        }
    }
    rows.sort_by_key(|(at, _)| at.ns);
    rows.into_iter().map(|(_, row)| row).collect()
}
