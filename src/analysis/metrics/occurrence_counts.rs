//! Sink that records when JobSets use up restarts of their `maxRestarts` limit.

#![deny(missing_docs)]

use sim_base::{JobId, JobSetId, SimTime, row_or_default};
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord};
use std::collections::BTreeMap;

/// One use of the `maxRestarts` limit by a JobSet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CountedUse {
    /// JobSet that restarted.
    pub jobset: JobSetId,
    /// Virtual time of the record that increased the use.
    pub at: SimTime,
    /// Number of restarts used up by this record; at least 1.
    pub times: u32,
}

/// Restart counts of one JobSet so far.
#[derive(Clone, Debug, Default)]
struct CountedState {
    /// Restarts of the whole JobSet that count towards the limit (`counted`) and that ignore it (`ignored`).
    counted: u32,
    ignored: u32,
    /// Restarts of single Jobs that count towards the limit, by Job (FP-11, FP-12).
    of_jobs: BTreeMap<JobId, u32>,
    /// All restarts of single Jobs, by Job.
    all_of_jobs: BTreeMap<JobId, u32>,
    /// Highest in-place restart attempt plus one.
    in_place: u32,
    /// Largest use of the limit so far.
    used: u32,
}

impl CountedState {
    fn sum(by_job: &BTreeMap<JobId, u32>) -> u32 {
        by_job.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

/// Number of restarts of one JobSet.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartTotals {
    /// Restarts of every kind: of the whole JobSet, of single Jobs, and in place.
    pub restarts: u32,
    /// The use of `maxRestarts` as the controller compares it with the limit (FP-7, IPR-4).
    pub budget_used: u32,
}

/// Records each use of `maxRestarts`. The use of a JobSet is the larger of two numbers (FP-7): its counted restarts,
/// and its in-place restart attempts minus the restarts of the whole JobSet that ignore the limit (IPR-4).
#[derive(Default)]
pub struct CountedFold {
    states: Vec<CountedState>,
    used: Vec<CountedUse>,
}

impl CountedFold {
    /// Returns all uses in order of time.
    pub fn finish(self) -> Vec<CountedUse> {
        self.used
    }

    /// Returns the numbers of restarts of a JobSet so far.
    pub fn totals(&self, jobset: JobSetId) -> RestartTotals {
        let Some(state) = self.states.get(jobset.ix()) else {
            return RestartTotals::default();
        };
        let of_jobset = state.counted.saturating_add(state.ignored);
        // In-place attempts continue the numbers of restarts of the whole JobSet (IPR-4).
        let of_jobset = of_jobset.max(state.in_place);
        RestartTotals {
            restarts: of_jobset.saturating_add(CountedState::sum(&state.all_of_jobs)),
            budget_used: state.used,
        }
    }

    fn record_occurrence(&mut self, jobset: JobSetId, at: SimTime) {
        let state = &mut self.states[jobset.ix()];
        let in_place = state.in_place.saturating_sub(state.ignored);
        let of_jobs = CountedState::sum(&state.of_jobs);
        let used = state.counted.saturating_add(of_jobs).max(in_place);
        if used > state.used {
            let times = used - state.used;
            state.used = used;
            self.used.push(CountedUse { jobset, at, times });
        }
    }
}

impl RecordSink for CountedFold {
    #[inline]
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        let jobset = match record.body {
            Body::RestartCounted { jobset, restarts, counted, .. } => {
                let state = row_or_default(&mut self.states, jobset.ix());
                state.counted = counted;
                state.ignored = restarts.saturating_sub(counted);
                jobset
            }
            Body::JobRestartCounted { jobset, job, restarts, counted } => {
                let state = row_or_default(&mut self.states, jobset.ix());
                state.of_jobs.insert(job, counted);
                state.all_of_jobs.insert(job, restarts);
                jobset
            }
            Body::PreviousAttempt { jobset, attempt } => {
                row_or_default(&mut self.states, jobset.ix()).in_place = attempt + 1;
                jobset
            }
            _ => return,
        };
        self.record_occurrence(jobset, record.at);
    }
}
