//! The constant parameters of a composed enumeration: a JobSet, the possible faults, and the granularity.
//!
//! Must never list JobSets; `cases.rs` does.

use super::rules::Rules;
use super::world::State;
use crate::setups::setup;
use crate::world::{Js, Setup as Base};
use sim_api::spec::*;
use sim_policy::JobSetStatus;
use std::rc::Rc;

/// The exit code that the podFailurePolicy lists.
pub const FATAL: u8 = 3;

/// The faults that may occur.
#[derive(Copy, Clone, Default)]
pub struct Faults {
    /// Exit codes of containers that fail.
    pub codes: &'static [u8],
    /// Whether containers may restart.
    pub restarts: bool,
    /// Whether a user may delete pods.
    pub deleted: bool,
    pub evicted: bool,
    pub job_deleted: bool,
}

/// The constant parameters of an enumeration.
pub struct Setup {
    pub name: String,
    pub base: Base,
    pub version: KubeVersion,
    pub faults: Faults,
    /// Number of faults. `switches` is the number of changes of `suspend`.
    pub troubles: u8,
    pub switches: u8,
    /// Whether the Job controller waits after a pod failure (back-off).
    pub waits: bool,
    /// Whether a sync of the Job controller is one step, pods are ready at once, and deleted Jobs disappear at once.
    pub coarse: bool,
    /// Whether the JobSet controller's caches may lag behind.
    pub jobset_lags: bool,
    pub job_lags: bool,
}

impl Setup {
    /// Returns a setup of a JobSet in the notation of the policy cases; `job` modifies its Job templates.
    pub fn new(jobset: &str, job: impl Fn(&mut JobSpec)) -> Setup {
        let mut base = setup(jobset, "RestartJob");
        for rj in &mut base.jobset.spec.replicated_jobs {
            rj.template.backoff_limit = Some(0);
            rj.template.template.spec.restart_policy = RestartPolicy::Never;
            job(&mut rj.template);
        }
        let faults = Faults { codes: &[1], ..Faults::default() };
        Setup {
            name: jobset.to_string(),
            base,
            version: KubeVersion::new(36),
            faults,
            troubles: 2,
            switches: 0,
            waits: false,
            coarse: false,
            jobset_lags: false,
            job_lags: false,
        }
    }

    pub fn rules(&self, slot: usize) -> Rules<'_> {
        let (rj, _) = self.base.slots[slot];
        Rules { spec: &self.base.jobset.spec.replicated_jobs[rj as usize].template, version: self.version }
    }

    pub fn consistent(&self) -> bool {
        self.version >= KubeVersion::new(36)
    }

    pub fn start(&self) -> State {
        let js = Js { status: JobSetStatus::default(), suspended: self.base.jobset.spec.suspend, deleting: false };
        State {
            js: Rc::new(js),
            jobs: vec![None; self.base.slots.len()],
            seen_js: None,
            seen_jobs: None,
            troubles: self.troubles,
            switches: self.switches,
        }
    }
}
