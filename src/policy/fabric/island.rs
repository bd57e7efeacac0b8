//! Links within an island: a torus of TPU chips, or a switch that connects GPUs.

use super::collective::{Collective, Transfer, passes};
use sim_api::spec::Interconnect;
use sim_base::{IslandId, NodeId};

/// The hosts of a job in one island.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobIsland {
    pub island: IslandId,
    /// In the order of the pods; never empty.
    pub nodes: Vec<NodeId>,
}

impl JobIsland {
    pub fn first_node(&self) -> NodeId {
        self.nodes[0]
    }
}

/// One axis of a torus.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TorusAxis {
    pub chips: u32,
    /// True if the last chip is connected to the first.
    pub wrapped: bool,
}

impl TorusAxis {
    /// Returns the rate at which a chip sends along the axis: both links of a ring, one link of a line.
    fn bytes_per_s(self, link_bytes_per_s: f64) -> f64 {
        if self.wrapped { 2.0 * link_bytes_per_s } else { link_bytes_per_s }
    }

    /// Returns the number of hops to the farthest chip.
    fn hops(self) -> f64 {
        f64::from(if self.wrapped { self.chips.div_ceil(2) } else { self.chips.saturating_sub(1) })
    }
}

/// The links that connect the accelerators of an island.
#[derive(Clone, Debug, PartialEq)]
pub enum IslandLinks {
    Torus {
        axes: Vec<TorusAxis>,
        link_bytes_per_s: f64,
        hop_s: f64,
        /// Latency of a call in addition to the hops.
        call_s: f64,
    },
    Switch {
        accelerators: u32,
        bytes_per_s: f64,
        /// Latency of the steps of an AllReduce.
        latency_s: f64,
        /// Latency of a call in addition to the steps.
        call_s: f64,
        /// Share of `bytes_per_s` at which the switch reduces; `None` if it does not.
        nvls: Option<f64>,
    },
}

impl IslandLinks {
    /// Returns the links of an island whose nodes have `accelerators` in total.
    pub fn new(interconnect: &Interconnect, accelerators: u32) -> IslandLinks {
        match interconnect {
            Interconnect::Torus { shape, wrap, rate } => {
                let axis = |(at, chips): (usize, &u32)| TorusAxis {
                    chips: *chips,
                    wrapped: wrap.get(at).copied().unwrap_or(false),
                };
                IslandLinks::Torus {
                    axes: shape.iter().enumerate().map(axis).collect(),
                    link_bytes_per_s: rate.bytes_per_s(),
                    hop_s: rate.latency.seconds(),
                    call_s: rate.call_latency.seconds(),
                }
            }
            Interconnect::Switch(rate) => IslandLinks::Switch {
                accelerators,
                bytes_per_s: rate.bytes_per_s(),
                latency_s: rate.latency.seconds(),
                call_s: rate.call_latency.seconds(),
                nvls: rate.nvls,
            },
        }
    }

    /// Returns the links among groups of `members` accelerators, each `stride` apart: groups take whole axes of a
    /// torus as far as possible, and parts of an axis have no wraparound.
    pub fn group(&self, stride: u32, members: u32) -> IslandLinks {
        let mut links = self.clone();
        match &mut links {
            IslandLinks::Switch { accelerators, .. } => *accelerators = members,
            IslandLinks::Torus { axes, .. } => {
                let (_, rest) = split(axes, stride);
                (*axes, _) = split(&rest, members);
            }
        }
        links
    }

    /// Returns the links with their rates multiplied by `factor`: an NVLink domain in adaptive mode that lost one of
    /// nine switch trays has 16/18 of its rate.
    pub fn degraded(&self, factor: f64) -> IslandLinks {
        let mut links = self.clone();
        match &mut links {
            IslandLinks::Torus { link_bytes_per_s: rate, .. } | IslandLinks::Switch { bytes_per_s: rate, .. } => {
                *rate *= factor;
            }
        }
        links
    }

    /// Keeps a share of the island. Of a torus it is a block that has the last axes as a whole. Only an axis that is
    /// cut has no wraparound: the links that close the others are within the block. On TPU v5e, a 8x16 part of a
    /// 16x16 torus has a wraparound on the axis of 16 (jax-ml.github.io/scaling-book/tpus). If the share is not a
    /// block, such as a slice without one host, rings of all axes are open.
    pub fn keep_share(&mut self, share: f64) {
        match self {
            IslandLinks::Torus { axes, .. } => {
                let chips: f64 = axes.iter().map(|axis| f64::from(axis.chips)).product();
                let kept = libm::ceil(chips * share - 1e-6).max(1.0) as u32;
                let mut left = kept;
                for axis in axes.iter_mut().rev() {
                    let chips = axis.chips.min(left);
                    left = left.div_ceil(chips);
                    *axis = TorusAxis { chips, wrapped: axis.wrapped && chips == axis.chips };
                }
                if axes.iter().map(|axis| axis.chips).product::<u32>() != kept {
                    axes.iter_mut().for_each(|axis| axis.wrapped = false);
                }
            }
            IslandLinks::Switch { accelerators, .. } => {
                *accelerators = libm::ceil(f64::from(*accelerators) * share) as u32;
            }
        }
    }

    fn accelerators(&self) -> u32 {
        match self {
            IslandLinks::Torus { axes, .. } => axes.iter().map(|axis| axis.chips).product(),
            IslandLinks::Switch { accelerators, .. } => *accelerators,
        }
    }

    fn has_peers(&self) -> bool {
        self.accelerators() > 1
    }

    /// Returns the latency of a call without its steps.
    pub fn call_s(&self) -> f64 {
        let (IslandLinks::Torus { call_s, .. } | IslandLinks::Switch { call_s, .. }) = self;
        if self.has_peers() { *call_s } else { 0.0 }
    }

    /// Returns the latency of the steps over a switch. An AllGather or ReduceScatter has half of the steps of an
    /// AllReduce (`nsteps` in NCCL's tuning.cc). Hops of a torus are part of `transfer_s`.
    pub fn steps_s(&self, collective: Collective) -> f64 {
        match (self, collective) {
            _ if !self.has_peers() => 0.0,
            (IslandLinks::Switch { latency_s, .. }, Collective::AllGather | Collective::ReduceScatter) => {
                latency_s / 2.0
            }
            (IslandLinks::Switch { latency_s, .. }, _) => *latency_s,
            _ => 0.0,
        }
    }

    /// Returns the time of a call with the fastest algorithm over all accelerators of the island; of a torus, over the
    /// axes that it has.
    pub fn seconds(&self, transfer: Transfer) -> f64 {
        let reduction = self.reduction_s(transfer);
        let transfer_s = self.transfer_s(transfer).min(reduction.unwrap_or(f64::INFINITY));
        self.call_s() + self.steps_s(transfer.collective) + transfer_s
    }

    /// Returns the time of a call by neighbors or a ring, without the latency of a call and of steps over a switch.
    pub fn transfer_s(&self, transfer: Transfer) -> f64 {
        match self {
            IslandLinks::Torus { axes, link_bytes_per_s, hop_s, .. } => {
                let axes: Vec<TorusAxis> = axes.iter().copied().filter(|axis| axis.chips > 1).collect();
                torus_seconds(&axes, *link_bytes_per_s, *hop_s, transfer)
            }
            IslandLinks::Switch { accelerators: 0 | 1, .. } => 0.0,
            IslandLinks::Switch { accelerators, bytes_per_s, .. } => {
                transfer.sent_bytes(f64::from(*accelerators)) / bytes_per_s
            }
        }
    }

    /// Returns the time in which each accelerator passes the bytes of a ring over `ranks` accelerators on.
    pub fn ring_s(&self, transfer: Transfer, ranks: f64) -> f64 {
        match self {
            IslandLinks::Switch { bytes_per_s, .. } => transfer.sent_bytes(ranks) / bytes_per_s,
            IslandLinks::Torus { .. } => self.transfer_s(transfer),
        }
    }

    /// Returns the time of an AllReduce in the switch: each accelerator sends the buffer once to the switch, which
    /// reduces it, and a share of the result once, which the switch multicasts. `None` if the switch cannot.
    pub fn reduction_s(&self, transfer: Transfer) -> Option<f64> {
        match (self, transfer.collective) {
            (IslandLinks::Switch { accelerators: 2.., bytes_per_s, nvls, .. }, Collective::AllReduce) => {
                let sent = transfer.bytes * (1.0 + 1.0 / f64::from(self.accelerators()));
                nvls.map(|nvls| sent / (bytes_per_s * nvls))
            }
            _ => None,
        }
    }

    /// Returns the time in which a chain of the accelerators passes the buffer to a tree between the islands and back:
    /// each sends it once in both directions.
    pub fn chain_s(&self, transfer: Transfer) -> f64 {
        match self {
            IslandLinks::Switch { bytes_per_s, .. } if self.has_peers() => 2.0 * transfer.bytes / bytes_per_s,
            _ => self.transfer_s(transfer),
        }
    }
}

/// Divides a torus into the axes of a group of `members` chips and those of the other groups, the last axis first.
fn split(axes: &[TorusAxis], members: u32) -> (Vec<TorusAxis>, Vec<TorusAxis>) {
    let (mut own, mut rest, mut left) = (Vec::new(), Vec::new(), members.max(1));
    for axis in axes.iter().rev() {
        let chips = axis.chips.min(left);
        let others = axis.chips / chips;
        left /= chips;
        let part = |chips| TorusAxis { chips, wrapped: axis.wrapped && chips == axis.chips };
        own.extend((chips > 1).then(|| part(chips)));
        rest.extend((others > 1).then(|| part(others)));
    }
    own.reverse();
    rest.reverse();
    (own, rest)
}

/// Returns the time over axes of at least two chips. In an AllGather, each of n chips receives n-1 parts of n over the
/// links that it has, and a chip at the end of a line has one link of the axis. Several axes share the buffer by their
/// rates. Each member of a `SendReceive` sends to the next chip of an axis: one link, because the other direction of a
/// ring has n-1 hops.
fn torus_seconds(axes: &[TorusAxis], link_bytes_per_s: f64, hop_s: f64, transfer: Transfer) -> f64 {
    match (axes, transfer.collective) {
        ([], _) => 0.0,
        (_, Collective::SendReceive) => hop_s + transfer.bytes / link_bytes_per_s,
        (_, Collective::AllToAll) => all_to_all_seconds(axes, link_bytes_per_s, transfer.bytes).max(hop_s * hops(axes)),
        _ => {
            let chips: f64 = axes.iter().map(|axis| f64::from(axis.chips)).product();
            let rate: f64 = axes.iter().map(|axis| axis.bytes_per_s(link_bytes_per_s)).sum();
            (transfer.sent_bytes(chips) / rate).max(passes(transfer.collective) * hop_s * hops(axes))
        }
    }
}

fn hops(axes: &[TorusAxis]) -> f64 {
    axes.iter().map(|axis| axis.hops()).sum()
}

/// Half of the buffer crosses the middle of each axis, a quarter in each direction. `chips / axis.chips` lines or rings
/// cross it.
fn all_to_all_seconds(axes: &[TorusAxis], link_bytes_per_s: f64, bytes: f64) -> f64 {
    let chips: f64 = axes.iter().map(|axis| f64::from(axis.chips)).product();
    let crossing = |axis: &TorusAxis| {
        let rings = chips / f64::from(axis.chips);
        bytes / 4.0 / (rings * axis.bytes_per_s(link_bytes_per_s))
    };
    axes.iter().map(crossing).fold(0.0, f64::max)
}
