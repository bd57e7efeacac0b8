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
    /// Highest in-place restart attempt plus one.
    in_place: u32,
    told: u32,
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

    fn record_occurrence(&mut self, jobset: JobSetId, at: SimTime) {
        let state = &mut self.states[jobset.ix()];
        let in_place = state.in_place.saturating_sub(state.ignored);
        let of_jobs = state
            .of_jobs
            .values()
            .fold(0, |sum: u32, n| sum.saturating_add(*n));
        let used = state.counted.saturating_add(of_jobs).max(in_place);
        if used > state.told {
            let times = used - state.told;
            state.told = used;
            self.used.push(CountedUse { jobset, at, times });
        }
    }
}

impl RecordSink for CountedFold {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        let jobset = match record.body {
            Body::RestartCounted {
                jobset,
                restarts,
                counted,
                ..
            } => {
                let state = row_or_default(&mut self.states, jobset.ix());
                state.counted = counted;
                state.ignored = restarts.saturating_sub(counted);
                jobset
            }
            Body::JobRestartCounted {
                jobset,
                job,
                counted,
                ..
            } => {
                let state = row_or_default(&mut self.states, jobset.ix());
                state.of_jobs.insert(job, counted);
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
