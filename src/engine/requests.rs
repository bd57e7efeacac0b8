//! Requests to the API server: when each one leaves the client, when its response arrives, and the counts per kind.
//! The client's token bucket decides when a request leaves; a random latency, named after its object, decides when
//! the response arrives. The counters are those of an audit log. Must never apply the effect of a request: that is
//! the task of `apiserver`.

use super::token_bucket::TokenBucket;
use crate::record::{Call, CallCost, LedgerResource, RequestCount, TicketSubject};
use sim_api::spec::{ClientRate, ControlPlane, MeasuredLatency, TimingSpec};
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, SimTime};

/// A request about to be sent.
#[derive(Copy, Clone, Debug)]
pub struct RequestEntry {
    pub call: Call,
    pub subject: TicketSubject,
    /// Number of earlier requests of this kind about the object.
    pub nth: u32,
    /// Distinguishes similar requests if the object does not.
    pub substream: Option<u32>,
    /// Identifies the sender's step that sends several requests; requests of one step that leave together share the
    /// server's latency.
    pub step: Option<StreamKey>,
}

impl RequestEntry {
    pub fn new(call: Call, about: TicketSubject, nth: u32) -> RequestEntry {
        RequestEntry { call, subject: about, nth, substream: None, step: None }
    }

    pub fn with_substream(self, substream_index: u32) -> RequestEntry {
        RequestEntry { substream: Some(substream_index), ..self }
    }

    pub fn in_step(self, step: StreamKey) -> RequestEntry {
        RequestEntry { step: Some(step), ..self }
    }
}

/// 0.1: Jobs deleted together were answered within 1.0 to 1.4 times the median (recordings/times, `requests`).
const STEP_LATENCY_SPREAD: f64 = 0.1;

/// Responses that the model produces, besides success.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestAnswer {
    Success,
    Forbidden,
    NotFound,
    Conflict,
    Invalid,
}

impl RequestAnswer {
    /// HTTP status code and reason; empty for success.
    pub fn code(self) -> &'static str {
        CODES[self as usize]
    }

    /// Success if the object exists, otherwise 404.
    pub fn from_existence(there: bool) -> RequestAnswer {
        if there { RequestAnswer::Success } else { RequestAnswer::NotFound }
    }

    pub fn is_success(self) -> bool {
        self == RequestAnswer::Success
    }
}

const CODES: [&str; 5] = ["", "403", "404", "409", "422"];

#[derive(Copy, Clone)]
struct RequestTally {
    count: u64,
    first: SimTime,
    last: SimTime,
}

const NO_TALLY: RequestTally = RequestTally { count: 0, first: SimTime::NEVER, last: SimTime::ZERO };

/// Time at which a request leaves and time at which its response arrives.
pub struct RequestTimes {
    pub granted: SimTime,
    pub answered_at: SimTime,
}

fn measured_latency(timing: &TimingSpec, call: Call) -> Option<&Distribution> {
    let kind = call.kind();
    let is_this = |m: &&MeasuredLatency| {
        (m.client.as_str(), m.verb.as_str(), m.resource.as_str()) == (kind.client, kind.verb, kind.resource)
    };
    timing.api_measured.iter().find(is_this).map(|m| &m.latency)
}

/// The measured latency of this kind of request, or the latency of its cost class.
fn latency_distribution(timing: &TimingSpec, call: Call) -> Distribution {
    let kind = call.kind();
    let by_cost = match kind.cost {
        CallCost::Read => &timing.api_read,
        CallCost::Write => &timing.api_write,
        CallCost::PodCreate => &timing.api_pod_create,
    };
    measured_latency(timing, call).unwrap_or(by_cost).clone()
}

#[derive(Clone)]
pub struct RequestTable {
    token_buckets: Vec<(LedgerResource, ClientRate, TokenBucket)>,
    /// Index of the token bucket per kind, in `lanes`.
    bucket_index: [Option<u8>; Call::COUNT],
    latency: [Distribution; Call::COUNT],
    /// True for kinds whose measured latency includes the wait at the API server, as for nodes.
    includes_wait: [bool; Call::COUNT],
    /// Keys of the request kinds in the names of their random latencies.
    keys: [StreamKey; Call::COUNT],
    /// Per kind: the last step that sent several requests, and the latency that they share (cached).
    step_latencies: [(StreamKey, Duration); Call::COUNT],
    tally: [[RequestTally; CODES.len()]; Call::COUNT],
    /// Counts at the start of the first restart, which separate start and restart.
    counts_at_restart: Option<[[u64; CODES.len()]; Call::COUNT]>,
}

impl RequestTable {
    pub fn new(plane: &ControlPlane, timing: &TimingSpec) -> RequestTable {
        let kcm = plane.kube_controller_manager;
        // kubernetes.md 1.2: the garbage collector's metadata client has twice the QPS, with the burst unchanged.
        let collector = ClientRate::new(2.0 * kcm.qps, kcm.burst);
        // Rate of all nodes together, without a burst beyond one second of capacity.
        let nodes = ClientRate::new(plane.node_requests_per_s, 1);
        let rates = [
            (LedgerResource::JobControllerClient, kcm),
            (LedgerResource::GarbageCollectorClient, collector),
            (LedgerResource::JobSetClient, plane.jobset_manager),
            (LedgerResource::JobSetStatusClient, plane.jobset_manager),
            (LedgerResource::JobSetPodClient, plane.jobset_manager),
            (LedgerResource::SchedulerBindClient, plane.kube_scheduler),
            (LedgerResource::NodeRequests, nodes),
            (LedgerResource::TaintEvictionClient, kcm),
        ];
        let bucket = |call: Call| {
            let bucket = call.kind().bucket?;
            let at = rates.iter().position(|(r, _)| *r == bucket);
            Some(at.expect("every bucket has a rate") as u8)
        };
        RequestTable {
            bucket_index: Call::ALL.map(bucket),
            token_buckets: rates.map(|(r, rate)| (r, rate, TokenBucket::new(rate))).into(),
            latency: Call::ALL.map(|call| latency_distribution(timing, call)),
            includes_wait: Call::ALL.map(|call| {
                let of_nodes = call.kind().bucket == Some(LedgerResource::NodeRequests);
                of_nodes && measured_latency(timing, call).is_some()
            }),
            keys: Call::ALL.map(|call| StreamKey::from_text(&call.text())),
            step_latencies: [(StreamKey::default(), Duration::ZERO); Call::COUNT],
            tally: [[NO_TALLY; CODES.len()]; Call::COUNT],
            counts_at_restart: None,
        }
    }

    pub fn reset(&mut self) {
        self.token_buckets.iter_mut().for_each(|(_, _, bucket)| bucket.reset());
        self.tally = [[NO_TALLY; CODES.len()]; Call::COUNT];
        self.step_latencies = [(StreamKey::default(), Duration::ZERO); Call::COUNT];
        self.counts_at_restart = None;
    }

    /// Sends a request at `now`. `object` identifies its object in the name of the random latency.
    pub fn send(
        &mut self,
        draws: &mut DrawSequence,
        req: &RequestEntry,
        object: (StreamKey, u32),
        now: SimTime,
    ) -> RequestTimes {
        let granted = match self.bucket_index[req.call as usize] {
            Some(bucket) => self.token_buckets[usize::from(bucket)].2.reserve(now),
            None => now,
        };
        let step = req.step.filter(|_| granted == now);
        let latency = self.draw_latency(draws, req, object, step);
        let answered =
            if self.includes_wait[req.call as usize] { granted.max(now + latency) } else { granted + latency };
        RequestTimes { granted, answered_at: answered }
    }

    /// Requests that leave together share one draw; each adds at most `TOGETHER_SPREAD` of it.
    fn draw_latency(
        &mut self,
        draws: &mut DrawSequence,
        req: &RequestEntry,
        (object, substream_index): (StreamKey, u32),
        step: Option<StreamKey>,
    ) -> Duration {
        let dist = &self.latency[req.call as usize];
        if let (Distribution::Fixed(d), None) = (dist, step) {
            return *d;
        }
        let kind = self.keys[req.call as usize].0;
        let own = UniformDraw {
            purpose: StreamPurpose::ApiLatency,
            entity: StreamKey(object.0 ^ kind),
            occurrence: req.nth,
            substream: substream_index,
        };
        let Some(step) = step else {
            return draws.sample(own, dist);
        };
        let entity = StreamKey(step.0 ^ kind);
        let last = &mut self.step_latencies[req.call as usize];
        if last.0 != entity {
            let shared = UniformDraw { purpose: StreamPurpose::Burst, entity, occurrence: 0, substream: 0 };
            *last = (entity, draws.sample(shared, dist));
        }
        let base = last.1;
        let spread = base.0 as f64 * STEP_LATENCY_SPREAD * draws.uniform(own);
        base + Duration(spread as u64)
    }

    /// Adds an answered request to the audit log.
    pub fn record_response(&mut self, call: Call, answer: RequestAnswer, now: SimTime) {
        let t = &mut self.tally[call as usize][answer as usize];
        t.count += 1;
        t.first = t.first.min(now);
        t.last = now;
    }

    /// Marks the start of the first restart; later requests are counted separately.
    pub fn mark_restart(&mut self) {
        if self.counts_at_restart.is_none() {
            self.counts_at_restart = Some(self.tally.map(|answers| answers.map(|t| t.count)));
        }
    }

    /// Iterates over every token bucket with its rate.
    pub fn token_buckets(&self) -> impl Iterator<Item = (LedgerResource, ClientRate, &TokenBucket)> {
        self.token_buckets.iter().map(|(r, rate, bucket)| (*r, *rate, bucket))
    }

    pub fn counts(&self) -> Vec<RequestCount> {
        let mut all = Vec::new();
        for (k, answers) in self.tally.iter().enumerate() {
            for (a, t) in answers.iter().enumerate().filter(|(_, t)| t.count > 0) {
                let kind = Call::ALL[k].kind();
                let before = self.counts_at_restart.as_ref().map_or(t.count, |m| m[k][a]);
                all.push(RequestCount {
                    client: kind.client,
                    verb: kind.verb,
                    resource: kind.resource,
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
