//! How many pods of each Job are in which state at given instants, and which Job has which node.
//!
//! Must never keep more than what changed between two of the instants.

use sim_base::*;
use sim_engine::record::{Body, Names, NodeReady, Record, Sink};

/// What a pod that exists is doing, as one color of a chart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PodState {
    /// It has no node.
    Pending,
    /// It has a node and is not ready yet.
    Starting,
    /// It is ready.
    Ready,
    /// It was ready: its containers restart, or have ended.
    Down,
    /// It was asked to go, or has ended for good.
    Ending,
}

impl PodState {
    pub const COUNT: usize = 5;
    pub const ALL: [PodState; PodState::COUNT] = [
        Self::Pending,
        Self::Starting,
        Self::Ready,
        Self::Down,
        Self::Ending,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Down => "containers down",
            Self::Ending => "ending",
        }
    }
}

/// Pods of a Job by state.
pub type Counts = [u32; PodState::COUNT];

/// Who has a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Whose pod was bound there last and is still there; `JobId::NONE`: nobody's.
    pub job: JobId,
    /// Whether the Node is ready.
    pub ready: bool,
}

#[derive(Copy, Clone)]
struct Pod {
    job: JobId,
    state: Option<PodState>,
    node: NodeId,
}

/// Takes the records of a run that is played again: the instants are known.
pub struct Occupancy {
    moments: Vec<Time>,
    next: usize,
    pods: Vec<Pod>,
    counts: Vec<Counts>,
    changed: Vec<JobId>,
    /// Of each Job: from which instant on, what.
    lanes: Vec<Vec<(u32, Counts)>>,
    nodes: Vec<Tenant>,
    /// Pods on each node.
    load: Vec<u32>,
    snapshots: Vec<(Time, Option<Vec<Tenant>>)>,
}

impl Occupancy {
    /// `moments` ascend; `snapshots`: when to keep who has which node.
    pub fn new(moments: Vec<Time>, snapshots: &[Time], nodes: usize) -> Occupancy {
        let empty = Tenant {
            job: JobId::NONE,
            ready: true,
        };
        Occupancy {
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

    /// After the last record.
    pub fn finish(&mut self) {
        self.pass(Time::NEVER);
    }

    /// From which instant on there were how many pods of a Job in which state.
    pub fn of(&self, job: JobId) -> &[(u32, Counts)] {
        self.lanes.get(job.ix()).map_or(&[], Vec::as_slice)
    }

    /// Who had the nodes at an instant that was asked for.
    pub fn at(&self, at: Time) -> Option<&[Tenant]> {
        let kept = self.snapshots.iter().find(|(of, _)| *of == at)?;
        kept.1.as_deref()
    }

    /// Everything up to here has been seen.
    fn pass(&mut self, until: Time) {
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
            let lane = row(&mut self.lanes, job.ix());
            let counts = self.counts[job.ix()];
            if lane.last().is_none_or(|(_, last)| *last != counts) {
                lane.push((index, counts));
            }
        }
        let seen = self.moments[self.next..].partition_point(|m| *m < until);
        self.next += seen;
    }

    fn set(&mut self, pod: PodId, state: Option<PodState>) {
        let Some(own) = self.pods.get_mut(pod.ix()) else {
            return;
        };
        let (job, before) = (own.job, std::mem::replace(&mut own.state, state));
        if before == state {
            return;
        }
        let counts = row(&mut self.counts, job.ix());
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

    fn state(&self, pod: PodId) -> Option<PodState> {
        self.pods.get(pod.ix())?.state
    }

    fn tenant(&mut self, node: NodeId) -> Option<&mut Tenant> {
        if !node.is_some() {
            return None;
        }
        if self.nodes.len() <= node.ix() {
            let empty = Tenant {
                job: JobId::NONE,
                ready: true,
            };
            self.nodes.resize(node.ix() + 1, empty);
        }
        self.nodes.get_mut(node.ix())
    }

    fn created(&mut self, pod: PodId, job: JobId) {
        let new = Pod {
            job,
            state: None,
            node: NodeId::NONE,
        };
        while self.pods.len() <= pod.ix() {
            self.pods.push(new);
        }
        self.set(pod, None);
        self.pods[pod.ix()] = new;
        self.set(pod, Some(PodState::Pending));
    }

    fn bound(&mut self, pod: PodId, node: NodeId) {
        self.set(pod, Some(PodState::Starting));
        let Some(own) = self.pods.get_mut(pod.ix()) else {
            return;
        };
        own.node = node;
        let job = own.job;
        *row(&mut self.load, node.ix()) += 1;
        if let Some(tenant) = self.tenant(node) {
            tenant.job = job;
        }
    }

    fn gone(&mut self, pod: PodId) {
        self.set(pod, None);
        let Some(own) = self.pods.get(pod.ix()).copied() else {
            return;
        };
        if !own.node.is_some() {
            return;
        }
        self.pods[pod.ix()].node = NodeId::NONE;
        let load = row(&mut self.load, own.node.ix());
        *load = load.saturating_sub(1);
        let stays = |p: &&Pod| p.node == own.node && p.state.is_some();
        let other = match *load {
            0 => None,
            _ => self.pods.iter().find(stays).map(|p| p.job),
        };
        if let Some(tenant) = self.tenant(own.node) {
            tenant.job = other.unwrap_or(JobId::NONE);
        }
    }
}

/// What a record says of one pod.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum PodChange {
    Created(JobId),
    Bound(NodeId),
    To(PodState),
    Gone,
}

/// `state`: in which state a pod is so far.
pub(super) fn of_pod(
    body: &Body,
    state: impl Fn(PodId) -> Option<PodState>,
) -> Option<(PodId, PodChange)> {
    match *body {
        Body::PodCreated { pod, job, .. } => Some((pod, PodChange::Created(job))),
        Body::PodBound { pod, node, .. } => Some((pod, PodChange::Bound(node))),
        Body::PodReady { pod, .. } if state(pod) != Some(PodState::Ending) => {
            Some((pod, PodChange::To(PodState::Ready)))
        }
        Body::PodNotReady { pod, .. }
        | Body::ContainerExited { pod, .. }
        | Body::ContainersRestarting { pod, .. }
            if state(pod) == Some(PodState::Ready) =>
        {
            Some((pod, PodChange::To(PodState::Down)))
        }
        Body::PodFinished { pod, .. } | Body::PodDeleting { pod, .. } => {
            Some((pod, PodChange::To(PodState::Ending)))
        }
        Body::PodGone { pod, .. } => Some((pod, PodChange::Gone)),
        _ => None,
    }
}

/// Whether a record makes a node ready, or takes that from it.
pub(super) fn of_node(body: &Body) -> Option<(NodeId, bool)> {
    match *body {
        Body::NodeState { node, ready } => Some((node, ready == NodeReady::True)),
        Body::NodeGone { node } => Some((node, false)),
        Body::NodeCreated { node } => Some((node, true)),
        _ => None,
    }
}

impl Sink for Occupancy {
    fn record(&mut self, record: &Record, _: &Names) {
        self.pass(record.at);
        match of_pod(&record.body, |pod| self.state(pod)) {
            Some((pod, PodChange::Created(job))) => self.created(pod, job),
            Some((pod, PodChange::Bound(node))) => self.bound(pod, node),
            Some((pod, PodChange::To(state))) => self.set(pod, Some(state)),
            Some((pod, PodChange::Gone)) => self.gone(pod),
            None => {}
        }
        if let Some((node, ready)) = of_node(&record.body)
            && let Some(tenant) = self.tenant(node)
        {
            tenant.ready = ready;
        }
    }
}
