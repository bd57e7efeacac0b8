//! Periods in which a node or its links are slow; where they overlap, the slowest factor applies.

use super::fault::{FaultOperation, FaultScope, InjectedFault};
use sim_api::spec::{LinkKind, SilentFaults};
use sim_base::{Duration, NodeId};

/// What is slow.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SlowPart {
    Machine,
    Links(LinkKind),
}

/// One slow period of a node.
#[derive(Clone, Debug)]
pub struct SlowNodes {
    pub start: Duration,
    /// `None`: until the end of the run.
    pub end: Option<Duration>,
    pub factor: f64,
    pub cause: u32,
    pub part: SlowPart,
}

/// All changes of the factor of one part until `stop`; `name` is the name of a cause.
pub fn speed_changes<'n>(
    (node, part): (NodeId, SlowPart), all: &[SlowNodes], stop: Duration, name: impl Fn(u32) -> &'n str,
) -> Vec<InjectedFault> {
    let ends = all.iter().filter_map(|s| Some((s.end?, s.cause)));
    let starts = all.iter().map(|s| (s.start, s.cause));
    let mut instants: Vec<(Duration, u32)> = starts.chain(ends).collect();
    instants.sort_by_key(|(at, cause)| (*at, name(*cause)));
    instants.dedup_by_key(|(at, _)| *at);
    let mut now = 1.0;
    let mut script = Vec::new();
    for (at, cause) in instants.into_iter().take_while(|(at, _)| *at <= stop) {
        let on = |s: &&SlowNodes| s.start <= at && s.end.is_none_or(|end| end > at);
        let factor = all.iter().filter(on).map(|s| s.factor).fold(1.0, f64::max);
        if factor != now {
            now = factor;
            script.push(InjectedFault {
                at,
                target: FaultScope::Node(node),
                operation: FaultOperation::Silent(match part {
                    SlowPart::Machine => SilentFaults::Slow { factor },
                    SlowPart::Links(links) => SilentFaults::Degrade { links, factor },
                }),
                cause,
            });
        }
    }
    script
}

#[cfg(test)]
#[path = "../../../tests/inside/reliability/faults/slow.rs"]
mod tests;
