//! All variable state of a run of the fleet model: the clock, the nodes, the job and the pending events.

use super::fleet_ledger::{FleetLedger, TimeCategory};
use super::job::{FleetJobPhase, FleetJobState};
use sim_api::spec::FleetSpec;
use sim_base::fnv::OFFSET_BASIS;
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose};
use sim_reliability::aging::{AgingClocks, EntityLifetimes};
use sim_reliability::pool::{NodePlace, NodePool};
use sim_reliability::repair::RepairCrews;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pending event. Failures are kept separately, see [`EntityLifetimes`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetEvent {
    StageOver {
        node: u32,
        stage: u32,
    },
    /// A node returns from an outage that a trace recorded.
    Back {
        node: u32,
    },
    /// The nth fault of a process's trace occurs.
    Traced {
        process: u32,
        nth: u32,
    },
    Regenerate,
    PhaseOver {
        generation: u32,
    },
}

/// Event codes that enter the digest.
#[derive(Copy, Clone)]
pub enum EventCode {
    Failed = 1,
    Repaired,
    Selection,
    SparePulled,
    Works,
    End,
    Checkpoints,
}

/// Event counts that are reported.
#[derive(Clone, Debug, Default)]
pub struct FleetCounts {
    /// Number of failures per fault process.
    pub failures: Vec<u64>,
    pub host_selections: u64,
    pub spares_pulled: u64,
    /// Number of repairs that each stage completed or escalated to the next stage.
    pub stages: Vec<u64>,
    pub successful_repairs: u64,
    pub failed_repairs: u64,
    pub retirements: u64,
    pub regenerations: u32,
}

/// Pending events: time in nanoseconds, sequence number, event.
pub type FleetQueue = BinaryHeap<Reverse<(u64, u64, FleetEvent)>>;

/// All variable state of a run.
pub struct FleetWorld<'f> {
    pub(super) fleet: &'f FleetSpec,
    pub(super) draws: DrawSequence,
    pub(super) clocks: AgingClocks,
    pub(super) pool: NodePool,
    pub(super) lifetimes: EntityLifetimes,
    pub(super) crews: RepairCrews,
    pub(super) job: FleetJobState,
    pub(super) books: FleetLedger,
    pub(super) counts: FleetCounts,
    pub(super) digest: u64,
    /// Time and fault process of each interruption; `None` if they are not recorded.
    pub(super) noted: Option<Vec<(u64, u32)>>,
    /// Lost time in nanoseconds at which the run halts; `None` means never.
    pub(super) halts_at: Option<u64>,
    /// End reason and end time of the job, once it has ended.
    pub(super) ended_at: Option<(FleetEnd, u64)>,
    pub(super) queue: FleetQueue,
    pub(super) sent: u64,
}

/// Reason for the end of a fleet's job.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FleetEnd {
    /// All work is done.
    Completed,
    /// The job failed and had no restarts left.
    Failed,
    /// Too many nodes are retired for the job ever to have enough nodes again.
    Depleted,
    /// No event is pending, so no further progress is possible.
    Stuck,
    /// The run reached the time limit of the scenario.
    TimeLimit,
}

impl FleetEnd {
    /// Returns the name used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            FleetEnd::Completed => "Completed",
            FleetEnd::Failed => "Failed",
            FleetEnd::Depleted => "Depleted",
            FleetEnd::Stuck => "Stuck",
            FleetEnd::TimeLimit => "TimeLimit",
        }
    }
}

impl<'f> FleetWorld<'f> {
    pub(super) fn new(fleet: &'f FleetSpec, mut draws: DrawSequence) -> FleetWorld<'f> {
        let all = fleet.nodes + fleet.spares.nodes;
        let bad = (f64::from(all) * fleet.lemons.share) as u32;
        let lemons: Vec<bool> = (0..all).map(|node| node < bad).collect();
        let mut order: Vec<u32> = (0..all).collect();
        draws.shuffle(StreamPurpose::FleetLemons, StreamKey(0), 0, &mut order);
        FleetWorld {
            fleet,
            draws,
            clocks: AgingClocks::default(),
            pool: NodePool::new(&order, fleet.nodes as usize, &lemons),
            lifetimes: EntityLifetimes::new(all, fleet.faults.len(), StreamPurpose::FleetLifetime),
            crews: RepairCrews::default(),
            job: FleetJobState::new(),
            books: FleetLedger::default(),
            counts: FleetCounts {
                failures: vec![0; fleet.faults.len()],
                stages: vec![0; fleet.repair.stages.len()],
                ..FleetCounts::default()
            },
            digest: OFFSET_BASIS,
            noted: None,
            halts_at: None,
            ended_at: None,
            queue: BinaryHeap::new(),
            sent: 0,
        }
    }

    /// Advances the time by `ns` in the given phase of the job, and adds it to the ledger.
    pub(super) fn book(&mut self, phase: FleetJobPhase, ns: u64) {
        for place in NodePlace::ALL {
            let category = TimeCategory::of_place(place).unwrap_or(phase.category());
            self.books.add(category, self.pool.count(place), ns);
        }
        self.job.spent[phase as usize] += ns;
        self.clocks.now += ns;
        if phase.runs() {
            self.clocks.ran += ns;
        }
    }

    /// Schedules an event after `ns` nanoseconds.
    pub(super) fn schedule_after(&mut self, ns: u64, event: FleetEvent) {
        self.sent += 1;
        let at = self.clocks.now.saturating_add(ns);
        self.queue.push(Reverse((at, self.sent, event)));
    }

    /// Adds an event to the digest.
    pub(super) fn digest_event(&mut self, code: EventCode, what: u32) {
        let word = self.clocks.now.rotate_left(8) ^ (code as u64) << 32 ^ u64::from(what);
        let x = (self.digest ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.digest = x ^ x >> 32;
    }

    /// Ends the job, unless it has already ended.
    pub(super) fn end(&mut self, why: FleetEnd) {
        if self.ended_at.is_none() {
            self.digest_event(EventCode::End, why as u32);
            self.ended_at = Some((why, self.clocks.now));
        }
    }
}
