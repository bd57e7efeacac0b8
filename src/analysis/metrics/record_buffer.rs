//! In-memory buffer of all records and tickets of a run, for exporters that write all of them.

use sim_engine::record::{RecordNames, RecordSink, SimulationRecord, WorkTicket};

#[derive(Default)]
pub struct RetainedMetrics {
    pub records: Vec<SimulationRecord>,
    pub tickets: Vec<WorkTicket>,
}

/// Maximum number of records of a run that is kept in memory.
pub const MOST: u32 = 5_000_000;

impl RecordSink for RetainedMetrics {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.records.push(*record);
    }

    fn receives_tickets(&self) -> bool {
        true
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        self.tickets.push(*ticket);
    }
}
