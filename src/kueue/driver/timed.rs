//! Cycles whose requests take time.

use super::{CycleSummary, Driver, Ports, run_cycle, send};
use crate::control::{Patch, REQUEUE_DELAY};
use crate::cycle::{CycleResult, Entry, Outcome, next_pause};
use crate::quota::NodeId;
use sim_base::Duration;
use std::collections::{BTreeSet, VecDeque};

/// Preemptions that an entry sends at the same time (`pkg/scheduler/preemption/preemption.go`).
const PARALLEL_PREEMPTIONS: usize = 8;

/// Times at which the requests of a cycle are sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// All at one instant, preemptions first. The next cycle waits for the responses. The pause begins when a queue has
    /// a head.
    AtOnce,
    /// The entries are processed one after the other. Admissions are sent without waiting; preemptions are sent eight
    /// at a time, and the cycle waits for them. Then the other entries return to their queues, each followed by a
    /// request with its reason, for which the cycle waits as well. The pause begins when the cycle ends.
    EntryByEntry {
        /// Time of the decisions per head.
        per_head: Duration,
    },
}

/// A timer of the driver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A cycle begins or continues ([`cycle_due`]).
    Cycle,
    /// The inadmissible Workloads of a tree are tried again ([`retry_due`]).
    Retry { root: NodeId },
}

/// An adapter whose requests take time. It calls [`answered`] for each response for which the scheduler waits.
pub trait TimedPorts: Ports {
    fn wake_after(&mut self, delay: Duration, timer: Timer);
    /// Returns whether the adapter delays the next cycle. It calls [`schedule_cycle`] when that ends.
    fn delays_cycle(&self) -> bool;
    fn cycle_ended(&mut self, summary: CycleSummary);
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Scheduled,
    /// Within a cycle.
    Running,
}

#[derive(Clone)]
enum Step {
    Preempt(VecDeque<Patch>),
    Conclude(Box<Entry>),
}

#[derive(Clone)]
pub(super) struct Scheduler {
    pace: Pace,
    phase: Phase,
    pause: Duration,
    steps: VecDeque<Step>,
    /// Requests for which the scheduler waits.
    pub unanswered: usize,
    /// Trees with a pending retry.
    retries: BTreeSet<NodeId>,
}

impl Scheduler {
    pub fn new(pace: Pace) -> Scheduler {
        Scheduler {
            pace,
            phase: Phase::Idle,
            pause: Duration::ZERO,
            steps: VecDeque::new(),
            unanswered: 0,
            retries: BTreeSet::new(),
        }
    }
}

impl Driver {
    fn update_pause(&mut self) -> Duration {
        self.scheduler.pause = next_pause(self.scheduler.pause, self.summary.has_admitted);
        self.scheduler.pause
    }
}

/// Schedules the retries that changes of Workloads request.
pub fn schedule_retries(ports: &mut impl TimedPorts) {
    let now = ports.now();
    for root in ports.driver().manager.take_wakes() {
        let driver = ports.driver();
        if !driver.manager.configuration.behavior.batches_retries {
            driver.manager.wake(root, now);
        } else if driver.scheduler.retries.insert(root) {
            ports.wake_after(REQUEUE_DELAY, Timer::Retry { root });
        }
    }
}

/// Tries the inadmissible Workloads of a tree again.
pub fn retry_due(ports: &mut impl TimedPorts, root: NodeId) {
    let now = ports.now();
    let driver = ports.driver();
    driver.scheduler.retries.remove(&root);
    driver.manager.wake(root, now);
}

/// Schedules a cycle if the scheduler is idle and a queue has a head.
pub fn schedule_cycle(ports: &mut impl TimedPorts) {
    if ports.delays_cycle() {
        return;
    }
    let Driver { manager, scheduler, .. } = ports.driver();
    if scheduler.phase != Phase::Idle || scheduler.unanswered > 0 || !manager.has_heads() {
        return;
    }
    scheduler.phase = Phase::Scheduled;
    let delay = match scheduler.pace {
        Pace::AtOnce => scheduler.pause,
        Pace::EntryByEntry { .. } => Duration::ZERO,
    };
    ports.wake_after(delay, Timer::Cycle);
}

/// Begins or continues a cycle.
pub fn cycle_due(ports: &mut impl TimedPorts) {
    let Scheduler { phase, pace, .. } = ports.driver().scheduler;
    match (phase, pace) {
        (Phase::Running, _) => continue_cycle(ports),
        (_, Pace::AtOnce) => {
            ports.driver().scheduler.phase = Phase::Idle;
            let summary = run_cycle(ports);
            ports.driver().update_pause();
            ports.cycle_ended(summary);
        }
        (_, Pace::EntryByEntry { per_head }) => begin_cycle(ports, per_head),
    }
}

fn begin_cycle(ports: &mut impl TimedPorts, per_head: Duration) {
    let now = ports.now();
    let driver = ports.driver();
    if !driver.manager.has_heads() {
        driver.scheduler.phase = Phase::Idle;
        return;
    }
    driver.count_cycle();
    let result = driver.manager.decide(now);
    let heads = result.entries.len() as u64;
    driver.scheduler.phase = Phase::Running;
    driver.scheduler.steps = steps(result);
    ports.wake_after(per_head.saturating_mul(heads), Timer::Cycle);
}

/// Performs the steps of a cycle up to the next request for which it waits.
fn continue_cycle(ports: &mut impl TimedPorts) {
    while ports.driver().scheduler.unanswered == 0 {
        match ports.driver().scheduler.steps.pop_front() {
            Some(Step::Preempt(patches)) => send_preemptions(ports, patches),
            Some(Step::Conclude(entry)) => {
                let now = ports.now();
                if let Some(patch) = ports.driver().manager.conclude(*entry, now) {
                    send(ports, patch);
                }
            }
            None => return end_cycle(ports),
        }
    }
}

fn end_cycle(ports: &mut impl TimedPorts) {
    let driver = ports.driver();
    driver.scheduler.phase = Phase::Scheduled;
    let (pause, summary) = (driver.update_pause(), driver.summary);
    ports.wake_after(pause, Timer::Cycle);
    ports.cycle_ended(summary);
}

fn send_preemptions(ports: &mut impl TimedPorts, mut patches: VecDeque<Patch>) {
    while ports.driver().scheduler.unanswered < PARALLEL_PREEMPTIONS {
        let Some(patch) = patches.pop_front() else { return };
        let driver = ports.driver();
        if driver.preempted.insert(patch.key) || !driver.manager.configuration.behavior.expects_preemptions {
            send(ports, patch);
        }
    }
    ports.driver().scheduler.steps.push_front(Step::Preempt(patches));
}

/// Follows the response to a change for which the scheduler waits. Preemptions in flight are replaced one by one.
pub fn answered(ports: &mut impl TimedPorts) {
    let scheduler = &mut ports.driver().scheduler;
    scheduler.unanswered -= 1;
    if scheduler.phase != Phase::Running {
        return;
    }
    match scheduler.steps.pop_front() {
        Some(Step::Preempt(patches)) => send_preemptions(ports, patches),
        Some(step) => scheduler.steps.push_front(step),
        None => {}
    }
    continue_cycle(ports);
}

/// Returns the steps in order: preemptions and admissions as the entries are processed, then the others.
fn steps(result: CycleResult) -> VecDeque<Step> {
    let (mut first, mut last) = (VecDeque::new(), VecDeque::new());
    let mut preemptions = result.preemptions.into_iter().peekable();
    for entry in result.entries {
        let mut patches = VecDeque::new();
        while let Some(preemption) = preemptions.next_if(|p| p.preemptor == entry.info.key) {
            patches.push_back(Patch::from(preemption));
        }
        if !patches.is_empty() {
            first.push_back(Step::Preempt(patches));
        }
        let list = if matches!(entry.outcome, Outcome::Admit(_)) { &mut first } else { &mut last };
        list.push_back(Step::Conclude(Box::new(entry)));
    }
    first.extend(last);
    first
}
