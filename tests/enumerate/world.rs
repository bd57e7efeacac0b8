//! The states of the enumeration: one JobSet, its Jobs and, for in-place restarts, its pods. Time and names are not
//! modelled.
//!
//! Must never know an order of events; `events.rs` lists the possible ones.

use sim_api::spec::*;
use sim_policy::*;
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The Job has no pods, either not yet or because it is suspended.
    New,
    Pending,
    Ready,
    Succeeded,
    Failed,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Job {
    pub attempt: u32,
    pub own: u32,
    pub deleting: bool,
    pub suspended: bool,
    pub phase: Phase,
}

impl Job {
    pub fn finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum PodPhase {
    Running,
    Succeeded,
    Failed,
}

/// A pod with an in-place restart agent (5.4).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pod {
    pub annotation: Option<u32>,
    /// The agent's own attempt; unknown after each restart of its container.
    pub mine: Option<u32>,
    /// Whether the barrier is lifted and the worker runs.
    pub up: bool,
    pub restarts: u32,
    pub phase: PodPhase,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Js {
    pub status: JobSetStatus,
    pub suspended: bool,
    pub deleting: bool,
}

/// A state. Jobs have one slot per (replicatedJob, index), in the order of the spec.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub js: Js,
    pub jobs: Vec<Option<Job>>,
    /// In-place restarts only: `Setup::pods` entries per slot.
    pub pods: Vec<Option<Pod>>,
    /// Cached JobSet, if it is out of date. `seen_jobs` are the cached Jobs, if they are out of date.
    pub seen_js: Option<Box<Js>>,
    pub seen_jobs: Option<Vec<Option<Job>>>,
}

/// The constant parameters of an enumeration.
pub struct Setup {
    /// The JobSet in the notation of the policy cases.
    pub text: String,
    pub jobset: JobSet,
    pub gates: FeatureGates,
    pub slots: Vec<(u32, u32)>,
    /// Number of pods per Job with in-place restart agents. 0 means that pods are not modelled.
    pub pods: usize,
    /// Merges states that differ only in messages of conditions, in counters that every pass recomputes, and in the
    /// state of previous Jobs. Jobs then have pods at once, and no events occur after a terminal state.
    pub coarse: bool,
    /// Whether the controller's cache may lag behind.
    pub stale: bool,
    /// Slot whose Job name is used by a Job of another owner (NAM-2).
    pub foreign: Option<usize>,
}

impl Setup {
    pub fn start(&self) -> State {
        State {
            js: Js { status: JobSetStatus::default(), suspended: self.jobset.spec.suspend, deleting: false },
            jobs: vec![None; self.slots.len()],
            pods: vec![None; self.slots.len() * self.pods],
            seen_js: None,
            seen_jobs: None,
        }
    }

    pub fn pods_of<'s>(&self, state: &'s State, slot: usize) -> &'s [Option<Pod>] {
        &state.pods[slot * self.pods..(slot + 1) * self.pods]
    }
}

impl State {
    pub fn finished(&self) -> Option<TerminalState> {
        self.js.status.terminal_state
    }

    /// Returns whether the Job of a slot belongs to a previous attempt according to the stored counters (REC-5).
    pub fn is_previous(&self, setup: &Setup, slot: usize) -> bool {
        let (rj, index) = setup.slots[slot];
        let own = self.js.status.replicated_jobs.get(rj as usize);
        let own = own.and_then(|s| s.job_restarts.get(index as usize).copied());
        self.jobs[slot]
            .is_some_and(|j| j.attempt < self.js.status.restarts || setup.gates.restart_job && j.own < own.unwrap_or(0))
    }

    /// Resets the state of Jobs of previous attempts, because it has no further effect.
    pub fn forget_previous(&mut self, setup: &Setup) {
        for slot in 0..self.jobs.len() {
            if self.is_previous(setup, slot) {
                let deleting = self.jobs[slot].is_some_and(|j| j.deleting);
                self.jobs[slot] = Some(Job { attempt: 0, own: 0, deleting, suspended: false, phase: Phase::New });
            }
        }
    }

    /// Returns the largest restart counter. It grows without limit under actions that ignore maxRestarts.
    pub fn largest_counter(&self) -> u32 {
        let status = &self.js.status;
        let own = status.replicated_jobs.iter().flat_map(|s| &s.job_restarts);
        own.copied().max().unwrap_or(0).max(status.restarts)
    }

    pub fn key(&self, setup: &Setup) -> u64 {
        let mut h = DefaultHasher::new();
        let hash_js = |js: &Js, h: &mut DefaultHasher| hash_js(js, h, setup.coarse);
        hash_js(&self.js, &mut h);
        (&self.jobs, &self.pods, &self.seen_jobs).hash(&mut h);
        self.seen_js.is_some().hash(&mut h);
        self.seen_js.iter().for_each(|js| hash_js(js, &mut h));
        h.finish()
    }
}

pub fn hash_js(js: &Js, h: &mut DefaultHasher, coarse: bool) {
    (js.suspended, js.deleting).hash(h);
    let s = &js.status;
    (s.restarts, s.restarts_count_towards_max).hash(h);
    (s.terminal_state.map(|t| t as u8), s.conditions.len()).hash(h);
    for c in &s.conditions {
        (c.kind as u8, c.status).hash(h);
        if !coarse {
            (&c.reason, &c.reason_suffix, &c.message).hash(h);
        }
    }
    for r in &s.replicated_jobs {
        if !coarse {
            (r.ready, r.succeeded, r.failed, r.active, r.suspended).hash(h);
        }
        (&r.job_restarts, &r.job_restarts_count_towards_max).hash(h);
    }
    let in_place = (s.current_in_place_restart_attempt, s.previous_in_place_restart_attempt);
    in_place.hash(h);
}
