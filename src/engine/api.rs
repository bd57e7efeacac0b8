//! Requests to the API server: who asks what, when it is answered, and how often.
//!
//! A client's token bucket decides when a request leaves, a latency when it is answered; its effect is applied at the
//! answer. The counters are those of an audit log.

use super::lane::Lane;
use crate::base::random::{Dist, Purpose, Stream, Streams};
use crate::base::*;
use crate::record::RequestCount;
use crate::spec::{ClientRate, ControlPlane, Timing};

/// A kind of request by one client. The order is that of `KINDS`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Call {
    JobPodCreate,
    JobPodDelete,
    JobPodPatch,
    JobStatusUpdate,
    JobEventCreate,
    JobEventPatch,
    CollectorPodGet,
    CollectorJobGet,
    CollectorPodDelete,
    CollectorJobPatch,
    CollectorJobDelete,
    JobSetStatusUpdate,
    JobSetJobDelete,
    JobSetJobCreate,
    JobSetJobUpdate,
    JobSetServiceCreate,
    JobSetEventCreate,
    JobSetDelete,
    Bind,
    SchedulerEvent,
    KubeletStatus,
    KubeletDelete,
    AgentList,
    AgentPatch,
    EvictionPodGet,
    EvictionPodPatch,
    EvictionPodDelete,
    PodGcPatch,
    PodGcDelete,
    JobSetClaimCreate,
    JobSetJobPatch,
    TtlJobGet,
    TtlJobDelete,
}

/// Whose token bucket a call waits in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Client {
    JobController,
    Collector,
    JobSetJobs,
    JobSetStatus,
    SchedulerBind,
    Nodes,
    Eviction,
    Free,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Cost {
    Read,
    Write,
    PodCreate,
}

const COUNT: usize = 33;

/// (client name in the audit log, verb, resource, bucket, latency class).
const KINDS: [(&str, &str, &str, Client, Cost); COUNT] = {
    use Client::*;
    use Cost::*;
    [
        ("job-controller", "create", "pods", JobController, PodCreate),
        ("job-controller", "delete", "pods", JobController, Write),
        ("job-controller", "patch", "pods", JobController, Write),
        (
            "job-controller",
            "update",
            "jobs/status",
            JobController,
            Write,
        ),
        ("job-controller", "create", "events", JobController, Write),
        ("job-controller", "patch", "events", JobController, Write),
        ("generic-garbage-collector", "get", "pods", Collector, Read),
        ("generic-garbage-collector", "get", "jobs", Collector, Read),
        (
            "generic-garbage-collector",
            "delete",
            "pods",
            Collector,
            Write,
        ),
        (
            "generic-garbage-collector",
            "patch",
            "jobs",
            Collector,
            Write,
        ),
        (
            "generic-garbage-collector",
            "delete",
            "jobs",
            Collector,
            Write,
        ),
        ("jobset", "update", "jobsets/status", JobSetStatus, Write),
        ("jobset", "delete", "jobs", JobSetJobs, Write),
        ("jobset", "create", "jobs", JobSetJobs, Write),
        ("jobset", "update", "jobs", JobSetJobs, Write),
        ("jobset", "create", "services", Free, Write),
        ("jobset", "create", "events", Free, Write),
        ("jobset", "delete", "jobsets", JobSetStatus, Write),
        (
            "kube-scheduler",
            "create",
            "pods/binding",
            SchedulerBind,
            Write,
        ),
        ("kube-scheduler", "create", "events", Free, Write),
        ("kubelets", "patch", "pods/status", Nodes, Write),
        ("kubelets", "delete", "pods", Nodes, Write),
        ("kubelets", "list", "jobsets", Nodes, Read),
        ("kubelets", "patch", "pods", Nodes, Write),
        ("taint-eviction-controller", "get", "pods", Eviction, Read),
        (
            "taint-eviction-controller",
            "patch",
            "pods/status",
            Eviction,
            Write,
        ),
        (
            "taint-eviction-controller",
            "delete",
            "pods",
            Eviction,
            Write,
        ),
        ("pod-garbage-collector", "patch", "pods/status", Free, Write),
        ("pod-garbage-collector", "delete", "pods", Free, Write),
        ("jobset", "create", "persistentvolumeclaims", Free, Write),
        ("jobset", "patch", "jobs", JobSetJobs, Write),
        ("ttl-after-finished-controller", "get", "jobs", Free, Read),
        (
            "ttl-after-finished-controller",
            "delete",
            "jobs",
            Free,
            Write,
        ),
    ]
};

/// A tenth: Jobs deleted in one go were answered within 1.0 to 1.4 of the median (recordings/times, `requests`).
const TOGETHER_SPREAD: u64 = 10;

/// Answers other than success that the model produces.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    Success,
    Forbidden,
    NotFound,
    Conflict,
    Invalid,
}

impl Answer {
    /// Success if the object is still there, else 404.
    pub fn found(there: bool) -> Answer {
        if there {
            Answer::Success
        } else {
            Answer::NotFound
        }
    }
}

const CODES: [&str; 5] = ["", "403", "404", "409", "422"];

#[derive(Copy, Clone)]
struct Tally {
    count: u64,
    first: Time,
    last: Time,
}

const NO_TALLY: Tally = Tally {
    count: 0,
    first: Time::NEVER,
    last: Time::ZERO,
};

pub struct Api {
    pub job_controller: Lane,
    pub collector: Lane,
    pub jobset_jobs: Lane,
    pub jobset_status: Lane,
    pub scheduler_bind: Lane,
    pub nodes: Lane,
    pub eviction: Lane,
    latency: [Dist; 3],
    streams: Vec<Stream>,
    /// Per kind: when the last request left, and its latency.
    last: [(Time, Duration); COUNT],
    watch: Option<Stream>,
    status: Option<Stream>,
    watch_dist: Dist,
    tally: [[Tally; CODES.len()]; COUNT],
    /// Counts when the first restart began, to tell start from restart.
    at_restart: Option<[[u64; CODES.len()]; COUNT]>,
}

impl Api {
    pub fn new(plane: &ControlPlane, timing: &Timing) -> Api {
        let kcm = plane.kube_controller_manager;
        // kubernetes.md 1.2: the collector's metadata client gets twice the rate, burst unchanged.
        let collector = ClientRate::new(2.0 * kcm.qps, kcm.burst);
        // What all nodes together get: no burst of their own beyond one second's worth of queue-free capacity.
        let nodes = ClientRate::new(plane.node_requests_per_s, 1);
        Api {
            job_controller: Lane::new(kcm),
            collector: Lane::new(collector),
            jobset_jobs: Lane::new(plane.jobset_manager),
            jobset_status: Lane::new(plane.jobset_manager),
            scheduler_bind: Lane::new(plane.kube_scheduler),
            nodes: Lane::new(nodes),
            eviction: Lane::new(kcm),
            latency: [
                timing.api_read.clone(),
                timing.api_write.clone(),
                timing.api_pod_create.clone(),
            ],
            streams: Vec::new(),
            last: [(Time::NEVER, Duration::ZERO); COUNT],
            watch: None,
            status: None,
            watch_dist: timing.watch_lag.clone(),
            tally: [[NO_TALLY; CODES.len()]; COUNT],
            at_restart: None,
        }
    }

    pub fn reset(&mut self, streams: &Streams) {
        for lane in [
            &mut self.job_controller,
            &mut self.collector,
            &mut self.jobset_jobs,
            &mut self.jobset_status,
            &mut self.scheduler_bind,
            &mut self.nodes,
            &mut self.eviction,
        ] {
            lane.reset();
        }
        self.streams.clear();
        self.streams
            .extend((0..COUNT).map(|k| streams.stream(Purpose::ApiLatency, k as u32, 0)));
        self.last = [(Time::NEVER, Duration::ZERO); COUNT];
        self.watch = Some(streams.stream(Purpose::WatchLag, 0, 0));
        self.status = Some(streams.stream(Purpose::StatusWrite, 0, 0));
        self.tally = [[NO_TALLY; CODES.len()]; COUNT];
        self.at_restart = None;
    }

    /// From a write to a watcher's cache; the nth change of the run has the nth lag.
    pub fn watch_lag(&mut self) -> Duration {
        self.watch
            .as_mut()
            .map_or(Duration::ZERO, |s| s.sample(&self.watch_dist))
    }

    /// What the kubelet needs before a status PATCH leaves; the nth one of the run has the nth delay.
    pub fn status_delay(&mut self, dist: &Dist) -> Duration {
        self.status
            .as_mut()
            .map_or(Duration::ZERO, |s| s.sample(dist))
    }

    /// Sends a request now; returns when it is answered.
    pub fn send(&mut self, call: Call, now: Time) -> Time {
        let (_, _, _, client, cost) = KINDS[call as usize];
        let granted = match client {
            Client::JobController => self.job_controller.reserve(now),
            Client::Collector => self.collector.reserve(now),
            Client::JobSetJobs => self.jobset_jobs.reserve(now),
            Client::JobSetStatus => self.jobset_status.reserve(now),
            Client::SchedulerBind => self.scheduler_bind.reserve(now),
            Client::Nodes => self.nodes.reserve(now),
            Client::Eviction => self.eviction.reserve(now),
            Client::Free => now,
        };
        granted + self.latency(call, cost, granted)
    }

    /// Requests that leave together meet the same server: they share one draw, up to `TOGETHER_SPREAD`.
    fn latency(&mut self, call: Call, cost: Cost, granted: Time) -> Duration {
        let stream = &mut self.streams[call as usize];
        let (at, latency) = &mut self.last[call as usize];
        if *at != granted {
            *at = granted;
            *latency = stream.sample(&self.latency[cost as usize]);
            return *latency;
        }
        let spread = (latency.0 / TOGETHER_SPREAD).min(u64::from(u32::MAX)) as u32;
        Duration(latency.0 + u64::from(stream.below(spread + 1)))
    }

    /// Writes an answered request into the audit log.
    pub fn answered(&mut self, call: Call, answer: Answer, now: Time) {
        let t = &mut self.tally[call as usize][answer as usize];
        t.count += 1;
        t.first = t.first.min(now);
        t.last = now;
    }

    /// The first restart begins: what comes after is counted apart.
    pub fn mark_restart(&mut self) {
        if self.at_restart.is_none() {
            self.at_restart = Some(self.tally.map(|answers| answers.map(|t| t.count)));
        }
    }

    pub fn requests(&self) -> Vec<RequestCount> {
        let mut all = Vec::new();
        for (k, answers) in self.tally.iter().enumerate() {
            for (a, t) in answers.iter().enumerate().filter(|(_, t)| t.count > 0) {
                let (client, verb, resource, _, _) = KINDS[k];
                let before = self.at_restart.as_ref().map_or(t.count, |m| m[k][a]);
                all.push(RequestCount {
                    client,
                    verb,
                    resource,
                    code: CODES[a],
                    count: t.count,
                    since_restart: t.count - before,
                    first: t.first,
                    last: t.last,
                });
            }
        }
        all
    }
}
