//! The lifecycle of a pod: permitted state changes, and the nodes that exclusive placement permits.

use super::{Checker, row_or_default};
use sim_base::*;
use sim_engine::record::*;

#[derive(Clone, Default)]
pub(super) struct Pod {
    pub incarnation: u32,
    pub exists: bool,
    pub job: usize,
    pub index: u32,
    pub node: Option<u32>,
    pub running: bool,
    pub ready: bool,
    pub lifted: bool,
    pub deleting: bool,
    pub finished: bool,
    /// Whether its Node object was deleted: kube-scheduler ignores the terms of pods on nodes that do not exist.
    pub is_left: bool,
}

impl Checker {
    pub(super) fn pod_body(&mut self, body: &Body, names: &RecordNames) {
        use Body::*;
        match *body {
            PodCreated { pod, incarnation, job, index, .. } => {
                if names.is_standalone_pod(job) {
                    *row_or_default(&mut self.jobs, job.ix()) = self.job_of(job, names);
                }
                self.pod_created(pod, incarnation, job, index);
            }
            PodBound { pod, incarnation, node } => self.pod_bound(pod, incarnation, node, names),
            PodRunning { pod, incarnation } => {
                let p = self.pod(pod, incarnation);
                assert!(p.node.is_some() && !p.running && !p.finished, "runs");
                p.running = true;
            }
            PodReady { pod, incarnation } => {
                let barrier = self.jobs[self.pods[pod.ix()].job].has_barrier;
                let p = self.pod(pod, incarnation);
                assert!(
                    p.running && !p.ready && !p.deleting,
                    "PodReady for a pod that is not running, is ready already or is being deleted"
                );
                assert!(p.lifted || !barrier, "PodReady before the barrier was lifted");
                p.ready = true;
            }
            PodNotReady { pod, incarnation } => {
                let p = self.pod(pod, incarnation);
                assert!(std::mem::replace(&mut p.ready, false), "PodNotReady for a pod that was not ready");
            }
            ContainersRestarting { pod, incarnation, .. } => {
                let p = self.pod(pod, incarnation);
                assert!(!p.finished, "containers of a finished pod restart");
                p.lifted = false;
            }
            BarrierLifted { pod, incarnation, .. } => {
                let p = self.pod(pod, incarnation);
                assert!(!p.finished && !std::mem::replace(&mut p.lifted, true));
            }
            ContainerExited { pod, incarnation, .. } | AttemptWritten { pod, incarnation, .. } => {
                assert!(!self.pod(pod, incarnation).finished, "record for a finished pod")
            }
            PodFinished { pod, incarnation, .. } => self.pod_finished(pod, incarnation),
            PodDeleting { pod, incarnation, .. } => {
                let p = self.pod(pod, incarnation);
                assert!(!std::mem::replace(&mut p.deleting, true), "deleted twice");
                self.record_loss(self.pods[pod.ix()].job);
            }
            PodGone { pod, incarnation } => self.pod_gone(pod, incarnation),
            _ => {}
        }
    }

    fn active(&self, job: usize) -> impl Iterator<Item = &Pod> {
        let pods = self.jobs[job].pods.iter().map(|p| &self.pods[*p]);
        pods.filter(|p| !p.deleting && !p.finished)
    }

    fn pod(&mut self, pod: PodId, incarnation: u32) -> &mut Pod {
        let p = &mut self.pods[pod.ix()];
        assert!(p.exists && p.incarnation == incarnation, "no pod object of this incarnation");
        p
    }

    fn pod_created(&mut self, pod: PodId, incarnation: u32, job: JobId, index: u32) {
        row_or_default(&mut self.pods, pod.ix());
        let j = &self.jobs[job.ix()];
        assert!(j.exists || j.bare, "pod created without its Job");
        let finished = j.finished && !self.by_hand.anything;
        assert!(!finished, "pod created for a finished Job");
        let others = self.active(job.ix());
        let indexes: Vec<u32> = others.map(|p| p.index).collect();
        if let Some(parallelism) = j.parallelism {
            let active = indexes.len() as u32;
            assert!(!indexes.contains(&index), "two active pods of one index");
            assert!(active < parallelism, "more active pods than parallelism");
        }
        let p = &mut self.pods[pod.ix()];
        assert!(!p.exists, "the previous pod still exists");
        assert_eq!(incarnation, p.incarnation + 1, "the incarnation increases by one");
        *p = Pod { incarnation, exists: true, job: job.ix(), index, ..Pod::default() };
        self.jobs[job.ix()].pods.push(pod.ix());
    }

    fn pod_bound(&mut self, pod: PodId, incarnation: u32, node: NodeId, names: &RecordNames) {
        names.node(node).clone_into(row_or_default(&mut self.nodes, node.ix()));
        let is_gone = self.nodes_gone.get(node.ix()) == Some(&true);
        let p = self.pod(pod, incarnation);
        assert!(p.node.is_none(), "bound twice");
        assert!(!p.deleting && !p.finished, "a finished or deleting pod was bound");
        (p.node, p.is_left) = (Some(node.0), is_gone);
        let (job, leader) = (p.job, p.index == 0);
        if leader {
            self.exclusive(job, node, names);
        }
    }

    /// EXC-7: a leader is bound to a domain without pods of another Job with the same key. Followers keep the node
    /// selector they were created with, even if their leader has moved since (EXC-19). Pods of an earlier Job of the
    /// same name have the same key.
    fn exclusive(&self, job: usize, node: NodeId, names: &RecordNames) {
        let exclusive = &self.jobs[job].exclusive;
        let Some((key, _)) = exclusive else {
            return;
        };
        // The labels of nodes outside the topology are unknown.
        let Some(labels) = self.labels.get(&self.nodes[node.ix()]) else {
            return;
        };
        let domain = labels.get(key);
        assert!(domain.is_some(), "an exclusive pod was bound outside every domain");
        let key_of = |job: usize| {
            let job = JobId(job as u32);
            (names.namespace_of(job), names.job(job))
        };
        for (other, j) in self.jobs.iter().enumerate() {
            if key_of(other) == key_of(job) || j.exclusive != *exclusive {
                continue;
            }
            for p in j.pods.iter().map(|p| &self.pods[*p]) {
                let Some(at) = p.node.filter(|_| !p.finished && !p.is_left) else {
                    continue;
                };
                let Some(labels) = self.labels.get(&self.nodes[at as usize]) else {
                    continue;
                };
                let theirs = labels.get(key);
                assert_ne!(
                    theirs, domain,
                    "exclusive placement: Job {other} is in {theirs:?}, Job {job} is bound in {domain:?}"
                );
            }
        }
    }

    fn pod_finished(&mut self, pod: PodId, incarnation: u32) {
        let p = self.pod(pod, incarnation);
        assert!(!p.finished, "finished twice");
        (p.finished, p.ready, p.running) = (true, false, false);
    }

    fn pod_gone(&mut self, pod: PodId, incarnation: u32) {
        let p = self.pod(pod, incarnation);
        assert!(p.deleting, "pod removed without a deletion");
        p.exists = false;
        let job = p.job;
        self.jobs[job].pods.retain(|p| *p != pod.ix());
    }
}
