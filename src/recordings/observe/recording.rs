//! Converts the life of a JobSet and one of its restarts to a recording (`jobset-sim/recording/v1`) that can be
//! replayed.
//!
//! Watches do not show client rate limits. The values of a preset are used instead and are listed as assumed.

use super::life::{JobLife, Life, PodLife, Told};
use super::milestones::{self, Restart};
use super::stamp::At;
use super::{cluster, script};
use serde_json::{Value, json};
use sim_analysis::metrics::restarts::restart::Milestone;
use sim_api::spec::ControlPlane;

/// An imported restart and its recording.
pub struct Imported {
    pub json: Value,
    pub restart: Restart,
    pub zero: At,
    pub assumed: Vec<String>,
    pub notes: Vec<String>,
}

pub const SCHEMA: &str = "jobset-sim/recording/v1";

const JOB_CONTROLLER: &str = "job-controller";

const COLUMNS: [&str; 16] = [
    "replicatedJob",
    "jobIndex",
    "podIndex",
    "restartAttempt",
    "node",
    "createdMs",
    "boundMs",
    "readyMs",
    "finishedMs",
    "deletingMs",
    "goneMs",
    "phase",
    "containerRestarts",
    "allReadyMs",
    "inPlaceMs",
    "countedMs",
];

/// Imports restart `nth` of a JobSet. Control-plane settings that were not observed are taken from `defaults`.
pub fn import(life: &Life, nth: u32, defaults: &ControlPlane) -> Result<Imported, String> {
    let restart = milestones::restart(life, nth)?;
    let zero = life
        .jobset
        .created
        .ok_or("the JobSet has no creationTimestamp")?;
    let script = script::script(life, &restart, (zero, defaults));
    let cluster = cluster::cluster(life);
    let mut assumed = script.assumed;
    assumed.extend(cluster.assumed);
    let version = cluster.version.unwrap_or_else(|| {
        let own = defaults.kubernetes;
        assumed.push(format!(
            "controlPlane.kubernetes: no Node says it; {}.{} stands in",
            own.major, own.minor
        ));
        format!("{}.{}", own.major, own.minor)
    });
    assumed.push(format!(
        "controlPlane: rates and workers of the preset {}; `recording calibrate` finds those that the recording shows",
        defaults.preset
    ));
    let mut notes = life.notes.clone();
    notes.extend(
        script
            .not_played
            .into_iter()
            .map(|what| format!("not played again: {what}")),
    );
    if restart.derived {
        notes.push(
            "the pod that failed is gone and left no trace: it is placed one batch period of the Job controller (1 s) before \
             the first pod that this deleted"
                .to_owned(),
        );
    }
    let json = json!({
        "schema": SCHEMA, "kind": "times", "name": life.jobset.namespace,
        "about": format!("{} restart {nth} of {}, imported", strategy(life), life.jobset.name),
        "controlPlane": control_plane(life, defaults, &version),
        "jobSet": life.jobset.manifest, "objects": cluster.nodes, "script": script.json,
        "playedForMs": end(life, zero),
        "milestones": milestones_json(life, &restart),
        "imported": {
            "restart": nth, "at": instants(&restart), "assumed": assumed, "notes": notes,
            "unknown": restart.unknown.iter().map(|(m, why)| json!({"name": called(&restart, *m), "why": why})).collect::<Vec<_>>(),
        },
        "status": status(life), "deleted": false,
        "jobs": life.jobs.iter().map(|j| job(life, j)).collect::<Vec<_>>(),
        "events": events(life), "log": log(life, zero),
        "podColumns": COLUMNS, "pods": life.pods.iter().filter(|p| !p.only_told).map(|p| pod(p, zero)).collect::<Vec<_>>(),
    });
    let json = with_scored(json, &restart);
    Ok(Imported {
        json,
        restart,
        zero,
        assumed,
        notes,
    })
}

fn strategy(life: &Life) -> &str {
    let strategy = &life.jobset.manifest["spec"]["failurePolicy"]["restartStrategy"];
    strategy.as_str().unwrap_or("Recreate")
}

/// Returns the name of a milestone in recordings. The readiness of the last pod has a different name for recreated
/// JobSets than for restarts in place.
pub fn called(restart: &Restart, milestone: Milestone) -> &'static str {
    match milestone {
        Milestone::LastReady if !restart.in_place => "lastPodReady",
        other => other.as_str(),
    }
}

fn seconds(restart: &Restart, at: At) -> Option<f64> {
    let (_, origin) = restart.origin?;
    Some(at.ms_after(origin) as f64 / 1e3)
}

fn milestones_json(life: &Life, restart: &Restart) -> Value {
    let one = |(m, at): &(Milestone, At)| {
        Some((
            called(restart, *m).to_owned(),
            json!(seconds(restart, *at)?),
        ))
    };
    let of: serde_json::Map<String, Value> = restart.at.iter().filter_map(one).collect();
    let mut json = json!({
        "name": life.jobset.name, "strategy": strategy(life), "pods": milestones::wanted(life), "milestones_s": of,
    });
    if let Some((origin, _)) = restart.origin
        && origin != milestones::ORIGINS[usize::from(restart.in_place)]
    {
        json["origin"] = json!(called(restart, origin));
    }
    json
}

/// Returns the uncertainty of each instant in seconds.
fn instants(restart: &Restart) -> Value {
    let one = |(m, at): &(Milestone, At)| {
        let off = restart
            .origin
            .map_or(0.0, |(_, origin)| at.off_with(origin));
        (
            called(restart, *m).to_owned(),
            json!({"plusMinus_s": (off * 1e3).round() / 1e3}),
        )
    };
    restart
        .at
        .iter()
        .map(one)
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Limits the comparison to the last milestone that is present if the restart did not complete.
fn with_scored(mut json: Value, restart: &Restart) -> Value {
    let end = Milestone::LastReady;
    if restart.get(end).is_none()
        && let Some((last, _)) = restart.at.iter().max_by_key(|(_, at)| at.ns)
    {
        json["scoredUpTo"] = json!(called(restart, *last));
    }
    json
}

fn control_plane(life: &Life, defaults: &ControlPlane, version: &str) -> Value {
    let rate = |r: sim_api::spec::ClientRate| json!({"qps": r.qps, "burst": r.burst});
    let mut kcm = rate(defaults.kube_controller_manager);
    kcm["concurrentJobSyncs"] = json!(defaults.concurrent_job_syncs);
    let mut gates = Vec::new();
    if milestones::in_place(life) {
        gates.push("InPlaceRestart");
    }
    let text = life.jobset.manifest["spec"]["failurePolicy"].to_string();
    if text.contains("\"RestartJob") && text.replace("\"RestartJobSet", "").contains("\"RestartJob")
    {
        gates.push("RestartJob");
    }
    json!({
        "kubernetes": version, "featureGates": gates, "kubeControllerManager": kcm,
        "kubeScheduler": rate(defaults.kube_scheduler), "jobsetManager": rate(defaults.jobset_manager),
        "nodes": 0, "nodesPerPool": 1, "podsPerNode": 110,
    })
}

fn end(life: &Life, zero: At) -> i64 {
    let statuses = life.jobset.statuses.iter().map(|(at, _)| *at);
    let pods = life
        .pods
        .iter()
        .flat_map(|p| p.created.into_iter().chain(p.bound).chain(p.gone));
    let ready = life
        .pods
        .iter()
        .flat_map(|p| p.ready.iter().map(|(at, _)| *at));
    let all = statuses.chain(pods).chain(ready).chain(life.jobset.deleted);
    all.map(|at| at.ms_after(zero)).max().unwrap_or(0).max(1)
}

fn status(life: &Life) -> Value {
    let last = life
        .jobset
        .statuses
        .last()
        .map(|(_, status)| status.clone());
    last.filter(Value::is_object).unwrap_or(json!({}))
}

fn text_of(c: &super::facts::Condition) -> String {
    format!("{}={} {}: {}", c.kind, c.status, c.reason, c.message)
}

fn job(life: &Life, job: &JobLife) -> Value {
    let [active, ready, succeeded, failed, terminating] = job.counts;
    let n = |n: Option<u32>| n.unwrap_or(0);
    let gone = job.gone.is_some();
    let own: Vec<String> = job.conditions.iter().map(|(_, c)| text_of(c)).collect();
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

fn pod(pod: &PodLife, zero: At) -> Value {
    let ms = |at: Option<At>| at.map_or(-1, |at| at.ms_after(zero).max(0));
    let last = &pod.last;
    let changes = pod.ready.iter().map(|(at, ready)| {
        let ms = at.ms_after(zero).max(1);
        if *ready { ms } else { -ms }
    });
    let all: Vec<i64> = changes.collect();
    let in_place: Vec<i64> = pod
        .in_place
        .iter()
        .map(|(at, _)| at.ms_after(zero))
        .collect();
    let ready = pod
        .ready
        .first()
        .filter(|(_, ready)| *ready)
        .map(|(at, _)| *at);
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
        ms(pod.counted)
    ])
}

fn events(life: &Life) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    let wanted = |e: &&Told| !e.object.starts_with("Pod/") || e.reason == "FailedScheduling";
    for e in life.events.iter().filter(wanted) {
        let row = json!({"object": without_suffix(&e.object, life), "type": e.kind, "reason": e.reason,
            "message": without_suffix(&e.message, life)});
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// Replaces the random suffix that the server appends to pod names.
fn without_suffix(text: &str, life: &Life) -> String {
    let name = text.rsplit(['/', ' ']).next().unwrap_or("");
    let pod = life.pods.iter().any(|p| p.name == name);
    match name.rsplit_once('-') {
        Some((short, _)) if pod => text.replace(name, &format!("{short}-<rand>")),
        _ => text.to_owned(),
    }
}

/// Returns the log rows `[ms, kind, name, what, detail]` as a watcher would have seen them.
fn log(life: &Life, zero: At) -> Vec<Value> {
    let mut rows: Vec<(At, Value)> = Vec::new();
    let mut row = |at: At, kind: &str, name: &str, what: &str, detail: Value| {
        let ms = at.ms_after(zero).max(0);
        let row = match detail.is_null() && what != "status" {
            true => json!([ms, kind, name, what]),
            false => json!([ms, kind, name, what, detail]),
        };
        rows.push((at, row));
    };
    let name = &life.jobset.name;
    row(zero, "JobSet", name, "created", Value::Null);
    for (at, status) in &life.jobset.statuses {
        let mut status = status.clone();
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
            row(*at, "Job", &job.name, "condition", json!(text_of(c)));
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
    for event in life.events.iter().filter(|e| e.by == JOB_CONTROLLER) {
        if let Some(at) = event.at {
            row(at, "Event", &event.object, JOB_CONTROLLER, Value::Null);
        }
    }
    rows.sort_by_key(|(at, _)| at.ns);
    rows.into_iter().map(|(_, row)| row).collect()
}
