//! The sink that notes when a JobSet used up something of `maxRestarts`.

#![deny(missing_docs)]

use sim_base::*;
use sim_engine::record::{Body, Names, Record, Sink};
use std::collections::BTreeMap;

/// Something of `maxRestarts` was used up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// By which JobSet.
    pub jobset: JobSetId,
    /// When.
    pub at: Time,
    /// How much.
    pub times: u32,
}

/// What a JobSet has used.
#[derive(Clone, Debug, Default)]
struct State {
    /// Restarts of the whole JobSet: counted ones, and those that ignore the limit.
    counted: u32,
    ignored: u32,
    /// Restarts of single Jobs that count, of each Job (FP-11, FP-12).
    of_jobs: BTreeMap<JobId, u32>,
    /// The greatest in-place attempt.
    in_place: u32,
    told: u32,
}

/// Notes it. In place, attempts count beside the restarts of the whole JobSet, of which only those that ignore the
/// limit are subtracted (IPR-4); whichever of both is more is what the limit is held against (FP-7).
#[derive(Default)]
pub struct CountedFold {
    states: Vec<State>,
    used: Vec<Used>,
}

impl CountedFold {
    /// In the order of time.
    pub fn finish(self) -> Vec<Used> {
        self.used
    }

    fn tell(&mut self, jobset: JobSetId, at: Time) {
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
            self.used.push(Used { jobset, at, times });
        }
    }
}

impl Sink for CountedFold {
    fn record(&mut self, record: &Record, _: &Names) {
        let jobset = match record.body {
            Body::RestartCounted {
                jobset,
                restarts,
                counted,
                ..
            } => {
                let state = row(&mut self.states, jobset.ix());
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
                let state = row(&mut self.states, jobset.ix());
                state.of_jobs.insert(job, counted);
                jobset
            }
            Body::PreviousAttempt { jobset, attempt } => {
                row(&mut self.states, jobset.ix()).in_place = attempt + 1;
                jobset
            }
            _ => return,
        };
        self.tell(jobset, record.at);
    }
}
