//! Export of a run as a Perfetto trace: tracks for JobSets, Jobs, islands, nodes and pods, counters for queues, and
//! flow arrows from cause to effect.
//!
//! The fields follow Perfetto's protos `trace_packet.proto`, `track_descriptor.proto` and `track_event.proto`.
//! TrackEvent is used because overlapping slices are rendered incorrectly in the JSON format. The trace contains
//! every record.

use super::perfetto_tracks::{TraceTracks, TrackKind};
use super::proto::ProtoMessage;
use crate::{figures::map_figure::blocks, timeline::highlighted_restarts};
use sim_analysis::format;
use sim_analysis::metrics::record_buffer::RetainedMetrics;
use sim_analysis::metrics::restarts::critical_spans;
use sim_analysis::metrics::{RestartBlocker, RunView};
use sim_base::{JobId, NodeId, PodId, SimTime, row_or_default};
use sim_engine::record::{Body, LedgerResource, NO_CAUSE, SimulationRecord, TicketSubject, TicketWait};

/// A run with all data that the trace contains.
#[derive(Copy, Clone)]
pub struct PerfettoTrace<'a> {
    pub run: RunView<'a>,
    pub blockers: &'a RestartBlocker,
    pub retained: &'a RetainedMetrics,
}

pub fn trace(of: &PerfettoTrace<'_>) -> Vec<u8> {
    let mut tracks = TraceTracks::default();
    let roots = RootTracks::declare(&mut tracks, &of.run);
    let mut writer = PerfettoWriter { input: of, tracks, roots, slots: Vec::new(), places: Vec::new() };
    writer.records();
    writer.restarts();
    writer.queues();
    writer.tracks.into_bytes()
}

/// Tracks that are declared at the beginning.
struct RootTracks {
    script: u64,
    control_plane: u64,
    jobsets: Vec<u64>,
    jobs: Vec<u64>,
    nodes: Vec<u64>,
}

impl RootTracks {
    fn declare(tracks: &mut TraceTracks, run: &RunView<'_>) -> RootTracks {
        let script = tracks.declare(0, "script", TrackKind::Events);
        let plane = tracks.declare(0, "control plane: queue lengths", TrackKind::Events);
        let all = tracks.declare(0, "JobSets", TrackKind::Events);
        let names = run.names;
        let jobsets = names.jobsets.iter();
        let jobsets: Vec<u64> =
            jobsets.map(|j| tracks.declare(all, &format!("JobSet {}", j.name), TrackKind::Events)).collect();
        let all = tracks.declare(0, "Jobs", TrackKind::Events);
        let jobs = names.jobs.iter();
        let jobs = jobs.map(|j| tracks.declare(all, &format!("Job {}", j.name), TrackKind::Events));
        let jobs = jobs.collect();
        let mut nodes = Vec::new();
        for block in blocks(run, names.nodes.len()) {
            let (first, last) = (&names.nodes[block.from], &names.nodes[block.to - 1]);
            let island = tracks.declare(0, &format!("nodes {first} to {last}"), TrackKind::Events);
            for node in &names.nodes[block.from..block.to] {
                nodes.push(tracks.declare(island, &format!("node {node}"), TrackKind::Events));
            }
        }
        RootTracks { script, control_plane: plane, jobsets, jobs, nodes }
    }
}

/// The track on which a pod is shown: a slot of its node, which can be reused by later pods.
#[derive(Copy, Clone)]
struct TracePlace {
    job: JobId,
    index: u32,
    slot: Option<(NodeId, usize, u64)>,
    /// Number of open slices: the pod's slice and the slice of its state.
    open_slices: u32,
}

struct PerfettoWriter<'a> {
    input: &'a PerfettoTrace<'a>,
    tracks: TraceTracks,
    roots: RootTracks,
    /// For each node, its pod tracks and whether they are in use.
    slots: Vec<Vec<(u64, bool)>>,
    /// Places of the pods, indexed by pod id.
    places: Vec<Option<TracePlace>>,
}

impl PerfettoWriter<'_> {
    fn records(&mut self) {
        let records = &self.input.retained.records;
        //  Effects of each record. The cause of a record always precedes it.
        let mut effects: Vec<Vec<u32>> = vec![Vec::new(); records.len()];
        for record in records.iter().filter(|r| r.cause != NO_CAUSE) {
            if let Some(own) = effects.get_mut(record.cause as usize) {
                own.push(record.seq);
            }
        }
        for (record, effects) in records.iter().zip(&effects) {
            self.update_before(record);
            let track = self.record_track(record);
            let mut event = ProtoMessage::default();
            event.number(9, 3).number(11, track).text(23, record.body.kind());
            for effect in effects {
                event.fixed64(47, u64::from(*effect) + 1);
            }
            if record.cause != NO_CAUSE {
                event.fixed64(48, u64::from(record.seq) + 1);
            }
            self.annotate(&mut event, record);
            self.tracks.event(record.at, &event);
            self.update_after(record);
        }
        let end = self.input.run.outcome.end;
        for pod in 0..self.places.len() {
            self.close_pod_slices(PodId(pod as u32), end);
        }
    }

    fn annotate(&self, event: &mut ProtoMessage, record: &SimulationRecord) {
        let names = self.input.run.names;
        let head = record.body.head();
        let mut note = |name: &str, text: &str| {
            if !text.is_empty() {
                let mut note = ProtoMessage::default();
                note.text(10, name).text(6, text);
                event.message(4, &note);
            }
        };
        note("seq", &record.seq.to_string());
        if let TicketSubject::Pod(pod) = head.subject
            && let Some(Some(place)) = self.places.get(pod.ix())
        {
            note("pod", &names.pod_base_name(place.job, place.index));
        }
        note("reason", names.text(head.reason));
        note("message", names.text(head.message));
    }

    fn record_track(&self, record: &SimulationRecord) -> u64 {
        let roots = &self.roots;
        if matches!(record.body, Body::Fault { .. } | Body::Answered { .. }) {
            return roots.script;
        }
        let of = |all: &[u64], i: usize| all.get(i).copied().unwrap_or(roots.script);
        match record.body.head().subject {
            TicketSubject::Nothing => roots.script,
            TicketSubject::JobSet(id) => of(&roots.jobsets, id.ix()),
            TicketSubject::Job(id) => of(&roots.jobs, id.ix()),
            TicketSubject::Node(id) => of(&roots.nodes, id.ix()),
            TicketSubject::Pod(pod) => match self.places.get(pod.ix()) {
                Some(Some(TracePlace { slot: Some((.., track)), .. })) => *track,
                Some(Some(place)) => of(&roots.jobs, place.job.ix()),
                _ => roots.script,
            },
        }
    }

    /// Updates the state that is needed before the record is written.
    fn update_before(&mut self, record: &SimulationRecord) {
        match record.body {
            Body::PodCreated { pod, job, index, .. } => {
                *row_or_default(&mut self.places, pod.ix()) =
                    Some(TracePlace { job, index, slot: None, open_slices: 0 });
            }
            Body::PodBound { pod, node, .. } => self.open_pod_slices(pod, node, record.at),
            _ => {}
        }
    }

    fn update_after(&mut self, record: &SimulationRecord) {
        let state = match record.body {
            Body::PodReady { .. } => "ready",
            Body::PodNotReady { .. } | Body::ContainersRestarting { .. } => "containers down",
            Body::PodDeleting { .. } => "ending",
            Body::PodFinished { .. } => "ended",
            _ => "",
        };
        match record.body.head().subject {
            TicketSubject::Pod(pod) if matches!(record.body, Body::PodGone { .. }) => {
                self.close_pod_slices(pod, record.at)
            }
            TicketSubject::Pod(pod) if !state.is_empty() => self.switch_state_slice(pod, state, record.at),
            _ => {}
        }
    }

    /// Assigns a pod to a free slot of its node and opens its slices.
    fn open_pod_slices(&mut self, pod: PodId, node: NodeId, at: SimTime) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        let slots = row_or_default(&mut self.slots, node.ix());
        let free = slots.iter().position(|(_, taken)| !taken);
        let slot = free.unwrap_or_else(|| {
            let parent = self.roots.nodes.get(node.ix()).copied().unwrap_or(0);
            let name = format!("pods {}", slots.len());
            slots.push((self.tracks.declare(parent, &name, TrackKind::Events), false));
            slots.len() - 1
        });
        slots[slot].1 = true;
        let track = slots[slot].0;
        let name = self.input.run.names.pod_base_name(place.job, place.index);
        self.tracks.begin(track, &name, at);
        self.tracks.begin(track, "starting", at);
        self.places[pod.ix()] = Some(TracePlace { slot: Some((node, slot, track)), open_slices: 2, ..place });
    }

    /// Ends the slice of the pod's current state and begins the next one.
    fn switch_state_slice(&mut self, pod: PodId, state: &str, at: SimTime) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        if let Some((.., track)) = place.slot
            && place.open_slices == 2
        {
            self.tracks.end(track, at);
            self.tracks.begin(track, state, at);
        }
    }

    fn close_pod_slices(&mut self, pod: PodId, at: SimTime) {
        let Some(Some(place)) = self.places.get(pod.ix()).copied() else {
            return;
        };
        if let Some((node, slot, track)) = place.slot {
            for _ in 0..place.open_slices {
                self.tracks.end(track, at);
            }
            row_or_default(&mut self.slots, node.ix())[slot].1 = false;
        }
        self.places[pod.ix()] = Some(TracePlace { slot: None, open_slices: 0, ..place });
    }

    /// Writes a track with the phases of each restart, and the critical paths of the longest restarts.
    fn restarts(&mut self) {
        let run = self.input.run;
        let close: Vec<usize> = highlighted_restarts(&run).into_iter().map(|(i, _)| i).collect();
        for (i, r) in run.restarts().iter().enumerate() {
            let parent = self.roots.jobsets.get(r.jobset.ix()).copied().unwrap_or(0);
            let track = self.tracks.declare(parent, &format!("restart {}", i + 1), TrackKind::Events);
            self.tracks.begin(track, &format::restart_title(&run, r, i + 1), r.start);
            for span in r.spans().iter().filter(|s| s.to > s.from) {
                self.tracks.begin(track, span.phase().as_str(), span.from);
                self.tracks.end(track, span.to);
            }
            self.tracks.end(track, r.end);
            if !close.contains(&i) {
                continue;
            }
            let name = format!("critical path of restart {}", i + 1);
            let track = self.tracks.declare(parent, &name, TrackKind::Events);
            for span in critical_spans::spans(&run, self.input.blockers, &r.path, Some(r)) {
                let name = format!("{} <- {}", span.what, span.waited_for);
                self.tracks.begin(track, &name, span.step.from);
                self.tracks.end(track, span.step.to);
            }
        }
    }

    /// Writes the queue length of each resource at every change, and the digest at the end of the run.
    fn queues(&mut self) {
        let mut steps: Vec<(LedgerResource, Vec<(SimTime, i64)>)> = Vec::new();
        for ticket in &self.input.retained.tickets {
            let until = match ticket.wait {
                TicketWait::Request(_) => ticket.granted,
                TicketWait::Queue(_) | TicketWait::TaintLimiter => ticket.to,
                _ => continue,
            };
            let Some(resource) = ticket.wait.resource().filter(|_| until > ticket.from) else {
                continue;
            };
            let at = steps.iter().position(|(r, _)| *r == resource).unwrap_or_else(|| {
                steps.push((resource, Vec::new()));
                steps.len() - 1
            });
            steps[at].1.extend([(ticket.from, 1), (until, -1)]);
        }
        steps.sort_by_key(|(resource, _)| *resource);
        for (resource, mut changes) in steps {
            let name = format!("waiting: {}", resource.as_str());
            let track = self.tracks.declare(self.roots.control_plane, &name, TrackKind::Counter);
            changes.sort_by_key(|(at, _)| *at);
            let mut waiting = 0i64;
            let mut rest = changes.as_slice();
            while let Some((at, _)) = rest.first().copied() {
                let n = rest.iter().take_while(|(other, _)| *other == at).count();
                waiting += rest[..n].iter().map(|(_, step)| step).sum::<i64>();
                self.tracks.counter_value(track, waiting.max(0) as u64, at);
                rest = &rest[n..];
            }
        }
        let end = format::seconds(self.input.run.outcome.end.since(SimTime::ZERO));
        let name = format!("digest {}, end of the run at {end}", self.input.run.digest());
        let mut event = ProtoMessage::default();
        event.number(9, 3).number(11, self.roots.script).text(23, &name);
        self.tracks.event(self.input.run.outcome.end, &event);
    }
}
