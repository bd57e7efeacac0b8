//! The driver's ports in the engine: changes that a cycle requests, and timers.

use super::{KueueController, existing};
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Body, Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use sim_api::spec::kueue::KueueObjects;
use sim_base::{Duration, JobSetId, SimTime};
use sim_kueue::control::{Patch, PatchKind};
use sim_kueue::cycle::CycleProgress;
use sim_kueue::driver::{self, CycleSummary, Driver, Ports, Sent, TimedPorts, Timer};
use std::collections::BTreeMap;

/// Number of cycles after which the queues rest if cycles only change conditions of pending Workloads. Kueue would
/// continue: the head of a StrictFIFO queue returns to it at once, with messages about other flavors in turn.
const REPEATED_MAX: usize = 1_000;

#[derive(Clone, Default)]
pub(super) struct Cycles {
    /// Cycles since the last one that requested a change.
    unchanged: usize,
    /// Number of such cycles after which the queues only repeat themselves until something changes.
    rest_after: usize,
    progress: CycleProgress,
    patches: Vec<Option<Patch>>,
    /// Versions that the next cycle waits for, by JobSet.
    unobserved: BTreeMap<JobSetId, u32>,
}

impl Cycles {
    pub fn new(objects: &KueueObjects) -> Cycles {
        Cycles { rest_after: driver::attempts_per_workload(objects, 1), ..Cycles::default() }
    }

    pub fn state_changed(&mut self) {
        self.unchanged = 0;
        self.progress = CycleProgress::default();
    }

    /// Follows a change of a Workload; `is_pending_text` if only the condition of a pending one changed.
    pub fn workload_changed(&mut self, is_pending_text: bool) {
        if is_pending_text {
            self.unchanged = 0;
        } else {
            self.state_changed();
        }
    }

    pub fn workload_observed(&mut self, jobset: JobSetId, version: u32) {
        if self.unobserved.get(&jobset).is_some_and(|awaited| *awaited <= version) {
            self.unobserved.remove(&jobset);
        }
    }

    fn delays_cycle(&self) -> bool {
        let repeats = self.unchanged >= self.rest_after || self.progress.idle_cycles() >= REPEATED_MAX;
        !self.unobserved.is_empty() || repeats
    }
}

/// The driver's view of the engine.
pub(super) struct EnginePorts<'a, 'b> {
    pub kueue: &'a mut KueueController,
    pub ctx: &'a mut EngineContext<'b>,
}

impl Ports for EnginePorts<'_, '_> {
    fn driver(&mut self) -> &mut Driver {
        self.kueue.driver()
    }

    fn now(&self) -> SimTime {
        self.kueue.time(self.ctx)
    }

    fn send(&mut self, patch: Patch) -> Sent {
        let EnginePorts { kueue, ctx } = self;
        if let Some(index) = existing::index_of(patch.key) {
            return if kueue.change_existing(ctx, index, &patch) { Sent::Stored } else { Sent::Unneeded };
        }
        let now = kueue.time(ctx);
        let changes = kueue.manager().workload(patch.key).is_some_and(|w| patch.apply(w, now).is_some());
        if !changes && !matches!(patch.kind, PatchKind::Admit { .. }) {
            return Sent::Unneeded;
        }
        // The next cycle preempts a Workload whose admission is not stored yet.
        if matches!(patch.kind, PatchKind::Preempt { .. }) && kueue.driver().is_assumed(patch.key) {
            return Sent::Withheld;
        }
        kueue.send_patch(ctx, patch);
        Sent::Pending
    }
}

impl TimedPorts for EnginePorts<'_, '_> {
    fn wake_after(&mut self, delay: Duration, timer: Timer) {
        let event = match timer {
            Timer::Cycle => SimulationEvent::KueueCycle,
            Timer::Retry { root } => SimulationEvent::KueueRetry { root: root as u32 },
        };
        self.ctx.schedule_after(delay, TicketWait::ErrorBackoff, TicketSubject::Nothing, event);
    }

    fn delays_cycle(&self) -> bool {
        self.kueue.cycles.delays_cycle()
    }

    fn cycle_ended(&mut self, summary: CycleSummary) {
        let EnginePorts { kueue, ctx } = self;
        let active = kueue.manager().active_len();
        let cycles = &mut kueue.cycles;
        cycles.unchanged = if summary.has_sent { 0 } else { cycles.unchanged + 1 };
        cycles.progress.note(summary.changes_usage, active);
        kueue.reconcile_bypassed(ctx);
        kueue.queues_changed(ctx);
    }
}

impl KueueController {
    pub(super) fn cycle_due(&mut self, ctx: &mut EngineContext<'_>) {
        if let Some(objects) = &ctx.scenario.kueue {
            self.update_topology(objects);
        }
        driver::cycle_due(&mut EnginePorts { kueue: self, ctx });
    }

    /// Workloads that a cycle puts aside with one of the same shape get its reason.
    fn reconcile_bypassed(&mut self, ctx: &mut EngineContext<'_>) {
        for key in self.manager().take_bypassed() {
            match existing::index_of(key) {
                Some(index) => self.reconcile_existing(ctx, index),
                None => self.reconcile_workload(ctx, JobSetId(key as u32)),
            }
        }
    }

    fn send_patch(&mut self, ctx: &mut EngineContext<'_>, patch: Patch) {
        let jobset = JobSetId(patch.key as u32);
        let is_admission = matches!(patch.kind, PatchKind::Admit { .. });
        let row = &mut self.rows[patch.key];
        row.requests += 1;
        let (nth, number) = (self.cycles.patches.len() as u32, row.requests);
        // The work of a JobSet whose end makes this one fit is not on the critical path of this one.
        let queued = row.queued.filter(|mark| is_admission && mark.at < ctx.now);
        let about = TicketSubject::JobSet(jobset);
        self.cycles.patches.push(Some(patch));
        let before = queued.map(|mark| ctx.end_wait(mark, TicketWait::Quota, about));
        ctx.request(RequestEntry::new(Call::KueueWorkloadPatch, about, number), SimulationEvent::KueuePatched { nth });
        if let Some(before) = before {
            ctx.restore_mark(before);
        }
    }

    pub(super) fn patch_answered(&mut self, ctx: &mut EngineContext<'_>, nth: u32) {
        let Some(patch) = self.cycles.patches[nth as usize].take() else { return };
        let (jobset, now) = (JobSetId(patch.key as u32), self.time(ctx));
        let is_admission = matches!(patch.kind, PatchKind::Admit { .. });
        if !is_admission {
            driver::answered(&mut EnginePorts { kueue: self, ctx });
        }
        let stored = ctx.store.jobsets[patch.key].workload.clone().filter(|w| !w.is_finished());
        let can_reserve = stored.as_ref().is_some_and(|w| w.active || !is_admission);
        let new = stored.as_ref().filter(|_| can_reserve).and_then(|old| patch.apply(old, now));
        ctx.record_response(Call::KueueWorkloadPatch, RequestAnswer::from_existence(stored.is_some()));
        if let Some(new) = new {
            apiserver::set_workload(ctx, jobset, new);
            if let PatchKind::Preempt { preemptor, .. } = patch.kind {
                let body = match existing::index_of(preemptor) {
                    Some(index) => Body::PreemptedByExisting { jobset, preemptor: self.existing_name(ctx, index) },
                    None => Body::WorkloadPreempted { jobset, preemptor: JobSetId(preemptor as u32) },
                };
                ctx.emit(body);
            }
            if !is_admission {
                let version = ctx.store.jobsets[patch.key].workload_version;
                self.cycles.unobserved.insert(jobset, version);
            }
        } else if is_admission {
            // The Workload ended or was deactivated meanwhile.
            let newest = self.rows[patch.key].workload.clone();
            self.driver().admission_failed(patch.key, newest, now);
        }
        self.queues_changed(ctx);
    }
}
