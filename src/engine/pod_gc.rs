//! Pod garbage collection: every 20 s it removes by force what no kubelet will ever end (kubernetes.md 4.1).
//!
//! Ticks only while some pod is on a missing or out-of-service node, or terminates without a node.

use super::api::{Answer, Call};
use super::event::Event;
use super::lifecycle::{OUT_OF_SERVICE, next_tick};
use super::pods::flag;
use super::run::Run;
use crate::base::*;
use crate::record::Deleter;
use crate::spec::TaintEffect;

pub(super) const POD_GC_PERIOD: Duration = Duration::from_secs(20);
/// How long a Node object must be missing.
const QUARANTINE: Duration = Duration::from_secs(40);

impl Run<'_> {
    /// Pod garbage collection has something to look at: a missing node, or terminating pods on an out-of-service one.
    pub fn arm_pod_gc(&mut self) {
        let l = &mut self.w.lifecycle;
        if l.pod_gc_armed || !self.pod_gc_has_work() {
            return;
        }
        let l = &mut self.w.lifecycle;
        l.pod_gc_armed = true;
        let at = next_tick(self.w.now + Duration(1), l.pod_gc_phase, POD_GC_PERIOD);
        self.at(at, Event::PodGcTick);
    }

    fn pod_gc_has_work(&self) -> bool {
        let l = &self.w.lifecycle;
        !l.unscheduled.is_empty()
            || l.deleted
                .iter()
                .any(|n| !self.w.nodes.pods[n.ix()].is_empty())
            || (self.w.nodes.troubled > 0 && self.out_of_service_nodes().next().is_some())
    }

    fn out_of_service_nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let nodes = &self.w.nodes;
        (0..nodes.state.len() as u32).map(NodeId).filter(|n| {
            nodes.state[n.ix()].unknown
                && nodes.has_taint(*n, OUT_OF_SERVICE, TaintEffect::NoExecute)
                && nodes.pods[n.ix()]
                    .iter()
                    .any(|p| self.w.pods.has(*p, flag::DELETING))
        })
    }

    /// A pod without a node was deleted and its finalizer keeps it: no kubelet will end it.
    pub fn terminating_unscheduled(&mut self, pod: PodId) {
        let incarnation = self.w.pods.incarnation[pod.ix()];
        self.w.lifecycle.unscheduled.push((pod, incarnation));
        self.arm_pod_gc();
    }

    pub fn node_object_deleted(&mut self, node: NodeId) {
        self.w.lifecycle.deleted.push(node);
        self.arm_pod_gc();
    }

    /// Every 20 s: pods of nodes missing for 40 s or more, terminating pods of out-of-service nodes and terminating
    /// pods without a node are failed and removed by force.
    pub fn pod_gc_tick(&mut self) {
        self.w.lifecycle.pod_gc_armed = false;
        let mut victims: Vec<PodId> = Vec::new();
        for k in 0..self.w.lifecycle.deleted.len() {
            let node = self.w.lifecycle.deleted[k];
            let missed = self.w.nodes.state[node.ix()].missed_since;
            if missed == Time::NEVER {
                self.w.nodes.state[node.ix()].missed_since = self.w.now;
            } else if self.w.now.since(missed) >= QUARANTINE {
                victims.extend(&self.w.nodes.pods[node.ix()]);
            }
        }
        for node in self.out_of_service_nodes() {
            victims.extend(
                self.w.nodes.pods[node.ix()]
                    .iter()
                    .filter(|p| self.w.pods.has(**p, flag::DELETING)),
            );
        }
        let mut unscheduled = std::mem::take(&mut self.w.lifecycle.unscheduled);
        for (pod, incarnation) in unscheduled.drain(..) {
            if self.w.pods.is(pod, incarnation) && !self.w.pods.has(pod, flag::BOUND) {
                victims.push(pod);
            }
        }
        self.w.lifecycle.unscheduled = unscheduled;
        for pod in victims {
            self.remove_by_force(pod, Deleter::PodGarbageCollector);
        }
        self.arm_pod_gc();
    }

    /// Phase Failed with DisruptionTarget, then DELETE with grace 0.
    pub fn remove_by_force(&mut self, pod: PodId, by: Deleter) {
        if !self.w.pods.exists(pod) {
            return;
        }
        self.w
            .api
            .answered(Call::PodGcPatch, Answer::Success, self.w.now);
        self.w
            .api
            .answered(Call::PodGcDelete, Answer::Success, self.w.now);
        self.w.pods.set(pod, flag::DISRUPTION_TARGET);
        self.finish_pod(pod, false);
        self.mark_deleting(pod, by, true);
    }
}
