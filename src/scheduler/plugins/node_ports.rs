//! NodePorts: host ports that other pods of the node use.

use crate::cycle::SchedulingCycle;
use crate::index::NodeIndex;
use crate::node::NodeUsage;
use crate::plugin::Plugin;
use crate::rejection::Rejection;

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

pub fn filter(cycle: &SchedulingCycle<'_>, _: NodeIndex, usage: &NodeUsage) -> Result<(), Rejection> {
    let conflicts = cycle.pod.host_ports.iter().any(|port| usage.ports.iter().any(|used| used.conflicts_with(port)));
    if conflicts { Err(Rejection::resolvable(Plugin::NodePorts, REASON)) } else { Ok(()) }
}
