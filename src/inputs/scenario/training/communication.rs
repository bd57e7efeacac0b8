//! Reads `parallelism` and `communication` of a training.

use super::model;
use crate::read;
use crate::text::{diagnostic::DiagnosticReport, node::YamlNode};
use sim_api::spec::{AxisSpan, Collective, Communication, ParallelAxis, RankOrder, StepTraffic, TopologySpec};
use sim_base::quantity;

/// Reads the communication of a training job on a topology. Returns `None` if a step includes all communication.
pub fn read(node: &YamlNode, topology: &TopologySpec, report: &mut DiagnosticReport) -> Option<Communication> {
    let Some(place) = node.get("communication").or(node.get("model")) else {
        if let Some(axes) = node.get("parallelism") {
            let error = report.error(axes.at, "training.parallelism has no effect without training.communication");
            error.suggest("communication: [{axis: data, collective: AllReduce, bytes: 140G}]");
        }
        return None;
    };
    if node.get("step").is_none() {
        let error = report.error(place.at, "communication requires training.step, the time of computation");
        error.suggest("step: 6s");
        return None;
    }
    let axes = axes(node, report);
    let mut traffic: Vec<StepTraffic> =
        read::list(node, "communication").iter().filter_map(|traffic| step_traffic(traffic, &axes, report)).collect();
    if let Some(size) = node.get("model") {
        traffic.extend(model::traffic(size, (&axes, read::list(node, "parallelism")), report));
    }
    links_known(place, &Communication { axes: axes.clone(), traffic: traffic.clone() }, topology, report);
    Some(Communication { axes, traffic })
}

fn axes(node: &YamlNode, report: &mut DiagnosticReport) -> Vec<ParallelAxis> {
    let mut axes: Vec<ParallelAxis> = Vec::new();
    for axis in read::list(node, "parallelism") {
        let over = axis.get("over").and_then(YamlNode::as_str);
        let Some(span) = AxisSpan::ALL.into_iter().find(|span| Some(span.as_str()) == over) else {
            continue;
        };
        let (name, size) = (read::string(axis, "axis").unwrap_or_default(), read::u32_of(axis, "size"));
        if axes.iter().any(|other| other.name == name) {
            report.error(axis.at, format!("duplicate axis {name:?}"));
        }
        if size.is_none() && axes.iter().any(|other| other.span == span && other.size.is_none()) {
            let message = format!("only one axis over {:?} may omit its size", span.as_str());
            report.error(axis.at, message);
        }
        axes.push(ParallelAxis { name, span, size });
    }
    axes
}

fn step_traffic(node: &YamlNode, axes: &[ParallelAxis], report: &mut DiagnosticReport) -> Option<StepTraffic> {
    let name = node.get("axis")?;
    let names = || axes.iter().map(|axis| axis.name.as_str());
    let written = name.as_str()?;
    let Some(axis) = names().position(|axis| axis == written) else {
        let error = report.error(name.at, format!("training.parallelism has no axis {written:?}"));
        error.nearest(written, names());
        error.legal(names().collect::<Vec<_>>().join(", "));
        return None;
    };
    let word = |key: &str| node.get(key).and_then(YamlNode::as_str);
    let collective = word("collective");
    let order = word("order");
    Some(StepTraffic {
        axis,
        collective: Collective::ALL.into_iter().find(|one| Some(one.as_str()) == collective)?,
        bytes: quantity::parse_milli(&node.get("bytes")?.scalar_text()?).ok()? as f64 / 1_000.0,
        calls: read::u32_of(node, "calls").unwrap_or(1),
        overlap: read::number(node, "overlap").unwrap_or(0.0),
        algorithm: crate::topology::links::algorithm(node),
        order: RankOrder::ALL.into_iter().find(|one| Some(one.as_str()) == order).unwrap_or_default(),
    })
}

/// Reports links whose rates the topology does not state.
fn links_known(
    place: &YamlNode, communication: &Communication, topology: &TopologySpec, report: &mut DiagnosticReport,
) {
    let spans = |span: &[AxisSpan]| {
        communication.traffic.iter().any(|traffic| span.contains(&communication.axes[traffic.axis].span))
    };
    let unknown = topology.pools.iter().find(|pool| !pool.accelerator.is_empty() && pool.interconnect.is_none());
    if let Some(pool) = unknown.filter(|_| spans(&[AxisSpan::Island, AxisSpan::All])) {
        let message = format!(
            "communication within islands needs their links, but pool {:?} of topology {:?} has no interconnect",
            pool.name, topology.name
        );
        report.error(place.at, message).suggest("interconnect: {kind: Switch, gbitsPerSecond: 3600}");
    }
    if topology.dcn_levels.is_empty() && spans(&[AxisSpan::Islands, AxisSpan::All]) {
        let name = &topology.name;
        let message = format!("communication between islands needs network levels, but topology {name:?} has none");
        let error = report.error(place.at, message);
        error.suggest("dcnLevels: [{name: zone, label: topology.kubernetes.io/zone, gbitsPerSecond: 400}]");
    }
}
