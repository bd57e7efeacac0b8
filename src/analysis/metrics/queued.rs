//! How many wait for each shared resource at given instants: from the tickets, as the paths of restarts are.
//!
//! Must never keep a ticket.

use sim_base::*;
use sim_engine::record::{Names, Record, Resource, Sink, Ticket, Waited};

/// Takes the tickets of a run that is played again: the instants are known.
pub struct Queued {
    moments: Vec<Time>,
    /// Of each resource: how many more wait at an instant than at the one before.
    steps: Vec<(Resource, Vec<i32>)>,
}

impl Queued {
    pub fn new(moments: Vec<Time>) -> Queued {
        Queued {
            moments,
            steps: Vec::new(),
        }
    }

    /// From which instant on how many waited; none: nobody ever did at one of the instants.
    pub fn of(&self, resource: Resource) -> Vec<(u32, u32)> {
        let Some((_, steps)) = self.steps.iter().find(|(r, _)| *r == resource) else {
            return Vec::new();
        };
        let (mut waiting, mut last) = (0i64, 0);
        let mut all = Vec::new();
        // Who is served after the last instant waits at it.
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
