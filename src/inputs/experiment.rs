//! Reads `experiment`: variants, sweeps and overrides. The paths of overrides are checked when the variant is read.

use crate::read;
use crate::schema::shapes::common::SCALES;
use crate::text::diagnostic::Report;
use crate::text::node::{Key, Node};
use sim_api::spec::{Axis, BASELINE, Experiment, Level, Over, SweepSpec, VariantSpec};

pub fn read(node: &Node, report: &mut Report) -> Experiment {
    let Some(node) = node.get("experiment") else {
        return Experiment::default();
    };
    let mut variants: Vec<VariantSpec> = Vec::new();
    for entry in read::list(node, "variants") {
        let name = read::string(entry, "name").unwrap_or_default();
        let at = entry.get("name").map_or(entry.at, |n| n.at);
        if name.is_empty() || name == BASELINE {
            let message = format!("{name:?} is no name for a variant: it is the scenario itself");
            report.error(at, message);
        }
        if variants.iter().any(|known| known.name == name) {
            report.error(at, format!("there are two variants {name:?}"));
        }
        let set = entry.get("set");
        let fields = set.map_or(&[][..], Node::entries);
        if fields.is_empty() {
            let at = set.map_or(entry.at, |s| s.at);
            report.error(at, format!("variant {name:?} sets nothing"));
        }
        let written = |(key, value): &(Key, Node)| (key.name.clone(), value.to_json().to_string());
        let sets = fields.iter().map(written).collect();
        variants.push(VariantSpec { name, sets });
    }
    let level = read::string(node, "level");
    let level = Level::ALL
        .into_iter()
        .find(|l| Some(l.as_str()) == level.as_deref());
    if variants.is_empty() && node.get("sweep").is_none() && level.is_none() {
        let error = report.error(node.at, "an experiment has variants, or a sweep");
        error.suggest("sweep: {axes: [{path: parameters.spares, values: [0, 2, 4]}]}");
    }
    let replications = read::integer(node, "replications");
    Experiment {
        variants,
        replications: replications.and_then(|n| u64::try_from(n).ok()),
        sweep: node
            .get("sweep")
            .map_or_else(SweepSpec::default, |s| sweep(s, report)),
        level: level.unwrap_or_default(),
    }
}

fn sweep(node: &Node, report: &mut Report) -> SweepSpec {
    let points = read::integer(node, "latinHypercube");
    let axes = read::list(node, "axes").iter();
    SweepSpec {
        axes: axes.filter_map(|entry| axis(entry, report)).collect(),
        hypercube: points.and_then(|n| u64::try_from(n).ok()),
    }
}

fn axis(node: &Node, report: &mut Report) -> Option<Axis> {
    let path = read::string(node, "path").unwrap_or_default();
    let text = |value: &Node| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_json().to_string(),
    };
    let over = match (node.get("values"), node.get("from"), node.get("to")) {
        (Some(values), None, None) => Over::Values(values.items().iter().map(text).collect()),
        (None, Some(low), Some(high)) => Over::Range {
            low: text(low),
            high: text(high),
            log: read::string(node, "scale").as_deref() == Some(SCALES[1]),
        },
        _ => {
            let message = format!("the axis {path:?} has either values, or from and to");
            report.error(node.at, message);
            return None;
        }
    };
    Some(Axis { path, over })
}
