//! Metrics as a Prometheus server would scrape them: the state of objects at fixed instants.
//!
//! Must never contain more than records and tickets do: data that they lack gets no series.

use super::queue_lengths::QueuedWork;
use sim_base::{Duration, JobId, PodId, SimTime, row_or_default};
use sim_engine::record::{
    AnsweredRequest, Body, Call, JobConditionType, JobSetConditionType, LedgerResource, NodeReady, RecordNames,
    RecordSink, ReplicatedJobNow, SimulationRecord, TicketWait, WorkTicket,
};
use std::collections::BTreeMap;

/// Upper bounds in seconds of the buckets of client-go's rate limiter histogram (component-base, restclient metrics).
pub const LIMITER_BOUNDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// Pod phases in the spelling of kube-state-metrics.
pub const PHASES: [&str; 4] = ["Pending", "Running", "Succeeded", "Failed"];

/// One pod object and its states at the scrapes during its existence.
#[derive(Clone, Debug)]
pub struct ScrapedPod {
    pub job: JobId,
    pub index: u32,
    pub pod: PodId,
    pub incarnation: u32,
    /// One entry per scrape: index of the scrape, index into `PHASES`, and whether the pod was ready.
    pub seen: Vec<(u32, u8, bool)>,
    phase: u8,
    ready: bool,
}

/// State of a JobSet at one scrape.
#[derive(Clone, Debug, Default)]
pub struct JobSetNow {
    pub exists: bool,
    pub restarts: u32,
    /// Counts of Jobs per replicatedJob in spec order: ready, succeeded, failed, active, suspended.
    pub replicas: Vec<[u32; 5]>,
    pub conditions: BTreeMap<JobSetConditionType, bool>,
}

/// State of a Job at one scrape.
#[derive(Copy, Clone, Debug, Default)]
pub struct JobNow {
    pub created: Option<SimTime>,
    pub complete: bool,
    pub failed: bool,
    /// Numbers of pods since the creation of the Job: active, succeeded, failed.
    pub pods: [u32; 3],
}

/// Waits of one client's requests of one verb for a token of the rate limiter.
#[derive(Clone, Debug)]
pub struct RateLimiterMetrics {
    pub client: &'static str,
    pub verb: &'static str,
    /// One entry per scrape, for the time since the previous one: requests by bucket of the histogram, and total wait.
    pub since: Vec<([u64; LIMITER_BOUNDS.len() + 1], Duration)>,
}

/// Number of API responses with one status code to one kind of request.
#[derive(Clone, Debug)]
pub struct ScrapedAnswers {
    pub call: Call,
    pub code: &'static str,
    /// One entry per scrape: number of responses since the previous one.
    pub since: Vec<u64>,
}

/// The objects that have series.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MetricsDetail {
    /// JobSets and the control plane.
    JobSets,
    /// Also Jobs, pods and nodes.
    Pods,
}

pub struct ScrapedMetrics {
    pub detail: MetricsDetail,
    pub at: Vec<SimTime>,
    next: usize,
    pub pods: Vec<ScrapedPod>,
    /// By pod id: index in `pods` of the existing pod object, if any.
    newest: Vec<Option<usize>>,
    pub jobsets: Vec<Vec<JobSetNow>>,
    jobsets_now: Vec<JobSetNow>,
    pub jobs: Vec<Vec<JobNow>>,
    jobs_now: Vec<JobNow>,
    pub nodes: Vec<Vec<NodeReady>>,
    nodes_now: Vec<NodeReady>,
    pub limiters: Vec<RateLimiterMetrics>,
    pub answers: Vec<ScrapedAnswers>,
    pub queued: QueuedWork,
}

impl ScrapedMetrics {
    pub fn new(at: Vec<SimTime>, jobsets: usize, nodes: usize, detail: MetricsDetail) -> ScrapedMetrics {
        ScrapedMetrics {
            detail,
            next: 0,
            pods: Vec::new(),
            newest: Vec::new(),
            jobsets: Vec::new(),
            jobsets_now: vec![JobSetNow::default(); jobsets],
            jobs: Vec::new(),
            jobs_now: Vec::new(),
            nodes: Vec::new(),
            nodes_now: vec![NodeReady::True; nodes],
            limiters: Vec::new(),
            answers: Vec::new(),
            queued: QueuedWork::new(at.clone()),
            at,
        }
    }

    pub fn finish(&mut self) {
        self.scrape_until(SimTime::NEVER);
    }

    /// Performs all pending scrapes that are due before `until`.
    fn scrape_until(&mut self, until: SimTime) {
        while self.at.get(self.next).is_some_and(|at| *at < until) {
            let scrape = self.next as u32;
            self.jobsets.push(self.jobsets_now.clone());
            if self.detail == MetricsDetail::Pods {
                for at in self.newest.iter().flatten() {
                    let pod = &mut self.pods[*at];
                    pod.seen.push((scrape, pod.phase, pod.ready));
                }
                self.jobs.push(self.jobs_now.clone());
                self.nodes.push(self.nodes_now.clone());
            }
            self.next += 1;
        }
    }

    fn pod(&mut self, pod: PodId) -> Option<&mut ScrapedPod> {
        let at = (*self.newest.get(pod.ix())?)?;
        self.pods.get_mut(at)
    }

    fn ended(&mut self, pod: PodId, succeeded: bool) {
        let Some(own) = self.pod(pod) else { return };
        (own.phase, own.ready) = (if succeeded { 2 } else { 3 }, false);
        let job = own.job;
        let pods = &mut row_or_default(&mut self.jobs_now, job.ix()).pods;
        pods[0] = pods[0].saturating_sub(1);
        pods[if succeeded { 1 } else { 2 }] += 1;
    }

    fn remove_pod(&mut self, pod: PodId) {
        let Some(own) = self.pod(pod) else { return };
        let (job, active) = (own.job, own.phase < 2);
        if active {
            let pods = &mut row_or_default(&mut self.jobs_now, job.ix()).pods;
            pods[0] = pods[0].saturating_sub(1);
        }
        self.newest[pod.ix()] = None;
    }

    fn limiter(&mut self, client: &'static str, verb: &'static str) -> &mut RateLimiterMetrics {
        let same = |l: &RateLimiterMetrics| l.client == client && l.verb == verb;
        let at = self.limiters.iter().position(same).unwrap_or_else(|| {
            let none = ([0; LIMITER_BOUNDS.len() + 1], Duration::ZERO);
            self.limiters.push(RateLimiterMetrics { client, verb, since: vec![none; self.at.len()] });
            self.limiters.len() - 1
        });
        &mut self.limiters[at]
    }

    fn of_jobset(&mut self, body: &Body) {
        match *body {
            Body::JobSetCreated { jobset } => {
                *row_or_default(&mut self.jobsets_now, jobset.ix()) =
                    JobSetNow { exists: true, ..JobSetNow::default() };
            }
            Body::JobSetDeleted { jobset } => row_or_default(&mut self.jobsets_now, jobset.ix()).exists = false,
            Body::RestartCounted { jobset, restarts, .. } => {
                row_or_default(&mut self.jobsets_now, jobset.ix()).restarts = restarts
            }
            Body::JobSetCondition { jobset, kind, status, .. } => {
                let now = row_or_default(&mut self.jobsets_now, jobset.ix());
                now.conditions.insert(kind, status);
            }
            _ => {}
        }
    }
}

impl RecordSink for ScrapedMetrics {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.scrape_until(record.at);
        match record.body {
            Body::PodCreated { pod, incarnation, job, index, .. } => {
                *row_or_default(&mut self.newest, pod.ix()) = Some(self.pods.len());
                self.pods.push(ScrapedPod { job, index, pod, incarnation, seen: Vec::new(), phase: 0, ready: false });
                row_or_default(&mut self.jobs_now, job.ix()).pods[0] += 1;
            }
            Body::PodRunning { pod, .. } => {
                if let Some(own) = self.pod(pod) {
                    own.phase = 1;
                }
            }
            Body::PodReady { pod, .. } | Body::PodNotReady { pod, .. } => {
                let ready = matches!(record.body, Body::PodReady { .. });
                if let Some(own) = self.pod(pod) {
                    own.ready = ready;
                }
            }
            Body::PodFinished { pod, succeeded, .. } => self.ended(pod, succeeded),
            Body::PodGone { pod, .. } => self.remove_pod(pod),
            Body::JobCreated { job, .. } => {
                *row_or_default(&mut self.jobs_now, job.ix()) =
                    JobNow { created: Some(record.at), ..JobNow::default() };
            }
            Body::JobGone { job } => row_or_default(&mut self.jobs_now, job.ix()).created = None,
            Body::JobCondition { job, kind, .. } => {
                let now = row_or_default(&mut self.jobs_now, job.ix());
                now.complete |= kind == JobConditionType::Complete;
                now.failed |= kind == JobConditionType::Failed;
            }
            Body::NodeState { node, ready } if node.ix() < self.nodes_now.len() => {
                self.nodes_now[node.ix()] = ready;
            }
            _ => self.of_jobset(&record.body),
        }
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn replicated_job(&mut self, now: &ReplicatedJobNow) {
        let replicas = &mut row_or_default(&mut self.jobsets_now, now.jobset.ix()).replicas;
        *row_or_default(replicas, now.replicated_job as usize) = now.replicas;
    }

    fn request_answered(&mut self, answered: &AnsweredRequest) {
        let AnsweredRequest { call, code, at } = *answered;
        let scrape = self.at.partition_point(|scraped| *scraped < at);
        if scrape == self.at.len() {
            return;
        }
        let same = |a: &ScrapedAnswers| a.call == call && a.code == code;
        let known = self.answers.iter().position(same).unwrap_or_else(|| {
            self.answers.push(ScrapedAnswers { call, code, since: vec![0; self.at.len()] });
            self.answers.len() - 1
        });
        self.answers[known].since[scrape] += 1;
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        self.queued.ticket(ticket);
        let TicketWait::Request(call) = ticket.wait else {
            return;
        };
        let kind = call.kind();
        let scrape = self.at.partition_point(|at| *at < ticket.granted);
        // Limits of the API server on requests of nodes are not a client's rate limiter.
        let own = kind.bucket.is_some_and(|b| b != LedgerResource::NodeRequests);
        if !own || scrape == self.at.len() {
            return;
        }
        let waited = ticket.granted.since(ticket.from);
        let bound = LIMITER_BOUNDS.partition_point(|b| *b < waited.seconds());
        let (counts, sum) = &mut self.limiter(kind.client, kind.verb).since[scrape];
        counts[bound] += 1;
        *sum = *sum + waited;
    }
}
