//! Usage-based aging: clocks of nodes and pods that advance while they are in use, and the faults that occur at ages.
//! The script contains the ages (`FaultTime::Worn`); only this module knows when a clock reaches one. The
//! consequences are executed by the script. Must never change an object.

use super::ctx::{Ctx, Mark};
use super::event::Event;
use crate::record::{About, Waited};
use crate::store::{PodChange, What};
use sim_api::spec::{Exposure, FaultAction, FaultTime, Used};
use sim_base::*;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Ageing {
    clocks: Vec<Clock>,
    of_node: BTreeMap<NodeId, Vec<u32>>,
    /// By the name without suffix.
    of_pod: BTreeMap<String, Vec<u32>>,
    pods: Vec<Pod>,
    /// Number of clocks whose next event is within the run, if they are not paused before.
    armed: u32,
    /// Time of the last consequence of the faults so far.
    until: Time,
    /// True if a repair ends after the end of the run.
    pub repairs_later: bool,
}

#[derive(Clone)]
struct Clock {
    exposure: Exposure,
    /// Ages in ascending order, each with its fault in the script.
    faults: Vec<(Duration, u32)>,
    next: usize,
    /// Number of pods that use the entity.
    users: u32,
    /// Age when the clock was last started, and the time since when it advances.
    shows: Duration,
    since: Option<Time>,
    /// Aging is paused while the entity is under repair.
    rests: bool,
    armed: bool,
    /// Identifies the valid event of the clock.
    nth: u32,
}

/// A pod and the entities that it uses.
#[derive(Copy, Clone)]
struct Pod {
    node: NodeId,
    runs: bool,
    bound: bool,
}

impl Ageing {
    pub fn reset(&mut self, ctx: &mut Ctx<'_>) {
        *self = Ageing::default();
        for (i, clock) in (0..).zip(&ctx.scenario.clocks) {
            match &clock.of {
                Used::Pod(name) => self.of_pod.entry(name.clone()).or_default().push(i),
                Used::Nodes(names) => {
                    for node in names.iter().filter_map(|name| ctx.store.nodes.named(name)) {
                        self.of_node.entry(node).or_default().push(i);
                    }
                }
            }
            self.clocks.push(Clock {
                exposure: clock.exposure,
                faults: Vec::new(),
                next: 0,
                users: 0,
                shows: Duration::ZERO,
                since: None,
                rests: false,
                armed: false,
                nth: 0,
            });
        }
        for (i, fault) in (0..).zip(&ctx.scenario.faults) {
            if let FaultTime::Worn { clock, age } = fault.at {
                self.clocks[clock as usize].faults.push((age, i));
            }
        }
    }

    /// Returns true if any entity has usage-based aging.
    #[inline]
    pub fn any(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// Returns true if a fault, or a consequence of one, will occur in the current state.
    pub fn awaits(&self, now: Time) -> bool {
        self.armed > 0 || self.any() && now <= self.until
    }

    /// Returns true if the clock was paused since the event was scheduled.
    #[inline]
    pub fn is_void(&self, event: Event) -> bool {
        matches!(event, Event::Worn { clock, nth } if self.clocks[clock as usize].nth != nth)
    }

    pub fn handle(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        let Event::Worn { clock, .. } = event else {
            unreachable!("not an event of a clock: {event:?}");
        };
        if self.is_void(event) {
            return;
        }
        self.disarm(clock);
        let row = &mut self.clocks[clock as usize];
        if std::mem::take(&mut row.rests) {
            return self.go(ctx, clock);
        }
        let (age, fault) = row.faults[row.next];
        (row.shows, row.since) = (age, None);
        row.next += 1;
        match self.strike(ctx, fault) {
            Some(over) => {
                self.clocks[clock as usize].rests = true;
                self.arm(ctx, clock, over);
            }
            None => self.go(ctx, clock),
        }
    }

    pub fn watch(&mut self, ctx: &mut Ctx<'_>, what: What) {
        match what {
            What::Pod(pod, PodChange::Bound) => self.set(ctx, pod, Exposure::Assigned, true),
            What::Pod(pod, PodChange::Finished | PodChange::Gone) => {
                self.set(ctx, pod, Exposure::Running, false);
                self.set(ctx, pod, Exposure::Assigned, false);
            }
            What::Process { pod, up } => self.set(ctx, pod, Exposure::Running, up),
            What::Stopped(pod) => self.set(ctx, pod, Exposure::Running, false),
            _ => {}
        }
    }

    /// A pod starts or stops to use its entities, in the sense of `exposure`.
    fn set(&mut self, ctx: &mut Ctx<'_>, pod: PodId, exposure: Exposure, on: bool) {
        if self.pods.len() <= pod.ix() {
            let nobody = Pod {
                node: NodeId::NONE,
                runs: false,
                bound: false,
            };
            self.pods.resize(pod.ix() + 1, nobody);
        }
        let row = &mut self.pods[pod.ix()];
        let is = match exposure {
            Exposure::Running => &mut row.runs,
            _ => &mut row.bound,
        };
        if std::mem::replace(is, on) == on {
            return;
        }
        if on {
            row.node = ctx.store.pods.node[pod.ix()];
        }
        let mut clocks = self.of_node.get(&row.node).cloned().unwrap_or_default();
        if !self.of_pod.is_empty() {
            let (job, index) = (ctx.store.pods.job[pod.ix()], ctx.store.pods.index[pod.ix()]);
            let own = self.of_pod.get(&ctx.store.names.pod_place(job, index));
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
                (0, _) => self.go(ctx, clock),
                (_, 0) => self.stand(ctx, clock),
                _ => {}
            }
        }
    }

    /// Starts the clock if the entity is in use and its next fault is not after a pending repair.
    fn go(&mut self, ctx: &mut Ctx<'_>, clock: u32) {
        let row = &mut self.clocks[clock as usize];
        if row.users == 0 || row.rests || row.since.is_some() {
            return;
        }
        let Some((age, _)) = row.faults.get(row.next) else {
            return;
        };
        row.since = Some(ctx.now);
        let at = ctx.now + (*age - row.shows);
        self.arm(ctx, clock, at);
    }

    fn stand(&mut self, ctx: &Ctx<'_>, clock: u32) {
        let row = &mut self.clocks[clock as usize];
        if let Some(since) = row.since.take() {
            row.shows = row.shows + ctx.now.since(since);
            self.disarm(clock);
        }
    }

    /// Schedules the clock's next event, unless it is after the end of the run.
    fn arm(&mut self, ctx: &mut Ctx<'_>, clock: u32, at: Time) {
        if at > Time::ZERO + ctx.scenario.stop.at {
            return;
        }
        let row = &mut self.clocks[clock as usize];
        row.nth += 1;
        row.armed = true;
        self.armed += 1;
        let nth = row.nth;
        by_itself(ctx, at, Event::Worn { clock, nth });
    }

    fn disarm(&mut self, clock: u32) {
        let row = &mut self.clocks[clock as usize];
        if std::mem::take(&mut row.armed) {
            row.nth += 1;
            self.armed -= 1;
        }
    }

    /// Executes the fault now and schedules its consequences; returns the time of the last one, if any.
    fn strike(&mut self, ctx: &mut Ctx<'_>, fault: u32) -> Option<Time> {
        let limit = Time::ZERO + ctx.scenario.stop.at;
        by_itself(ctx, ctx.now, Event::Fault(fault));
        let mut over = None;
        let behind = &ctx.scenario.faults[fault as usize + 1..];
        for (i, next) in (fault + 1..).zip(behind) {
            let FaultTime::Follows { fault: head, after } = next.at else {
                break;
            };
            if head != fault {
                break;
            }
            let at = ctx.now + after;
            over = over.max(Some(at));
            if at <= limit {
                self.until = self.until.max(at);
                by_itself(ctx, at, Event::Fault(i));
                continue;
            }
            use FaultAction::{NewNode, ReturnNode, UncordonNode};
            self.repairs_later |=
                matches!(next.action, ReturnNode(_) | NewNode(_) | UncordonNode(_));
        }
        over
    }
}

/// Schedules an event without a cause, like an action of the script.
fn by_itself(ctx: &mut Ctx<'_>, at: Time, event: Event) {
    let before = ctx.mark();
    ctx.back_to(Mark::default());
    ctx.at(at, Waited::Script, About::Nothing, event);
    ctx.back_to(before);
}
