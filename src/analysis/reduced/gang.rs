//! Which seats there are, and which the gang has.

use super::bits::Bits;
use super::measurement::curve::Moves;
use super::seats::Seats;
use sim_base::NodeId;
use std::sync::Arc;

/// What can be wrong with a node.
pub const DOWN: u8 = 1;
pub const CLOSED: u8 = 2;

/// The seats of one replication.
#[derive(Clone, Debug)]
pub struct Gang {
    seats: Arc<Seats>,
    /// Of each node.
    node: Vec<u8>,
    /// Nodes of each seat that cannot be used.
    bad: Vec<u32>,
    /// Seats with a node that can be used, and those without one that cannot.
    open: Bits,
    whole: Bits,
    pub used: Bits,
    /// Those that were used before the last placing.
    before: Bits,
    /// Where the scheduler begins to look: a seat.
    cursor: usize,
    /// Nodes that are down, by accelerators.
    pub sick: u64,
}

impl Gang {
    pub fn new(seats: &Arc<Seats>) -> Gang {
        let n = seats.nodes.len();
        Gang {
            node: vec![0; seats.of.len()],
            bad: vec![0; n],
            open: Bits::new(n, true),
            whole: Bits::new(n, true),
            used: Bits::new(n, false),
            before: Bits::new(n, false),
            cursor: 0,
            sick: 0,
            seats: Arc::clone(seats),
        }
    }

    /// As it was at the beginning.
    pub fn reset(&mut self) {
        let n = self.seats.nodes.len();
        self.node.fill(0);
        self.bad.fill(0);
        (self.open, self.whole) = (Bits::new(n, true), Bits::new(n, true));
        (self.used, self.before) = (Bits::new(n, false), Bits::new(n, false));
        (self.cursor, self.sick) = (0, 0);
    }

    pub fn is(&self, node: NodeId, what: u8) -> bool {
        self.node[node.ix()] & what != 0
    }

    /// A node is down or closed, or no longer.
    pub fn mark(&mut self, node: NodeId, what: u8, on: bool) {
        let before = self.node[node.ix()];
        let now = if on { before | what } else { before & !what };
        self.node[node.ix()] = now;
        let accelerators = self.seats.accelerators[node.ix()];
        match (before & DOWN != 0, now & DOWN != 0) {
            (false, true) => self.sick += accelerators,
            (true, false) => self.sick -= accelerators,
            _ => {}
        }
        if (before == 0) == (now == 0) {
            return;
        }
        let seat = self.seats.of[node.ix()];
        match now == 0 {
            true => self.bad[seat] -= 1,
            false => self.bad[seat] += 1,
        }
        let bad = self.bad[seat] as usize;
        self.whole.set(seat, bad == 0);
        self.open.set(seat, bad < self.seats.nodes[seat].len());
    }

    /// Whether a pod of the gang is on it.
    pub fn uses(&self, node: NodeId) -> bool {
        self.used.has(self.seats.of[node.ix()])
    }

    /// Whether the last placing has brought pods to it.
    pub fn is_new(&self, node: NodeId) -> bool {
        let seat = self.seats.of[node.ix()];
        self.used.has(seat) && !self.before.has(seat)
    }

    /// Whether a pod could be bound to it.
    pub fn is_free(&self, node: NodeId) -> bool {
        self.node[node.ix()] == 0 && !self.uses(node)
    }

    /// The pods are bound anew, as the scheduler goes round.
    pub fn place(&mut self, moves: Moves) {
        self.before.clone_from(&self.used);
        match moves {
            Moves::Nobody => {}
            Moves::All => {
                let needed = self.seats.needed;
                let last = self.open.first(needed, self.cursor, &mut self.used);
                self.looked(last);
            }
            Moves::Lost => {
                self.used.keep(&self.open);
                self.fill();
            }
        }
    }

    /// Seats that have come since are taken by whoever waits.
    pub fn fill(&mut self) {
        while self.used.count() < self.seats.needed {
            let Some(seat) = self.open.next(self.cursor, &self.used) else {
                return;
            };
            self.used.set(seat, true);
            self.looked(Some(seat));
        }
    }

    /// The scheduler goes on behind the node that it took: in a domain that is the leader's, and the rest follows.
    fn looked(&mut self, last: Option<usize>) {
        let Some(last) = last else { return };
        let next = if self.seats.width() > 1 {
            last
        } else {
            last + 1
        };
        self.cursor = next % self.seats.nodes.len();
    }

    /// Whether everybody has a place that works.
    pub fn complete(&self) -> bool {
        self.used.count() == self.seats.needed && self.used.outside(&self.whole) == 0
    }

    /// How much of what is needed has a place.
    pub fn share(&self) -> f64 {
        self.used.count() as f64 / self.seats.needed as f64
    }

    /// Whether there are more places than are needed.
    pub fn has_choice(&self) -> bool {
        self.open.count() >= self.seats.needed
    }
}
