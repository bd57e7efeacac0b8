//! Gathers from records the history of the JobSet's status, its Events and the answers to user actions.
//!
//! Must never compare; `decisions` does.

use crate::base::{JobSetId, Time};
use crate::record::*;
use std::collections::{BTreeMap, BTreeSet};

/// The part of a JobSet's status whose every change is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub restarts: u32,
    pub counted: u32,
    pub terminal_state: String,
    pub current: Option<u32>,
    pub previous: Option<u32>,
    /// (type, status, reason) in the order of the API.
    pub conditions: Vec<(String, String, String)>,
}

/// The only JobSet of a recording's scenario.
const JOBSET: JobSetId = JobSetId(0);

/// A sink that keeps what `decisions` compares beyond the final state.
#[derive(Default)]
pub struct History {
    state: State,
    /// The instant of the status write that is being collected: one write is several records.
    writing: Option<Time>,
    states: Vec<State>,
    /// (warning, reason, message) as recorded, not masked.
    pub events: BTreeSet<(bool, String, String)>,
    /// Index of the scripted action → whether it found its pod or node.
    pub faults: BTreeMap<u32, bool>,
    /// Index of the request → the API server's answer.
    pub answers: BTreeMap<u32, String>,
    pub deleted_at: Option<Time>,
}

impl History {
    /// Every status in order, without repeats; the first is the empty one.
    pub fn states(&self) -> Vec<State> {
        let mut states = vec![State::default()];
        for state in self.states.iter().chain([&self.state]) {
            if states.last() != Some(state) {
                states.push(state.clone());
            }
        }
        states
    }

    fn write(&mut self, at: Time) -> &mut State {
        if self.writing != Some(at) {
            self.states.push(self.state.clone());
            self.writing = Some(at);
        }
        &mut self.state
    }

    fn condition(&mut self, at: Time, kind: JobSetConditionType, status: bool, reason: &str) {
        let state = self.write(at);
        let status_text = condition_status(status).to_owned();
        match state.conditions.iter_mut().find(|c| c.0 == kind.as_str()) {
            Some(c) => (c.1, c.2) = (status_text, reason.to_owned()),
            None => {
                let new = (kind.as_str().to_owned(), status_text, reason.to_owned());
                state.conditions.push(new);
            }
        }
        let terminal = matches!(
            kind,
            JobSetConditionType::Completed | JobSetConditionType::Failed
        );
        if terminal && status {
            state.terminal_state = kind.as_str().to_owned();
        }
    }
}

pub fn condition_status(status: bool) -> &'static str {
    if status { "True" } else { "False" }
}

impl Sink for History {
    fn record(&mut self, record: &Record, names: &Names) {
        let at = record.at;
        match record.body {
            Body::RestartCounted {
                jobset: JOBSET,
                restarts,
                counted,
                ..
            } => {
                let state = self.write(at);
                (state.restarts, state.counted) = (restarts, counted);
            }
            Body::PreviousAttempt {
                jobset: JOBSET,
                attempt,
            } => self.write(at).previous = Some(attempt),
            Body::CurrentAttempt {
                jobset: JOBSET,
                attempt,
            } => self.write(at).current = Some(attempt),
            Body::JobSetCondition {
                jobset: JOBSET,
                kind,
                status,
                reason,
                ..
            } => self.condition(at, kind, status, names.text(reason)),
            Body::JobSetDeleted { jobset: JOBSET } => self.deleted_at = Some(at),
            Body::Fault { index, node, pod } => {
                let found = node.is_some() || pod.is_some();
                self.faults.insert(index, found);
            }
            Body::Answered { index, answer } => {
                self.answers.insert(index, names.text(answer).to_owned());
            }
            Body::KubeEvent {
                object: ObjectRef::JobSet(JOBSET),
                warning,
                reason,
                message,
            } => {
                let (reason, message) = (names.text(reason), names.text(message));
                self.events
                    .insert((warning, reason.to_owned(), message.to_owned()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::base::JobId;

    pub fn play(names: &Names, records: &[(u64, Body)]) -> History {
        let mut history = History::default();
        for (seq, (ms, body)) in records.iter().enumerate() {
            let record = Record {
                seq: seq as u32,
                cause: NO_CAUSE,
                ticket: NO_TICKET,
                at: Time(ms * 1_000_000),
                body: *body,
            };
            history.record(&record, names);
        }
        history
    }

    pub fn condition(
        kind: JobSetConditionType,
        status: bool,
        names: &mut Names,
        reason: &str,
    ) -> Body {
        Body::JobSetCondition {
            jobset: JOBSET,
            kind,
            status,
            reason: names.intern(reason),
            message: names.intern("message"),
        }
    }

    pub fn counted(restarts: u32) -> Body {
        Body::RestartCounted {
            jobset: JOBSET,
            restarts,
            counted: restarts,
            failed_job: JobId(0),
        }
    }

    #[test]
    fn records_of_one_instant_are_one_status_write() {
        let mut names = Names::default();
        let restarting = JobSetConditionType::RestartingJobSet;
        let on = condition(restarting, true, &mut names, "DefaultFailurePolicy");
        let off = condition(restarting, false, &mut names, "JobsReady");
        let failed = condition(
            JobSetConditionType::Failed,
            true,
            &mut names,
            "ReachedMaxRestarts",
        );
        let records = [
            (10, counted(1)),
            (10, on),
            (20, on),
            (30, off),
            (40, failed),
        ];
        let states = play(&names, &records).states();
        let seen: Vec<(u32, usize, &str)> = states
            .iter()
            .map(|s| (s.restarts, s.conditions.len(), s.terminal_state.as_str()))
            .collect();
        assert_eq!(
            seen,
            [(0, 0, ""), (1, 1, ""), (1, 1, ""), (1, 2, "Failed")],
            "{states:?}"
        );
        assert_eq!(states[2].conditions[0].1, "False");
    }
}
