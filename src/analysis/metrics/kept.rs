//! In-memory buffer of all records and tickets of a run, for exporters that write all of them.

use sim_engine::record::{Names, Record, Sink, Ticket};

#[derive(Default)]
pub struct Kept {
    pub records: Vec<Record>,
    pub tickets: Vec<Ticket>,
}

/// Maximum number of records of a run that is kept in memory.
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
