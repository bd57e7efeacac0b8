//! The scheduler's queues: the active queue by priority and age, the back-off queue, and the unschedulable pods
//! (kubernetes.md 2.1).

use crate::ctx::ContextMark;
use priority_queue::PriorityQueue;
use sim_base::{DomainId, Duration, JobId, PodId, SimTime, TemplateId, TextId};
use sim_scheduler::{PluginSet, PodView};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Hasher of the keyed queues: ids are dense and trusted, and no order depends on it.
#[derive(Clone, Default)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u32(u32::from(*b));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(n)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

type FixedHasher = std::hash::BuildHasherDefault<IdHasher>;

/// Pods whose back-offs end in the same window leave the back-off queue together, by priority
/// (`backoffQOrderingWindowDuration`).
const WINDOW: Duration = Duration::from_secs(1);
/// `podMaxInUnschedulablePodsDuration`, and the period of the checks.
pub const MAX_WAIT: Duration = Duration::from_secs(300);
const FLUSH_PERIOD: Duration = Duration::from_secs(30);
/// The event recorder (`client-go/tools/events`) writes an Event for the first attempt with a message, another one
/// after the change of the pod's condition, and a third as the start of a series, which it updates with this period.
const WRITTEN_REPEATS: u32 = 3;
const SERIES_REFRESH: Duration = Duration::from_secs(1_800);
/// Time after which the event recorder forgets an Event without repetitions, and the period of its checks
/// (`finishTime`).
const FINISH_TIME: Duration = Duration::from_secs(360);

/// What the queueing hints of unschedulable pods depend on. Pods with equal keys differ in names and indexes only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitingKey {
    pub job: JobId,
    pub incarnation: u32,
    pub template: TemplateId,
    pub is_leader: bool,
    pub domain: DomainId,
    /// The plugins that rejected the pods.
    pub rejecting: PluginSet,
}

/// Numbers of changes of what a decision reads.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
pub struct DecisionInputs {
    pub accounting: u64,
    pub nodes: u32,
    /// Changes of Namespaces, Services and the objects of volumes.
    pub others: u64,
}

#[derive(Clone)]
struct WaitingPods {
    view: PodView,
    /// At the last attempt.
    inputs: DecisionInputs,
    /// Each with its incarnation.
    pods: Vec<(PodId, u32)>,
}

#[derive(Clone, Default)]
pub struct SchedulingQueues {
    /// activeQ: priority, then the order in which the pods were created or last failed (PrioritySort).
    active: PriorityQueue<PodId, (i32, Reverse<u64>), FixedHasher>,
    /// Pods for which no node fits, until an event that may help.
    waiting: BTreeMap<WaitingKey, WaitingPods>,
    /// The end of each back-off, then the order of activeQ; pods are popped early if activeQ is empty
    /// (PopFromBackoffQ).
    backoff: PriorityQueue<PodId, (Reverse<SimTime>, i32, Reverse<u64>), FixedHasher>,
    /// Initial and maximum back-off in seconds.
    backoff_s: (u64, u64),
    /// Number of pods that were queued so far.
    enqueued: u64,
    /// By pod: the mark from which the path of a queued pod continues.
    marks: Vec<ContextMark>,
    failures: BTreeMap<PodId, FailedAttempts>,
    pub longest: u32,
}

/// The attempts of a pod that found no node.
#[derive(Copy, Clone)]
struct FailedAttempts {
    /// Number of attempts, and of the last ones among them with the same message.
    attempts: u32,
    repeats: u32,
    /// Whether the pod waits for an event or for the end of its back-off.
    is_waiting: bool,
    /// Message of the last attempt, and the time of the last Event with it.
    reason: TextId,
    event_at: SimTime,
    /// Version of the pod to which the last Event refers, and the time of its last repetition.
    event_version: Option<(u32, SimTime)>,
    /// Position among pods of equal priority.
    order: u64,
}

/// What a failed attempt writes to the API server.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AttemptReport {
    /// An Event is written: a new one, or the start or refresh of a series.
    pub is_written: bool,
    /// The Event is stored with the message of this attempt. The recorder merges Events about one version of an object
    /// whatever their messages are, and keeps the first message (`getKey`).
    pub is_new_event: bool,
    /// The message differs from that of the pod's condition, which is patched.
    pub is_new_message: bool,
}

impl SchedulingQueues {
    pub fn reset(&mut self, backoff_s: (u64, u64)) {
        self.backoff_s = backoff_s;
        self.active.clear();
        self.waiting.clear();
        self.backoff.clear();
        self.marks.clear();
        self.failures.clear();
        self.enqueued = 0;
        self.longest = 0;
    }

    /// Forgets the pod of this row, which another object uses from now on.
    pub fn forget(&mut self, pod: PodId) {
        self.failures.remove(&pod);
    }

    pub fn contains(&self, pod: PodId) -> bool {
        self.active.get(&pod).is_some() || self.is_unschedulable(pod)
    }

    pub fn is_unschedulable(&self, pod: PodId) -> bool {
        self.failures.get(&pod).is_some_and(|failed| failed.is_waiting)
    }

    pub fn activate(&mut self, pod: PodId, priority: i32, since: ContextMark) {
        self.enqueued += 1;
        self.set_enqueued(pod, since);
        let order = self.end_waiting(pod).unwrap_or(self.enqueued);
        self.active.push(pod, (priority, Reverse(order)));
        self.longest = self.longest.max(self.active.len() as u32);
    }

    /// The next pod and its trigger; if activeQ is empty, a pod leaves its back-off early.
    pub fn pop(&mut self) -> Option<(PodId, ContextMark)> {
        let active = self.active.pop().map(|(pod, _)| pod);
        let pod = active.or_else(|| self.backoff.pop().map(|(pod, _)| pod))?;
        self.end_waiting(pod);
        Some((pod, self.enqueued(pod)))
    }

    /// The pod waits no longer; returns its position among pods of equal priority if it had waited.
    fn end_waiting(&mut self, pod: PodId) -> Option<u64> {
        let failed = self.failures.get_mut(&pod)?;
        failed.is_waiting = false;
        Some(failed.order)
    }

    /// No node fits the pod, whose resourceVersion is `version`.
    pub fn mark_unschedulable(
        &mut self, pod: PodId, reason: TextId, version: u32, since: ContextMark,
    ) -> AttemptReport {
        self.enqueued += 1;
        let (order, now) = (self.enqueued, since.at);
        self.set_enqueued(pod, since);
        let first = FailedAttempts {
            attempts: 0,
            repeats: 0,
            is_waiting: true,
            reason,
            event_at: SimTime::ZERO,
            event_version: None,
            order,
        };
        let failed = self.failures.entry(pod).or_insert(first);
        failed.attempts += 1;
        let is_new_message = failed.attempts == 1 || failed.reason != reason;
        failed.repeats = if is_new_message { 1 } else { failed.repeats + 1 };
        (failed.is_waiting, failed.reason, failed.order) = (true, reason, order);
        let is_known = |(known, at): (u32, SimTime)| known == version && !is_forgotten(at, now);
        let is_new_event = !failed.event_version.is_some_and(is_known);
        failed.event_version = Some((version, now));
        let is_written = failed.repeats <= WRITTEN_REPEATS || now.since(failed.event_at) >= SERIES_REFRESH;
        if is_written {
            failed.event_at = now;
        }
        AttemptReport { is_written, is_new_event, is_new_message }
    }

    /// The pod waits for an event that may help. `view` is called if no pod with an equal key waits.
    pub fn wait_for_event(
        &mut self, key: WaitingKey, pod: (PodId, u32), inputs: DecisionInputs, view: impl FnOnce() -> PodView,
    ) {
        let waiting = self.waiting.entry(key).or_insert_with(|| WaitingPods { view: view(), inputs, pods: Vec::new() });
        waiting.inputs = inputs;
        waiting.pods.push(pod);
    }

    /// Message of the pod's last attempt that found no node.
    pub fn last_message(&self, pod: PodId) -> TextId {
        self.failures.get(&pod).map_or(TextId::NONE, |failed| failed.reason)
    }

    /// Number of attempts of the pod that found no node.
    pub fn attempts(&self, pod: PodId) -> u32 {
        self.failures.get(&pod).map_or(0, |failed| failed.attempts)
    }

    /// Iterates over the kinds of waiting pods: the inputs of the last attempt, and one of the pods.
    pub fn waiting(&self) -> impl Iterator<Item = (DecisionInputs, PodId)> {
        self.waiting.values().filter_map(|waiting| Some((waiting.inputs, waiting.pods.first()?.0)))
    }

    /// Removes the waiting pods that an event may help, given their plugins and a view of one of them. Pods with a gate
    /// stay.
    pub fn take_helped(
        &mut self, is_gated: impl Fn(PodId) -> bool, helps: impl Fn(&PluginSet, &PodView) -> bool,
    ) -> Vec<(PodId, u32)> {
        let mut taken = Vec::new();
        self.waiting.retain(|key, waiting| {
            if helps(&key.rejecting, &waiting.view) {
                taken.extend(waiting.pods.extract_if(.., |(pod, _)| !is_gated(*pod)));
            }
            !waiting.pods.is_empty()
        });
        taken
    }

    /// Removes the pods that have waited too long (`flushUnschedulablePodsLeftover`).
    pub fn take_leftover(&mut self, now: SimTime) -> Vec<(PodId, u32)> {
        let (mut taken, marks) = (Vec::new(), &self.marks);
        self.waiting.retain(|_, waiting| {
            let is_leftover = |(pod, _): &mut (PodId, u32)| now.since(marks[pod.ix()].at) > MAX_WAIT;
            taken.extend(waiting.pods.extract_if(.., is_leftover));
            !waiting.pods.is_empty()
        });
        taken
    }

    /// Returns the time of the next check that finds a pod that has waited too long.
    pub fn next_flush(&self) -> Option<SimTime> {
        let pods = self.waiting.values().flat_map(|waiting| &waiting.pods);
        let oldest = pods.map(|(pod, _)| self.marks[pod.ix()].at).min()?;
        Some(next_multiple(oldest + MAX_WAIT, FLUSH_PERIOD))
    }

    /// Moves an unschedulable pod to the back-off queue and returns the rest of its back-off, which began with its
    /// failed attempt; `None` if the back-off is over.
    pub fn back_off(&mut self, pod: PodId, priority: i32, now: SimTime) -> Option<Duration> {
        let failed = *self.failures.get(&pod)?;
        let ((initial, max), doublings) = (self.backoff_s, failed.attempts.clamp(1, 32) - 1);
        let wait = Duration::from_secs((initial << doublings).min(max));
        let end = next_multiple(self.enqueued(pod).at + wait, WINDOW);
        (now < end).then(|| {
            self.backoff.push(pod, (Reverse(end), priority, Reverse(failed.order)));
            end.since(now)
        })
    }

    /// Returns the mark from which the path of a queued pod continues.
    pub fn enqueued(&self, pod: PodId) -> ContextMark {
        self.marks.get(pod.ix()).copied().unwrap_or_default()
    }

    pub fn set_enqueued(&mut self, pod: PodId, since: ContextMark) {
        if self.marks.len() <= pod.ix() {
            self.marks.resize(pod.ix() + 1, ContextMark::default());
        }
        self.marks[pod.ix()] = since;
    }

    /// The back-off of the pod ends now; false if the pod was popped early or has begun another back-off.
    pub fn leave_backoff(&mut self, pod: PodId, now: SimTime) -> bool {
        let ends = self.backoff.get_priority(&pod).is_some_and(|(end, ..)| end.0 <= now);
        ends && self.backoff.remove(&pod).is_some()
    }

    pub fn remove(&mut self, pod: PodId) {
        if self.is_unschedulable(pod) {
            self.waiting.retain(|_, waiting| {
                waiting.pods.retain(|(other, _)| *other != pod);
                !waiting.pods.is_empty()
            });
            self.backoff.remove(&pod);
            self.end_waiting(pod);
        }
        self.active.remove(&pod);
    }
}

/// Returns whether a check of the event recorder found the Event old enough to be forgotten.
fn is_forgotten(at: SimTime, now: SimTime) -> bool {
    now.0 / FINISH_TIME.0 * FINISH_TIME.0 > (at + FINISH_TIME).0
}

/// Returns the first multiple of a period after an instant.
fn next_multiple(at: SimTime, period: Duration) -> SimTime {
    SimTime((at.0 / period.0 + 1) * period.0)
}
