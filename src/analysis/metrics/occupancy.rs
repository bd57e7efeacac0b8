//! Number of pods of each Job by state at given instants, and the Job that uses each node.
//!
//! Must never store more than the changes between two instants.

use sim_base::{JobId, NodeId, PodId, SimTime, row_or_default};
use sim_engine::record::{Body, NodeReady, RecordNames, RecordSink, SimulationRecord};

/// State of an existing pod, shown as one color of a chart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OccupancyState {
    /// The pod has no node.
    Pending,
    /// The pod has a node and is not ready yet.
    Starting,
    Ready,
    /// The pod was ready, and its containers are restarting or have exited.
    Down,
    /// The pod is being deleted, whether or not its containers have ended.
    Ending,
    /// The pod has failed and exists.
    Failed,
    /// The pod has succeeded and exists.
    Succeeded,
}

impl OccupancyState {
    pub const COUNT: usize = 7;

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Down => "containers down",
            Self::Ending => "terminating",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
        }
    }

    /// Returns whether the pod no longer becomes ready.
    fn is_final(self) -> bool {
        matches!(self, Self::Ending | Self::Failed | Self::Succeeded)
    }
}

/// Number of pods of a Job by state, indexed by [`OccupancyState`].
pub type OccupancyCounts = [u32; OccupancyState::COUNT];

/// Current user of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NodeOccupant {
    /// Job of the last bound pod that is still on the node; `JobId::NONE` if there is no pod.
    pub job: JobId,
    pub ready: bool,
}

#[derive(Copy, Clone)]
struct PodOccupancy {
    job: JobId,
    state: Option<OccupancyState>,
    node: NodeId,
}

/// Sink for the second simulation of a run, which records the state at known instants.
pub struct NodeOccupancy {
    moments: Vec<SimTime>,
    next: usize,
    pods: Vec<PodOccupancy>,
    counts: Vec<OccupancyCounts>,
    changed: Vec<JobId>,
    /// By Job: index of the instant from which the counts hold, and the counts.
    lanes: Vec<Vec<(u32, OccupancyCounts)>>,
    nodes: Vec<NodeOccupant>,
    load: Vec<u32>,
    snapshots: Vec<(SimTime, Option<Vec<NodeOccupant>>)>,
}

impl NodeOccupancy {
    /// `moments` must be ascending; `snapshots` are the times at which the users of all nodes are stored.
    pub fn new(moments: Vec<SimTime>, snapshots: &[SimTime], nodes: usize) -> NodeOccupancy {
        let empty = NodeOccupant { job: JobId::NONE, ready: true };
        NodeOccupancy {
            moments,
            next: 0,
            pods: Vec::new(),
            counts: Vec::new(),
            changed: Vec::new(),
            lanes: Vec::new(),
            nodes: vec![empty; nodes],
            load: vec![0; nodes],
            snapshots: snapshots.iter().map(|at| (*at, None)).collect(),
        }
    }

    /// Completes the last instants; called after the last record.
    pub fn finish(&mut self) {
        self.store_until(SimTime::NEVER);
    }

    /// Returns the changes of the pod counts of a Job: index of the instant, and counts from then on.
    pub fn job_counts(&self, job: JobId) -> &[(u32, OccupancyCounts)] {
        self.lanes.get(job.ix()).map_or(&[], Vec::as_slice)
    }

    /// Returns the users of all nodes at a time passed as snapshot to `new`, or `None` for other times.
    pub fn at(&self, at: SimTime) -> Option<&[NodeOccupant]> {
        let kept = self.snapshots.iter().find(|(of, _)| *of == at)?;
        kept.1.as_deref()
    }

    /// Stores the current state for all instants before `until`.
    fn store_until(&mut self, until: SimTime) {
        for (at, kept) in &mut self.snapshots {
            if *at < until && kept.is_none() {
                *kept = Some(self.nodes.clone());
            }
        }
        if self.moments.get(self.next).is_none_or(|m| *m >= until) {
            return;
        }
        let index = self.next as u32;
        self.changed.sort_unstable();
        self.changed.dedup();
        for job in self.changed.drain(..) {
            let substream = row_or_default(&mut self.lanes, job.ix());
            let counts = self.counts[job.ix()];
            if substream.last().is_none_or(|(_, last)| *last != counts) {
                substream.push((index, counts));
            }
        }
        let seen = self.moments[self.next..].partition_point(|m| *m < until);
        self.next += seen;
    }

    fn set(&mut self, pod: PodId, state: Option<OccupancyState>) {
        let Some(own) = self.pods.get_mut(pod.ix()) else {
            return;
        };
        let (job, before) = (own.job, std::mem::replace(&mut own.state, state));
        if before == state {
            return;
        }
        let counts = row_or_default(&mut self.counts, job.ix());
        if let Some(before) = before {
            counts[before as usize] -= 1;
        }
        if let Some(state) = state {
            counts[state as usize] += 1;
        }
        if self.changed.last() != Some(&job) {
            self.changed.push(job);
        }
    }

    fn state(&self, pod: PodId) -> Option<OccupancyState> {
        self.pods.get(pod.ix())?.state
    }

    fn tenant(&mut self, node: NodeId) -> Option<&mut NodeOccupant> {
        if !node.is_some() {
            return None;
        }
        if self.nodes.len() <= node.ix() {
            let empty = NodeOccupant { job: JobId::NONE, ready: true };
            self.nodes.resize(node.ix() + 1, empty);
        }
        self.nodes.get_mut(node.ix())
    }

    fn created(&mut self, pod: PodId, job: JobId) {
        let new = PodOccupancy { job, state: None, node: NodeId::NONE };
        while self.pods.len() <= pod.ix() {
            self.pods.push(new);
        }
        self.set(pod, None);
        self.pods[pod.ix()] = new;
        self.set(pod, Some(OccupancyState::Pending));
    }

    fn bound(&mut self, pod: PodId, node: NodeId) {
        self.set(pod, Some(OccupancyState::Starting));
        let Some(own) = self.pods.get_mut(pod.ix()) else {
            return;
        };
        own.node = node;
        let job = own.job;
        *row_or_default(&mut self.load, node.ix()) += 1;
        if let Some(tenant) = self.tenant(node) {
            tenant.job = job;
        }
    }

    fn remove_pod(&mut self, pod: PodId) {
        self.set(pod, None);
        let Some(own) = self.pods.get(pod.ix()).copied() else {
            return;
        };
        if !own.node.is_some() {
            return;
        }
        self.pods[pod.ix()].node = NodeId::NONE;
        let load = row_or_default(&mut self.load, own.node.ix());
        *load = load.saturating_sub(1);
        let stays = |p: &&PodOccupancy| p.node == own.node && p.state.is_some();
        let other = match *load {
            0 => None,
            _ => self.pods.iter().find(stays).map(|p| p.job),
        };
        if let Some(tenant) = self.tenant(own.node) {
            tenant.job = other.unwrap_or(JobId::NONE);
        }
    }
}

/// Effect of a record on one pod.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum OccupancyChange {
    Created(JobId),
    Bound(NodeId),
    To(OccupancyState),
    Gone,
}

/// Returns the effect of a record on a pod, if any. `state` returns the current state of a pod.
pub(super) fn of_pod(body: &Body, state: impl Fn(PodId) -> Option<OccupancyState>) -> Option<(PodId, OccupancyChange)> {
    match *body {
        Body::PodCreated { pod, job, .. } => Some((pod, OccupancyChange::Created(job))),
        Body::PodBound { pod, node, .. } => Some((pod, OccupancyChange::Bound(node))),
        Body::PodReady { pod, .. } if !state(pod).is_some_and(OccupancyState::is_final) => {
            Some((pod, OccupancyChange::To(OccupancyState::Ready)))
        }
        Body::PodNotReady { pod, .. } | Body::ContainerExited { pod, .. } | Body::ContainersRestarting { pod, .. }
            if state(pod) == Some(OccupancyState::Ready) =>
        {
            Some((pod, OccupancyChange::To(OccupancyState::Down)))
        }
        Body::PodFinished { pod, succeeded, .. } if state(pod) != Some(OccupancyState::Ending) => {
            let last = if succeeded { OccupancyState::Succeeded } else { OccupancyState::Failed };
            Some((pod, OccupancyChange::To(last)))
        }
        Body::PodDeleting { pod, .. } => Some((pod, OccupancyChange::To(OccupancyState::Ending))),
        Body::PodGone { pod, .. } => Some((pod, OccupancyChange::Gone)),
        _ => None,
    }
}

/// Returns the node whose readiness a record changes, and whether it is ready now.
pub(super) fn of_node(body: &Body) -> Option<(NodeId, bool)> {
    match *body {
        Body::NodeState { node, ready } => Some((node, ready == NodeReady::True)),
        Body::NodeGone { node } => Some((node, false)),
        Body::NodeCreated { node } => Some((node, true)),
        _ => None,
    }
}

impl RecordSink for NodeOccupancy {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.store_until(record.at);
        match of_pod(&record.body, |pod| self.state(pod)) {
            Some((pod, OccupancyChange::Created(job))) => self.created(pod, job),
            Some((pod, OccupancyChange::Bound(node))) => self.bound(pod, node),
            Some((pod, OccupancyChange::To(state))) => self.set(pod, Some(state)),
            Some((pod, OccupancyChange::Gone)) => self.remove_pod(pod),
            None => {}
        }
        if let Some((node, ready)) = of_node(&record.body)
            && let Some(tenant) = self.tenant(node)
        {
            tenant.ready = ready;
        }
    }
}
