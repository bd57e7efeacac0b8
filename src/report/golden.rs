//! The golden log: what happened in a run as short aligned text, for tests and for reading.
//!
//! Columns: virtual time · what (`+n word` for pods) · object · details. JobSets, Jobs, nodes, faults, conditions and
//! attempts have a line each; what pods do is counted per virtual second and written with the time of the last one
//! counted, before any other line. A count of one names its pod where it failed. Must never depend on the seed's
//! random suffixes: pods are named without them.

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
    text: String,
    counts: [u32; WORDS.len()],
    counted: Time,
    /// Job and index of each pod.
    places: Vec<Option<(JobId, u32)>>,
    last_failed: String,
}

impl Default for Golden {
    fn default() -> Golden {
        Golden::new()
    }
}

impl Golden {
    pub fn new() -> Golden {
        Golden {
            text: LEGEND.to_owned(),
            counts: [0; WORDS.len()],
            counted: Time::ZERO,
            places: Vec::new(),
            last_failed: String::new(),
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
            let _ = write!(self.text, " ({})", self.last_failed);
        }
        self.text.push('\n');
        self.counts = [0; WORDS.len()];
    }

    fn place(&self, pod: PodId, names: &Names) -> String {
        match self.places.get(pod.ix()) {
            Some(Some((job, index))) => names.pod_place(*job, *index),
            _ => String::new(),
        }
    }

    fn count(&mut self, at: Time, word: usize) {
        if at.0 / NANOS_PER_SECOND != self.counted.0 / NANOS_PER_SECOND {
            self.flush();
        }
        self.counted = at;
        self.counts[word] += 1;
    }

    /// The word that counts what a pod did.
    fn word(&mut self, body: &Body, names: &Names) -> Option<usize> {
        use Body::*;
        Some(match *body {
            PodCreated {
                pod, job, index, ..
            } => {
                *row(&mut self.places, pod.ix()) = Some((job, index));
                0
            }
            PodCreateRejected { .. } => 1,
            PodUnschedulable { .. } => 2,
            PodBound { .. } => 3,
            PodRunning { .. } => 4,
            PodReady { .. } => 5,
            PodNotReady { .. } => 6,
            ContainerExited { pod, .. } => {
                self.last_failed = self.place(pod, names);
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
                self.last_failed = self.place(pod, names);
                11
            }
            PodFinished { .. } => 12,
            PodDeleting { .. } => 13,
            PodGone { .. } => 14,
            _ => return None,
        })
    }

    fn object(&self, about: About, names: &Names) -> String {
        match about {
            About::JobSet(id) => names.jobset(id).to_owned(),
            About::Job(id) => names.job(id).to_owned(),
            About::Pod(id) => self.place(id, names),
            About::Node(id) => names.node(id).to_owned(),
            About::Nothing => String::new(),
        }
    }
}

fn details(body: &Body, names: &Names) -> String {
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
        PreviousAttempt { attempt, .. } | CurrentAttempt { attempt, .. } => attempt.to_string(),
        JobSetCondition {
            kind,
            status,
            reason,
            message,
            ..
        } => condition(
            kind.as_str(),
            status,
            names.text(reason),
            names.text(message),
        ),
        AllReady { ready, .. } => ready.to_string(),
        JobCreated { attempt, .. } => format!("restart-attempt={attempt}"),
        JobCondition {
            kind,
            status,
            reason,
            message,
            ..
        } => condition(
            kind.as_str(),
            status,
            names.text(reason),
            names.text(message),
        ),
        NodeState { ready, .. } => format!("Ready={}", ready.as_str()),
        NodeTaint {
            key, effect, added, ..
        } => {
            let effect = TAINT_EFFECTS[usize::from(effect).min(TAINT_EFFECTS.len() - 1)];
            format!(
                "{}{}:{effect}",
                if added { '+' } else { '-' },
                names.text(key)
            )
        }
        Fault { index, .. } => format!("fault {index}"),
        Answered { index, answer } => {
            let text = Some(names.text(answer)).filter(|t| !t.is_empty());
            format!("fault {index}: {}", text.unwrap_or("accepted"))
        }
        KubeEvent {
            warning,
            reason,
            message,
            ..
        } => {
            let kind = if warning { "Warning" } else { "Normal" };
            format!("{kind} {}: {}", names.text(reason), names.text(message))
        }
        End { reason } => reason.as_str().to_owned(),
        _ => members(body, names),
    }
}

/// What a kind without words of its own says: `key=value` for each member of its line.
fn members(body: &Body, names: &Names) -> String {
    let mut text = String::new();
    body.fields(&mut |role, value| {
        let Role::Member(key) = role else { return };
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{key}=");
        let _ = match value {
            Value::JobSet(id) => write!(text, "{}", names.jobset(id)),
            Value::Job(id) => write!(text, "{}", names.job(id)),
            Value::Node(id) => write!(text, "{}", names.node(id)),
            Value::Text(id) => write!(text, "{}", names.text(id)),
            Value::Number(n) => write!(text, "{n}"),
            Value::Signed(n) => write!(text, "{n}"),
            Value::Flag(flag) => write!(text, "{flag}"),
            Value::Word(_, word) => write!(text, "{word}"),
            // Pods have random suffixes.
            Value::Pod(_) => Ok(()),
        };
    });
    text
}

fn condition(kind: &str, status: bool, reason: &str, message: &str) -> String {
    let status = if status { "True" } else { "False" };
    format!("{kind}={status} {reason}: {message}")
}

impl Sink for Golden {
    fn record(&mut self, record: &Record, names: &Names) {
        if let Some(word) = self.word(&record.body, names) {
            self.count(record.at, word);
            return;
        }
        self.flush();
        let object = self.object(record.body.head().about, names);
        let details = details(&record.body, names);
        self.line(record.at, record.body.kind(), &object, &details);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn pods_are_counted_per_second_and_everything_else_has_a_line() {
        let mut golden = Golden::new();
        for r in testing::records(&testing::recreate()) {
            golden.record(&r, &testing::names());
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
