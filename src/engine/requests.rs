//! Requests to the API server: when each one leaves the client, when its response arrives, and the counts per kind.
//! The client's token bucket decides when a request leaves; a random latency, named after its object and increasing
//! with the requests in flight, decides when the response arrives. Requests of nodes have no client limit: they share
//! the capacity of the server (`NodeRequests`). The counters are those of an audit log. Must never apply the effect of
//! a request: that is the task of `apiserver`.

use super::requests_in_flight::RequestsInFlight;
use super::token_bucket::TokenBucket;
use crate::record::{Call, CallCost, LedgerResource, RequestCount, TicketSubject};
use sim_api::spec::{ClientRate, ControlPlane, TimingSpec};
use sim_base::random::{Distribution, DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, SimTime};

/// Defaults of `clientConnection` in Kueue's Configuration (`apis/config/v1beta2/defaults.go`).
const KUEUE_QPS: f64 = 300.0;
const KUEUE_BURST: u32 = 500;

/// A request about to be sent.
#[derive(Copy, Clone, Debug)]
pub struct RequestEntry {
    pub call: Call,
    pub subject: TicketSubject,
    /// Number of earlier requests of this kind about the object.
    pub nth: u32,
    /// Distinguishes similar requests if the object does not.
    pub substream: Option<u32>,
}

impl RequestEntry {
    pub fn new(call: Call, about: TicketSubject, nth: u32) -> RequestEntry {
        RequestEntry { call, subject: about, nth, substream: None }
    }

    pub fn with_substream(self, substream_index: u32) -> RequestEntry {
        RequestEntry { substream: Some(substream_index), ..self }
    }
}

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
    /// Requests in flight at the API server when the request arrived.
    pub in_flight: u32,
}

/// Latency of one kind of request.
#[derive(Clone)]
struct KindLatency {
    latency: Distribution,
    /// Requests in flight at which the latency was measured, ascending; empty for the latency of an idle server.
    loads: Vec<u32>,
    /// True for requests of nodes, which share `LedgerResource::NodeRequests`.
    is_of_node: bool,
    is_measured: bool,
}

impl KindLatency {
    /// The measured latency of this kind of request, or the latency of its cost class.
    fn new(timing: &TimingSpec, call: Call) -> KindLatency {
        let kind = call.kind();
        let by_cost = match kind.cost {
            CallCost::Read => &timing.api_read,
            CallCost::Write => &timing.api_write,
            CallCost::TwoWebhooks => &timing.api_pod_create,
        };
        let is_of_node = kind.bucket == Some(LedgerResource::NodeRequests);
        let measured = timing.measured_kind((kind.client, kind.verb, kind.resource)).map(|at| &timing.api_measured[at]);
        KindLatency {
            latency: measured.map_or(by_cost, |m| &m.latency).clone(),
            loads: measured.map_or(Vec::new(), |m| m.loads.clone()),
            is_of_node,
            is_measured: measured.is_some(),
        }
    }

    /// Returns the latency of a request that finds this number of requests in flight.
    fn sample(&self, draws: &mut DrawSequence, own: UniformDraw, (in_flight, concurrency): (u32, u32)) -> Duration {
        if self.loads.is_empty() {
            let idle = draws.sample(own, &self.latency);
            if in_flight < concurrency {
                return idle;
            }
            // Beyond its concurrency, the server divides its capacity equally among the requests.
            return Duration(idle.saturating_mul(u64::from(in_flight) + 1).0 / u64::from(concurrency));
        }
        // The latency has the same rank among the measured ones as the load; equal loads are drawn.
        let lower = self.loads.partition_point(|n| *n < in_flight) as f64;
        let equal = self.loads.partition_point(|n| *n <= in_flight) as f64 - lower;
        let rank = (lower + equal * draws.uniform(own)) / self.loads.len() as f64;
        self.latency.quantile(rank.clamp(1e-6, 1.0 - 1e-6))
    }
}

#[derive(Clone)]
pub struct RequestTable {
    token_buckets: Vec<(LedgerResource, ClientRate, TokenBucket)>,
    /// Index of the token bucket per kind, in `lanes`.
    bucket_index: [Option<u8>; Call::COUNT],
    latency: [KindLatency; Call::COUNT],
    in_flight: RequestsInFlight,
    /// Number of requests that the API server executes at the same time.
    concurrency: u32,
    /// Keys of the request kinds in the names of their random latencies.
    keys: [StreamKey; Call::COUNT],
    tally: [[RequestTally; CODES.len()]; Call::COUNT],
    /// Counts at the start of the first restart, which separate start and restart.
    counts_at_restart: Option<[[u64; CODES.len()]; Call::COUNT]>,
}

impl RequestTable {
    pub fn new(plane: &ControlPlane, timing: &TimingSpec) -> RequestTable {
        let kcm = plane.kube_controller_manager;
        // kubernetes.md 1.2: the garbage collector's metadata client has twice the QPS, with the burst unchanged.
        let collector = ClientRate::new(2.0 * kcm.qps, kcm.burst);
        let kueue = ClientRate::new(KUEUE_QPS, KUEUE_BURST);
        // Rate of all nodes together. The server executes their requests while they are in flight, so that those of an
        // idle moment are only as slow as their latency.
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
            (LedgerResource::KueueJobSetClient, kueue),
            (LedgerResource::KueueWorkloadClient, kueue),
            (LedgerResource::KueuePodClient, kueue),
        ];
        let index = |bucket| rates.iter().position(|(r, _)| *r == bucket).expect("every bucket has a rate");
        let bucket = |call: Call| call.kind().bucket.map(|bucket| index(bucket) as u8);
        RequestTable {
            bucket_index: Call::ALL.map(bucket),
            token_buckets: rates.map(|(r, rate)| (r, rate, TokenBucket::new(rate))).into(),
            latency: Call::ALL.map(|call| KindLatency::new(timing, call)),
            in_flight: RequestsInFlight::default(),
            concurrency: plane.api_server_concurrency,
            keys: Call::ALL.map(|call| StreamKey::from_text(&call.text())),
            tally: [[NO_TALLY; CODES.len()]; Call::COUNT],
            counts_at_restart: None,
        }
    }

    pub fn reset(&mut self) {
        self.token_buckets.iter_mut().for_each(|(_, _, bucket)| bucket.reset());
        self.in_flight.reset();
        self.tally = [[NO_TALLY; CODES.len()]; Call::COUNT];
        self.counts_at_restart = None;
    }

    /// Sends a request at `now`. `object` identifies its object in the name of the random latency.
    pub fn send(
        &mut self, draws: &mut DrawSequence, req: &RequestEntry, object: (StreamKey, u32), now: SimTime,
    ) -> RequestTimes {
        let granted = match self.bucket_index[req.call as usize] {
            Some(bucket) => self.token_buckets[usize::from(bucket)].2.reserve(now),
            None => now,
        };
        let kind = &self.latency[req.call as usize];
        // A measured latency of a node contains the wait and the effect of the load.
        let arrival = if kind.is_of_node && kind.is_measured { now } else { granted };
        let in_flight = self.in_flight.count(arrival);
        let own = UniformDraw {
            purpose: StreamPurpose::ApiLatency,
            entity: StreamKey(object.0.0 ^ self.keys[req.call as usize].0),
            occurrence: req.nth,
            substream: object.1,
        };
        let latency = kind.sample(draws, own, (in_flight, self.concurrency));
        let counted = if kind.is_measured && !kind.loads.is_empty() { kind.latency.median() } else { latency };
        self.in_flight.enter(now, arrival, arrival + counted);
        // The server executes a request of a node while it waits for its share of the capacity.
        let begins = if kind.is_of_node { now } else { granted };
        let answered_at = granted.max(begins + latency);
        RequestTimes { granted, answered_at, in_flight }
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

#[cfg(test)]
#[path = "../../tests/inside/engine/requests.rs"]
mod tests;
