//! The facts from which levers decide whether they concern a case: the critical path, the scenario, and the outcome.

use crate::metrics::restarts::path::{Part, Path, PathStep};
use crate::metrics::restarts::waits::What;
use sim_api::spec::{JobSet, Scenario};
use sim_base::*;
use sim_engine::record::{Resource, Waited};

/// Input of the levers.
pub struct Facts<'a> {
    /// The scenario as read, without random faults.
    pub scenario: &'a Scenario,
    pub jobset: JobSetId,
    pub path: &'a Path,
    /// Index and time of the scripted actions that were executed.
    pub fired: &'a [(u32, Time)],
    /// Number of faults in the scenario file; the following ones are from the command line.
    pub in_file: usize,
    /// Names of the unresponsive nodes that the path waits for, and the time since when.
    pub silent: Option<(&'a [String], Time)>,
    /// Whether the subject was never completed or could not begin.
    pub blocked: bool,
    /// The JobSet has failed.
    pub failed: bool,
    /// Whether the cluster can never place the JobSet.
    pub unplaced: bool,
    /// Whether the inputs are manifests. Overrides can then set their metadata, but no fields of a cluster.
    pub of_manifests: bool,
}

/// A wait below this fraction (one in `SMALL`) of the path is ignored.
const SMALL: u64 = 200;

impl<'a> Facts<'a> {
    pub fn jobset(&self) -> Option<&'a JobSet> {
        self.scenario
            .jobsets
            .get(self.jobset.ix())
            .map(|s| &s.jobset)
    }

    /// Returns true if waits of this kind take a significant part of the path.
    pub fn waits(&self, which: impl Fn(What) -> bool) -> bool {
        self.spends(|step| which(What::of(step)))
    }

    /// Returns true if such steps take a significant part of the path.
    pub fn spends(&self, which: impl Fn(&PathStep) -> bool) -> bool {
        let own = self.path.steps.iter().filter(|step| which(step));
        let time: u64 = own.map(|step| step.duration().0).sum();
        time > self.path.total().0 / SMALL
    }

    /// Returns true if responses to a client's requests take a significant part of the path.
    pub fn asks(&self, client: &str) -> bool {
        self.spends(|step| match (step.waited, step.part) {
            (Waited::Request(call), Part::Answer) => call.kind().client == client,
            _ => false,
        })
    }

    pub fn waits_for(&self, waited: Waited) -> bool {
        self.waits(|what| what == What::Mechanism(waited))
    }

    pub fn waits_in(&self, resources: &[Resource]) -> bool {
        self.waits(|what| matches!(what, What::Shared(r) if resources.contains(&r)))
    }
}
