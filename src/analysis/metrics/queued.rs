//! Queue length of each shared resource at given instants, computed from tickets like the critical paths of restarts.
//!
//! Must never store tickets.

use sim_base::*;
use sim_engine::record::{Names, Record, Resource, Sink, Ticket, Waited};

/// Sink for the second simulation of a run, which counts waiting requests at known instants.
pub struct Queued {
    moments: Vec<Time>,
    /// By resource: change of the queue length at each instant.
    steps: Vec<(Resource, Vec<i32>)>,
}

impl Queued {
    pub fn new(moments: Vec<Time>) -> Queued {
        Queued {
            moments,
            steps: Vec::new(),
        }
    }

    /// Returns the changes of the queue length: index of the instant, and length from then on. Empty if nothing ever
    /// waited for the resource at one of the instants.
    pub fn of(&self, resource: Resource) -> Vec<(u32, u32)> {
        let Some((_, steps)) = self.steps.iter().find(|(r, _)| *r == resource) else {
            return Vec::new();
        };
        let (mut waiting, mut last) = (0i64, 0);
        let mut all = Vec::new();
        // The extra last element counts requests that are served after the last instant; they still wait at it.
        for (at, step) in steps[..self.moments.len()].iter().enumerate() {
            waiting += i64::from(*step);
            let now = u32::try_from(waiting).unwrap_or(0);
            if now != last {
                all.push((at as u32, now));
                last = now;
            }
        }
        all
    }
}

impl Sink for Queued {
    fn record(&mut self, _: &Record, _: &Names) {}

    fn wants_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &Ticket) {
        let until = match ticket.waited {
            Waited::Request(_) => ticket.granted,
            Waited::Queue(_) | Waited::TaintLimiter => ticket.to,
            _ => return,
        };
        let Some(resource) = ticket.waited.resource() else {
            return;
        };
        let place = |t: Time| self.moments.partition_point(|m| *m < t);
        let (from, to) = (place(ticket.from), place(until));
        if from == to {
            return;
        }
        let known = self.steps.iter().position(|(r, _)| *r == resource);
        let known = known.unwrap_or_else(|| {
            self.steps.push((resource, vec![0; self.moments.len() + 1]));
            self.steps.len() - 1
        });
        let steps = &mut self.steps[known].1;
        steps[from] += 1;
        steps[to] -= 1;
    }
}
