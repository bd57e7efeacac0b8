//! The golden log: what happened in a run as short aligned text, for tests and for reading.
//!
//! Columns: virtual time · what (`+n word` for pods) · object · details. JobSets, Jobs, nodes, faults, conditions and
//! attempts have a line each; what pods do is counted per virtual second and written with the time of the last one
//! counted, before any other line. A count of one names its pod where it failed. Must never depend on the seed's
//! random suffixes: pods are named without them.

use super::event_fields::{node_ready, taint_effect};
use super::words::pod_place;
use crate::base::time::NANOS_PER_SECOND;
use crate::base::*;
use crate::record::*;
use std::fmt::Write;

/// Written above every golden log.
pub const LEGEND: &str = "\
# Columns: virtual time, what happened, object, details.
# Pods are counted per second of virtual time: `+120 created +98 bound`. Words: created, rejected (by a webhook),
# unschedulable, bound, running, ready, notReady, exited (a container by itself), restarting (containers, in place),
# attempt (agents that announced one), lifted (barriers), failed, succeeded, deleting, gone.
";

const WORDS: [&str; 15] = [
    "created",
    "rejected",
    "unschedulable",
    "bound",
    "running",
    "ready",
    "notReady",
    "exited",
    "restarting",
    "attempt",
    "lifted",
    "failed",
    "succeeded",
    "deleting",
    "gone",
];

pub struct Golden {
    names: Names,
    text: String,
    counts: [u32; WORDS.len()],
    counted: Time,
    /// Job and index of each pod.
    places: Vec<(JobId, u32)>,
    last_failed: PodId,
}

impl Golden {
    pub fn new(names: &Names) -> Golden {
        Golden {
            names: names.clone(),
            text: LEGEND.to_owned(),
            counts: [0; WORDS.len()],
            counted: Time::ZERO,
            places: Vec::new(),
            last_failed: PodId::NONE,
        }
    }

    /// The log, closed with the digest.
    pub fn finish(mut self, outcome: &RunOutcome) -> String {
        self.flush();
        let records = outcome.records;
        self.line(
            outcome.end,
            "digest",
            &format!("{:016x}", outcome.digest),
            &format!("{records} records"),
        );
        self.text
    }

    fn line(&mut self, at: Time, what: &str, object: &str, details: &str) {
        let mut line = format!(
            "{:>12}  {what:<24}  {object:<28}  {details}",
            at.to_string()
        );
        line.truncate(line.trim_end().len());
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn flush(&mut self) {
        if self.counts.iter().all(|&n| n == 0) {
            return;
        }
        let _ = write!(self.text, "{:>12} ", self.counted.to_string());
        for (n, word) in self.counts.iter().zip(WORDS) {
            if *n > 0 {
                let _ = write!(self.text, " +{n} {word}");
            }
        }
        let failures = self.counts[7] + self.counts[11];
        if failures > 0 && self.counts[7].max(self.counts[11]) == 1 {
            let place = self.place(self.last_failed);
            let _ = write!(self.text, " ({place})");
        }
        self.text.push('\n');
        self.counts = [0; WORDS.len()];
    }

    fn place(&self, pod: PodId) -> String {
        match self.places.get(pod.ix()) {
            Some(&(job, index)) => pod_place(&self.names, job, index),
            None => String::new(),
        }
    }

    fn count(&mut self, at: Time, word: usize) {
        if at.0 / NANOS_PER_SECOND != self.counted.0 / NANOS_PER_SECOND {
            self.flush();
        }
        self.counted = at;
        self.counts[word] += 1;
    }

    fn learn(&mut self, pod: PodId, job: JobId, index: u32) {
        if self.places.len() <= pod.ix() {
            self.places.resize(pod.ix() + 1, (JobId::NONE, 0));
        }
        self.places[pod.ix()] = (job, index);
    }

    /// The word that counts what a pod did.
    fn word(&mut self, body: &Body) -> Option<usize> {
        use Body::*;
        Some(match *body {
            PodCreated {
                pod, job, index, ..
            } => {
                self.learn(pod, job, index);
                0
            }
            PodCreateRejected { .. } => 1,
            PodUnschedulable { .. } => 2,
            PodBound { .. } => 3,
            PodRunning { .. } => 4,
            PodReady { .. } => 5,
            PodNotReady { .. } => 6,
            ContainerExited { pod, .. } => {
                self.last_failed = pod;
                7
            }
            ContainersRestarting { .. } => 8,
            AttemptWritten { .. } => 9,
            BarrierLifted { .. } => 10,
            PodFinished {
                pod,
                succeeded: false,
                ..
            } => {
                self.last_failed = pod;
                11
            }
            PodFinished { .. } => 12,
            PodDeleting { .. } => 13,
            PodGone { .. } => 14,
            _ => return None,
        })
    }

    fn jobset_details(body: &Body, texts: &Texts, names: &Names) -> String {
        use Body::*;
        match *body {
            RestartCounted {
                restarts,
                counted,
                failed_job,
                ..
            } => format!(
                "restarts={restarts} countTowardsMax={counted} failedJob={}",
                names.job(failed_job)
            ),
            JobRestartCounted { job, restarts, .. } => {
                format!("job={} restarts={restarts}", names.job(job))
            }
            PreviousAttempt { attempt, .. } | CurrentAttempt { attempt, .. } => attempt.to_string(),
            JobSetCondition {
                kind,
                status,
                reason,
                message,
                ..
            } => condition(kind.as_str(), status, texts.get(reason), texts.get(message)),
            AllReady { ready, .. } => ready.to_string(),
            ReplicatedJobsStatus {
                ready,
                succeeded,
                failed,
                active,
                suspended,
                ..
            } => format!(
                "ready={ready} succeeded={succeeded} failed={failed} active={active} suspended={suspended}"
            ),
            _ => String::new(),
        }
    }

    fn details(&self, body: &Body, texts: &Texts) -> (String, String) {
        use Body::*;
        let job = |id: JobId| self.names.job(id).to_owned();
        let node = |id: NodeId| self.names.node(id).to_owned();
        match *body {
            JobCreated { job: id, attempt } => (job(id), format!("restart-attempt={attempt}")),
            JobCondition {
                job: id,
                kind,
                status,
                reason,
                message,
            } => {
                let text = condition(kind.as_str(), status, texts.get(reason), texts.get(message));
                (job(id), text)
            }
            JobDeleting { job: id } | JobGone { job: id } => (job(id), String::new()),
            NodeState { node: id, ready } => (node(id), format!("Ready={}", node_ready(ready))),
            NodeTaint {
                node: id,
                key,
                effect,
                added,
            } => {
                let sign = if added { '+' } else { '-' };
                let text = format!("{sign}{}:{}", texts.get(key), taint_effect(effect));
                (node(id), text)
            }
            NodeGone { node: id } => (node(id), String::new()),
            Fault {
                index,
                node: id,
                pod,
            } => {
                let object = if pod.is_some() {
                    self.place(pod)
                } else {
                    node(id)
                };
                (object.replace('?', ""), format!("fault {index}"))
            }
            Answered { index, answer } => {
                let text = texts.get(answer);
                let text = if text.is_empty() { "accepted" } else { text };
                (String::new(), format!("fault {index}: {text}"))
            }
            KubeEvent {
                object,
                warning,
                reason,
                message,
            } => {
                let name = match object {
                    ObjectRef::JobSet(id) => self.names.jobset(id).to_owned(),
                    ObjectRef::Job(id) => job(id),
                    ObjectRef::Pod(id) => self.place(id),
                };
                let kind = if warning { "Warning" } else { "Normal" };
                let text = format!("{kind} {}: {}", texts.get(reason), texts.get(message));
                (name, text)
            }
            End { reason } => (String::new(), reason.as_str().to_owned()),
            _ => (String::new(), String::new()),
        }
    }
}

fn condition(kind: &str, status: bool, reason: &str, message: &str) -> String {
    let status = if status { "True" } else { "False" };
    format!("{kind}={status} {reason}: {message}")
}

impl Sink for Golden {
    fn record(&mut self, record: &Record, texts: &Texts) {
        if let Some(word) = self.word(&record.body) {
            self.count(record.at, word);
            return;
        }
        self.flush();
        let (kind, subject, ..) = super::events::describe(&record.body);
        let (object, details) = match subject {
            super::events::Subject::JobSet(id) if kind != "KubeEvent" => {
                let details = Self::jobset_details(&record.body, texts, &self.names);
                (self.names.jobset(id).to_owned(), details)
            }
            _ => self.details(&record.body, texts),
        };
        self.line(record.at, kind, &object, &details);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn pods_are_counted_per_second_and_everything_else_has_a_line() {
        let mut golden = Golden::new(&testing::names());
        for r in testing::records(&testing::recreate()) {
            golden.record(&r, &Texts::default());
        }
        golden.flush();
        let body: Vec<&str> = golden
            .text
            .lines()
            .filter(|l| !l.starts_with('#'))
            .collect();
        assert_eq!(body[0], "      0.000s  JobSetCreated             train");
        assert!(body.contains(&"      1.000s  +2 created"), "{body:#?}");
        assert!(
            body.contains(&"    100.000s  +1 exited (train-workers-0-1)"),
            "{body:#?}"
        );
        assert!(
            body.contains(&"    107.000s  RestartCounted            train                         restarts=1 countTowardsMax=1 failedJob=train-workers-0"),
            "{body:#?}"
        );
    }
}
