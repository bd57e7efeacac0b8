//! The sink that notes when a JobSet used up something of `maxRestarts`.

#![deny(missing_docs)]

use crate::base::*;
use crate::record::{Body, Names, Record, Sink};

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
#[derive(Copy, Clone, Debug, Default)]
struct State {
    /// Restarts of the whole JobSet: counted ones, and those that ignore the limit.
    counted: u32,
    ignored: u32,
    /// Restarts of single Jobs.
    of_jobs: u32,
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
        let used = (state.counted + state.of_jobs).max(in_place);
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
            Body::JobRestartCounted { jobset, .. } => {
                row(&mut self.states, jobset.ix()).of_jobs += 1;
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
