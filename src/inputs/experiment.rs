//! Reads `experiment`: variants, sweeps and overrides. The paths of overrides are checked when the variant is read.

use crate::text::node::{MappingKey, YamlNode};
use crate::{presets::uncertain, read, schema::definitions::common::SCALES, text::diagnostic::DiagnosticReport};
use sim_api::spec::{BASELINE, ExperimentSpec, ModelLevel, SweepAxis, SweepSpec, SweepTarget, VariantSpec};

pub fn read(node: &YamlNode, report: &mut DiagnosticReport) -> ExperimentSpec {
    let Some(node) = node.get("experiment") else {
        return ExperimentSpec::default();
    };
    let mut variants: Vec<VariantSpec> = Vec::new();
    for entry in read::list(node, "variants") {
        let name = read::string(entry, "name").unwrap_or_default();
        let at = entry.get("name").map_or(entry.at, |n| n.at);
        if name.is_empty() || name == BASELINE {
            let message = format!("{name:?} cannot be the name of a variant: it is reserved for the scenario itself");
            report.error(at, message);
        }
        if variants.iter().any(|known| known.name == name) {
            report.error(at, format!("duplicate variant name {name:?}"));
        }
        let set = entry.get("set");
        let fields = set.map_or(&[][..], YamlNode::entries);
        if fields.is_empty() {
            let at = set.map_or(entry.at, |s| s.at);
            report.error(at, format!("variant {name:?} sets no fields"));
        }
        let written = |(key, value): &(MappingKey, YamlNode)| (key.name.clone(), value.to_json().to_string());
        let sets = fields.iter().map(written).collect();
        variants.push(VariantSpec { name, sets });
    }
    let level = read::string(node, "level");
    let level = ModelLevel::ALL.into_iter().find(|l| Some(l.as_str()) == level.as_deref());
    if variants.is_empty() && node.get("sweep").is_none() && level.is_none() {
        let error = report.error(node.at, "an experiment requires variants or a sweep");
        error.suggest("sweep: {axes: [{path: parameters.spares, values: [0, 2, 4]}]}");
    }
    let replications = read::integer(node, "replications");
    ExperimentSpec {
        variants,
        replications: replications.and_then(|n| u64::try_from(n).ok()),
        sweep: node.get("sweep").map_or_else(SweepSpec::default, |s| sweep(s, report)),
        level,
    }
}

fn sweep(node: &YamlNode, report: &mut DiagnosticReport) -> SweepSpec {
    let points = read::integer(node, "latinHypercube");
    let axes = read::list(node, "axes").iter();
    SweepSpec {
        axes: axes.filter_map(|entry| axis(entry, report)).collect(),
        hypercube: points.and_then(|n| u64::try_from(n).ok()),
    }
}

fn axis(node: &YamlNode, report: &mut DiagnosticReport) -> Option<SweepAxis> {
    let path = read::string(node, "path").unwrap_or_default();
    let text = |value: &YamlNode| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_json().to_string(),
    };
    let over = match (node.get("values"), node.get("from"), node.get("to")) {
        (Some(values), None, None) => SweepTarget::Values(values.items().iter().map(text).collect()),
        (None, Some(low), Some(high)) => SweepTarget::Range {
            low: text(low),
            high: text(high),
            log: read::string(node, "scale").as_deref() == Some(SCALES[1]),
        },
        _ => {
            let message = format!("the axis {path:?} requires either values, or both from and to");
            report.error(node.at, message);
            return None;
        }
    };
    let is_uncertain = read::boolean(node, "uncertain").unwrap_or_else(|| uncertain::is_uncertain(None, &path));
    Some(SweepAxis { path, target: over, is_uncertain })
}
