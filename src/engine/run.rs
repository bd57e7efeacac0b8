//! The event loop: removes the next event, passes it to its component, and notifies the watchers of changes. Start
//! reading here.
//!
//! Works on ids only: no text, files or names. Must never change an object itself.

use super::ctx::{ContextMark, EngineContext};
use super::event::{EventOwner, SimulationEvent};
use super::{ControlPlaneComponents, check, diagnosis, restart_loop, stale_events};
use crate::record::{Body, EndReason, TicketSubject, TicketWait};
use crate::store::{ChangeKind, StoreChange};
use sim_api::spec::{BY_SCRIPT, FaultTime, StopWhen};
use sim_base::{Duration, JobSetId, SimTime};

pub struct EngineRun<'a> {
    pub ctx: EngineContext<'a>,
    pub components: &'a mut ControlPlaneComponents,
    pub paranoid: bool,
    /// Number of the next event before which the sink is asked whether to stop the run.
    pub next_stop_check: u64,
    pub events: u64,
}

/// Longer than any timer of the modelled controllers (pod-failure back-off 600 s, toleration 300 s): if only retries
/// happened during this period, the run cannot progress.
const QUIET_PERIOD: Duration = Duration::from_secs(900);

impl EngineRun<'_> {
    /// Runs from the first event to the end.
    pub fn execute(&mut self) -> EndReason {
        self.begin();
        let reason = self.run_until(SimTime::NEVER).expect("nothing halts it");
        self.end(reason)
    }

    /// Processes all events before `halt`. Returns the end reason if the run ended earlier. An empty queue does not
    /// end the run here, because the caller may extend the script.
    pub fn run_until(&mut self, halt: SimTime) -> Option<EndReason> {
        let halts = halt != SimTime::NEVER;
        let limit = SimTime::ZERO + self.ctx.scenario.stop.at;
        loop {
            if self.events >= self.next_stop_check {
                if self.ctx.sink.should_stop(self.events) {
                    return Some(EndReason::Stopped);
                }
                self.next_stop_check = self.events + self.ctx.sink.events_until_stop_check(self.events);
            }
            if halts && self.ctx.queue.next_at().is_none_or(|at| at >= halt) {
                return None;
            }
            let is_idle = !halts && self.ctx.queue.len() == self.ctx.progress.idle_events;
            let rests = is_idle && !self.components.scheduler.flush_matters(&self.ctx);
            let next = if rests { None } else { self.ctx.queue.pop() };
            let Some((at, event, cause, ticket)) = next else {
                return Some(diagnosis::end_reason(&self.ctx, self.components));
            };
            if event == SimulationEvent::FlushDue
                && let Some(later) = self.components.scheduler.put_off_flush(&self.ctx, at)
            {
                self.ctx.queue.push_with_ticket(later, event, cause, ticket);
                continue;
            }
            if stale_events::is_stale(&self.ctx, self.components, at, event) {
                stale_events::discard(&mut self.ctx, self.components, at, event);
                continue;
            }
            if at > limit && !halts {
                // The event stays pending: what the run would have waited for is not blocked.
                self.ctx.queue.push_with_ticket(at, event, cause, ticket);
                self.ctx.now = limit;
                return Some(EndReason::TimeLimit);
            }
            assert!(at >= self.ctx.now, "time runs backwards");
            if self.ctx.progress.detect_livelock(at, || event.subject()) {
                return Some(EndReason::Stuck);
            }
            self.ctx.now = at;
            self.ctx.cause = cause;
            self.ctx.ticket = ticket;
            self.events += 1;
            self.ctx.progress.awaited -= u32::from(event.is_awaited());
            self.dispatch(event);
            self.notify_watchers();
            if self.paranoid {
                check::check_state(&self.ctx, self.components);
            }
            if self.in_restart_loop() {
                return Some(EndReason::Stuck);
            }
            if let Some(reason) = self.should_stop() {
                return Some(reason);
            }
        }
    }

    pub fn end(&mut self, reason: EndReason) -> EndReason {
        if reason == EndReason::Stopped {
            // No record is written: the records so far are a prefix of those of the whole run.
            return reason;
        }
        let limit = SimTime::ZERO + self.ctx.scenario.stop.at;
        let to_its_time = self.ctx.scenario.stop.when == StopWhen::Time;
        // Hanging processes hold their nodes: their time until the limit is part of the result.
        let hangs = reason == EndReason::Stuck && diagnosis::hangs(&self.ctx, self.components);
        let reason = match reason {
            // Random faults were drawn up to the time limit: that no further one occurs is part of the result.
            EndReason::Settled if to_its_time || self.ctx.scenario.has_random_faults => EndReason::TimeLimit,
            // A run that waits for a repair after its end is not blocked, unless by a hang.
            EndReason::Stuck if self.is_waiting_for_repair() && !hangs => EndReason::TimeLimit,
            other => other,
        };
        if (to_its_time || hangs || reason == EndReason::TimeLimit) && self.ctx.now < limit {
            // Time alone is the cause.
            self.ctx.restore_mark(ContextMark::default());
            self.ctx.now = limit;
        }
        self.ctx.emit(Body::End { reason });
        reason
    }

    /// Returns true if a Job is being recreated in a loop that only the time limit would stop.
    fn in_restart_loop(&mut self) -> bool {
        let Some(restarting) = self.ctx.progress.restart_loop else {
            return false;
        };
        let lasts = restart_loop::is_permanent(&self.ctx, self.components, &restarting);
        if !lasts {
            self.ctx.progress.restart_loop = None;
        }
        lasts
    }

    /// Returns true if the only remaining events are repairs that complete after the end of the run.
    fn is_waiting_for_repair(&self) -> bool {
        let restarting = self.ctx.progress.livelock || self.ctx.progress.restart_loop.is_some();
        (self.ctx.scenario.has_repairs_after_end || self.components.usage_aging.repairs_later) && !restarting
    }

    /// Schedules what is known from the start: existing objects, submissions and the script.
    pub fn begin(&mut self) {
        self.components.script.begin(&mut self.ctx);
        self.notify_watchers();
        self.components.kueue.begin(&mut self.ctx);
        let scenario = self.ctx.scenario;
        for (i, js) in scenario.jobsets.iter().enumerate() {
            if js.submit_at != BY_SCRIPT {
                self.schedule(js.submit_at, SimulationEvent::Submit(JobSetId(i as u32)));
            }
        }
        self.schedule_script(0);
    }

    /// Schedules the scripted actions from index `from`.
    pub fn schedule_script(&mut self, from: usize) {
        for (i, fault) in self.ctx.scenario.faults.iter().enumerate().skip(from) {
            if let FaultTime::At(instant) = fault.at {
                self.schedule(instant, SimulationEvent::Fault(i as u32));
            }
        }
    }

    /// Schedules an event without a cause.
    fn schedule(&mut self, at: Duration, event: SimulationEvent) {
        let begun = ContextMark::default();
        let mark = self.ctx.add_wait(begun, at, TicketWait::Script, TicketSubject::Nothing);
        self.ctx.schedule(mark, event);
    }

    fn dispatch(&mut self, event: SimulationEvent) {
        let (parts, ctx) = (&mut *self.components, &mut self.ctx);
        match event.owner() {
            EventOwner::Script => parts.script.handle(ctx, event, &mut parts.kubelet),
            EventOwner::Kubelet => parts.kubelet.handle(ctx, event),
            EventOwner::JobController => parts.job_controller.handle(ctx, event, &parts.webhook),
            EventOwner::TtlController => parts.ttl_controller.handle(ctx, event),
            EventOwner::JobSetManager => parts.jobset_manager.handle(ctx, event),
            EventOwner::GarbageCollector => parts.garbage_collector.handle(ctx, event),
            EventOwner::Scheduler => parts.scheduler.handle(ctx, event),
            EventOwner::NodeLifecycle => parts.node_lifecycle.handle(ctx, event),
            EventOwner::PodGc => parts.pod_gc.handle(ctx, event),
            EventOwner::Training => parts.training.handle(ctx, event, &mut parts.accounting),
            EventOwner::UsageAging => parts.usage_aging.handle(ctx, event),
            EventOwner::Kueue => parts.kueue.handle(ctx, event),
            EventOwner::SliceController => parts.slice_controller.handle(ctx, event),
        }
    }

    /// Delivers every change to all watchers, in order, including the changes that watchers make.
    fn notify_watchers(&mut self) {
        let mut delivered = 0;
        while let Some(&change) = self.ctx.store.changes.get(delivered) {
            self.notify(&change);
            delivered += 1;
        }
        if delivered > 0 {
            self.ctx.store.end_delivery();
        }
    }

    /// Notifies the accounting first, so that a readiness record has the cause of the change itself.
    fn notify(&mut self, change: &StoreChange) {
        let (parts, ctx, what) = (&mut *self.components, &mut self.ctx, change.kind);
        ctx.progress.record_subject(|| what.subject());
        macro_rules! tell {
            ($($part:ident),*) => {{$(
                (ctx.cause, ctx.ticket) = (change.cause, change.ticket);
                parts.$part.watch(ctx, what);
            )*}};
        }
        match what {
            ChangeKind::Pod(..) => {
                tell!(accounting, webhook, job_controller, jobset_manager, garbage_collector);
                tell!(kubelet, scheduler, node_lifecycle, pod_gc);
                if parts.kueue.has_topology() {
                    tell!(kueue);
                }
            }
            ChangeKind::Job(..) => {
                tell!(accounting, webhook, job_controller, ttl_controller);
                tell!(jobset_manager, garbage_collector);
            }
            ChangeKind::JobSet(..) => {
                tell!(accounting, jobset_manager, garbage_collector, kubelet, kueue);
            }
            ChangeKind::Workload(_) | ChangeKind::Namespace => tell!(kueue),
            ChangeKind::Node(..) => {
                tell!(accounting, kubelet, scheduler, node_lifecycle, pod_gc, kueue);
            }
            ChangeKind::Service(_) => tell!(jobset_manager),
            ChangeKind::OwnedCreated(..) | ChangeKind::OwnedGone(_) => tell!(garbage_collector),
            ChangeKind::Claim { .. } | ChangeKind::Storage | ChangeKind::PodGroup => tell!(scheduler),
            ChangeKind::WorkDone(_) | ChangeKind::ProcessExit(..) => tell!(kubelet),
            ChangeKind::Process { .. } | ChangeKind::ContainersStopped(_) | ChangeKind::SilentFault { .. } => {}
        }
        if parts.slice_controller.has_slices() {
            tell!(slice_controller);
        }
        if parts.training.has_jobs() {
            (ctx.cause, ctx.ticket) = (change.cause, change.ticket);
            parts.training.watch(ctx, what, &mut parts.accounting);
        }
        if parts.usage_aging.has_clocks() {
            parts.usage_aging.watch(ctx, what);
        }
        if parts.accounting.take_first_ready() {
            parts.script.arm_ready_faults(ctx);
        }
    }

    fn should_stop(&mut self) -> Option<EndReason> {
        let (ctx, parts) = (&mut self.ctx, &*self.components);
        match ctx.scenario.stop.when {
            StopWhen::Time => None,
            StopWhen::AllJobSetsFinished if diagnosis::all_finished(ctx) => Some(EndReason::AllJobSetsFinished),
            _ => {
                let quiet = ctx.now.since(ctx.progress.quiet_since()) > QUIET_PERIOD;
                if !quiet || !parts.script.is_finished() || stale_events::has_awaited_event(ctx, parts) {
                    return None;
                }
                let none_comes = parts.script.random_faults_left == 0 && !parts.usage_aging.has_pending_fault(ctx.now);
                if !none_comes && !diagnosis::all_finished(ctx) {
                    return None;
                }
                let reason = diagnosis::end_reason(ctx, parts);
                // A run with a pending deadline is not blocked.
                (reason != EndReason::Stuck || !diagnosis::has_pending_deadline(ctx)).then_some(reason)
            }
        }
    }
}
