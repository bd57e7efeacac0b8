//! Usage-based aging: clocks of nodes and pods that advance while they are in use, and the faults that occur at ages.
//! The script contains the ages (`FaultTime::AtUsageAge`); only this module knows when a clock reaches one. The
//! consequences are executed by the script. Must never change an object.

use super::ctx::{ContextMark, EngineContext};
use super::event::SimulationEvent;
use crate::record::{TicketSubject, TicketWait};
use crate::store::{ChangeKind, PodChange};
use sim_api::spec::{ExposureSpec, FaultAction, FaultTime, UsedFields};
use sim_base::{Duration, NodeId, PodId, SimTime};
use sim_reliability::aging::{NEVER, RemainingLife};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct UsageAging {
    clocks: Vec<AgingClock>,
    clocks_by_node: BTreeMap<NodeId, Vec<u32>>,
    /// By the name without suffix.
    clocks_by_pod: BTreeMap<String, Vec<u32>>,
    pods: Vec<AgingPod>,
    /// Number of clocks whose next event is within the run, if they are not paused before.
    armed: u32,
    /// Time of the last consequence of the faults so far.
    last_consequence: SimTime,
    /// True if a repair ends after the end of the run.
    pub repairs_later: bool,
}

#[derive(Clone)]
struct AgingClock {
    exposure: ExposureSpec,
    /// Ages in ascending order, each with its fault in the script.
    faults: Vec<(Duration, u32)>,
    next_fault: usize,
    /// Number of pods that use the entity.
    users: u32,
    /// Use until the next fault.
    life: RemainingLife,
    /// Aging is paused while the entity is under repair.
    paused: bool,
    armed: bool,
    /// Identifies the valid event of the clock.
    nth: u32,
}

impl AgingClock {
    /// Adds a fault at an age; ages are added in ascending order.
    fn add_fault(&mut self, age: Duration, fault: u32) {
        self.faults.push((age, fault));
        if self.faults.len() == 1 {
            self.life = RemainingLife::new(age.0);
        }
    }

    /// The fault that is due now. The use until the next one begins.
    fn take_fault(&mut self) -> u32 {
        let (age, fault) = self.faults[self.next_fault];
        self.next_fault += 1;
        let next = self.faults.get(self.next_fault);
        self.life = RemainingLife::new(next.map_or(NEVER, |(next, _)| (*next - age).0));
        fault
    }
}

/// A pod and the entities that it uses.
#[derive(Copy, Clone)]
struct AgingPod {
    node: NodeId,
    running: bool,
    bound: bool,
}

impl UsageAging {
    pub fn reset(&mut self, ctx: &mut EngineContext<'_>) {
        *self = UsageAging::default();
        for (i, clock) in (0..).zip(&ctx.scenario.clocks) {
            match &clock.entity {
                UsedFields::Pod(name) => self.clocks_by_pod.entry(name.clone()).or_default().push(i),
                UsedFields::Nodes(names) => {
                    for node in names.iter().filter_map(|name| ctx.store.nodes.find_by_name(name)) {
                        self.clocks_by_node.entry(node).or_default().push(i);
                    }
                }
            }
            self.clocks.push(AgingClock {
                exposure: clock.exposure,
                faults: Vec::new(),
                next_fault: 0,
                users: 0,
                life: RemainingLife::new(NEVER),
                paused: false,
                armed: false,
                nth: 0,
            });
        }
        for (i, fault) in (0..).zip(&ctx.scenario.faults) {
            if let FaultTime::AtUsageAge { clock, age } = fault.at {
                self.clocks[clock as usize].add_fault(age, i);
            }
        }
    }

    /// Returns true if any entity has usage-based aging.
    #[inline]
    pub fn has_clocks(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// Returns true if a fault, or a consequence of one, will occur in the current state.
    pub fn has_pending_fault(&self, now: SimTime) -> bool {
        self.armed > 0 || self.has_clocks() && now <= self.last_consequence
    }

    /// Returns true if the clock was paused since the event was scheduled.
    #[inline]
    pub fn is_stale(&self, event: SimulationEvent) -> bool {
        matches!(event, SimulationEvent::AgingClockDue { clock, nth } if self.clocks[clock as usize].nth != nth)
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent) {
        let SimulationEvent::AgingClockDue { clock, .. } = event else {
            unreachable!("not an event of a clock: {event:?}");
        };
        if self.is_stale(event) {
            return;
        }
        self.disarm(clock);
        let row = &mut self.clocks[clock as usize];
        if std::mem::take(&mut row.paused) {
            return self.start_clock(ctx, clock);
        }
        let fault = row.take_fault();
        match self.apply_fault(ctx, fault) {
            Some(over) => {
                self.clocks[clock as usize].paused = true;
                self.schedule_next(ctx, clock, over);
            }
            None => self.start_clock(ctx, clock),
        }
    }

    pub fn watch(&mut self, ctx: &mut EngineContext<'_>, what: ChangeKind) {
        match what {
            ChangeKind::Pod(pod, PodChange::Bound) => self.set_in_use(ctx, pod, ExposureSpec::Assigned, true),
            ChangeKind::Pod(pod, PodChange::Finished | PodChange::Gone) => {
                self.set_in_use(ctx, pod, ExposureSpec::Running, false);
                self.set_in_use(ctx, pod, ExposureSpec::Assigned, false);
            }
            ChangeKind::Process { pod, up } => self.set_in_use(ctx, pod, ExposureSpec::Running, up),
            ChangeKind::ContainersStopped(pod) => self.set_in_use(ctx, pod, ExposureSpec::Running, false),
            _ => {}
        }
    }

    /// A pod starts or stops to use its entities, in the sense of `exposure`.
    fn set_in_use(&mut self, ctx: &mut EngineContext<'_>, pod: PodId, exposure: ExposureSpec, on: bool) {
        if self.pods.len() <= pod.ix() {
            let nobody = AgingPod { node: NodeId::NONE, running: false, bound: false };
            self.pods.resize(pod.ix() + 1, nobody);
        }
        let row = &mut self.pods[pod.ix()];
        let is = match exposure {
            ExposureSpec::Running => &mut row.running,
            _ => &mut row.bound,
        };
        if std::mem::replace(is, on) == on {
            return;
        }
        if on {
            row.node = ctx.store.pods.node[pod.ix()];
        }
        let mut clocks = self.clocks_by_node.get(&row.node).cloned().unwrap_or_default();
        if !self.clocks_by_pod.is_empty() {
            let (job, index) = (ctx.store.pods.job[pod.ix()], ctx.store.pods.index[pod.ix()]);
            let own = self.clocks_by_pod.get(&ctx.store.names.pod_base_name(job, index));
            clocks.extend(own.into_iter().flatten());
        }
        for clock in clocks {
            let row = &mut self.clocks[clock as usize];
            if row.exposure != exposure {
                continue;
            }
            let before = row.users;
            row.users = if on { before + 1 } else { before - 1 };
            match (before, row.users) {
                (0, _) => self.start_clock(ctx, clock),
                (_, 0) => self.stop_clock(ctx, clock),
                _ => {}
            }
        }
    }

    /// Starts the clock if the entity is in use and its next fault is not after a pending repair.
    fn start_clock(&mut self, ctx: &mut EngineContext<'_>, clock: u32) {
        let row = &mut self.clocks[clock as usize];
        if row.users == 0 || row.paused {
            return;
        }
        if let Some(due) = row.life.begin(ctx.now.0) {
            self.schedule_next(ctx, clock, SimTime(due));
        }
    }

    fn stop_clock(&mut self, ctx: &EngineContext<'_>, clock: u32) {
        if self.clocks[clock as usize].life.end(ctx.now.0) {
            self.disarm(clock);
        }
    }

    /// Schedules the clock's next event, unless it is after the end of the run.
    fn schedule_next(&mut self, ctx: &mut EngineContext<'_>, clock: u32, at: SimTime) {
        if at > SimTime::ZERO + ctx.scenario.stop.at {
            return;
        }
        let row = &mut self.clocks[clock as usize];
        row.nth += 1;
        row.armed = true;
        self.armed += 1;
        let nth = row.nth;
        schedule_without_cause(ctx, at, SimulationEvent::AgingClockDue { clock, nth });
    }

    fn disarm(&mut self, clock: u32) {
        let row = &mut self.clocks[clock as usize];
        if std::mem::take(&mut row.armed) {
            row.nth += 1;
            self.armed -= 1;
        }
    }

    /// Executes the fault now and schedules its consequences; returns the time of the last one, if any.
    fn apply_fault(&mut self, ctx: &mut EngineContext<'_>, fault: u32) -> Option<SimTime> {
        let limit = SimTime::ZERO + ctx.scenario.stop.at;
        schedule_without_cause(ctx, ctx.now, SimulationEvent::Fault(fault));
        let mut over = None;
        let behind = &ctx.scenario.faults[fault as usize + 1..];
        for (i, next) in (fault + 1..).zip(behind) {
            let FaultTime::AfterFault { fault: head, after } = next.at else {
                break;
            };
            if head != fault {
                break;
            }
            let at = ctx.now + after;
            over = over.max(Some(at));
            if at <= limit {
                self.last_consequence = self.last_consequence.max(at);
                schedule_without_cause(ctx, at, SimulationEvent::Fault(i));
                continue;
            }
            use FaultAction::{NewNode, ReturnNode, UncordonNode};
            self.repairs_later |= matches!(next.action, ReturnNode(_) | NewNode(_) | UncordonNode(_));
        }
        over
    }
}

/// Schedules an event without a cause, like an action of the script.
fn schedule_without_cause(ctx: &mut EngineContext<'_>, at: SimTime, event: SimulationEvent) {
    let before = ctx.mark();
    ctx.restore_mark(ContextMark::default());
    ctx.schedule_at(at, TicketWait::Script, TicketSubject::Nothing, event);
    ctx.restore_mark(before);
}
