//! The nodes of a job with standbys and spares: the place of each node, and the order in which nodes entered the
//! working pool.

use crate::repair::BlameHistory;
use std::collections::{BTreeSet, VecDeque};

/// Current place of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodePlace {
    Active,
    Standby,
    Idle,
    Spare,
    Repair,
    Retired,
}

impl NodePlace {
    const COUNT: usize = 6;
    pub const ALL: [NodePlace; NodePlace::COUNT] = [
        NodePlace::Active,
        NodePlace::Standby,
        NodePlace::Idle,
        NodePlace::Spare,
        NodePlace::Repair,
        NodePlace::Retired,
    ];

    fn in_pool(self) -> bool {
        matches!(self, NodePlace::Active | NodePlace::Standby | NodePlace::Idle)
    }
}

#[derive(Clone)]
pub struct PooledNode {
    pub place: NodePlace,
    pub lemon: bool,
    /// Total number of failures.
    pub failures: u32,
    /// Failures for which the diagnosis blamed the node.
    pub blamed: BlameHistory,
    /// Number of repairs.
    pub repairs: u32,
    /// Position in the order of entry into the working pool.
    order: u64,
    /// Index in `active`, valid while the node is active.
    at: usize,
}

#[derive(Clone)]
pub struct NodePool {
    pub rows: Vec<PooledNode>,
    /// Nodes that run the job, unordered.
    pub active: Vec<u32>,
    /// Standby nodes, in the order in which they replace failed nodes.
    pub standbys: VecDeque<u32>,
    /// Spare nodes, in the order in which they are pulled.
    pub spares: VecDeque<u32>,
    /// Idle nodes of the working pool, in the order of entry.
    idle: BTreeSet<(u64, u32)>,
    /// All nodes of the working pool, in the order of entry.
    working: BTreeSet<(u64, u32)>,
    counts: [u32; NodePlace::COUNT],
    came: u64,
}

impl NodePool {
    /// Creates a pool. The first `working` nodes of `order` are idle in the working pool, the others are spares.
    pub fn new(order: &[u32], working: usize, lemons: &[bool]) -> NodePool {
        let row = |lemon: &bool| PooledNode {
            place: NodePlace::Spare,
            lemon: *lemon,
            failures: 0,
            blamed: BlameHistory::default(),
            repairs: 0,
            order: 0,
            at: 0,
        };
        let mut pool = NodePool {
            rows: lemons.iter().map(row).collect(),
            active: Vec::new(),
            standbys: VecDeque::new(),
            spares: order.iter().copied().collect(),
            idle: BTreeSet::new(),
            working: BTreeSet::new(),
            counts: [0; NodePlace::COUNT],
            came: 0,
        };
        pool.counts[NodePlace::Spare as usize] = order.len() as u32;
        for _ in 0..working {
            let node = pool.spares.front().copied();
            pool.move_node(node.expect("order has at least `working` nodes"), NodePlace::Idle);
        }
        pool
    }

    #[inline]
    pub fn count(&self, place: NodePlace) -> u32 {
        self.counts[place as usize]
    }

    /// Returns the number of nodes in the working pool: active, standby and idle.
    pub fn working(&self) -> u32 {
        self.working.len() as u32
    }

    /// Moves a node. A node that enters the working pool becomes the last in its order.
    pub fn move_node(&mut self, node: u32, place: NodePlace) {
        let old = self.rows[node as usize].place;
        self.take_out(node, old, place);
        self.counts[old as usize] -= 1;
        self.counts[place as usize] += 1;
        if place.in_pool() && !old.in_pool() {
            self.came += 1;
            self.rows[node as usize].order = self.came;
            self.working.insert((self.came, node));
        }
        let row = &mut self.rows[node as usize];
        row.place = place;
        match place {
            NodePlace::Active => {
                row.at = self.active.len();
                self.active.push(node);
            }
            NodePlace::Standby => self.standbys.push_back(node),
            NodePlace::Idle => drop(self.idle.insert((row.order, node))),
            NodePlace::Spare => self.spares.push_back(node),
            NodePlace::Repair | NodePlace::Retired => {}
        }
    }

    fn take_out(&mut self, node: u32, old: NodePlace, place: NodePlace) {
        let (order, at) = (self.rows[node as usize].order, self.rows[node as usize].at);
        let without = |list: &mut VecDeque<u32>| {
            let at = list.iter().position(|n| *n == node);
            list.remove(at.expect("a node is in the list of its place"));
        };
        match old {
            NodePlace::Active => {
                self.active.swap_remove(at);
                if let Some(moved) = self.active.get(at) {
                    self.rows[*moved as usize].at = at;
                }
            }
            NodePlace::Standby => without(&mut self.standbys),
            NodePlace::Idle => drop(self.idle.remove(&(order, node))),
            NodePlace::Spare => without(&mut self.spares),
            NodePlace::Repair | NodePlace::Retired => {}
        }
        if old.in_pool() && !place.in_pool() {
            self.working.remove(&(order, node));
        }
    }

    /// Moves a node of the working pool to the end of the pool order, without changing its place.
    pub fn move_last(&mut self, node: u32) {
        let old = self.rows[node as usize].order;
        self.came += 1;
        self.rows[node as usize].order = self.came;
        self.working.remove(&(old, node));
        self.working.insert((self.came, node));
        if self.idle.remove(&(old, node)) {
            self.idle.insert((self.came, node));
        }
    }

    /// Returns the idle node that has been in the working pool for the longest time.
    pub fn first_idle(&self) -> Option<u32> {
        self.idle.first().map(|(_, node)| *node)
    }

    /// Returns the last `n` nodes of the working pool.
    pub fn last(&self, n: usize) -> impl Iterator<Item = u32> {
        self.working.iter().rev().take(n).map(|(_, node)| *node)
    }

    /// Returns all nodes of the working pool, in the order of entry.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        self.working.iter().map(|(_, node)| *node)
    }

    /// Checks that the lists and counts agree with the place of each node.
    pub fn check(&self) {
        let mut counts = [0; NodePlace::COUNT];
        for row in &self.rows {
            counts[row.place as usize] += 1;
        }
        assert_eq!(counts, self.counts, "counts by place differ from the rows");
        let lists = [self.active.len(), self.standbys.len(), self.idle.len(), self.spares.len()];
        assert_eq!(lists.map(|n| n as u32), counts[..4], "lengths of the lists differ from the rows");
        let working: u32 = counts[..3].iter().sum();
        assert_eq!(self.working(), working, "size of the working pool differs from the rows");
    }
}
