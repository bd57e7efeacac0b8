//! Links within an island: a torus of TPU chips, or a switch that connects GPUs.

use super::collective::{Collective, Transfer, passes};
use sim_api::spec::Interconnect;

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
    Torus { axes: Vec<TorusAxis>, link_bytes_per_s: f64, hop_s: f64 },
    Switch { accelerators: u32, bytes_per_s: f64, latency_s: f64 },
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
                }
            }
            Interconnect::Switch(rate) => {
                IslandLinks::Switch { accelerators, bytes_per_s: rate.bytes_per_s(), latency_s: rate.latency.seconds() }
            }
        }
    }

    /// Returns the links among groups of `members` accelerators, each `stride` apart: groups take whole axes of a
    /// torus as far as possible, and parts of an axis have no wraparound.
    pub fn group(&self, stride: u32, members: u32) -> IslandLinks {
        match self {
            IslandLinks::Switch { bytes_per_s, latency_s, .. } => {
                IslandLinks::Switch { accelerators: members, bytes_per_s: *bytes_per_s, latency_s: *latency_s }
            }
            IslandLinks::Torus { axes, link_bytes_per_s, hop_s } => {
                let (_, rest) = split(axes, stride);
                let (axes, _) = split(&rest, members);
                IslandLinks::Torus { axes, link_bytes_per_s: *link_bytes_per_s, hop_s: *hop_s }
            }
        }
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

    /// Keeps a share of the island: the first axis of a torus is shorter, and no axis has a wraparound.
    pub fn keep_share(&mut self, share: f64) {
        match self {
            IslandLinks::Torus { axes, .. } => {
                axes.iter_mut().for_each(|axis| axis.wrapped = false);
                if let Some(first) = axes.first_mut() {
                    first.chips = libm::ceil(f64::from(first.chips) * share) as u32;
                }
            }
            IslandLinks::Switch { accelerators, .. } => {
                *accelerators = libm::ceil(f64::from(*accelerators) * share) as u32;
            }
        }
    }

    /// Returns the time of a collective over all accelerators of the island; of a torus, over the axes that it has.
    pub fn seconds(&self, transfer: Transfer) -> f64 {
        match self {
            IslandLinks::Torus { axes, link_bytes_per_s, hop_s } => {
                let axes: Vec<TorusAxis> = axes.iter().copied().filter(|axis| axis.chips > 1).collect();
                torus_seconds(&axes, *link_bytes_per_s, *hop_s, transfer)
            }
            IslandLinks::Switch { accelerators: 0 | 1, .. } => 0.0,
            IslandLinks::Switch { accelerators, bytes_per_s, latency_s } => {
                latency_s + transfer.sent_bytes(f64::from(*accelerators)) / bytes_per_s
            }
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

/// Returns the time over axes of at least two chips. An AllGather over one axis without wraparound takes n-1 steps of
/// an n-th of the buffer. Several axes share the buffer by their rates.
fn torus_seconds(axes: &[TorusAxis], link_bytes_per_s: f64, hop_s: f64, transfer: Transfer) -> f64 {
    let passes = passes(transfer.collective);
    match (axes, transfer.collective) {
        ([], _) => 0.0,
        (axes, Collective::SendReceive) => {
            let rate = axes.iter().map(|axis| axis.bytes_per_s(link_bytes_per_s)).fold(0.0, f64::max);
            hop_s + transfer.bytes / rate
        }
        (_, Collective::AllToAll) => all_to_all_seconds(axes, link_bytes_per_s, transfer.bytes).max(hop_s * hops(axes)),
        ([line], _) if !line.wrapped => {
            let step = transfer.bytes / (f64::from(line.chips) * link_bytes_per_s);
            passes * line.hops() * step.max(hop_s)
        }
        _ => {
            let rate: f64 = axes.iter().map(|axis| axis.bytes_per_s(link_bytes_per_s)).sum();
            passes * (transfer.bytes / rate).max(hop_s * hops(axes))
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
