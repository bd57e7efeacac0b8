//! What `why` needs beside the restarts of a run: whom the rows of pods meant at which time, when actions of the script
//! fired, and the way from a JobSet's creation, or a pod's, to its being ready.
//!
//! Must never keep tickets unless it is asked to.

use super::path::Path;
use super::tickets::Tickets;
use sim_base::*;
use sim_engine::record::{About, Body, Names, NodeReady, Record, Sink, Ticket};

/// A pod that had a row from some time on.
#[derive(Copy, Clone, Debug)]
struct Life {
    from: Time,
    job: JobId,
    index: u32,
}

/// From an object's creation to its being ready.
#[derive(Copy, Clone, Debug, Default)]
pub struct Way {
    /// When it was created.
    pub created: Option<Time>,
    /// When it was first ready.
    pub ready: Option<Time>,
    /// Ticket and time of the newest record about it, until it was ready.
    newest: Option<(u32, Time)>,
}

impl Way {
    fn note(&mut self, record: &Record) {
        if self.ready.is_none() && self.created.is_some() && !record.body.is_retry() {
            self.newest = Some((record.ticket, record.at));
        }
    }

    /// From its creation until it was ready; `None`: it never was.
    pub fn takes(&self) -> Option<Duration> {
        Some(self.ready?.since(self.created?))
    }
}

/// A pod by its name, as scenarios write it; of several pods of one name the newest.
#[derive(Clone, Debug, Default)]
pub struct AskedPod {
    pub name: String,
    pub pod: Option<PodId>,
    pub job: Option<JobId>,
    pub way: Way,
    /// Why the scheduler found no node, when it last tried.
    pub unschedulable: Option<TextId>,
    /// How many pods had the name.
    pub objects: u32,
    pub gone: bool,
}

#[derive(Default)]
pub struct Witness {
    pods: Vec<Vec<Life>>,
    starts: Vec<Way>,
    /// Index of an action of the script, and when it fired.
    pub fired: Vec<(u32, Time)>,
    pub asked: Option<AskedPod>,
    tickets: Option<Tickets>,
    /// Nodes that did not answer, from when until when.
    silent: Vec<(NodeId, Time, Time)>,
}

impl Witness {
    /// With tickets: ways can then be walked.
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

    /// The pod that had this row at that time: its Job, and its index.
    pub fn pod_at(&self, pod: PodId, at: Time) -> Option<(JobId, u32)> {
        let lives = self.pods.get(pod.ix())?;
        let life = lives.iter().rev().find(|life| life.from <= at);
        life.or(lives.first()).map(|life| (life.job, life.index))
    }

    /// The nodes that did not answer at some time between two, each once.
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

    /// From a JobSet's creation until its pods were ready for the first time.
    pub fn start(&self, jobset: JobSetId) -> Way {
        self.starts.get(jobset.ix()).copied().unwrap_or_default()
    }

    /// The waits on a way; what never came until `end` is its last step. `None` without tickets.
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
