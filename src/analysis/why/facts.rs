//! The case that levers look at: a path, and what the scenario and the outcome say of it.

use crate::metrics::restarts::path::{Part, Path, PathStep};
use crate::metrics::restarts::waits::What;
use sim_api::spec::{JobSet, Scenario};
use sim_base::*;
use sim_engine::record::{Resource, Waited};

/// What a lever is told of the case.
pub struct Facts<'a> {
    /// As it was read, without the random faults.
    pub scenario: &'a Scenario,
    pub jobset: JobSetId,
    pub path: &'a Path,
    /// Actions of the scenario file that fired, with their time.
    pub fired: &'a [(u32, Time)],
    /// Faults that stand in the file; those behind them came with the command line.
    pub in_file: usize,
    /// The nodes that do not answer, if the path waits for one, and since when.
    pub silent: Option<(&'a [String], Time)>,
    /// It never ended, or it could not begin.
    pub blocked: bool,
    /// The JobSet has failed.
    pub failed: bool,
    /// The cluster could never take it.
    pub unplaced: bool,
    /// The inputs are manifests: their metadata can be set, and no cluster.
    pub of_manifests: bool,
}

/// What takes a smaller part of the path, one in so many, concerns no lever.
const SMALL: u64 = 200;

impl<'a> Facts<'a> {
    pub fn jobset(&self) -> Option<&'a JobSet> {
        self.scenario
            .jobsets
            .get(self.jobset.ix())
            .map(|s| &s.jobset)
    }

    /// Whether some time on the path went to it that counts.
    pub fn waits(&self, which: impl Fn(What) -> bool) -> bool {
        self.spends(|step| which(What::of(step)))
    }

    /// Whether some time on the path went to such steps that counts.
    pub fn spends(&self, which: impl Fn(&PathStep) -> bool) -> bool {
        let own = self.path.steps.iter().filter(|step| which(step));
        let time: u64 = own.map(|step| step.duration().0).sum();
        time > self.path.total().0 / SMALL
    }

    /// Whether it waited for answers to requests of a client.
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
