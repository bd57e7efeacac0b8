//! Results of trials with one fault and the same outage duration, for several sets of random numbers.

use super::curve::{CurvePoint, CurveSample};
use sim_engine::record::LedgerCategory;

/// Result of one trial.
#[derive(Clone, Debug)]
pub struct TrialResult {
    pub sample: CurveSample,
    /// Time from the fault until almost all pods were bound again, in nanoseconds.
    pub mostly: u64,
    /// Accelerator-nanoseconds of the pods by ledger category.
    pub held: [u128; LedgerCategory::COUNT],
}

/// Results of trials with the same outage duration; the index selects the random numbers.
#[derive(Clone, Debug)]
pub struct SimulatedTrial {
    pub outage: u64,
    pub trials: Vec<TrialResult>,
}

impl SimulatedTrial {
    pub fn sample(&self, nth: usize) -> &CurveSample {
        &self.trials[nth].sample
    }

    pub fn point(&self) -> CurvePoint {
        CurvePoint { outage: self.outage, samples: self.trials.iter().map(|trial| trial.sample).collect() }
    }

    /// Returns the time of the last change, if it was before the nodes returned in all trials.
    pub fn last_change(&self) -> Option<u64> {
        let over = self.trials.iter().map(|trial| trial.sample.last_change());
        let last = over.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        (last < self.outage).then_some(last)
    }

    /// Returns the same results for another outage duration, which is valid if nothing changed at the return of the
    /// nodes.
    pub fn with_outage(&self, outage: u64) -> SimulatedTrial {
        SimulatedTrial { outage, trials: self.trials.clone() }
    }

    /// Returns true if all results, including those of `with`, are of the same kind.
    pub fn agrees_with(&self, with: &SimulatedTrial) -> bool {
        let kind = self.sample(0).kind();
        let all = self.trials.iter().chain(&with.trials);
        all.into_iter().all(|trial| trial.sample.kind() == kind)
    }

    /// Returns the difference between the longest and the shortest ready time.
    pub fn spread(&self) -> u64 {
        self.point().spread()
    }
}
