//! What a span of a restart waited for: a shared resource that was busy for most of it, or the fixed mechanism.

use super::restart::{Milestone, Restart, Shape};
use super::spans::{Phase, Span};
use crate::base::*;
use crate::record::{Resource, ResourceUsage};

/// A resource gates a span if it made somebody wait for at least this share of it.
const GATES_FROM: f64 = 0.5;
/// Within this of the busiest, the earlier of `Resource` wins: workers look busy while they wait for their client.
const AS_BUSY: f64 = 0.05;

/// Why a span took as long as it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Gate {
    Shared {
        resource: Resource,
        capacity: String,
        busy_share: f64,
    },
    Mechanism(String),
}

impl Gate {
    pub fn resource(&self) -> Option<Resource> {
        match self {
            Gate::Shared { resource, .. } => Some(*resource),
            Gate::Mechanism(_) => None,
        }
    }

    /// One line for somebody who has never seen the program.
    pub fn text(&self) -> String {
        match self {
            Gate::Shared {
                resource,
                capacity,
                busy_share,
            } => {
                let percent = (busy_share * 100.0).round().min(100.0);
                format!(
                    "{} at {capacity} ({percent:.0} % of the phase)",
                    resource.as_str()
                )
            }
            Gate::Mechanism(text) => text.clone(),
        }
    }
}

/// `12345` as `12,345`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Fills the number of pods into a text of a step.
pub fn with_pods(text: &str, pods: u32) -> String {
    text.replace("{pods}", &thousands(u64::from(pods.max(1))))
}

/// What took the time when no resource was short.
fn mechanism(span: &Span, restart: &Restart) -> String {
    let at = |m| restart.milestone(m).unwrap_or(Time::NEVER);
    let exited = at(Milestone::PodFailed) < at(Milestone::PodDeleting);
    let text = match span.phase() {
        Phase::Detect if restart.shape != Shape::InPlaceRestart && exited => {
            "kubelet notices the exit (PLEG, every 1 s)"
        }
        _ => span.step.mechanism,
    };
    with_pods(text, restart.pods)
}

pub fn gate_of(span: &Span, restart: &Restart, resources: &[ResourceUsage]) -> Gate {
    let length = span.duration();
    let share =
        |u: &ResourceUsage| u.busy_within(span.from, span.to).0 as f64 / (length.0 as f64).max(1.0);
    let mut candidates: Vec<(&ResourceUsage, f64)> = resources
        .iter()
        .filter(|u| span.step.resources.contains(&u.resource))
        .map(|u| (u, share(u)))
        .filter(|&(_, s)| s >= GATES_FROM)
        .collect();
    candidates.sort_by_key(|(u, _)| u.resource);
    let busiest = candidates.iter().map(|c| c.1).fold(0.0, f64::max);
    match candidates
        .into_iter()
        .find(|&(_, s)| s >= busiest - AS_BUSY)
    {
        Some((u, busy_share)) => Gate::Shared {
            resource: u.resource,
            capacity: u.capacity.split(',').next().unwrap_or_default().to_owned(),
            busy_share,
        },
        None => Gate::Mechanism(mechanism(span, restart)),
    }
}

/// A span with what gated it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    pub span: Span,
    pub gate: Gate,
}

pub fn gated(restart: &Restart, resources: &[ResourceUsage]) -> Vec<Gated> {
    let gate = |span: Span| Gated {
        gate: gate_of(&span, restart, resources),
        span,
    };
    restart.spans().into_iter().map(gate).collect()
}

/// What a restart as a whole waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    pub gate: Gate,
    /// How long it was busy, or how long the steps it gated took.
    pub time: Duration,
    /// `time` as a share of the restart.
    pub share: f64,
}

impl Bottleneck {
    /// `job-controller client at 100 requests/s, busy for 108 s of 132 s (82 %)`.
    pub fn name(&self) -> String {
        match &self.gate {
            Gate::Shared {
                resource, capacity, ..
            } => format!("{} at {capacity}", resource.as_str()),
            Gate::Mechanism(text) => text.clone(),
        }
    }
}

/// The scarce resource that was busy for most of the restart; without one, the gate of the longest steps.
///
/// Over the whole restart, because one resource can slow several steps that another one seems to gate: the job
/// controller's client takes off finalizers while the garbage collector deletes. A pool of workers that waits for its
/// own client is not scarce, and the JobSet reconciler is never the reason: its passes coalesce.
pub fn bottleneck(
    restart: &Restart,
    gated: &[Gated],
    resources: &[ResourceUsage],
) -> Option<Bottleneck> {
    let total = (restart.total().0 as f64).max(1.0);
    let busy = |r: Resource| {
        let usage = resources.iter().find(|u| u.resource == r);
        usage.map_or(Duration::ZERO, |u| {
            u.busy_within(restart.start, restart.end)
        })
    };
    let scarce = |u: &&ResourceUsage| match u.resource {
        Resource::JobSetReconciler => false,
        Resource::JobControllerWorkers => {
            busy(Resource::JobControllerClient).0 * 2 < busy(u.resource).0
        }
        Resource::GarbageCollectorWorkers => {
            busy(Resource::GarbageCollectorClient).0 * 2 < busy(u.resource).0
        }
        _ => true,
    };
    let busiest = resources
        .iter()
        .filter(scarce)
        .rev()
        .max_by_key(|u| busy(u.resource));
    if let Some(u) = busiest
        && busy(u.resource).0 as f64 / total >= GATES_FROM
    {
        let time = busy(u.resource);
        let share = time.0 as f64 / total;
        let capacity = u.capacity.split(',').next().unwrap_or_default().to_owned();
        let gate = Gate::Shared {
            resource: u.resource,
            capacity,
            busy_share: share,
        };
        return Some(Bottleneck { gate, time, share });
    }
    longest_gate(gated).map(|(gate, time)| Bottleneck {
        gate: gate.clone(),
        time,
        share: time.0 as f64 / total,
    })
}

/// The gate that accounts for most of a restart, with its time.
fn longest_gate(gated: &[Gated]) -> Option<(&Gate, Duration)> {
    let mut sums: Vec<(&Gate, Duration)> = Vec::new();
    for g in gated {
        let same = |known: &Gate| match g.gate.resource() {
            Some(r) => known.resource() == Some(r),
            None => *known == g.gate,
        };
        match sums.iter_mut().find(|(known, _)| same(known)) {
            Some((_, sum)) => *sum = *sum + g.span.duration(),
            None => sums.push((&g.gate, g.span.duration())),
        }
    }
    // The first of equals: `max_by_key` would take the last.
    sums.into_iter().rev().max_by_key(|&(_, sum)| sum)
}

/// Resources that gated at least a tenth of some restart.
pub fn bottlenecks(restarts: &[Restart], resources: &[ResourceUsage]) -> Vec<Resource> {
    let mut found = Vec::new();
    for restart in restarts {
        let gated = gated(restart, resources);
        for usage in resources {
            let of = |g: &&Gated| g.gate.resource() == Some(usage.resource);
            let sum: u64 = gated.iter().filter(of).map(|g| g.span.duration().0).sum();
            if sum > 0 && sum >= restart.total().0 / 10 && !found.contains(&usage.resource) {
                found.push(usage.resource);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::restart::{Cause, Ending};

    fn s(n: u64) -> Time {
        Time::ZERO + Duration::from_secs(n)
    }

    fn usage(resource: Resource, from: u64, to: u64) -> ResourceUsage {
        ResourceUsage {
            resource,
            capacity: "100 requests/s, burst 100".into(),
            requests: 1,
            busy: vec![(s(from), s(to))],
            longest_queue: 1,
        }
    }

    fn restart() -> Restart {
        let mut r = Restart::new(JobSetId(0), s(0), Cause::UNKNOWN);
        r.shape = Shape::Recreate;
        r.ending = Ending::Ready;
        r.pods = 5000;
        r.end = s(100);
        r.last(Milestone::PodFailed, s(1));
        r.last(Milestone::LastJobGone, s(10));
        r.last(Milestone::LastPodCreated, s(80));
        r
    }

    #[test]
    fn a_busy_client_gates_the_phase_it_serves_and_is_the_bottleneck() {
        let resources = [
            usage(Resource::JobControllerWorkers, 12, 80),
            usage(Resource::JobControllerClient, 12, 79),
        ];
        let g = gated(&restart(), &resources);
        assert_eq!(
            g[2].gate.text(),
            "job-controller client at 100 requests/s (96 % of the phase)"
        );
        assert_eq!(g[3].gate.text(), "slowest of 5,000 container starts");
        let found = bottleneck(&restart(), &g, &resources).unwrap();
        assert_eq!(
            (found.gate.resource(), found.time),
            (Some(Resource::JobControllerClient), Duration::from_secs(67))
        );
        assert_eq!(
            bottlenecks(&[restart()], &resources),
            [Resource::JobControllerClient]
        );
    }

    #[test]
    fn a_resource_that_the_phase_does_not_use_or_that_was_idle_gates_nothing() {
        let resources = [
            usage(Resource::SchedulerBindClient, 10, 100),
            usage(Resource::JobControllerClient, 10, 40),
        ];
        let g = gated(&restart(), &resources);
        assert_eq!(g[2].gate.resource(), None);
        assert_eq!(bottlenecks(&[restart()], &resources), []);
    }
}
