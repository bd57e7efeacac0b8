//! Derives the script of a replay from the life of a JobSet: the behavior of containers and the actions of users.
//!
//! Decisions of the control plane are never used; only the start and end times of containers and the deletions of
//! pods by users are.

use super::faults::{self, FaultFinder};
use super::lifecycle::{JobLife, ObservedLifecycle, PodLife};
use super::milestones::{self, ObservedRestart};
use super::timestamp::{ClockTime, SECOND};
use super::write_time::JOB_FAILED_REASONS;
use serde_json::{Value, json};
use sim_analysis::metrics::restarts::restart::Milestone;
use sim_api::spec::ControlPlane;
use std::collections::BTreeMap;

pub struct ObservedScript {
    pub json: Value,
    /// Assumed values for parameters that were not observed.
    pub assumed: Vec<String>,
    /// Observed changes that a script cannot express.
    pub not_reproduced: Vec<String>,
}

/// Smallest deviation from the median start time, in milliseconds, for which a pod gets a rule of its own. The
/// deviation must also exceed the uncertainty of the pod's times.
const MIN_DEVIATION_MS: i64 = 100;
/// Maximum number of such rules. Pods with the largest deviations take precedence.
const MAX_RULES: usize = 2000;

pub fn build_script(
    life: &ObservedLifecycle, restart: &ObservedRestart, (zero, plane): (ClockTime, &ControlPlane),
) -> ObservedScript {
    let mut faults = faults::infer_faults(life, zero, plane);
    let mut assumed = std::mem::take(&mut faults.assumed);
    let starts: BTreeMap<usize, ScriptStart> = life.pods.iter().enumerate().filter_map(start_time).collect();
    let start_ms = median(starts.values().map(|s| s.ms).collect()).unwrap_or_else(|| {
        assumed.push("script.startMs: no pod was observed both bound and ready; assumed 1000".to_owned());
        1000
    });
    let stops: Vec<i64> = life.pods.iter().filter_map(stop_ms).collect();
    let term_ms = median(stops).unwrap_or_else(|| {
        assumed.push("script.termMs: no running pod was observed to be deleted and then end; assumed 0".to_owned());
        0
    });
    let codes = life.pods.iter().filter(|p| stop_ms(p).is_some()).filter_map(|p| p.last_observed.exit_code);
    let term_exit = most_common(codes).unwrap_or_else(|| {
        assumed.push("script.termExit: no exit code of a deleted container was observed; assumed 143".to_owned());
        143
    });
    let restart_ms = restart_ms(life, restart).unwrap_or_else(|| {
        if restart.in_place {
            assumed.push("script.restartMs: no restart of a container was observed; assumed startMs".to_owned());
        }
        start_ms
    });
    let mut not_played = std::mem::take(&mut faults.not_reproduced);
    let lost = infer_failed_pod(life, restart, (zero, start_ms), &mut assumed);
    let (mut rules, actions) =
        container_exits_and_deletions(life, restart, (zero, &faults), (start_ms, &mut not_played));
    rules.extend(lost);
    let failing = rules.len();
    rules.extend(straggler_rules(life, &starts, start_ms));
    if rules.len() == failing + MAX_RULES {
        not_played.push(format!("start times of the pods beyond the {MAX_RULES} that deviate most from the median"));
    }
    ObservedScript {
        json: json!({
            "startMs": start_ms, "termMs": term_ms, "termExit": term_exit, "restartMs": restart_ms,
            "pods": rules, "actions": actions,
        }),
        assumed,
        not_reproduced: not_played,
    }
}

/// Infers the pod that failed if only Events remain: it is the pod of the failed Job that the Job controller did not
/// delete.
fn infer_failed_pod(
    life: &ObservedLifecycle, restart: &ObservedRestart, (zero, start_ms): (ClockTime, i64), assumed: &mut Vec<String>,
) -> Option<Value> {
    if !restart.derived {
        return None;
    }
    let (_, at) = restart.origin?;
    let event = life.events.iter().find(|e| JOB_FAILED_REASONS.contains(&e.reason.as_str()))?;
    let job = event.object.strip_prefix("Job/")?;
    let of = life.pods.iter().filter(|p| p.is_only_from_events && p.last_observed.job == job && p.deleting.is_none());
    let left: Vec<&PodLife> = of.filter(|p| p.created.is_some_and(|c| c.ns < at.ns)).collect();
    let pod = left.first()?;
    assumed.push(match left.len() {
        1 => "script.pods: assumed that the only pod that the failed Job did not delete had failed, with exit code 1"
            .to_owned(),
        n => format!("script.pods: one of {n} pods of the failed Job had failed; assumed the first, with exit code 1"),
    });
    let mut rule = selector(pod);
    if let (Some(object), Some(names)) = (rule.as_object_mut(), replicated_job(life, job)) {
        object.insert("replicatedJob".to_owned(), json!(names));
        object.insert("restartAttempt".to_owned(), json!(restart.number - 1));
    }
    let begin = pod.bound.or(pod.created)?.ms_after(zero) + start_ms;
    rule["runMs"] = json!((at.ms_after(zero) - begin).max(0));
    rule["exit"] = json!(1);
    Some(rule)
}

/// Returns the replicated job of a Job, e.g. `w` for `js-w-0`.
fn replicated_job<'l>(life: &'l ObservedLifecycle, job: &str) -> Option<&'l str> {
    let rest = job.strip_prefix(life.jobset.name.as_str())?.strip_prefix('-')?;
    let (name, _) = rest.rsplit_once('-')?;
    let all = life.jobset.manifest["spec"]["replicatedJobs"].as_array()?;
    let mut names = all.iter().filter_map(|rj| rj["name"].as_str());
    names.find(|own| *own == name)
}

/// Time from bound to ready and its uncertainty, in milliseconds.
struct ScriptStart {
    ms: i64,
    uncertainty_ms: i64,
}

fn start_time((i, pod): (usize, &PodLife)) -> Option<(usize, ScriptStart)> {
    let (ready, _) = pod.ready.first().filter(|(_, ready)| *ready)?;
    let bound = pod.bound?;
    let start =
        ScriptStart { ms: ready.ms_after(bound).max(0), uncertainty_ms: (ready.uncertainty_with(bound) * 1e3) as i64 };
    Some((i, start))
}

/// Returns the restart time of containers in milliseconds. A restart in place waits for it twice: for the pod that
/// triggered the restart, and for the slowest of the other pods after the restart was triggered. The script has a
/// single value, so the result is the mean of the two. For other restarts it is the median time from the end of a
/// container to its next start, in whole seconds of the kubelet.
fn restart_ms(life: &ObservedLifecycle, restart: &ObservedRestart) -> Option<i64> {
    let of = |m: Milestone| restart.get(m);
    let own = of(Milestone::AttemptsFirst).zip(restart.origin);
    let slowest = of(Milestone::AttemptsLast).zip(of(Milestone::PreviousWritten));
    if let (Some((own, (_, origin))), Some((slowest, order))) = (own, slowest) {
        return Some(((own.ms_after(origin) + slowest.ms_after(order)) / 2).max(0));
    }
    let again = life.pods.iter().filter_map(|p| p.last_observed.container_restart);
    let again = again.map(|(end, begin)| begin.saturating_sub(end) as i64 / 1_000_000);
    median(again.collect())
}

/// Returns the time from the deletion mark to the end of the containers of a pod that ran, in milliseconds.
fn stop_ms(pod: &PodLife) -> Option<i64> {
    let (deleting, end) = (pod.deleting?, pod.finished.or(pod.gone)?);
    let ran = !pod.ready.is_empty() && pod.last_observed.exit_code.is_some();
    (ran && end.ns + end.uncertainty_ns >= deleting.ns).then(|| end.ms_after(deleting).max(0))
}

fn median(mut values: Vec<i64>) -> Option<i64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn most_common(codes: impl Iterator<Item = i32>) -> Option<i32> {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    codes.for_each(|code| *counts.entry(code).or_default() += 1);
    counts.into_iter().max_by_key(|(_, n)| *n).map(|(code, _)| code)
}

/// Returns the fields of a rule that select the pod.
fn selector(pod: &PodLife) -> Value {
    let last = &pod.last_observed;
    let mut rule =
        json!({"jobIndex": last.job_index, "podIndex": last.index, "restartAttempt": last.attempt.unwrap_or(0)});
    if !last.replicated_job.is_empty() {
        rule["replicatedJob"] = json!(last.replicated_job);
    }
    rule
}

/// Returns containers that ended on their own as rules, and pods deleted by users as actions.
fn container_exits_and_deletions(
    life: &ObservedLifecycle, restart: &ObservedRestart, (zero, faults): (ClockTime, &FaultFinder),
    (start_ms, not_played): (i64, &mut Vec<String>),
) -> (Vec<Value>, Vec<Value>) {
    let (mut rules, mut actions) = (Vec::new(), faults.actions.clone());
    for pod in life.pods.iter().filter(|p| !p.is_only_from_events) {
        // Consequences of a node fault will result from the replayed fault.
        let node = |at: Option<ClockTime>| at.is_some_and(|at| faults.explains(pod, at));
        let disrupted = |reason: &str| {
            let mut all = pod.last_observed.conditions.iter();
            all.any(|c| c.matches("DisruptionTarget", "True") && c.reason == reason)
        };
        let by_node = disrupted("DeletionByTaintManager") || disrupted("DeletionByPodGC");
        let dead = pod.last_observed.exit_code.is_none_or(|code| code == faults::EXIT_CODE_FOUND_DEAD);
        if node(pod.deleting) && by_node || node(pod.finished) && dead {
            continue;
        }
        let alone = match (pod.deleting, pod.finished) {
            (Some(deleting), Some(finished)) => finished.ns + finished.uncertainty_ns < deleting.ns,
            (None, Some(_)) => true,
            _ => false,
        };
        if let (true, Some(finished), Some(bound)) = (alone, pod.finished, pod.bound) {
            let begun = pod.ready.first().map(|(at, _)| *at);
            let begin = begun.map_or(bound.ms_after(zero) + start_ms, |at| at.ms_after(zero));
            let mut rule = selector(pod);
            rule["runMs"] = json!((finished.ms_after(zero) - begin).max(0));
            rule["exit"] = json!(pod.last_observed.exit_code.unwrap_or(1));
            rule["containerRun"] = json!(pod.last_observed.restarts);
            rule["startMs"] = json!((begin - bound.ms_after(zero)).max(0));
            rules.push(rule);
            continue;
        }
        let Some(deleting) = pod.deleting else {
            continue;
        };
        if disrupted("EvictionByEvictionAPI") {
            actions.push(action("evictPod", pod, deleting, zero));
            continue;
        }
        if is_control_plane_deletion(life, pod, deleting) {
            continue;
        }
        let reason = pod.last_observed.conditions.iter().find(|c| c.matches("DisruptionTarget", "True"));
        match reason.map(|c| c.reason.as_str()) {
            Some(other) => not_played.push(format!("a pod was disrupted: {other}")),
            None => actions.push(action("deletePod", pod, deleting, zero)),
        }
    }
    if restart.in_place {
        for nth in 1..=restart.number {
            match in_place_rule(life, nth, zero) {
                Some(rule) => rules.push(rule),
                None => not_played.push(format!("the trigger of in-place restart {nth}")),
            }
        }
    }
    actions.sort_by_key(|a| a["atMs"].as_i64());
    not_played.sort();
    not_played.dedup();
    (rules, actions)
}

/// Returns whether the control plane deleted the pod, so that the replay will delete it as well: its Job was failing
/// or being deleted, or the JobSet was being deleted.
fn is_control_plane_deletion(life: &ObservedLifecycle, pod: &PodLife, deleting: ClockTime) -> bool {
    let has_event = life
        .events
        .iter()
        .any(|e| e.reason == "SuccessfulDelete" && e.message.strip_prefix("Deleted pod: ") == Some(&pod.name));
    let of = |j: &&JobLife| {
        j.name == pod.last_observed.job
            && j.created.map(|at| at.ns) <= pod.created.map(|at| at.ns + at.uncertainty_ns)
            && j.gone.is_none_or(|gone| gone.ns + gone.uncertainty_ns >= deleting.ns)
    };
    let job = life.jobs.iter().rev().find(of);
    let conditions = job.into_iter().flat_map(|j| &j.conditions);
    let mut failing = conditions.filter(|(_, c)| c.matches("FailureTarget", "True") || c.matches("Failed", "True"));
    let target = failing.next().map(|(at, _)| at);
    let marked = job.and_then(|j| j.deleting);
    let by_user = life.jobset.deleted;
    let after = |end: ClockTime| deleting.ns + SECOND > end.ns.saturating_sub(end.uncertainty_ns);
    // The Job controller deletes the other pods of a Job before it reports the failure. The first deletion is the
    // cause of the failure.
    let others = || {
        life.pods.iter().any(|other| {
            other.last_observed.job == pod.last_observed.job
                && other.last_observed.attempt == pod.last_observed.attempt
                && other.deleting.is_some_and(|d| d.ns < deleting.ns)
        })
    };
    has_event
        || marked.is_some_and(after)
        || by_user.is_some_and(after)
        || target.is_some_and(|t| deleting.ns > t.ns || (deleting.ns + 2 * SECOND > t.ns && others()))
        || follows_failed_pod(life, pod, deleting)
}

/// Returns whether another pod of the same Job had failed before. The Job controller deletes the remaining pods
/// before it reports the failure.
fn follows_failed_pod(life: &ObservedLifecycle, pod: &PodLife, deleting: ClockTime) -> bool {
    life.pods.iter().any(|other| {
        other.last_observed.job == pod.last_observed.job
            && other.name != pod.name
            && other.last_observed.phase == "Failed"
            && other.finished.is_some_and(|f| f.ns < deleting.ns + deleting.uncertainty_ns)
            && other.deleting.is_none_or(|d| other.finished.is_some_and(|f| f.ns < d.ns))
    })
}

fn action(what: &str, pod: &PodLife, at: ClockTime, zero: ClockTime) -> Value {
    json!({"atMs": at.ms_after(zero).max(0), "do": what, "pod": pod.name_without_suffix()})
}

/// Returns a rule for the container that ended first and caused all others to restart.
fn in_place_rule(life: &ObservedLifecycle, nth: u32, zero: ClockTime) -> Option<Value> {
    let restart = milestones::observed_restart(life, nth).ok()?;
    let (_, at) = restart.origin?;
    let first = restart.first_pod.as_ref()?;
    let pod = life.pods.iter().find(|p| p.name == *first && p.last_observed.restarts > 0)?;
    let before = pod.ready.iter().rev();
    let (ready, _) = before.into_iter().find(|(since, ready)| *ready && since.ns < at.ns)?;
    let mut rule = selector(pod);
    rule["inPlaceAttempt"] = json!(restart.number - 1);
    rule["containerRun"] = json!(restart.number - 1);
    rule["runMs"] = json!((at.ms_after(zero) - ready.ms_after(zero)).max(0));
    rule["exit"] = json!(pod.last_observed.exit_code.filter(|code| *code != 0).unwrap_or(1));
    Some(rule)
}

/// Returns rules for pods whose start time differs considerably from the median.
fn straggler_rules(life: &ObservedLifecycle, starts: &BTreeMap<usize, ScriptStart>, start_ms: i64) -> Vec<Value> {
    let far = |(_, s): &(&usize, &ScriptStart)| (s.ms - start_ms).abs() > s.uncertainty_ms.max(MIN_DEVIATION_MS);
    let mut all: Vec<(&usize, &ScriptStart)> = starts.iter().filter(far).collect();
    all.sort_by_key(|(i, s)| (-(s.ms - start_ms).abs(), **i));
    all.truncate(MAX_RULES);
    let rule = |(i, s): (&usize, &ScriptStart)| {
        let mut rule = selector(&life.pods[*i]);
        rule["startMs"] = json!(s.ms);
        rule["runMs"] = json!(-1);
        rule
    };
    all.into_iter().map(rule).collect()
}
