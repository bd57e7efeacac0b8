//! Requests to the API server: when each one leaves the client, when its response arrives, and the counts per kind.
//! The client's token bucket decides when a request leaves; a random latency, named after its object, decides when
//! the response arrives. The counters are those of an audit log. Must never apply the effect of a request: that is
//! the task of `apiserver`.

use super::lane::Lane;
use crate::record::{About, Call, Cost, RequestCount, Resource};
use sim_api::spec::{ClientRate, ControlPlane, MeasuredLatency, Timing};
use sim_base::random::{Dist, Draw, Draws, Key, Purpose};
use sim_base::*;

/// A request about to be sent.
#[derive(Copy, Clone, Debug)]
pub struct Req {
    pub call: Call,
    pub about: About,
    /// Number of earlier requests of this kind about the object.
    pub nth: u32,
    /// Distinguishes similar requests if the object does not.
    pub lane: Option<u32>,
    /// Identifies the sender's step that sends several requests; requests of one step that leave together share the
    /// server's latency.
    pub step: Option<Key>,
}

impl Req {
    pub fn new(call: Call, about: About, nth: u32) -> Req {
        Req {
            call,
            about,
            nth,
            lane: None,
            step: None,
        }
    }

    pub fn lane(self, lane: u32) -> Req {
        Req {
            lane: Some(lane),
            ..self
        }
    }

    pub fn together(self, step: Key) -> Req {
        Req {
            step: Some(step),
            ..self
        }
    }
}

/// 0.1: Jobs deleted together were answered within 1.0 to 1.4 times the median (recordings/times, `requests`).
const TOGETHER_SPREAD: f64 = 0.1;

/// Responses that the model produces, besides success.
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
    /// HTTP status code and reason; empty for success.
    pub fn code(self) -> &'static str {
        CODES[self as usize]
    }

    /// Success if the object exists, otherwise 404.
    pub fn found(there: bool) -> Answer {
        if there {
            Answer::Success
        } else {
            Answer::NotFound
        }
    }

    pub fn is_success(self) -> bool {
        self == Answer::Success
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

/// Time at which a request leaves and time at which its response arrives.
pub struct Times {
    pub granted: Time,
    pub answered: Time,
}

fn measured(timing: &Timing, call: Call) -> Option<&Dist> {
    let kind = call.kind();
    let is_this = |m: &&MeasuredLatency| {
        (m.client.as_str(), m.verb.as_str(), m.resource.as_str())
            == (kind.client, kind.verb, kind.resource)
    };
    timing.api_measured.iter().find(is_this).map(|m| &m.latency)
}

/// The measured latency of this kind of request, or the latency of its cost class.
fn latency(timing: &Timing, call: Call) -> Dist {
    let kind = call.kind();
    let by_cost = match kind.cost {
        Cost::Read => &timing.api_read,
        Cost::Write => &timing.api_write,
        Cost::PodCreate => &timing.api_pod_create,
    };
    measured(timing, call).unwrap_or(by_cost).clone()
}

#[derive(Clone)]
pub struct Requests {
    lanes: Vec<(Resource, ClientRate, Lane)>,
    /// Index of the token bucket per kind, in `lanes`.
    bucket: [Option<u8>; Call::COUNT],
    latency: [Dist; Call::COUNT],
    /// True for kinds whose measured latency includes the wait at the API server, as for nodes.
    includes_wait: [bool; Call::COUNT],
    /// Keys of the request kinds in the names of their random latencies.
    keys: [Key; Call::COUNT],
    /// Per kind: the last step that sent several requests, and the latency that they share (cached).
    shared: [(Key, Duration); Call::COUNT],
    tally: [[Tally; CODES.len()]; Call::COUNT],
    /// Counts at the start of the first restart, which separate start and restart.
    at_restart: Option<[[u64; CODES.len()]; Call::COUNT]>,
}

impl Requests {
    pub fn new(plane: &ControlPlane, timing: &Timing) -> Requests {
        let kcm = plane.kube_controller_manager;
        // kubernetes.md 1.2: the garbage collector's metadata client has twice the QPS, with the burst unchanged.
        let collector = ClientRate::new(2.0 * kcm.qps, kcm.burst);
        // Rate of all nodes together, without a burst beyond one second of capacity.
        let nodes = ClientRate::new(plane.node_requests_per_s, 1);
        let rates = [
            (Resource::JobControllerClient, kcm),
            (Resource::GarbageCollectorClient, collector),
            (Resource::JobSetClient, plane.jobset_manager),
            (Resource::JobSetStatusClient, plane.jobset_manager),
            (Resource::JobSetPodClient, plane.jobset_manager),
            (Resource::SchedulerBindClient, plane.kube_scheduler),
            (Resource::NodeRequests, nodes),
            (Resource::TaintEvictionClient, kcm),
        ];
        let bucket = |call: Call| {
            let bucket = call.kind().bucket?;
            let at = rates.iter().position(|(r, _)| *r == bucket);
            Some(at.expect("every bucket has a rate") as u8)
        };
        Requests {
            bucket: Call::ALL.map(bucket),
            lanes: rates.map(|(r, rate)| (r, rate, Lane::new(rate))).into(),
            latency: Call::ALL.map(|call| latency(timing, call)),
            includes_wait: Call::ALL.map(|call| {
                let of_nodes = call.kind().bucket == Some(Resource::NodeRequests);
                of_nodes && measured(timing, call).is_some()
            }),
            keys: Call::ALL.map(|call| Key::of(&call.text())),
            shared: [(Key::default(), Duration::ZERO); Call::COUNT],
            tally: [[NO_TALLY; CODES.len()]; Call::COUNT],
            at_restart: None,
        }
    }

    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(|(_, _, lane)| lane.reset());
        self.tally = [[NO_TALLY; CODES.len()]; Call::COUNT];
        self.shared = [(Key::default(), Duration::ZERO); Call::COUNT];
        self.at_restart = None;
    }

    /// Sends a request at `now`. `object` identifies its object in the name of the random latency.
    pub fn send(&mut self, draws: &mut Draws, req: &Req, object: (Key, u32), now: Time) -> Times {
        let granted = match self.bucket[req.call as usize] {
            Some(bucket) => self.lanes[usize::from(bucket)].2.reserve(now),
            None => now,
        };
        let step = req.step.filter(|_| granted == now);
        let latency = self.latency(draws, req, object, step);
        let answered = match self.includes_wait[req.call as usize] {
            true => granted.max(now + latency),
            false => granted + latency,
        };
        Times { granted, answered }
    }

    /// Requests that leave together share one draw; each adds at most `TOGETHER_SPREAD` of it.
    fn latency(
        &mut self,
        draws: &mut Draws,
        req: &Req,
        (object, lane): (Key, u32),
        step: Option<Key>,
    ) -> Duration {
        let dist = &self.latency[req.call as usize];
        if let (Dist::Fixed(d), None) = (dist, step) {
            return *d;
        }
        let kind = self.keys[req.call as usize].0;
        let own = Draw {
            purpose: Purpose::ApiLatency,
            entity: Key(object.0 ^ kind),
            occurrence: req.nth,
            lane,
        };
        let Some(step) = step else {
            return draws.sample(own, dist);
        };
        let entity = Key(step.0 ^ kind);
        let last = &mut self.shared[req.call as usize];
        if last.0 != entity {
            let shared = Draw {
                purpose: Purpose::Burst,
                entity,
                occurrence: 0,
                lane: 0,
            };
            *last = (entity, draws.sample(shared, dist));
        }
        let base = last.1;
        let spread = base.0 as f64 * TOGETHER_SPREAD * draws.uniform(own);
        base + Duration(spread as u64)
    }

    /// Adds an answered request to the audit log.
    pub fn answered(&mut self, call: Call, answer: Answer, now: Time) {
        let t = &mut self.tally[call as usize][answer as usize];
        t.count += 1;
        t.first = t.first.min(now);
        t.last = now;
    }

    /// Marks the start of the first restart; later requests are counted separately.
    pub fn mark_restart(&mut self) {
        if self.at_restart.is_none() {
            self.at_restart = Some(self.tally.map(|answers| answers.map(|t| t.count)));
        }
    }

    /// Iterates over every token bucket with its rate.
    pub fn lanes(&self) -> impl Iterator<Item = (Resource, ClientRate, &Lane)> {
        self.lanes.iter().map(|(r, rate, lane)| (*r, *rate, lane))
    }

    pub fn counts(&self) -> Vec<RequestCount> {
        let mut all = Vec::new();
        for (k, answers) in self.tally.iter().enumerate() {
            for (a, t) in answers.iter().enumerate().filter(|(_, t)| t.count > 0) {
                let kind = Call::ALL[k].kind();
                let before = self.at_restart.as_ref().map_or(t.count, |m| m[k][a]);
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
