//! NodePorts: host ports that other pods of the node use.

use crate::{cycle::SchedulingCycle, index::NodeIndex, node::NodeUsage, plugin::Plugin, rejection::Rejection};

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

pub fn filter(cycle: &SchedulingCycle<'_>, _: NodeIndex, usage: &NodeUsage) -> Result<(), Rejection> {
    let conflicts = cycle.pod.host_ports.iter().any(|port| usage.ports.iter().any(|used| used.conflicts_with(port)));
    if conflicts { Err(Rejection::resolvable(Plugin::NodePorts, REASON)) } else { Ok(()) }
}
