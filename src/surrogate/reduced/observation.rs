//! The observations of a trial: the records that concern the JobSet.

use super::accuracy::RELATIVE_ERROR_MAX;
use sim_base::{NodeId, SimTime};
use sim_engine::record::{Body, JobSetConditionType, RecordNames, RecordSink, RunOutcome, SimulationRecord};

/// Observed events and counters of the JobSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedState {
    pub started: Vec<SimTime>,
    pub interrupted: Vec<SimTime>,
    pub done: Option<SimTime>,
    /// Times at which a restart was counted, with both counters.
    pub counted: Vec<(SimTime, u32, u32)>,
    pub bound: Vec<(SimTime, NodeId)>,
    pub failed: Option<SimTime>,
    pub completed: Option<SimTime>,
    pub restarts: u32,
    /// Number of restarts that the controller compares with `maxRestarts`.
    pub counts: u32,
    /// Accelerator-nanoseconds of its pods, by category.
    pub held: Vec<u128>,
    pub submitted: SimTime,
}

impl ObservedState {
    /// Sets the counters from the last record, for a trial that was stopped before its end.
    pub(super) fn so_far(mut self) -> ObservedState {
        if let Some((_, restarts, counts)) = self.counted.last() {
            (self.restarts, self.counts) = (*restarts, *counts);
        }
        self
    }

    /// Returns the times at which pods were bound after `at`.
    pub fn bound_after(&self, at: SimTime) -> Vec<SimTime> {
        let times = self.bound.iter().map(|(t, _)| *t);
        times.filter(|t| *t > at).collect()
    }

    /// Returns the largest timing difference from another trial in nanoseconds; `None` if it exceeds the accepted
    /// error or the outcomes differ in kind.
    pub fn timing_offset(&self, other: &ObservedState) -> Option<u64> {
        let counters = |seen: &ObservedState| (seen.restarts, seen.counts);
        let events = |seen: &ObservedState| {
            let counted = seen.counted.iter().map(|(at, ..)| *at);
            let ends = [seen.done, seen.failed, seen.completed];
            let bound = seen.bound.iter().map(|(at, _)| *at);
            let single = seen.started.iter().chain(&seen.interrupted).copied();
            let all: Vec<SimTime> = single.chain(counted).chain(bound).collect();
            (all, ends.map(|end| end.unwrap_or(SimTime::ZERO)))
        };
        let nodes = |seen: &ObservedState| {
            let mut nodes: Vec<NodeId> = seen.bound.iter().map(|(_, node)| *node).collect();
            nodes.sort_unstable();
            nodes
        };
        let numbers = |seen: &ObservedState| [seen.started.len(), seen.interrupted.len(), seen.counted.len()];
        let same = counters(self) == counters(other) && numbers(self) == numbers(other) && nodes(self) == nodes(other);
        let ((a, a_ends), (b, b_ends)) = (events(self), events(other));
        let both = a.iter().chain(&a_ends).zip(b.iter().chain(&b_ends));
        let off = both.map(|(a, b)| a.0.abs_diff(b.0)).max().unwrap_or(0);
        let ends = self.started.last().zip(self.interrupted.first());
        let durations = ends.map_or(0, |(ready, stopped)| ready.since(*stopped).0);
        (same && off as f64 <= durations as f64 * RELATIVE_ERROR_MAX).then_some(off)
    }

    pub(super) fn observe_outcome(&mut self, outcome: &RunOutcome) {
        let jobset = &outcome.jobsets[0];
        self.restarts = jobset.restarts;
        let used = self.counted.last().map_or(0, |(.., counts)| *counts);
        self.counts = jobset.restarts_count_towards_max.max(used);
        self.submitted = outcome.training.first().map_or(SimTime::ZERO, |t| t.submitted);
        if let Some(own) = outcome.ledger.by_jobset.first() {
            self.held = own.accelerator_ns.to_vec();
        }
    }
}

impl RecordSink for ObservedState {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        let now = record.at;
        match record.body {
            Body::TrainingStarted { .. } => self.started.push(now),
            Body::TrainingInterrupted { .. } => self.interrupted.push(now),
            Body::TrainingDone { .. } => self.done = Some(now),
            Body::RestartCounted { restarts, counted, .. } => self.counted.push((now, restarts, counted)),
            // In-place restarts use up the limit without being counted in the status (IPR-2, IPR-4).
            Body::PreviousAttempt { attempt, .. } => self.counted.push((now, 0, attempt + 1)),
            Body::PodBound { node, .. } => self.bound.push((now, node)),
            Body::JobSetCondition { kind, status: true, .. } => match kind {
                JobSetConditionType::Failed => self.failed = Some(now),
                JobSetConditionType::Completed => self.completed = Some(now),
                _ => {}
            },
            _ => {}
        }
    }
}
