//! The data that collective operations move.

pub use sim_api::spec::Collective;

/// One collective on a buffer.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Transfer {
    pub collective: Collective,
    /// Size of the gathered or reduced buffer.
    pub bytes: f64,
}

impl Transfer {
    /// Returns the bytes that each of `ranks` members has to send and receive, behind one port each.
    pub fn sent_bytes(self, ranks: f64) -> f64 {
        let others = (ranks - 1.0) / ranks;
        let share = match self.collective {
            Collective::AllToAll => others / ranks,
            Collective::SendReceive => 1.0,
            Collective::AllGather | Collective::ReduceScatter | Collective::AllReduce => others,
        };
        passes(self.collective) * share * self.bytes
    }
}

/// Returns how often the buffer passes the links: an AllReduce takes as long as two AllGathers.
pub fn passes(collective: Collective) -> f64 {
    match collective {
        Collective::AllReduce => 2.0,
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll | Collective::SendReceive => 1.0,
    }
}
