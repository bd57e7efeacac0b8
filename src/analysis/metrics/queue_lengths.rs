//! Queue length of each shared resource at given instants, computed from tickets like the critical paths of restarts.
//!
//! Must never store tickets.

use sim_base::SimTime;
use sim_engine::record::{LedgerResource, RecordNames, RecordSink, SimulationRecord, TicketWait, WorkTicket};

/// Sink for the second simulation of a run, which counts waiting requests at known instants.
pub struct QueuedWork {
    moments: Vec<SimTime>,
    /// By resource: change of the queue length at each instant.
    steps: Vec<(LedgerResource, Vec<i32>)>,
}

impl QueuedWork {
    pub fn new(moments: Vec<SimTime>) -> QueuedWork {
        QueuedWork { moments, steps: Vec::new() }
    }

    /// Returns the changes of the queue length: index of the instant, and length from then on. Empty if nothing ever
    /// waited for the resource at one of the instants.
    pub fn queue_lengths(&self, resource: LedgerResource) -> Vec<(u32, u32)> {
        let Some((_, steps)) = self.steps.iter().find(|(r, _)| *r == resource) else {
            return Vec::new();
        };
        let (mut waiting, mut last) = (0i64, 0);
        let mut all = Vec::new();
        // The additional last element is skipped: its requests are still waiting at the last instant.
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

impl RecordSink for QueuedWork {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        let until = match ticket.wait {
            TicketWait::Request(_) => ticket.granted,
            TicketWait::Queue(_) | TicketWait::TaintLimiter => ticket.to,
            _ => return,
        };
        let Some(resource) = ticket.wait.resource() else {
            return;
        };
        let place = |t: SimTime| self.moments.partition_point(|m| *m < t);
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
