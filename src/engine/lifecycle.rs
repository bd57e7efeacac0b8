//! Nodes in trouble as the control plane sees them: heartbeats, the monitor, taints at a rate per zone, tolerations,
//! taint eviction, pod garbage collection (kubernetes.md 4).
//!
//! Healthy nodes cost nothing: the monitor ticks only while some node is not as new.

use super::api::{Answer, Call};
use super::event::Event;
use super::lane::BusyTimes;
use super::model::Model;
use super::pod_gc::POD_GC_PERIOD;
use super::pods::flag;
use super::run::Run;
use crate::base::random::{Purpose, Streams};
use crate::base::*;
use crate::record::{Body, Deleter, NodeReady};
use crate::spec::{Taint, TaintEffect};

pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// kubernetes.md 4.1.
const MONITOR_PERIOD: Duration = Duration::from_secs(5);
const TAINT_INTERVAL: Duration = Duration::from_secs(10);
const SLOW_TAINT_INTERVAL: Duration = Duration::from_secs(100);
const LARGE_ZONE: u32 = 50;
const DEFAULT_TOLERATION_S: u64 = 300;

#[derive(Default)]
pub struct NodeLifecycle {
    monitor_phase: Duration,
    pub(super) pod_gc_phase: Duration,
    monitor_armed: bool,
    pub(super) pod_gc_armed: bool,
    /// Nodes whose state the monitor has to look at.
    watched: Vec<NodeId>,
    pub(super) deleted: Vec<NodeId>,
    /// Pods that were deleted before they had a node.
    pub(super) unscheduled: Vec<(PodId, u32)>,
    /// When the zone's limiter gives its next NoExecute taint.
    zone_next: Vec<Time>,
    zone_unknown: Vec<u32>,
    pub limiter_busy: BusyTimes,
    pub tainted: u64,
}

impl NodeLifecycle {
    pub fn reset(&mut self, m: &Model, streams: &Streams) {
        let phase = |purpose, period: Duration| {
            Duration((streams.stream(purpose, 0, 0).uniform() * period.0 as f64) as u64)
        };
        self.monitor_phase = phase(Purpose::MonitorPhase, MONITOR_PERIOD);
        self.pod_gc_phase = phase(Purpose::PodGcPhase, POD_GC_PERIOD);
        self.monitor_armed = false;
        self.pod_gc_armed = false;
        self.watched.clear();
        self.deleted.clear();
        self.unscheduled.clear();
        self.zone_next.clear();
        self.zone_next
            .resize(m.cluster.zone_sizes.len(), Time::ZERO);
        self.zone_unknown.clear();
        self.zone_unknown.resize(m.cluster.zone_sizes.len(), 0);
        self.limiter_busy.clear();
        self.tainted = 0;
    }
}

/// The first instant at or after `t` of a clock with this phase and period.
pub(super) fn next_tick(t: Time, phase: Duration, period: Duration) -> Time {
    let since = t.0.saturating_sub(phase.0);
    Time(phase.0 + since.div_ceil(period.0) * period.0)
}

impl Run<'_> {
    /// The kubelet runs and reaches the API server.
    pub fn node_answers(&self, node: NodeId) -> bool {
        let s = &self.w.nodes.state[node.ix()];
        s.contact && !s.crashed && s.exists
    }

    /// For the ledger: nobody can use the node's accelerators.
    pub fn node_is_unhealthy(&self, node: NodeId) -> bool {
        let s = &self.w.nodes.state[node.ix()];
        s.crashed || !s.exists || s.unknown
    }

    /// Heartbeats stopped at `now`: the monitor will find out.
    pub fn watch_node(&mut self, node: NodeId) {
        if !self.w.lifecycle.watched.contains(&node) {
            self.w.lifecycle.watched.push(node);
        }
        self.arm_monitor();
    }

    fn arm_monitor(&mut self) {
        let l = &mut self.w.lifecycle;
        if !l.monitor_armed && !l.watched.is_empty() {
            l.monitor_armed = true;
            let at = next_tick(self.w.now + Duration(1), l.monitor_phase, MONITOR_PERIOD);
            self.at(at, Event::MonitorTick);
        }
    }

    /// When the monitor last saw a fresh heartbeat: the tick after the last renewal before contact was lost.
    fn last_seen(&self, node: NodeId) -> Time {
        let period = Duration::from_secs(self.m.scenario.control_plane.heartbeat_s);
        let mut stream = self.w.streams.stream(Purpose::HeartbeatPhase, node.0, 0);
        let phase = Duration((stream.uniform() * period.0 as f64) as u64);
        let silent = self.w.nodes.state[node.ix()].silent_since;
        let beats = silent.0.saturating_sub(phase.0) / period.0;
        let beat = if silent.0 < phase.0 {
            Time::ZERO
        } else {
            Time(phase.0 + beats * period.0)
        };
        next_tick(beat, self.w.lifecycle.monitor_phase, MONITOR_PERIOD)
    }

    pub fn monitor_tick(&mut self) {
        self.w.lifecycle.monitor_armed = false;
        let grace = Duration::from_secs(self.m.scenario.control_plane.node_monitor_grace_period_s);
        let watched = std::mem::take(&mut self.w.lifecycle.watched);
        let mut keep = Vec::new();
        for &node in &watched {
            let s = self.w.nodes.state[node.ix()];
            if !s.exists {
                continue;
            }
            let silent = !s.contact || s.crashed;
            if silent && !s.unknown && self.w.now >= self.last_seen(node) + grace {
                self.node_becomes_unknown(node);
            } else if !silent && self.has_lifecycle_taint(node) {
                self.remove_lifecycle_taints(node);
            }
            let settled = self.w.nodes.state[node.ix()].unknown && silent;
            if !settled && (silent || self.has_lifecycle_taint(node)) {
                keep.push(node);
            }
        }
        self.w.lifecycle.watched = keep;
        self.arm_monitor();
    }

    fn has_lifecycle_taint(&self, node: NodeId) -> bool {
        self.w.nodes.taints[node.ix()]
            .iter()
            .any(|t| t.key == UNREACHABLE || t.key == NOT_READY)
    }

    /// Ready=Unknown, the NoSchedule taint, pods marked not ready, and a place in the queue for NoExecute.
    fn node_becomes_unknown(&mut self, node: NodeId) {
        self.ledger_node(node, |r| r.w.nodes.state[node.ix()].unknown = true);
        let zone = self.m.cluster.zone[node.ix()];
        self.w.lifecycle.zone_unknown[zone.ix()] += 1;
        self.emit(Body::NodeState {
            node,
            ready: NodeReady::Unknown,
        });
        self.add_taint(node, UNREACHABLE, TaintEffect::NoSchedule);
        let pods = self.w.nodes.pods[node.ix()].clone();
        for pod in pods {
            if self.w.pods.exists(pod) {
                self.set_ready(pod, false);
            }
        }
        self.queue_no_execute(node);
    }

    /// One NoExecute taint per 10 s and zone; slower or never when most of the zone is silent.
    fn queue_no_execute(&mut self, node: NodeId) {
        let zone = self.m.cluster.zone[node.ix()].ix();
        let l = &mut self.w.lifecycle;
        let at = l.zone_next[zone].max(self.w.now);
        l.limiter_busy.add(self.w.now, at);
        l.zone_next[zone] = at + TAINT_INTERVAL;
        self.w.nodes.state[node.ix()].taint_queued = true;
        self.at(at, Event::TaintDue(node));
    }

    pub fn taint_due(&mut self, node: NodeId) {
        let s = &self.w.nodes.state[node.ix()];
        if !s.exists || !s.unknown || !s.taint_queued {
            return;
        }
        let zone = self.m.cluster.zone[node.ix()].ix();
        let (size, unknown) = (
            self.m.cluster.zone_sizes[zone],
            self.w.lifecycle.zone_unknown[zone],
        );
        // kubernetes.md 4.1: > 2 silent nodes and at least 55 %, but not all.
        let partial = unknown > 2 && unknown * 100 >= size * 55 && unknown < size;
        let all_zones_silent = self
            .w
            .lifecycle
            .zone_unknown
            .iter()
            .zip(&self.m.cluster.zone_sizes)
            .all(|(u, n)| u >= n);
        if all_zones_silent || (partial && size <= LARGE_ZONE) {
            // Evictions stop; asked again when the monitor runs.
            if self.w.now.since(self.w.last_progress) < Duration::from_secs(900) {
                self.after(MONITOR_PERIOD, Event::TaintDue(node));
            }
            return;
        }
        if partial && self.w.lifecycle.zone_next[zone] < self.w.now + SLOW_TAINT_INTERVAL {
            self.w.lifecycle.zone_next[zone] = self.w.now + SLOW_TAINT_INTERVAL;
        }
        self.w.nodes.state[node.ix()].taint_queued = false;
        self.w.lifecycle.tainted += 1;
        self.add_taint(node, UNREACHABLE, TaintEffect::NoExecute);
    }

    pub fn add_taint(&mut self, node: NodeId, key: &str, effect: TaintEffect) {
        self.add_full_taint(
            node,
            Taint {
                key: key.to_owned(),
                value: String::new(),
                effect,
            },
        );
    }

    pub fn add_full_taint(&mut self, node: NodeId, taint: Taint) {
        if self.w.nodes.has_taint(node, &taint.key, taint.effect) {
            return;
        }
        let (key, effect) = (self.w.texts.intern(&taint.key), taint.effect);
        self.w.nodes.troubled += 1;
        self.w.nodes.taints[node.ix()].push(taint);
        self.emit(Body::NodeTaint {
            node,
            key,
            effect: effect as u8,
            added: true,
        });
        if effect == TaintEffect::NoExecute {
            self.judge_pods_on(node);
        }
    }

    pub fn remove_taint(&mut self, node: NodeId, key: &str, effect: Option<TaintEffect>) {
        let mut taints = std::mem::take(&mut self.w.nodes.taints[node.ix()]);
        let mut k = 0;
        while k < taints.len() {
            if taints[k].key == key && effect.is_none_or(|e| e == taints[k].effect) {
                let gone = taints.remove(k);
                self.w.nodes.troubled -= 1;
                let key = self.w.texts.intern(&gone.key);
                self.emit(Body::NodeTaint {
                    node,
                    key,
                    effect: gone.effect as u8,
                    added: false,
                });
            } else {
                k += 1;
            }
        }
        let evicts = taints.iter().any(|t| t.effect == TaintEffect::NoExecute);
        self.w.nodes.taints[node.ix()] = taints;
        if !evicts {
            // Evictions under way are called off; a taint that comes back starts their time anew.
            for pod in &self.w.nodes.pods[node.ix()] {
                self.w.pods.evict_at[pod.ix()] = Time::NEVER;
            }
        }
        self.wake_unschedulable();
    }

    fn remove_lifecycle_taints(&mut self, node: NodeId) {
        self.w.nodes.state[node.ix()].taint_queued = false;
        self.remove_taint(node, UNREACHABLE, None);
        self.remove_taint(node, NOT_READY, None);
    }

    /// taint-eviction: each pod of a node with NoExecute taints gets its smallest toleration time.
    fn judge_pods_on(&mut self, node: NodeId) {
        let pods = self.w.nodes.pods[node.ix()].clone();
        for pod in pods {
            self.judge_pod_on(pod, node);
        }
    }

    pub fn judge_pod_on(&mut self, pod: PodId, node: NodeId) {
        let ended = self.w.pods.phase[pod.ix()].is_terminal();
        if ended || self.w.pods.has(pod, flag::DELETING) {
            return;
        }
        let Some(after) = self.tolerated_for(pod, node) else {
            return;
        };
        let at = self.w.now + after;
        if at < self.w.pods.evict_at[pod.ix()] {
            self.w.pods.evict_at[pod.ix()] = at;
            let incarnation = self.w.pods.incarnation[pod.ix()];
            self.at(at, Event::TolerationOver { pod, incarnation });
        }
    }

    /// How long a pod may stay on a tainted node: `None` for ever. Admission adds 300 s for not-ready and
    /// unreachable.
    fn tolerated_for(&self, pod: PodId, node: NodeId) -> Option<Duration> {
        let tolerations = &self.m.pod_spec(self.w.pods.job[pod.ix()]).tolerations;
        let mut least: Option<Duration> = None;
        for taint in self.w.nodes.taints[node.ix()]
            .iter()
            .filter(|t| t.effect == TaintEffect::NoExecute)
        {
            let matching: Vec<_> = tolerations.iter().filter(|t| t.tolerates(taint)).collect();
            let by_default =
                matching.is_empty() && (taint.key == UNREACHABLE || taint.key == NOT_READY);
            if matching.is_empty() && !by_default {
                return Some(Duration::ZERO);
            }
            let seconds = if by_default {
                Some(DEFAULT_TOLERATION_S)
            } else {
                matching
                    .iter()
                    .filter_map(|t| t.toleration_seconds)
                    .map(|s| s.max(0) as u64)
                    .min()
            };
            if let Some(d) = seconds.map(Duration::from_secs) {
                least = Some(least.map_or(d, |l| l.min(d)));
            }
        }
        least
    }

    pub fn toleration_over(&mut self, pod: PodId, incarnation: u32) {
        if !self.w.pods.is(pod, incarnation) || self.w.pods.has(pod, flag::DELETING) {
            return;
        }
        let node = self.w.pods.node[pod.ix()];
        if self.w.pods.evict_at[pod.ix()] != self.w.now || !self.w.nodes.state[node.ix()].exists {
            return;
        }
        self.w.api.send(Call::EvictionPodGet, self.w.now);
        self.w
            .api
            .answered(Call::EvictionPodGet, Answer::Success, self.w.now);
        self.w.api.send(Call::EvictionPodPatch, self.w.now);
        self.w
            .api
            .answered(Call::EvictionPodPatch, Answer::Success, self.w.now);
        let answered = self.w.api.send(Call::EvictionPodDelete, self.w.now);
        self.at(answered, Event::EvictionAnswered { pod, incarnation });
    }

    pub fn eviction_answered(&mut self, pod: PodId, incarnation: u32) {
        let there = self.w.pods.is(pod, incarnation);
        self.w
            .api
            .answered(Call::EvictionPodDelete, Answer::found(there), self.w.now);
        if there {
            self.disrupt(pod, Deleter::TaintEviction);
        }
    }

    /// DisruptionTarget and a graceful DELETE.
    pub fn disrupt(&mut self, pod: PodId, by: Deleter) {
        self.w.pods.set(pod, flag::DISRUPTION_TARGET);
        self.w.pods.resource_version[pod.ix()] += 1;
        let job = self.w.pods.job[pod.ix()];
        let grace_zero = self.m.pod_spec(job).termination_grace_period_s == 0;
        self.mark_deleting(pod, by, grace_zero);
        self.arm_pod_gc();
    }

    pub fn forget_unknown(&mut self, node: NodeId) {
        let zone = self.m.cluster.zone[node.ix()];
        self.w.lifecycle.zone_unknown[zone.ix()] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_at_their_phase() {
        let (phase, period) = (Duration::from_secs(3), Duration::from_secs(5));
        for (t, tick) in [(0, 3), (3, 3), (4, 8), (13, 13), (14, 18)] {
            let at = next_tick(Time(t * 1_000_000_000), phase, period);
            assert_eq!(at.0, tick * 1_000_000_000, "{t}");
        }
    }
}
