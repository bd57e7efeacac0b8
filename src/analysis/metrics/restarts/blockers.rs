//! Additional data of a run for `why`: identities of pods over time, times of scripted actions, and the startup of
//! JobSets and pods from creation to readiness.
//!
//! Must never store tickets unless requested.

use super::path::{CriticalPath, PathStep};
use super::tickets::TicketIndex;
use sim_base::{Duration, JobId, JobSetId, NodeId, PodId, SimTime, TextId, row_or_default};
use sim_engine::record::{
    Body, Call, NodeReady, RecordNames, RecordSink, SimulationRecord, TicketSubject, TicketWait, WorkTicket,
};

/// Identity of the pod object that used a pod id from a given time on.
#[derive(Copy, Clone, Debug)]
struct PodLifetime {
    from: SimTime,
    job: JobId,
    index: u32,
}

/// Startup of an object, from its creation to readiness.
#[derive(Copy, Clone, Debug, Default)]
pub struct WitnessPath {
    pub created: Option<SimTime>,
    /// Time at which the object first became ready.
    pub ready: Option<SimTime>,
    /// Ticket and time of the latest record about the object before it was ready.
    newest: Option<(u32, SimTime)>,
}

impl WitnessPath {
    fn note(&mut self, record: &SimulationRecord) {
        if self.ready.is_none() && self.created.is_some() && !record.body.is_retry() {
            self.newest = Some((record.ticket, record.at));
        }
    }

    /// Returns the time from creation to readiness, or `None` if the object never became ready.
    pub fn duration(&self) -> Option<Duration> {
        Some(self.ready?.since(self.created?))
    }
}

/// Pod selected by its name in the spelling of scenarios; if several pods had the name, the latest.
#[derive(Clone, Debug, Default)]
pub struct SelectedPod {
    pub name: String,
    pub pod: Option<PodId>,
    pub job: Option<JobId>,
    pub way: WitnessPath,
    /// Reason of the latest failed attempt of the scheduler to place the pod.
    pub unschedulable: Option<TextId>,
    /// Number of pod objects that had the name.
    pub objects: u32,
    pub gone: bool,
}

#[derive(Default)]
pub struct RestartBlocker {
    pods: Vec<Vec<PodLifetime>>,
    starts: Vec<WitnessPath>,
    /// Index of each scripted action that was executed, and its time.
    pub fired: Vec<(u32, SimTime)>,
    /// JobSets with a pod for which the scheduler found no node.
    pub unschedulable: Vec<JobSetId>,
    pub asked: Option<SelectedPod>,
    tickets: Option<TicketIndex>,
    /// Nodes that were not ready: node, start and end (`SimTime::NEVER` if it did not end).
    silent: Vec<(NodeId, SimTime, SimTime)>,
    /// Removals of Node objects.
    removed: Vec<(NodeId, SimTime)>,
    /// Creations of Node objects.
    created: Vec<(NodeId, SimTime)>,
    /// Times at which pods of JobSets released their nodes, in order and without duplicates.
    released: Vec<(SimTime, JobSetId)>,
}

impl RestartBlocker {
    /// Creates a sink that also stores tickets, as required by `path`. `pod` selects a pod by name.
    pub fn with_tickets(pod: Option<&str>) -> RestartBlocker {
        let request = pod.map(|name| SelectedPod { name: name.to_owned(), ..SelectedPod::default() });
        RestartBlocker { asked: request, tickets: Some(TicketIndex::default()), ..RestartBlocker::default() }
    }

    /// Returns the Job and the completion index of the pod that had this id at this time.
    pub fn pod_at(&self, pod: PodId, at: SimTime) -> Option<(JobId, u32)> {
        let lives = self.pods.get(pod.ix())?;
        let life = lives.iter().rev().find(|life| life.from <= at);
        life.or(lives.first()).map(|life| (life.job, life.index))
    }

    /// Returns the nodes that were not ready at some time between two instants, sorted and without duplicates, and
    /// since when each was not ready.
    pub fn silent_within(&self, from: SimTime, to: SimTime) -> Vec<(NodeId, SimTime)> {
        let within = self.silent.iter().filter(|(_, since, until)| *since < to && from < *until);
        let mut nodes: Vec<(NodeId, SimTime)> = within.map(|(node, since, _)| (*node, *since)).collect();
        nodes.sort();
        nodes.dedup_by_key(|(node, _)| *node);
        nodes
    }

    /// Returns the nodes that are not ready or have no Node object at an instant, sorted and without duplicates.
    pub fn absent_at(&self, at: SimTime) -> Vec<NodeId> {
        let silent = self.silent.iter().filter(|(_, since, until)| *since <= at && at < *until);
        let is_back = |node: NodeId, removed: SimTime| {
            self.created.iter().any(|(created, since)| *created == node && removed <= *since && *since <= at)
        };
        let removed = self.removed.iter().filter(|(node, removed)| *removed <= at && !is_back(*node, *removed));
        let mut nodes: Vec<NodeId> = silent.map(|(node, ..)| *node).chain(removed.map(|(node, _)| *node)).collect();
        nodes.sort();
        nodes.dedup();
        nodes
    }

    /// Returns whether the Node object was removed between two instants.
    pub fn is_removed_within(&self, node: NodeId, (from, to): (SimTime, SimTime)) -> bool {
        self.removed.iter().any(|(removed, at)| *removed == node && from <= *at && *at <= to)
    }

    /// Returns a JobSet other than the given one whose pod released its node at this time.
    pub fn releasing_jobset(&self, at: SimTime, except: Option<JobSetId>) -> Option<JobSetId> {
        let first = self.released.partition_point(|(released, _)| *released < at);
        let mut at_once = self.released[first..].iter().take_while(|(released, _)| *released == at);
        at_once.find(|(_, jobset)| Some(*jobset) != except).map(|(_, jobset)| *jobset)
    }

    fn note_node(&mut self, node: NodeId, answers: bool, at: SimTime) {
        let open = self.silent.iter_mut().find(|(known, _, until)| *known == node && *until == SimTime::NEVER);
        match open {
            Some(open) if answers => open.2 = at,
            None if !answers => self.silent.push((node, at, SimTime::NEVER)),
            _ => {}
        }
    }

    /// Returns the startup of a JobSet, from its creation until its pods were first ready.
    pub fn start(&self, jobset: JobSetId) -> WitnessPath {
        self.starts.get(jobset.ix()).copied().unwrap_or_default()
    }

    /// Returns the critical path of a startup; if it was not completed, the last step is open until `end`. `None`
    /// without tickets.
    pub fn path(&self, way: &WitnessPath, end: SimTime, about: TicketSubject) -> Option<CriticalPath> {
        let tickets = self.tickets.as_ref()?;
        let (created, (newest, at)) = (way.created?, way.newest?);
        let mut path = CriticalPath::walk(|id| tickets.find(id), newest, created, at);
        if way.ready.is_none() {
            drop_idle_runs(&mut path);
            path.leave_open(created, end, about);
        }
        Some(path)
    }

    /// Returns the JobSet of an object; `None` for nodes.
    pub fn jobset_of(&self, about: TicketSubject, at: SimTime, names: &RecordNames) -> Option<JobSetId> {
        match about {
            TicketSubject::JobSet(id) => Some(id),
            TicketSubject::Job(job) => names.jobset_of(job),
            TicketSubject::Pod(pod) => names.jobset_of(self.pod_at(pod, at)?.0),
            TicketSubject::Node(_) | TicketSubject::Nothing => None,
        }
    }

    fn note_pod(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let Some(request) = &mut self.asked else { return };
        match record.body {
            Body::PodCreated { pod, job, index, .. } if names.pod_base_name(job, index) == request.name => {
                request.pod = Some(pod);
                request.job = Some(job);
                request.objects += 1;
                request.gone = false;
                request.unschedulable = None;
                request.way = WitnessPath { created: Some(record.at), ..WitnessPath::default() };
            }
            Body::PodUnschedulable { pod, reason } if request.pod == Some(pod) => {
                request.unschedulable = Some(reason);
            }
            _ => {}
        }
        let own = |pod| record.body.head().subject == TicketSubject::Pod(pod);
        if request.gone || !request.pod.is_some_and(own) {
            return;
        }
        request.way.note(record);
        match record.body {
            Body::PodReady { .. } => request.way.ready = request.way.ready.or(Some(record.at)),
            Body::PodGone { .. } => request.gone = true,
            _ => {}
        }
    }
}

/// Drops the end of a path from the last container that ran until it exited: what happened then is no progress of the
/// others, unless Jobs or pods were created because of it.
fn drop_idle_runs(path: &mut CriticalPath) {
    let creates =
        |step: &PathStep| matches!(step.waited, TicketWait::Request(Call::JobPodCreate | Call::JobSetJobCreate));
    let last = path.steps.iter().rposition(|step| step.waited == TicketWait::Running);
    if let Some(at) = last.filter(|at| !path.steps[*at..].iter().any(creates)) {
        path.steps.truncate(at);
    }
}

impl RecordSink for RestartBlocker {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        let at = record.at;
        match record.body {
            Body::PodCreated { pod, job, index, .. } => {
                row_or_default(&mut self.pods, pod.ix()).push(PodLifetime { from: at, job, index })
            }
            Body::Fault { index, .. } => self.fired.push((index, at)),
            Body::PodUnschedulable { pod, .. } => {
                let jobset = self.pod_at(pod, at).and_then(|(job, _)| names.jobset_of(job));
                self.unschedulable.extend(jobset.filter(|jobset| !self.unschedulable.contains(jobset)));
            }
            Body::NodeState { node, ready } => self.note_node(node, ready == NodeReady::True, at),
            Body::NodeGone { node } => {
                self.note_node(node, true, at);
                self.removed.push((node, at));
            }
            Body::NodeCreated { node } => self.created.push((node, at)),
            Body::PodFinished { pod, .. } | Body::PodGone { pod, .. } => {
                let jobset = self.pod_at(pod, at).and_then(|(job, _)| names.jobset_of(job));
                self.released.extend(jobset.map(|jobset| (at, jobset)).filter(|new| self.released.last() != Some(new)));
            }
            Body::JobSetCreated { jobset } => {
                let way = row_or_default(&mut self.starts, jobset.ix());
                way.created = way.created.or(Some(at));
            }
            _ => {}
        }
        if self.tickets.is_some() {
            let by_itself = matches!(record.body, Body::Fault { .. } | Body::Answered { .. });
            let jobset = self.jobset_of(record.body.head().subject, at, names);
            if let Some(way) = jobset.and_then(|id| self.starts.get_mut(id.ix()))
                && !by_itself
            {
                way.note(record);
            }
            self.note_pod(record, names);
        }
        if let Body::AllReady { jobset, ready: true } = record.body {
            let way = row_or_default(&mut self.starts, jobset.ix());
            way.ready = way.ready.or(Some(at));
        }
    }

    fn receives_tickets(&self) -> bool {
        self.tickets.is_some()
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        if let Some(tickets) = &mut self.tickets {
            tickets.push(ticket);
            if tickets.are_many(0) {
                let ways = self.starts.iter().chain(self.asked.iter().map(|a| &a.way));
                let ends: Vec<u32> = ways.filter_map(|w| Some(w.newest?.0)).collect();
                tickets.drop_before(SimTime::ZERO, &ends);
            }
        }
    }
}
