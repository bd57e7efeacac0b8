//! What does not change during a composed enumeration: a JobSet, what may go wrong, and how finely it is looked at.
//!
//! Must never list JobSets: `cases.rs` does.

use super::rules::Rules;
use super::world::State;
use crate::enumerate::setups::setup;
use crate::enumerate::world::{Js, Setup as Base};
use sim_api::spec::*;
use sim_policy::JobSetStatus;
use std::rc::Rc;

/// The exit code that a podFailurePolicy names.
pub const FATAL: u8 = 3;

/// What may go wrong.
#[derive(Copy, Clone, Default)]
pub struct Faults {
    /// Exit codes of containers that fail.
    pub codes: &'static [u8],
    /// Containers that start again.
    pub restarts: bool,
    /// Pods are deleted by a user; evicted; Jobs are deleted by a user.
    pub deleted: bool,
    pub evicted: bool,
    pub job_deleted: bool,
}

/// What does not change during an enumeration.
pub struct Setup {
    pub name: String,
    pub base: Base,
    pub version: Version,
    pub faults: Faults,
    /// So many faults, and so many changes of `suspend`.
    pub troubles: u8,
    pub switches: u8,
    /// Whether failed pods are waited for (back-off).
    pub waits: bool,
    /// Whether a sync of the Job controller is one step, pods are ready at once, and Jobs under deletion leave at once.
    pub coarse: bool,
    /// Whether the caches of the JobSet controller and of the Job controller may lag behind.
    pub jobset_lags: bool,
    pub job_lags: bool,
}

impl Setup {
    /// A JobSet in the notation of the policy cases, and what its Jobs have besides.
    pub fn new(jobset: &str, job: impl Fn(&mut JobSpec)) -> Setup {
        let mut base = setup(jobset, "RestartJob");
        for rj in &mut base.jobset.spec.replicated_jobs {
            rj.template.backoff_limit = Some(0);
            rj.template.template.spec.restart_policy = RestartPolicy::Never;
            job(&mut rj.template);
        }
        let faults = Faults {
            codes: &[1],
            ..Faults::default()
        };
        Setup {
            name: jobset.to_string(),
            base,
            version: Version::new(36),
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
        Rules {
            spec: &self.base.jobset.spec.replicated_jobs[rj as usize].template,
            version: self.version,
        }
    }

    pub fn consistent(&self) -> bool {
        self.version >= Version::new(36)
    }

    pub fn start(&self) -> State {
        let js = Js {
            status: JobSetStatus::default(),
            suspended: self.base.jobset.spec.suspend,
            deleting: false,
        };
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
