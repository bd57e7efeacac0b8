//! The occupancy of the cluster's slots by the JobSet's pods during a replication.

use super::bit_set::BitSet;
use super::measurement::curve::CurveShift;
use super::slots::SlotTable;
use sim_base::NodeId;
use std::sync::Arc;

/// Flag of a failed node; `CLOSED` is the flag of a cordoned node.
pub const DOWN: u8 = 1;
pub const CLOSED: u8 = 2;

/// Occupancy of the slots in one replication.
#[derive(Clone, Debug)]
pub struct JobSetPods {
    slots: Arc<SlotTable>,
    /// Flags of each node; 0 means usable.
    node: Vec<u8>,
    /// Number of unusable nodes in each slot.
    bad: Vec<u32>,
    /// Number of failed nodes in each slot.
    failed: Vec<u32>,
    /// Slots with at least one usable node.
    open: BitSet,
    /// Slots without a failed node. Pods keep running on nodes that were cordoned after their placement.
    alive: BitSet,
    pub used: BitSet,
    /// The slots occupied before the last placement.
    before: BitSet,
    /// Node at which the next search of the scheduler starts.
    cursor: usize,
    /// Other possible values of `cursor`: the nodes of a domain became usable at the same instant, and any of them got
    /// the leader pod.
    other_cursors: Vec<usize>,
    failed_nodes: usize,
    /// Number of accelerators on failed nodes.
    pub failed_accelerators: u64,
}

impl JobSetPods {
    pub fn new(slots: &Arc<SlotTable>) -> JobSetPods {
        let n = slots.nodes.len();
        JobSetPods {
            node: vec![0; slots.of.len()],
            bad: vec![0; n],
            failed: vec![0; n],
            open: BitSet::new(n, true),
            alive: BitSet::new(n, true),
            used: BitSet::new(n, false),
            before: BitSet::new(n, false),
            cursor: 0,
            other_cursors: Vec::new(),
            failed_nodes: 0,
            failed_accelerators: 0,
            slots: Arc::clone(slots),
        }
    }

    /// Resets all nodes to usable and all slots to free.
    pub fn reset(&mut self) {
        let n = self.slots.nodes.len();
        self.node.fill(0);
        self.bad.fill(0);
        self.failed.fill(0);
        (self.open, self.alive) = (BitSet::new(n, true), BitSet::new(n, true));
        (self.used, self.before) = (BitSet::new(n, false), BitSet::new(n, false));
        (self.cursor, self.failed_nodes, self.failed_accelerators) = (0, 0, 0);
        self.other_cursors.clear();
    }

    pub fn has_flag(&self, node: NodeId, what: u8) -> bool {
        self.node[node.ix()] & what != 0
    }

    /// Sets or clears a flag of a node.
    pub fn set_flag(&mut self, node: NodeId, what: u8, on: bool) {
        let before = self.node[node.ix()];
        let now = if on { before | what } else { before & !what };
        self.node[node.ix()] = now;
        let accelerators = self.slots.accelerators[node.ix()];
        let seat = self.slots.of[node.ix()];
        match (before & DOWN != 0, now & DOWN != 0) {
            (false, true) => {
                self.failed_accelerators += accelerators;
                self.failed[seat] += 1;
                self.failed_nodes += 1;
            }
            (true, false) => {
                self.failed_accelerators -= accelerators;
                self.failed[seat] -= 1;
                self.failed_nodes -= 1;
            }
            _ => {}
        }
        self.alive.set(seat, self.failed[seat] == 0);
        if (before == 0) == (now == 0) {
            return;
        }
        if now == 0 {
            self.bad[seat] -= 1
        } else {
            self.bad[seat] += 1
        }
        let bad = self.bad[seat] as usize;
        self.open.set(seat, bad < self.slots.nodes[seat].len());
    }

    /// Returns true if a pod of the JobSet is on the node.
    pub fn uses(&self, node: NodeId) -> bool {
        self.used.has(self.slots.of[node.ix()])
    }

    /// Returns true if the last placement added pods to the node.
    pub fn is_new(&self, node: NodeId) -> bool {
        let seat = self.slots.of[node.ix()];
        self.used.has(seat) && !self.before.has(seat)
    }

    /// Returns true if a pod could be bound to the node.
    pub fn is_free(&self, node: NodeId) -> bool {
        self.node[node.ix()] == 0 && !self.uses(node)
    }

    /// Places pods again, in the order in which the scheduler searches nodes. Returns true if the order of earlier
    /// events of the same instant decides which slots they get.
    pub fn place_pods(&mut self, moves: CurveShift) -> bool {
        self.before.clone_from(&self.used);
        match moves {
            CurveShift::NoPods => false,
            CurveShift::All if self.slots.width() > 1 => {
                self.used = BitSet::new(self.slots.nodes.len(), false);
                self.fill()
            }
            CurveShift::All => {
                let last = self.open.first(self.slots.needed, self.cursor, &mut self.used);
                self.cursor = last.map_or(self.cursor, |last| (last + 1) % self.node.len());
                false
            }
            CurveShift::Lost => {
                self.used.keep(&self.open);
                self.fill()
            }
        }
    }

    /// Assigns usable slots to pods that have none, as far as there are any. Returns the same as `place_pods`.
    fn fill(&mut self) -> bool {
        let others = std::mem::take(&mut self.other_cursors);
        let others: Vec<(BitSet, usize)> = others.iter().map(|cursor| self.filled(*cursor)).collect();
        (self.used, self.cursor) = self.filled(self.cursor);
        let by_chance = others.iter().any(|(used, _)| *used != self.used);
        let cursors = others.into_iter().map(|(_, cursor)| cursor);
        self.other_cursors = cursors.filter(|cursor| *cursor != self.cursor && !by_chance).collect();
        by_chance
    }

    /// Returns the slots after all assignments of a search that starts at `cursor`, and its end.
    fn filled(&self, mut cursor: usize) -> (BitSet, usize) {
        let mut used = self.used.clone();
        for _ in used.count()..self.slots.needed {
            let Some(node) = self.next_node(&used, cursor) else { break };
            used.set(self.slots.of[node], true);
            cursor = (node + 1) % self.node.len();
        }
        (used, cursor)
    }

    /// Assigns slots whose nodes have just become usable to waiting pods. Returns the same as `place_pods`.
    pub fn fill_returned(&mut self) -> bool {
        let before = self.cursor;
        let by_chance = self.fill();
        if self.cursor != before && self.slots.width() > 1 {
            let n = self.node.len();
            let domain = &self.slots.nodes[self.slots.of[(self.cursor + n - 1) % n]];
            let usable = domain.iter().filter(|node| self.node[node.ix()] == 0);
            let others = usable.map(|node| (node.ix() + 1) % n).filter(|at| *at != self.cursor);
            self.other_cursors = others.collect();
        }
        by_chance
    }

    /// Returns the next node that the scheduler chooses. With exclusive placement it is the node of a leader pod, and
    /// the other pods follow it into its domain without a search.
    fn next_node(&self, used: &BitSet, cursor: usize) -> Option<usize> {
        if self.slots.width() == 1 {
            return self.open.next(cursor, used);
        }
        let mut nodes = (cursor..self.node.len()).chain(0..cursor);
        nodes.find(|node| self.node[*node] == 0 && !used.has(self.slots.of[*node]))
    }

    /// Returns true if all pods have a slot without a failed node.
    pub fn complete(&self) -> bool {
        self.used.count() == self.slots.needed && self.used.outside(&self.alive) == 0
    }

    /// Returns the share of the required slots that pods occupy.
    pub fn occupied_share(&self) -> f64 {
        self.used.count() as f64 / self.slots.needed as f64
    }

    /// Returns true if there are at least as many open slots as required.
    pub fn has_choice(&self) -> bool {
        self.open.count() >= self.slots.needed
    }

    /// Returns true if the control plane slows down or stops evictions because of the number of failed nodes
    /// (kubernetes.md 4.1).
    pub fn stops_evictions(&self) -> bool {
        self.failed_nodes > 2 && self.failed_nodes * 100 >= self.node.len() * 55
    }

    /// Returns true if the cluster has more slots than required.
    pub fn has_room(&self) -> bool {
        self.slots.nodes.len() > self.slots.needed
    }
}
