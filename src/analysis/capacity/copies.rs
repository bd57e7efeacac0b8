//! Scenarios with copies of the JobSets of manifests, submitted one after the other.

use sim_api::endless::required_runs;
use sim_api::spec::{JobSet, ScenarioSpec, StopSpec, StopWhen, SubmittedJobSet};
use sim_base::Duration;
use std::sync::Arc;

/// Longer than a start of the largest JobSets, so that only a blocked copy is not ready by then.
const LONGEST_START: Duration = Duration::from_secs(86_400);
/// Names up to this length are not shortened by the number of a copy.
const SHORT_NAME: usize = 30;

/// The JobSets of a scenario as one unit that can be copied. Their containers run until the end.
pub struct CopySet {
    base: ScenarioSpec,
}

impl CopySet {
    /// Removes everything that ends pods, and the suspension.
    pub fn new(scenario: &ScenarioSpec) -> CopySet {
        let mut base = scenario.clone();
        base.remove_ends();
        base.admit_unplaceable = true;
        base.jobsets.iter_mut().for_each(|submitted| submitted.jobset.resume());
        CopySet { base }
    }

    /// Returns the JobSets of one copy.
    pub fn jobsets(&self) -> &[SubmittedJobSet] {
        &self.base.jobsets
    }

    /// Returns a scenario with `copies` copies; each is submitted `gap` after the previous one.
    pub fn scenario(&self, copies: u64, gap: Duration) -> ScenarioSpec {
        let mut scenario = ScenarioSpec { jobsets: Vec::new(), ..self.base.clone() };
        for copy in 0..copies {
            for (at, submitted) in self.base.jobsets.iter().enumerate() {
                let mut submitted = submitted.clone();
                submitted.submit_at = gap.saturating_mul(copy);
                if copy > 0 {
                    rename(&mut submitted.jobset, copy * self.base.jobsets.len() as u64 + at as u64 + 1);
                }
                scenario.containers.extend(required_runs(&submitted.jobset));
                scenario.jobsets.push(submitted);
            }
        }
        let at = gap.saturating_mul(copies) + LONGEST_START;
        scenario.stop = StopSpec { at, when: StopWhen::AllJobSetsFinished };
        scenario
    }

    /// Returns a scenario with one copy whose JobSets are submitted one after the other, each when the pods of the
    /// previous one are placed.
    pub fn one_by_one(&self) -> ScenarioSpec {
        let mut scenario = self.scenario(1, Duration::ZERO);
        for (at, submitted) in (0..).zip(&mut scenario.jobsets) {
            submitted.submit_at = LONGEST_START.saturating_mul(at);
        }
        scenario.stop.at = LONGEST_START.saturating_mul(scenario.jobsets.len() as u64);
        scenario
    }
}

/// Appends a number to the name; a long name is shortened, so that the names of its pods stay valid.
fn rename(jobset: &mut JobSet, number: u64) {
    let suffix = format!("-{number}");
    let longest = jobset.name.len().max(SHORT_NAME);
    let kept: String = jobset.name.chars().take(longest - suffix.len()).collect();
    jobset.name = format!("{}{suffix}", kept.trim_end_matches('-'));
    let name = jobset.name.clone();
    if let Some(object) = &mut jobset.object {
        Arc::make_mut(object)["metadata"]["name"] = name.into();
    }
}
