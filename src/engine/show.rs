//! Objects as the API would show them, as far as the tables know them: for the answers to a user's GET and for
//! admission, which asks whether a JobSet is finished.
//!
//! Must never be asked by the model itself.

use super::jobs::{Job, JobCondition};
use super::run::Run;
use crate::base::*;
use crate::objects::{self, JobSlot};
use crate::record::JobConditionType;
use serde_json::{Map, Value, json};

/// Times are seconds of virtual time, as `12s`.
fn time(at: Time) -> Value {
    json!(format!("{}s", at.0 / time::NANOS_PER_SECOND))
}

impl Run<'_> {
    pub fn jobset_status_json(&self, jobset: JobSetId) -> Value {
        let js = &self.w.jobsets[jobset.ix()];
        let s = &js.status;
        let mut out = Map::new();
        if js.resource_version <= 1 && s.replicated_jobs.is_empty() {
            return Value::Null;
        }
        if !s.conditions.is_empty() {
            let conditions = s.conditions.iter().map(|c| {
                json!({"type": c.kind.as_str(), "status": if c.status { "True" } else { "False" },
                    "reason": c.full_reason(), "message": c.message,
                    "lastTransitionTime": time(c.last_transition)})
            });
            out.insert("conditions".into(), conditions.collect());
        }
        let names: Vec<&str> = js
            .spec
            .spec
            .replicated_jobs
            .iter()
            .map(|r| r.name.as_str())
            .collect();
        let rjs = js.shown_status(&names).into_iter().map(|r| {
            let mut shown = json!({"name": r.name, "ready": r.ready, "succeeded": r.succeeded,
                "failed": r.failed, "active": r.active, "suspended": r.suspended});
            if !r.job_restarts.is_empty() {
                shown["jobRestarts"] = json!(r.job_restarts);
            }
            if !r.job_restarts_count_towards_max.is_empty() {
                shown["jobRestartsCountTowardsMax"] = json!(r.job_restarts_count_towards_max);
            }
            shown
        });
        out.insert("replicatedJobsStatus".into(), rjs.collect());
        out.insert("restarts".into(), json!(s.restarts));
        if s.restarts_count_towards_max > 0 {
            let counted = json!(s.restarts_count_towards_max);
            out.insert("restartsCountTowardsMax".into(), counted);
        }
        for (key, value) in [
            (
                "currentInPlaceRestartAttempt",
                s.current_in_place_restart_attempt,
            ),
            (
                "previousInPlaceRestartAttempt",
                s.previous_in_place_restart_attempt,
            ),
        ] {
            if let Some(attempt) = value {
                out.insert(key.into(), json!(attempt));
            }
        }
        if let Some(terminal) = s.terminal_state {
            out.insert("terminalState".into(), json!(format!("{terminal:?}")));
        }
        Value::Object(out)
    }

    pub fn jobset_json(&self, jobset: JobSetId) -> Value {
        let js = &self.w.jobsets[jobset.ix()];
        let mut object = js.spec.object.as_deref().cloned().unwrap_or(json!({}));
        object["status"] = self.jobset_status_json(jobset);
        object
    }

    /// The stored Job: what the manager posted, with what has changed since.
    pub fn job_json(&self, job: JobId) -> Value {
        let m = &self.m.jobs[job.ix()];
        let j = &self.w.jobs[job.ix()];
        let js = &self.w.jobsets[m.jobset.ix()];
        let mut object = match (&j.object, &js.spec.object) {
            (Some(object), _) => (**object).clone(),
            (None, Some(jobset)) => objects::job(&JobSlot {
                jobset,
                replicated_job: m.rj as usize,
                index: m.index,
                restarts: j.restart_attempt,
                job_restarts: self.w.gates.restart_job.then_some(j.job_restart_attempt),
            }),
            (None, None) => json!({}),
        };
        for (key, value) in &j.relabelled {
            if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
                match value {
                    Some(text) => drop(labels.insert(key.clone(), json!(text))),
                    None => drop(labels.remove(key)),
                }
            }
        }
        object["spec"]["suspend"] = json!(j.suspended);
        let spec = self.job_spec(job);
        object["spec"]["parallelism"] = json!(spec.parallelism());
        if let Some(completions) = spec.completions() {
            object["spec"]["completions"] = json!(completions);
        }
        object["status"] = job_status(j);
        object
    }

    /// The values of these paths, as a JSON object from path to value.
    pub fn fields_of(&self, object: &Value, fields: &[String]) -> String {
        let value = |path: &str| path.split('.').fold(object, |v, key| &v[key]).clone();
        let shown: Map<String, Value> = fields.iter().map(|f| (f.clone(), value(f))).collect();
        Value::Object(shown).to_string()
    }
}

fn job_status(j: &Job) -> Value {
    let mut status = json!({"active": j.status.active, "ready": j.status.ready,
        "succeeded": j.status.succeeded, "failed": j.status.failed,
        "terminating": j.status.terminating});
    if let Some(start) = j.status.start_time {
        status["startTime"] = time(start);
    }
    if !j.status.conditions.is_empty() {
        status["conditions"] = j.status.conditions.iter().map(condition).collect();
    }
    status
}

fn condition(c: &JobCondition) -> Value {
    json!({"type": JobConditionType::as_str(c.kind), "status": if c.status { "True" } else { "False" },
        "reason": c.reason, "message": c.message,
        "lastProbeTime": time(c.at), "lastTransitionTime": time(c.at)})
}
