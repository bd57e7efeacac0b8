//! Reads and writes the links of a topology: `interconnect` of a pool, and `dcnLevels`.

use super::platforms::shape_of;
use crate::read;
use crate::text::{diagnostic::DiagnosticReport, node::YamlNode};
use serde_json::{Value, json};
use sim_api::spec::{CollectiveAlgorithm, DcnLevel, Interconnect, LinkRate, NodePool};

pub fn dcn_level(node: &YamlNode) -> DcnLevel {
    DcnLevel {
        name: read::string(node, "name").unwrap_or_default(),
        label: read::string(node, "label").unwrap_or_default(),
        rate: rate(node),
        oversubscription: read::number(node, "oversubscription").unwrap_or(1.0),
        algorithm: algorithm(node),
    }
}

/// Reads `algorithm` of a network level or of a communication.
pub fn algorithm(node: &YamlNode) -> Option<CollectiveAlgorithm> {
    let written = node.get("algorithm").and_then(YamlNode::as_str);
    CollectiveAlgorithm::ALL.into_iter().find(|algorithm| Some(algorithm.as_str()) == written)
}

fn rate(node: &YamlNode) -> LinkRate {
    LinkRate {
        gbits_per_s: read::number(node, "gbitsPerSecond").unwrap_or(0.0),
        latency: read::duration(node, "latency").unwrap_or_default(),
        efficiency: read::number(node, "efficiency").unwrap_or(1.0),
        call_latency: read::duration(node, "callLatency").unwrap_or_default(),
        nvls: read::number(node, "nvls"),
    }
}

/// Reads `interconnect`. `check` reports a torus without a valid shape.
pub fn interconnect(node: &YamlNode) -> Option<Interconnect> {
    let rate = rate(node);
    match node.get("kind")?.as_str()? {
        "Torus" => Some(Interconnect::Torus { shape: shape(node)?, wrap: wraps(node), rate }),
        _ => Some(Interconnect::Switch(rate)),
    }
}

fn wraps(node: &YamlNode) -> Vec<bool> {
    read::list(node, "wrap").iter().filter_map(YamlNode::as_bool).collect()
}

/// Reads `shape`, such as 4x4x8.
fn shape(node: &YamlNode) -> Option<Vec<u32>> {
    shape_of(&node.get("shape")?.scalar_text()?)
}

/// Checks the interconnect of a pool against the accelerators of its islands.
pub fn check(pool: &NodePool, node: &YamlNode, report: &mut DiagnosticReport) {
    let Some(links) = node.get("interconnect") else {
        return;
    };
    let at = |key: &str| links.get(key).map_or(links.at, |n| n.at);
    let is_torus = links.get("kind").and_then(YamlNode::as_str) == Some("Torus");
    for key in ["shape", "wrap"].into_iter().filter(|key| !is_torus && links.get(key).is_some()) {
        report.error(at(key), format!("{key} applies to a Torus only"));
    }
    if !is_torus {
        return;
    }
    if links.get("nvls").is_some() {
        report.error(at("nvls"), "nvls applies to a Switch only");
    }
    let per_node = pool.allocatable.get(&pool.accelerator).map_or(0, |milli| milli / 1_000);
    let accelerators = i64::from(pool.nodes_per_island) * per_node;
    let Some(shape) = shape(links) else {
        let message = "interconnect.shape must be numbers of accelerators along each axis";
        report.error(at("shape"), message).suggest(format!("shape: {accelerators}"));
        return;
    };
    let chips = shape.iter().fold(1i64, |all, axis| all.saturating_mul(i64::from(*axis)));
    if chips != accelerators {
        let nodes = pool.nodes_per_island;
        let message = format!(
            "interconnect.shape has {chips} accelerators, but an island has {nodes} × {per_node} = {accelerators}"
        );
        report.error(at("shape"), message);
    }
    if wraps(links).len() > shape.len() {
        let message = format!("interconnect.wrap has more entries than the {} axes of shape", shape.len());
        report.error(at("wrap"), message);
    }
}

pub fn written_level(level: &DcnLevel) -> Value {
    let mut all = json!({"name": level.name, "label": level.label});
    write_rate(&mut all, level.rate);
    if level.oversubscription != 1.0 {
        all["oversubscription"] = json!(level.oversubscription);
    }
    if let Some(algorithm) = level.algorithm {
        all["algorithm"] = json!(algorithm.as_str());
    }
    all
}

pub fn written_interconnect(interconnect: &Interconnect) -> Value {
    let (mut all, rate) = match interconnect {
        Interconnect::Torus { shape, wrap, rate } => {
            let shape: Vec<String> = shape.iter().map(u32::to_string).collect();
            (json!({"kind": "Torus", "shape": shape.join("x"), "wrap": wrap}), rate)
        }
        Interconnect::Switch(rate) => (json!({"kind": "Switch"}), rate),
    };
    write_rate(&mut all, *rate);
    all
}

fn write_rate(all: &mut Value, rate: LinkRate) {
    all["gbitsPerSecond"] = json!(rate.gbits_per_s);
    if rate.latency.0 > 0 {
        all["latency"] = json!(rate.latency.to_string());
    }
    if rate.efficiency != 1.0 {
        all["efficiency"] = json!(rate.efficiency);
    }
    if rate.call_latency.0 > 0 {
        all["callLatency"] = json!(rate.call_latency.to_string());
    }
    if let Some(nvls) = rate.nvls {
        all["nvls"] = json!(nvls);
    }
}
