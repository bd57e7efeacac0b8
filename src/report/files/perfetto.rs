//! Export of a run as a Perfetto trace: tracks for JobSets, Jobs, islands, nodes and pods, counters for queues, and
//! flow arrows from cause to effect.
//!
//! The fields follow Perfetto's protos `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`.
//! TrackEvent is used because overlapping slices are rendered incorrectly in the JSON format. The trace contains
//! every record.

use super::perfetto_tracks::{Kind, Tracks};
use super::proto::Message;
use crate::figures::map_figure::islands;
use crate::timeline::closely;
use sim_analysis::format;
use sim_analysis::metrics::kept::Kept;
use sim_analysis::metrics::restarts::critical;
use sim_analysis::metrics::{RunView, Witness};
use sim_base::*;
use sim_engine::record::{About, Body, NO_CAUSE, Record, Resource, Waited};

/// A run with all data that the trace contains.
#[derive(Copy, Clone)]
pub struct Trace<'a> {
    pub run: RunView<'a>,
    pub witness: &'a Witness,
    pub kept: &'a Kept,
}

pub fn trace(of: &Trace<'_>) -> Vec<u8> {
    let mut tracks = Tracks::default();
    let roots = Roots::declare(&mut tracks, &of.run);
    let mut writer = Writer {
        of,
        tracks,
        roots,
        slots: Vec::new(),
        places: Vec::new(),
    };
    writer.records();
    writer.restarts();
    writer.queues();
    writer.tracks.into_bytes()
}

/// Tracks that are declared at the beginning.
struct Roots {
    script: u64,
    plane: u64,
    jobsets: Vec<u64>,
    jobs: Vec<u64>,
    nodes: Vec<u64>,
}

impl Roots {
    fn declare(tracks: &mut Tracks, run: &RunView<'_>) -> Roots {
        let script = tracks.declare(0, "script", Kind::Events);
        let plane = tracks.declare(0, "control plane: who waits", Kind::Events);
        let all = tracks.declare(0, "JobSets", Kind::Events);
        let names = run.names;
        let jobsets = names.jobsets.iter();
        let jobsets: Vec<u64> = jobsets
            .map(|j| tracks.declare(all, &format!("JobSet {}", j.name), Kind::Events))
            .collect();
        let all = tracks.declare(0, "Jobs", Kind::Events);
        let jobs = names.jobs.iter();
        let jobs = jobs.map(|j| tracks.declare(all, &format!("Job {}", j.name), Kind::Events));
        let jobs = jobs.collect();
        let mut nodes = Vec::new();
        for (from, to) in islands(run, names.nodes.len()) {
            let (first, last) = (&names.nodes[from], &names.nodes[to - 1]);
            let island = tracks.declare(0, &format!("nodes {first} to {last}"), Kind::Events);
            for node in &names.nodes[from..to] {
                nodes.push(tracks.declare(island, &format!("node {node}"), Kind::Events));
            }
        }
        Roots {
            script,
            plane,
            jobsets,
            jobs,
            nodes,
        }
    }
}

/// The track on which a pod is shown: a slot of its node, which can be reused by later pods.
#[derive(Copy, Clone)]
struct Place {
    job: JobId,
    index: u32,
    slot: Option<(NodeId, usize, u64)>,
    /// Number of open slices: the pod's slice and the slice of its state.
    open: u32,
}

struct Writer<'a> {
    of: &'a Trace<'a>,
    tracks: Tracks,
    roots: Roots,
    /// For each node, its pod tracks and whether they are in use.
    slots: Vec<Vec<(u64, bool)>>,
    /// Places of the pods, indexed by pod id.
    places: Vec<Option<Place>>,
}

impl Writer<'_> {
    fn records(&mut self) {
        let records = &self.of.kept.records;
        //  Effects of each record. The cause of a record always precedes it.
        let mut effects: Vec<Vec<u32>> = vec![Vec::new(); records.len()];
        for record in records.iter().filter(|r| r.cause != NO_CAUSE) {
            if let Some(own) = effects.get_mut(record.cause as usize) {
                own.push(record.seq);
            }
        }
        for (record, effects) in records.iter().zip(&effects) {
            self.before(record);
            let track = self.track(record);
            let mut event = Message::default();
            event
                .number(9, 3)
                .number(11, track)
                .text(23, record.body.kind());
            for effect in effects {
                event.fixed64(47, u64::from(*effect) + 1);
            }
            if record.cause != NO_CAUSE {
                event.fixed64(48, u64::from(record.seq) + 1);
            }
            self.annotate(&mut event, record);
            self.tracks.event(record.at, &event);
            self.after(record);
        }
        let end = self.of.run.outcome.end;
        for pod in 0..self.places.len() {
            self.leave(PodId(pod as u32), end);
        }
    }

    fn annotate(&self, event: &mut Message, record: &Record) {
        let names = self.of.run.names;
        let head = record.body.head();
        let mut note = |name: &str, text: &str| {
            if !text.is_empty() {
                let mut note = Message::default();
                note.text(10, name).text(6, text);
                event.message(4, &note);
            }
        };
        note("seq", &record.seq.to_string());
        if let About::Pod(pod) = head.about
            && let Some(Some(place)) = self.places.get(pod.ix())
        {
            note("pod", &names.pod_place(place.job, place.index));
        }
        note("reason", names.text(head.reason));
        note("message", names.text(head.message));
    }

    fn track(&self, record: &Record) -> u64 {
        let roots = &self.roots;
        if matches!(record.body, Body::Fault { .. } | Body::Answered { .. }) {
            return roots.script;
        }
        let of = |all: &[u64], i: usize| all.get(i).copied().unwrap_or(roots.script);
        match record.body.head().about {
            About::Nothing => roots.script,
            About::JobSet(id) => of(&roots.jobsets, id.ix()),
            About::Job(id) => of(&roots.jobs, id.ix()),
            About::Node(id) => of(&roots.nodes, id.ix()),
            About::Pod(pod) => match self.places.get(pod.ix()) {
                Some(Some(Place {
                    slot: Some((.., track)),
                    ..
                })) => *track,
                Some(Some(place)) => of(&roots.jobs, place.job.ix()),
                _ => roots.script,
            },
        }
    }

    /// Updates the state that is needed before the record is written.
    fn before(&mut self, record: &Record) {
        match record.body {
            Body::PodCreated {
                pod, job, index, ..
            } => {
                *row(&mut self.places, pod.ix()) = Some(Place {
                    job,
                    index,
                    slot: None,
                    open: 0,
                });
            }
            Body::PodBound { pod, node, .. } => self.take(pod, node, record.at),
            _ => {}
        }
    }

    fn after(&mut self, record: &Record) {
        let state = match record.body {
            Body::PodReady { .. } => "ready",
            Body::PodNotReady { .. } | Body::ContainersRestarting { .. } => "containers down",
            Body::PodDeleting { .. } => "ending",
            Body::PodFinished { .. } => "ended",
            _ => "",
        };
        match record.body.head().about {
            About::Pod(pod) if matches!(record.body, Body::PodGone { .. }) => {
                self.leave(pod, record.at)
            }
            About::Pod(pod) if !state.is_empty() => self.turn(pod, state, record.at),
            _ => {}
        }
    }

    /// Assigns a pod to a free slot of its node and opens its slices.
    fn take(&mut self, pod: PodId, node: NodeId, at: Time) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        let slots = row(&mut self.slots, node.ix());
        let free = slots.iter().position(|(_, taken)| !taken);
        let slot = free.unwrap_or_else(|| {
            let parent = self.roots.nodes.get(node.ix()).copied().unwrap_or(0);
            let name = format!("pods {}", slots.len());
            slots.push((self.tracks.declare(parent, &name, Kind::Events), false));
            slots.len() - 1
        });
        slots[slot].1 = true;
        let track = slots[slot].0;
        let name = self.of.run.names.pod_place(place.job, place.index);
        self.tracks.begin(track, &name, at);
        self.tracks.begin(track, "starting", at);
        self.places[pod.ix()] = Some(Place {
            slot: Some((node, slot, track)),
            open: 2,
            ..place
        });
    }

    /// Ends the slice of the pod's current state and begins the next one.
    fn turn(&mut self, pod: PodId, state: &str, at: Time) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        if let Some((.., track)) = place.slot
            && place.open == 2
        {
            self.tracks.end(track, at);
            self.tracks.begin(track, state, at);
        }
    }

    fn leave(&mut self, pod: PodId, at: Time) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        if let Some((node, slot, track)) = place.slot {
            for _ in 0..place.open {
                self.tracks.end(track, at);
            }
            row(&mut self.slots, node.ix())[slot].1 = false;
        }
        self.places[pod.ix()] = Some(Place {
            slot: None,
            open: 0,
            ..place
        });
    }

    /// Writes a track with the phases of each restart, and the critical paths of the longest restarts.
    fn restarts(&mut self) {
        let run = self.of.run;
        let close: Vec<usize> = closely(&run).into_iter().map(|(i, _)| i).collect();
        for (i, r) in run.restarts().iter().enumerate() {
            let parent = self.roots.jobsets.get(r.jobset.ix()).copied().unwrap_or(0);
            let track = self
                .tracks
                .declare(parent, &format!("restart {}", i + 1), Kind::Events);
            self.tracks
                .begin(track, &format::restart_title(&run, r, i + 1), r.start);
            for span in r.spans().iter().filter(|s| s.to > s.from) {
                self.tracks.begin(track, span.phase().as_str(), span.from);
                self.tracks.end(track, span.to);
            }
            self.tracks.end(track, r.end);
            if !close.contains(&i) {
                continue;
            }
            let name = format!("critical path of restart {}", i + 1);
            let track = self.tracks.declare(parent, &name, Kind::Events);
            for span in critical::spans(&run, self.of.witness, &r.path, Some(r)) {
                let name = format!("{} <- {}", span.what, span.waited_for);
                self.tracks.begin(track, &name, span.step.from);
                self.tracks.end(track, span.step.to);
            }
        }
    }

    /// Writes the queue length of each resource at every change, and the digest at the end of the run.
    fn queues(&mut self) {
        let mut steps: Vec<(Resource, Vec<(Time, i64)>)> = Vec::new();
        for ticket in &self.of.kept.tickets {
            let until = match ticket.waited {
                Waited::Request(_) => ticket.granted,
                Waited::Queue(_) | Waited::TaintLimiter => ticket.to,
                _ => continue,
            };
            let Some(resource) = ticket.waited.resource().filter(|_| until > ticket.from) else {
                continue;
            };
            let at = steps
                .iter()
                .position(|(r, _)| *r == resource)
                .unwrap_or_else(|| {
                    steps.push((resource, Vec::new()));
                    steps.len() - 1
                });
            steps[at].1.extend([(ticket.from, 1), (until, -1)]);
        }
        steps.sort_by_key(|(resource, _)| *resource);
        for (resource, mut changes) in steps {
            let name = format!("waiting: {}", resource.as_str());
            let track = self.tracks.declare(self.roots.plane, &name, Kind::Counter);
            changes.sort_by_key(|(at, _)| *at);
            let mut waiting = 0i64;
            let mut rest = changes.as_slice();
            while let Some((at, _)) = rest.first().copied() {
                let n = rest.iter().take_while(|(other, _)| *other == at).count();
                waiting += rest[..n].iter().map(|(_, step)| step).sum::<i64>();
                self.tracks.count(track, waiting.max(0) as u64, at);
                rest = &rest[n..];
            }
        }
        let end = format::seconds(self.of.run.outcome.end.since(Time::ZERO));
        let name = format!("digest {} of {end}", self.of.run.digest());
        let mut event = Message::default();
        event
            .number(9, 3)
            .number(11, self.roots.script)
            .text(23, &name);
        self.tracks.event(self.of.run.outcome.end, &event);
    }
}
