//! Additional data of a run for `why`: identities of pods over time, times of scripted actions, and the startup of
//! JobSets and pods from creation to readiness.
//!
//! Must never store tickets unless requested.

use super::path::Path;
use super::tickets::Tickets;
use sim_base::*;
use sim_engine::record::{About, Body, Names, NodeReady, Record, Sink, Ticket};

/// Identity of the pod object that used a pod id from a given time on.
#[derive(Copy, Clone, Debug)]
struct Life {
    from: Time,
    job: JobId,
    index: u32,
}

/// Startup of an object, from its creation to readiness.
#[derive(Copy, Clone, Debug, Default)]
pub struct Way {
    /// Time of creation.
    pub created: Option<Time>,
    /// Time at which the object first became ready.
    pub ready: Option<Time>,
    /// Ticket and time of the latest record about the object before it was ready.
    newest: Option<(u32, Time)>,
}

impl Way {
    fn note(&mut self, record: &Record) {
        if self.ready.is_none() && self.created.is_some() && !record.body.is_retry() {
            self.newest = Some((record.ticket, record.at));
        }
    }

    /// Returns the time from creation to readiness, or `None` if the object never became ready.
    pub fn takes(&self) -> Option<Duration> {
        Some(self.ready?.since(self.created?))
    }
}

/// Pod selected by its name in the spelling of scenarios; if several pods had the name, the latest.
#[derive(Clone, Debug, Default)]
pub struct AskedPod {
    pub name: String,
    pub pod: Option<PodId>,
    pub job: Option<JobId>,
    pub way: Way,
    /// Reason of the latest failed attempt of the scheduler to place the pod.
    pub unschedulable: Option<TextId>,
    /// Number of pod objects that had the name.
    pub objects: u32,
    pub gone: bool,
}

#[derive(Default)]
pub struct Witness {
    pods: Vec<Vec<Life>>,
    starts: Vec<Way>,
    /// Index of each scripted action that was executed, and its time.
    pub fired: Vec<(u32, Time)>,
    pub asked: Option<AskedPod>,
    tickets: Option<Tickets>,
    /// Nodes that were not ready: node, start and end (`Time::NEVER` if it did not end).
    silent: Vec<(NodeId, Time, Time)>,
}

impl Witness {
    /// Creates a sink that also stores tickets, as required by `path`. `pod` selects a pod by name.
    pub fn with_tickets(pod: Option<&str>) -> Witness {
        let asked = pod.map(|name| AskedPod {
            name: name.to_owned(),
            ..AskedPod::default()
        });
        Witness {
            asked,
            tickets: Some(Tickets::default()),
            ..Witness::default()
        }
    }

    /// Returns the Job and the completion index of the pod that had this id at this time.
    pub fn pod_at(&self, pod: PodId, at: Time) -> Option<(JobId, u32)> {
        let lives = self.pods.get(pod.ix())?;
        let life = lives.iter().rev().find(|life| life.from <= at);
        life.or(lives.first()).map(|life| (life.job, life.index))
    }

    /// Returns the nodes that were not ready at some time between two instants, sorted and without duplicates.
    pub fn silent_within(&self, from: Time, to: Time) -> Vec<NodeId> {
        let within = self
            .silent
            .iter()
            .filter(|(_, since, until)| *since < to && from < *until);
        let mut nodes: Vec<NodeId> = within.map(|(node, ..)| *node).collect();
        nodes.sort();
        nodes.dedup();
        nodes
    }

    fn note_node(&mut self, node: NodeId, answers: bool, at: Time) {
        let open = self
            .silent
            .iter_mut()
            .find(|(known, _, until)| *known == node && *until == Time::NEVER);
        match open {
            Some(open) if answers => open.2 = at,
            None if !answers => self.silent.push((node, at, Time::NEVER)),
            _ => {}
        }
    }

    /// Returns the startup of a JobSet, from its creation until its pods were first ready.
    pub fn start(&self, jobset: JobSetId) -> Way {
        self.starts.get(jobset.ix()).copied().unwrap_or_default()
    }

    /// Returns the critical path of a startup; if it was not completed, the last step is open until `end`. `None`
    /// without tickets.
    pub fn path(&self, way: &Way, end: Time, about: About) -> Option<Path> {
        let tickets = self.tickets.as_ref()?;
        let (created, (newest, at)) = (way.created?, way.newest?);
        let mut path = Path::walk(|id| tickets.find(id), newest, created, at);
        if way.ready.is_none() {
            path.leave_open(created, end, about);
        }
        Some(path)
    }

    fn jobset_of(&self, about: About, at: Time, names: &Names) -> Option<JobSetId> {
        match about {
            About::JobSet(id) => Some(id),
            About::Job(job) => names.jobset_of(job),
            About::Pod(pod) => names.jobset_of(self.pod_at(pod, at)?.0),
            About::Node(_) | About::Nothing => None,
        }
    }

    fn note_pod(&mut self, record: &Record, names: &Names) {
        let Some(asked) = &mut self.asked else { return };
        match record.body {
            Body::PodCreated {
                pod, job, index, ..
            } if names.pod_place(job, index) == asked.name => {
                asked.pod = Some(pod);
                asked.job = Some(job);
                asked.objects += 1;
                asked.gone = false;
                asked.unschedulable = None;
                asked.way = Way {
                    created: Some(record.at),
                    ..Way::default()
                };
            }
            Body::PodUnschedulable { pod, reason } if asked.pod == Some(pod) => {
                asked.unschedulable = Some(reason);
            }
            _ => {}
        }
        let own = |pod| record.body.head().about == About::Pod(pod);
        if asked.gone || !asked.pod.is_some_and(own) {
            return;
        }
        asked.way.note(record);
        match record.body {
            Body::PodReady { .. } => asked.way.ready = asked.way.ready.or(Some(record.at)),
            Body::PodGone { .. } => asked.gone = true,
            _ => {}
        }
    }
}

impl Sink for Witness {
    fn record(&mut self, record: &Record, names: &Names) {
        let at = record.at;
        match record.body {
            Body::PodCreated {
                pod, job, index, ..
            } => row(&mut self.pods, pod.ix()).push(Life {
                from: at,
                job,
                index,
            }),
            Body::Fault { index, .. } => self.fired.push((index, at)),
            Body::NodeState { node, ready } => self.note_node(node, ready == NodeReady::True, at),
            Body::NodeGone { node } => self.note_node(node, true, at),
            Body::JobSetCreated { jobset } => {
                let way = row(&mut self.starts, jobset.ix());
                way.created = way.created.or(Some(at));
            }
            _ => {}
        }
        if self.tickets.is_some() {
            let by_itself = matches!(record.body, Body::Fault { .. } | Body::Answered { .. });
            let jobset = self.jobset_of(record.body.head().about, at, names);
            if let Some(way) = jobset.and_then(|id| self.starts.get_mut(id.ix()))
                && !by_itself
            {
                way.note(record);
            }
            self.note_pod(record, names);
        }
        if let Body::AllReady {
            jobset,
            ready: true,
        } = record.body
        {
            let way = row(&mut self.starts, jobset.ix());
            way.ready = way.ready.or(Some(at));
        }
    }

    fn wants_tickets(&self) -> bool {
        self.tickets.is_some()
    }

    fn ticket(&mut self, ticket: &Ticket) {
        if let Some(tickets) = &mut self.tickets {
            tickets.push(ticket);
            if tickets.are_many(0) {
                let ways = self.starts.iter().chain(self.asked.iter().map(|a| &a.way));
                let ends: Vec<u32> = ways.filter_map(|w| Some(w.newest?.0)).collect();
                tickets.forget(Time::ZERO, &ends);
            }
        }
    }
}
