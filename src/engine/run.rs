//! The event loop: removes the next event, passes it to its component, and notifies the watchers of changes. Start
//! reading here.
//!
//! Works on ids only: no text, files or names. Must never change an object itself.

use super::ctx::{Ctx, Mark};
use super::event::{Event, Owner};
use super::{Components, check, circle, stuck, void};
use crate::record::*;
use crate::store::{Change, What};
use sim_api::spec::{BY_SCRIPT, FaultTime, StopWhen};
use sim_base::*;

/// One run in progress.
pub struct Run<'a> {
    pub ctx: Ctx<'a>,
    pub parts: &'a mut Components,
    pub paranoid: bool,
    /// Number of the next event before which the sink is asked whether to stop the run.
    pub next_look: u64,
    pub events: u64,
    /// Buffer for the changes that are being delivered to watchers.
    pub told: Vec<Change>,
}

/// Longer than any timer of the modelled controllers (pod-failure back-off 600 s, toleration 300 s): if only retries
/// happened during this period, the run cannot progress.
const QUIET: Duration = Duration::from_secs(900);

impl Run<'_> {
    /// Runs from the first event to the end.
    pub fn execute(&mut self) -> EndReason {
        self.begin();
        let reason = self.go_on(Time::NEVER).expect("nothing halts it");
        self.end(reason)
    }

    /// Processes all events before `halt`. Returns the end reason if the run ended earlier. An empty queue does not
    /// end the run here, because the caller may extend the script.
    pub fn go_on(&mut self, halt: Time) -> Option<EndReason> {
        let halts = halt != Time::NEVER;
        let limit = Time::ZERO + self.ctx.scenario.stop.at;
        loop {
            if self.events >= self.next_look {
                if self.ctx.sink.stops(self.events) {
                    return Some(EndReason::Stopped);
                }
                self.next_look = self.events + self.ctx.sink.looks_after(self.events);
            }
            if halts && self.ctx.queue.next_at().is_none_or(|at| at >= halt) {
                return None;
            }
            let rests = !halts && self.ctx.queue.len() == self.ctx.progress.idle;
            let next = (!rests).then(|| self.ctx.queue.pop()).flatten();
            let Some((at, event, cause, ticket)) = next else {
                return Some(stuck::rest_reason(&self.ctx, self.parts));
            };
            if void::is_void(&self.ctx, self.parts, at, event) {
                void::pass(&mut self.ctx, self.parts, at, event);
                continue;
            }
            if at > limit && !halts {
                self.ctx.now = limit;
                return Some(EndReason::TimeLimit);
            }
            assert!(at >= self.ctx.now, "time runs backwards");
            if self.ctx.progress.stands_still_at(at, event.subject()) {
                return Some(EndReason::Stuck);
            }
            self.ctx.now = at;
            self.ctx.cause = cause;
            self.ctx.ticket = ticket;
            self.events += 1;
            self.ctx.progress.awaited -= u32::from(event.is_awaited());
            self.handle(event);
            self.tell_watchers();
            if self.paranoid {
                check::whole_state(&self.ctx, self.parts);
            }
            if self.goes_round() {
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
        let limit = Time::ZERO + self.ctx.scenario.stop.at;
        let to_its_time = self.ctx.scenario.stop.when == StopWhen::Time;
        let reason = match reason {
            EndReason::Settled if to_its_time => EndReason::TimeLimit,
            // A run that waits for a repair after its end is not blocked.
            EndReason::Stuck if self.waits_for_repair() => EndReason::TimeLimit,
            other => other,
        };
        if (to_its_time || reason == EndReason::TimeLimit) && self.ctx.now < limit {
            // Time alone is the cause.
            self.ctx.back_to(Mark::default());
            self.ctx.now = limit;
        }
        self.ctx.emit(Body::End { reason });
        reason
    }

    /// Returns true if a Job is being recreated in a loop that only the time limit would stop.
    fn goes_round(&mut self) -> bool {
        let Some(circle) = self.ctx.progress.goes_round else {
            return false;
        };
        let lasts = circle::lasts(&self.ctx, self.parts, &circle);
        if !lasts {
            self.ctx.progress.goes_round = None;
        }
        lasts
    }

    /// Returns true if the only remaining events are repairs that complete after the end of the run.
    fn waits_for_repair(&self) -> bool {
        let circle = self.ctx.progress.stands_still || self.ctx.progress.goes_round.is_some();
        (self.ctx.scenario.repairs_later || self.parts.ageing.repairs_later) && !circle
    }

    /// Schedules what is known from the start: existing objects, submissions and the script.
    pub fn begin(&mut self) {
        self.parts.user.begin(&mut self.ctx);
        self.tell_watchers();
        let scenario = self.ctx.scenario;
        for (i, js) in scenario.jobsets.iter().enumerate() {
            if js.submit_at != BY_SCRIPT {
                self.plan(js.submit_at, Event::Submit(JobSetId(i as u32)));
            }
        }
        self.plan_script(0);
    }

    /// Schedules the scripted actions from index `from`.
    pub fn plan_script(&mut self, from: usize) {
        for (i, fault) in self.ctx.scenario.faults.iter().enumerate().skip(from) {
            if let FaultTime::At(instant) = fault.at {
                self.plan(instant, Event::Fault(i as u32));
            }
        }
    }

    /// Schedules an event without a cause.
    fn plan(&mut self, at: Duration, event: Event) {
        let begun = Mark::default();
        let mark = self.ctx.wait(begun, at, Waited::Script, About::Nothing);
        self.ctx.push(mark, event);
    }

    fn handle(&mut self, event: Event) {
        let (parts, ctx) = (&mut *self.parts, &mut self.ctx);
        match event.owner() {
            Owner::User => parts.user.handle(ctx, event, &mut parts.kubelet),
            Owner::Kubelet => parts.kubelet.handle(ctx, event),
            Owner::JobController => parts.job_controller.handle(ctx, event, &parts.webhook),
            Owner::TtlController => parts.ttl_controller.handle(ctx, event),
            Owner::JobSetManager => parts.jobset_manager.handle(ctx, event),
            Owner::Collector => parts.collector.handle(ctx, event),
            Owner::Scheduler => parts.scheduler.handle(ctx, event),
            Owner::NodeLifecycle => parts.node_lifecycle.handle(ctx, event),
            Owner::PodGc => parts.pod_gc.handle(ctx, event),
            Owner::Training => parts.training.handle(ctx, event, &mut parts.accounting),
            Owner::Ageing => parts.ageing.handle(ctx, event),
        }
    }

    /// Delivers every change to all watchers, in order, including the changes that watchers make.
    fn tell_watchers(&mut self) {
        while !self.ctx.store.changes.is_empty() {
            let mut told = std::mem::take(&mut self.told);
            self.ctx.store.take_changes(&mut told);
            for change in told.drain(..) {
                self.tell(&change);
            }
            self.told = told;
        }
        self.ctx.store.told();
    }

    /// Notifies the accounting first, so that a readiness record has the cause of the change itself.
    fn tell(&mut self, change: &Change) {
        let (parts, ctx, what) = (&mut *self.parts, &mut self.ctx, change.what);
        ctx.progress.touches(what.subject());
        macro_rules! tell {
            ($($part:ident),*) => {{$(
                (ctx.cause, ctx.ticket) = (change.cause, change.ticket);
                parts.$part.watch(ctx, what);
            )*}};
        }
        match what {
            What::Pod(..) => {
                tell!(
                    accounting,
                    webhook,
                    job_controller,
                    jobset_manager,
                    collector
                );
                tell!(kubelet, scheduler, node_lifecycle, pod_gc);
            }
            What::Job(..) => {
                tell!(accounting, webhook, job_controller, ttl_controller);
                tell!(jobset_manager, collector);
            }
            What::JobSet(..) => tell!(accounting, jobset_manager, collector, kubelet),
            What::Node(..) => {
                tell!(accounting, kubelet, scheduler, node_lifecycle, pod_gc);
            }
            What::Service(_) => tell!(jobset_manager),
            What::Owned(..) => tell!(collector),
            What::Claim => tell!(scheduler),
            What::WorkDone(_) | What::GivesUp(..) => tell!(kubelet),
            What::Process { .. } | What::Stopped(_) | What::Silent { .. } => {}
        }
        if parts.training.any() {
            (ctx.cause, ctx.ticket) = (change.cause, change.ticket);
            parts.training.watch(ctx, what, &mut parts.accounting);
        }
        if parts.ageing.any() {
            parts.ageing.watch(ctx, what);
        }
        if parts.accounting.take_first_ready() {
            parts.user.arm_ready_faults(ctx);
        }
    }

    fn should_stop(&mut self) -> Option<EndReason> {
        let (ctx, parts) = (&mut self.ctx, &*self.parts);
        match ctx.scenario.stop.when {
            StopWhen::Time => None,
            StopWhen::AllJobSetsFinished if stuck::all_finished(ctx) => {
                Some(EndReason::AllJobSetsFinished)
            }
            _ => {
                let quiet = ctx.now.since(ctx.progress.quiet_since()) > QUIET;
                if !quiet || !parts.user.script_is_over() || void::is_awaited(ctx, parts) {
                    return None;
                }
                let none_comes = parts.user.drawn_left == 0 && !parts.ageing.awaits(ctx.now);
                if !none_comes && !stuck::all_finished(ctx) {
                    return None;
                }
                let reason = stuck::rest_reason(ctx, parts);
                // A run with a pending deadline is not blocked.
                (reason != EndReason::Stuck || !stuck::deadline_ahead(ctx)).then_some(reason)
            }
        }
    }
}
