//! Collective operations.

/// A collective operation. The size of its buffer is that of the gathered or reduced array.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Collective {
    AllGather,
    ReduceScatter,
    /// A ReduceScatter followed by an AllGather.
    AllReduce,
    AllToAll,
}

impl Collective {
    /// Returns how often the buffer passes the links: an AllReduce takes as long as two AllGathers.
    pub fn passes(self) -> f64 {
        match self {
            Collective::AllReduce => 2.0,
            Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => 1.0,
        }
    }

    /// Returns the share of the buffer that each of `ranks` members behind one port sends: (n-1)/n of it, or (n-1)/n²
    /// in an AllToAll.
    pub fn sent_share(self, ranks: f64) -> f64 {
        let others = (ranks - 1.0) / ranks;
        match self {
            Collective::AllToAll => others / ranks,
            Collective::AllGather | Collective::ReduceScatter | Collective::AllReduce => others,
        }
    }
}

/// One collective on a buffer.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Transfer {
    pub collective: Collective,
    /// Size of the gathered or reduced buffer.
    pub bytes: f64,
}

impl Transfer {
    /// Returns the time for which `ranks` members occupy their ports, each with a rate in bytes per second.
    pub fn port_seconds(self, ranks: f64, bytes_per_s: f64) -> f64 {
        self.collective.passes() * self.collective.sent_share(ranks) * self.bytes / bytes_per_s
    }
}
