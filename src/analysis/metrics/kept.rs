//! Every record and every ticket of a run, for whoever writes all of it.

use sim_engine::record::{Names, Record, Sink, Ticket};

#[derive(Default)]
pub struct Kept {
    pub records: Vec<Record>,
    pub tickets: Vec<Ticket>,
}

/// Runs with more records are too long to be kept whole.
pub const MOST: u32 = 5_000_000;

impl Sink for Kept {
    fn record(&mut self, record: &Record, _: &Names) {
        self.records.push(*record);
    }

    fn wants_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &Ticket) {
        self.tickets.push(*ticket);
    }
}
