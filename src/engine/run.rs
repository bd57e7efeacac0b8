//! The loop: pop the next event, hand it to the component it belongs to, tell watchers what changed. Read this first.
//!
//! Text, files and names do not exist here, only ids. Must never act on an object itself.

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
    /// Before which event the sink is asked whether it stops the run.
    pub next_look: u64,
    pub events: u64,
    /// A buffer of changes that are being told.
    pub told: Vec<Change>,
}

/// Longer than any timer of the modelled controllers (pod-failure back-off 600 s, toleration 300 s): when only
/// retries have happened for so long, nothing else will.
const QUIET: Duration = Duration::from_secs(900);

impl Run<'_> {
    /// From the beginning to the end.
    pub fn execute(&mut self) -> EndReason {
        self.begin();
        let reason = self.go_on(Time::NEVER).expect("nothing halts it");
        self.end(reason)
    }

    /// Plays everything that comes before `halt`; why it has come to its end before, if it has. Whoever halts a run
    /// may have more of the script: that nothing else is to come does not end it.
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
            // No record: what has been written is the beginning of what the whole run would write.
            return reason;
        }
        let limit = Time::ZERO + self.ctx.scenario.stop.at;
        let to_its_time = self.ctx.scenario.stop.when == StopWhen::Time;
        let reason = match reason {
            EndReason::Settled if to_its_time => EndReason::TimeLimit,
            // What a repair after the end of the run would free is not stuck.
            EndReason::Stuck if self.waits_for_repair() => EndReason::TimeLimit,
            other => other,
        };
        if (to_its_time || reason == EndReason::TimeLimit) && self.ctx.now < limit {
            // Nobody brings it about but time itself.
            self.ctx.back_to(Mark::default());
            self.ctx.now = limit;
        }
        self.ctx.emit(Body::End { reason });
        reason
    }

    /// Whether a Job was made so often that only the end of the run's time would end that.
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

    /// Whether repairs are all that could still come, and come too late.
    fn waits_for_repair(&self) -> bool {
        let circle = self.ctx.progress.stands_still || self.ctx.progress.goes_round.is_some();
        (self.ctx.scenario.repairs_later || self.parts.ageing.repairs_later) && !circle
    }

    /// What is known from the start: objects that exist, submissions and the script.
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

    /// The script from that fault on.
    pub fn plan_script(&mut self, from: usize) {
        for (i, fault) in self.ctx.scenario.faults.iter().enumerate().skip(from) {
            if let FaultTime::At(instant) = fault.at {
                self.plan(instant, Event::Fault(i as u32));
            }
        }
    }

    /// Nobody causes it.
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

    /// Watches: every change to everybody, in the order of the changes; what they bring about is told as well.
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

    /// Accounting first: a record about readiness goes with the change that made it.
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
                // What is stuck until a deadline is not stuck.
                (reason != EndReason::Stuck || !stuck::deadline_ahead(ctx)).then_some(reason)
            }
        }
    }
}
