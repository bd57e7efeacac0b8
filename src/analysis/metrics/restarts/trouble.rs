//! What went wrong first with each pod and node: the roots of restarts.
//!
//! Holds one small row per pod, node and JobSet; must never decide whether something is a restart.

use super::restart::{Cause, CauseKind, Restart};
use sim_api::spec::{FaultAction, ObjectKind, Propagation, UserRequest, Verb};
use sim_base::*;
use sim_engine::record::{NO_CAUSE, NodeReady, Record};

#[derive(Copy, Clone)]
pub struct PodState {
    pub incarnation: u32,
    pub job: JobId,
    /// `JobSetId::NONE`: of no JobSet.
    pub jobset: JobSetId,
    pub index: u32,
    pub node: NodeId,
    pub created: Time,
    pub gone: bool,
    /// The first thing that went wrong with this object.
    pub trouble: Option<(Time, CauseKind)>,
}

pub const NO_POD: PodState = PodState {
    incarnation: 0,
    job: JobId::NONE,
    jobset: JobSetId::NONE,
    index: 0,
    node: NodeId::NONE,
    created: Time::NEVER,
    gone: false,
    trouble: None,
};

impl Default for PodState {
    fn default() -> PodState {
        NO_POD
    }
}

/// What the fold knows of a JobSet.
#[derive(Default)]
pub struct JobSetState {
    pub was_ready: bool,
    pub ready: bool,
    pub open: Option<Restart>,
    /// The open restart is one: the JobSet was ready and is not, or the controller counted it.
    pub confirmed: bool,
    /// Index of the last finished restart plus one, for what is written after all pods are ready.
    pub last: usize,
    pub attempt: u32,
    /// Ticket and time of the newest record about the JobSet and what belongs to it, while a restart is open.
    pub newest: Option<(u32, Time)>,
    /// The attempt of an ordered restart in place that is not current yet: until then some agents may still have to
    /// exit, and pods are ready in between where no startup probe holds them back (AG-5).
    pub awaited: Option<u32>,
    /// Since when every pod is ready.
    pub ready_since: Time,
    /// It has completed, failed or been deleted: it restarts no more.
    pub over: bool,
}

/// Whether a fault can break pods (as opposed to mending, cordoning or ordering something).
pub fn is_harmful(action: &FaultAction) -> bool {
    use FaultAction::*;
    if let Request(request) = action {
        return deletes_pods(request);
    }
    matches!(
        action,
        ContainerExit { .. }
            | DeletePod { .. }
            | EvictPod { .. }
            | CrashNode(_)
            | PartitionNode(_)
            | DeleteNode(_)
            | DrainNode(_)
            | TaintNode(..)
            | Silent {
                what: sim_api::spec::Silent::Hang { .. } | sim_api::spec::Silent::Corrupt { .. },
                ..
            }
    )
}

/// `delete` of a pod, a Node, or a Job with its pods: the same deed as an action of its own.
fn deletes_pods(request: &UserRequest) -> bool {
    let Verb::Delete { propagation, .. } = &request.verb else {
        return false;
    };
    match request.object.kind {
        ObjectKind::Pod | ObjectKind::Node => true,
        ObjectKind::Job => *propagation != Propagation::Orphan,
        _ => false,
    }
}

pub struct Troubles {
    harmful: Vec<bool>,
    /// Number, time and index of the newest fault.
    newest: (u32, Time, u32),
    pods: Vec<PodState>,
    /// Those whose trouble has been noted since their JobSet was well, some of them perhaps twice.
    noted: Vec<PodId>,
    nodes: Vec<Option<(Time, CauseKind)>>,
}

impl Troubles {
    pub fn new(harmful: Vec<bool>) -> Troubles {
        Troubles {
            harmful,
            newest: (NO_CAUSE, Time::ZERO, 0),
            pods: Vec::new(),
            noted: Vec::new(),
            nodes: Vec::new(),
        }
    }

    pub fn pod_jobset(&self, pod: PodId) -> Option<JobSetId> {
        let jobset = self.pods.get(pod.ix())?.jobset;
        jobset.is_some().then_some(jobset)
    }

    pub fn pod_mut(&mut self, pod: PodId) -> Option<&mut PodState> {
        self.pods.get_mut(pod.ix())
    }

    pub fn create(&mut self, pod: PodId, state: PodState) {
        *row(&mut self.pods, pod.ix()) = state;
    }

    pub fn pods(&self) -> usize {
        self.pods.len()
    }

    /// When the oldest trouble began that can still turn out to be the beginning of a restart of a JobSet that counts.
    pub fn oldest(&self, counts: impl Fn(JobSetId) -> bool) -> Option<Time> {
        let may = |p: &&PodState| !p.gone && p.jobset.is_some() && counts(p.jobset);
        let roots = self.pods.iter().filter(may).filter_map(|p| self.root_of(p));
        roots.map(|(at, _)| at).min()
    }

    /// Remembers the first trouble of a pod without yet telling anybody.
    pub fn note(&mut self, now: Time, pod: PodId, kind: CauseKind) {
        if let Some(p) = self.pods.get_mut(pod.ix())
            && p.trouble.is_none()
        {
            p.trouble = Some((now, kind));
            self.noted.push(pod);
        }
        // Trouble that is over otherwise leaves its place here.
        if self.noted.len() > 64 + 2 * self.pods.len() {
            self.noted.sort();
            self.noted.dedup();
        }
    }

    /// Every pod of a JobSet is ready: what was wrong with them is over.
    pub fn all_well(&mut self, jobset: JobSetId) {
        let pods = &mut self.pods;
        self.noted.retain(|pod| match pods.get_mut(pod.ix()) {
            Some(p) if p.jobset == jobset => {
                p.trouble = None;
                false
            }
            other => other.is_some_and(|p| p.trouble.is_some()),
        });
    }

    /// The pod of a JobSet whose trouble began first, of those whose containers did not just end well.
    pub fn first_of(&self, jobset: JobSetId) -> Option<PodId> {
        let of_pod = |pod: &PodId| {
            let p = self.pods.get(pod.ix()).filter(|p| p.jobset == jobset)?;
            let (at, kind) = p.trouble?;
            let well = matches!(kind, CauseKind::ContainerExited { exit_code: 0 });
            (!well).then_some((at, *pod))
        };
        let first = self.noted.iter().filter_map(of_pod).min();
        first.map(|(_, pod)| pod)
    }

    /// The first trouble known of a pod or its node.
    pub fn root(&self, pod: PodId) -> Option<(Time, CauseKind)> {
        self.root_of(self.pods.get(pod.ix())?)
    }

    fn root_of(&self, p: &PodState) -> Option<(Time, CauseKind)> {
        let of_node = self.nodes.get(p.node.ix()).copied().flatten();
        let known = [p.trouble, of_node].into_iter().flatten();
        known.min_by_key(|&(t, _)| t)
    }

    /// The same with the names of the pod.
    pub fn cause(&self, pod: PodId) -> Option<(Time, Cause)> {
        let (start, kind) = self.root(pod)?;
        let p = self.pods.get(pod.ix())?;
        let cause = Cause {
            kind,
            pod,
            incarnation: p.incarnation,
            job: p.job,
            index: p.index,
            node: p.node,
        };
        Some((start, cause))
    }

    pub fn node_state(&mut self, now: Time, node: NodeId, ready: NodeReady) {
        let slot = row(&mut self.nodes, node.ix());
        match ready {
            NodeReady::True => *slot = None,
            _ => {
                slot.get_or_insert((now, CauseKind::NodeNotReady));
            }
        }
    }

    /// A Job is deleted: the root of what happens to its pods, if a fault is what deletes it.
    pub fn job_deleted(&mut self, record: &Record, job: JobId) {
        let (seq, at, index) = self.newest;
        if record.cause != seq || record.at != at || !self.is_harmful(index) {
            return;
        }
        for pod in 0..self.pods.len() {
            let p = &self.pods[pod];
            if p.job == job && !p.gone {
                let kind = CauseKind::Fault { index };
                self.note(at, PodId(pod as u32), kind);
            }
        }
    }

    fn is_harmful(&self, index: u32) -> bool {
        self.harmful.get(index as usize).copied().unwrap_or(true)
    }

    /// A fault that breaks is a root; one that mends takes the root away.
    pub fn fault(&mut self, record: &Record, index: u32, node: NodeId, pod: PodId) {
        let now = record.at;
        self.newest = (record.seq, now, index);
        let harmful = self.is_harmful(index);
        let kind = CauseKind::Fault { index };
        if harmful {
            self.note(now, pod, kind);
        }
        // An action on a pod names its node for the reader; the node itself is well.
        if pod.is_some() || !node.is_some() {
            return;
        }
        let slot = row(&mut self.nodes, node.ix());
        if harmful {
            slot.get_or_insert((now, kind));
        } else {
            *slot = None;
        }
    }
}
