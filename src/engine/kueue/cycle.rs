//! Kueue's scheduler: cycles over the heads of the queues, and the changes of Workloads that they request.

use super::{KueueController, existing};
use crate::apiserver;
use crate::ctx::EngineContext;
use crate::event::SimulationEvent;
use crate::record::{Body, Call, TicketSubject, TicketWait};
use crate::requests::{RequestAnswer, RequestEntry};
use sim_api::spec::kueue::KueueObjects;
use sim_base::{Duration, JobSetId};
use sim_kueue::control::{Patch, PatchKind};
use sim_kueue::cycle::CycleProgress;
use std::collections::BTreeMap;

/// Number of cycles after which the queues rest if cycles only change conditions of pending Workloads. Kueue would
/// continue: the head of a StrictFIFO queue returns to it at once, with messages about other flavors in turn.
const REPEATED_MAX: usize = 1_000;

#[derive(Clone, Default)]
pub(super) struct Cycles {
    is_scheduled: bool,
    pause: Duration,
    /// Cycles since the last one that requested a change.
    unchanged: usize,
    /// Number of such cycles after which the queues only repeat themselves until something changes.
    rest_after: usize,
    progress: CycleProgress,
    patches: Vec<Option<Patch>>,
    /// Requests other than admissions without a response. The next cycle waits for them.
    unanswered: u32,
    /// Versions that the next cycle waits for, by JobSet.
    unobserved: BTreeMap<JobSetId, u32>,
}

impl Cycles {
    pub fn new(objects: &KueueObjects) -> Cycles {
        let groups = objects.cluster_queues.iter().flat_map(|queue| &queue.resource_groups);
        let flavors = groups.map(|group| group.flavors.len()).max().unwrap_or(0);
        Cycles { rest_after: 2 + 2 * flavors, ..Cycles::default() }
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

    fn is_blocked(&self) -> bool {
        let repeats = self.unchanged >= self.rest_after || self.progress.idle_cycles() >= REPEATED_MAX;
        self.is_scheduled || self.unanswered > 0 || !self.unobserved.is_empty() || repeats
    }

    fn next_pause(&mut self, has_admitted: bool) {
        self.pause = sim_kueue::cycle::next_pause(self.pause, has_admitted);
    }
}

impl KueueController {
    /// Schedules a cycle if a queue has a head.
    pub(super) fn schedule_cycle(&mut self, ctx: &mut EngineContext<'_>) {
        if !self.cycles.is_blocked() && self.manager().has_heads() {
            self.cycles.is_scheduled = true;
            let pause = self.cycles.pause;
            ctx.schedule_after(pause, TicketWait::ErrorBackoff, TicketSubject::Nothing, SimulationEvent::KueueCycle);
        }
    }

    pub(super) fn run_cycle(&mut self, ctx: &mut EngineContext<'_>) {
        self.cycles.is_scheduled = false;
        let now = self.time(ctx);
        if let Some(objects) = &ctx.scenario.kueue {
            self.update_topology(objects);
        }
        let patches = self.manager().run_cycle(now);
        let (mut has_sent, mut has_admitted, mut has_progress) = (false, false, false);
        for patch in patches {
            has_progress |= self.manager().workload(patch.key).is_some_and(|w| patch.changes_usage(w));
            if let Some(index) = existing::index_of(patch.key) {
                let has_changed = self.change_existing(ctx, index, &patch);
                has_sent |= has_changed;
                has_admitted |= has_changed && matches!(patch.kind, PatchKind::Admit { .. });
                continue;
            }
            let changes = self.manager().workload(patch.key).is_some_and(|w| patch.apply(w, now).is_some());
            let is_admission = matches!(patch.kind, PatchKind::Admit { .. });
            if is_admission {
                self.rows[patch.key].is_assumed = true;
            }
            // The next cycle preempts a Workload whose admission is not stored yet.
            let is_early = matches!(patch.kind, PatchKind::Preempt { .. }) && self.rows[patch.key].is_assumed;
            if (changes || is_admission) && !is_early {
                has_sent = true;
                has_admitted |= is_admission;
                self.send_patch(ctx, patch);
            }
        }
        self.cycles.unchanged = if has_sent { 0 } else { self.cycles.unchanged + 1 };
        let active = self.manager().active_len();
        self.cycles.progress.note(has_progress, active);
        self.cycles.next_pause(has_admitted);
        self.reconcile_bypassed(ctx);
        self.queues_changed(ctx);
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
        self.cycles.unanswered += u32::from(!is_admission);
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
        self.cycles.unanswered -= u32::from(!is_admission);
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
            self.rows[patch.key].is_assumed = false;
            match self.rows[patch.key].workload.clone() {
                Some(newest) => self.manager().workload_changed(patch.key, newest, now),
                None => self.manager().workload_deleted(patch.key, now),
            }
            self.manager().admission_failed(patch.key);
        }
        self.queues_changed(ctx);
    }
}
