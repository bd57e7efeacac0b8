//! Derives the communication of a step from the size of a model and the roles of the axes of parallelism.
//!
//! Data parallelism reduces all gradients. Sharded weights are gathered for the forward and the backward pass, and
//! their gradients are reduced (ZeRO stage 3, arXiv 1910.02054). Tensor parallelism reduces the activations four times
//! in each layer, and stages of a pipeline pass activations and their gradients on (Megatron-LM, arXiv 2104.04473).
//! Weights are sharded layer by layer (PyTorch FSDP), and gradients of data parallelism are one call.

use crate::read;
use crate::text::{diagnostic::DiagnosticReport, node::YamlNode};
use sim_api::spec::{AxisSpan, Collective, ParallelAxis, RankOrder, StepTraffic};
use sim_base::quantity;

/// Role of an axis, in the spelling of files.
pub const ROLES: [&str; 4] = ["Data", "Sharded", "Tensor", "Pipeline"];

/// AllReduce operations of tensor parallelism per layer: two in the forward and two in the backward pass.
const REDUCTIONS_PER_LAYER: f64 = 4.0;

/// An axis with its role, and what its derived traffic has in common.
struct RoleAxis<'a> {
    at: usize,
    axis: &'a ParallelAxis,
    role: &'a str,
    overlap: f64,
    order: RankOrder,
}

/// Returns the traffic of all axes with a role. `axes` are read from `nodes`.
pub fn traffic(
    model: &YamlNode, (axes, nodes): (&[ParallelAxis], &[YamlNode]), report: &mut DiagnosticReport,
) -> Vec<StepTraffic> {
    let mut all = Vec::new();
    for (at, (axis, node)) in axes.iter().zip(nodes).enumerate() {
        let written = |key: &str| node.get(key).and_then(YamlNode::as_str);
        let (role, order) = (written("role"), written("order"));
        let order = RankOrder::ALL.into_iter().find(|one| Some(one.as_str()) == order).unwrap_or_default();
        let overlap = read::number(node, "overlap").unwrap_or(0.0);
        let role = ROLES.into_iter().find(|one| Some(*one) == role);
        all.extend(role.map(|role| RoleAxis { at, axis, role, overlap, order }));
    }
    if all.is_empty() {
        let error = report.error(model.at, "training.model has no effect: no axis of parallelism has a role");
        error.suggest("role: Data");
    }
    let size = ModelSize { model, all: &all };
    all.iter().flat_map(|axis| size.of_axis(axis, report)).collect()
}

struct ModelSize<'a> {
    model: &'a YamlNode,
    all: &'a [RoleAxis<'a>],
}

impl ModelSize<'_> {
    fn of_axis(&self, axis: &RoleAxis<'_>, report: &mut DiagnosticReport) -> Vec<StepTraffic> {
        let within = axis.axis.span == AxisSpan::Island;
        let operation = |collective, bytes: Option<f64>, calls: f64| {
            Some(StepTraffic {
                axis: axis.at,
                collective,
                bytes: bytes?,
                calls: libm::ceil(calls).max(1.0) as u32,
                overlap: axis.overlap,
                order: axis.order,
                algorithm: None,
            })
        };
        let stages = self.all.iter().filter(|other| other.role == "Pipeline").filter_map(|other| other.axis.size);
        let layers = f64::from(read::u32_of(self.model, "layers").unwrap_or(1)) / f64::from(stages.product::<u32>());
        let microbatches = f64::from(read::u32_of(self.model, "microbatches").unwrap_or(1));
        // The part of the weights in an island, or in a group of accelerators within it.
        let mut weights = || {
            let divides = |other: &RoleAxis<'_>| within || other.axis.span != AxisSpan::Island;
            let parts = self.sizes(&["Tensor", "Pipeline"], divides, report)?;
            Some(self.value("parameters", report)? * self.bytes_per_value() / parts)
        };
        let all = match axis.role {
            "Data" => vec![operation(Collective::AllReduce, weights(), 1.0)],
            "Sharded" => {
                let weights = weights();
                vec![
                    operation(Collective::AllGather, weights.map(|bytes| 2.0 * bytes), 2.0 * layers),
                    operation(Collective::ReduceScatter, weights, layers),
                ]
            }
            "Tensor" => {
                let layers = self.value("layers", report);
                let stages = self.sizes(&["Pipeline"], |_| true, report);
                let reductions = layers.zip(stages).map(|(layers, stages)| REDUCTIONS_PER_LAYER * layers / stages);
                let bytes = reductions.zip(self.activations(report)).map(|(reductions, buffer)| reductions * buffer);
                vec![operation(Collective::AllReduce, bytes, reductions.unwrap_or(1.0) * microbatches)]
            }
            _ => {
                let bytes = self.activations(report).map(|buffer| 2.0 * buffer);
                vec![operation(Collective::SendReceive, bytes, 2.0 * microbatches)]
            }
        };
        all.into_iter().flatten().collect()
    }

    /// Returns the bytes of the activations between two layers, for the tokens of one replica of the model.
    fn activations(&self, report: &mut DiagnosticReport) -> Option<f64> {
        let replicas = self.sizes(&["Data", "Sharded"], |_| true, report)?;
        let tokens = self.value("tokens", report)? / replicas;
        Some(tokens * self.value("width", report)? * self.bytes_per_value())
    }

    fn bytes_per_value(&self) -> f64 {
        read::number(self.model, "bytesPerValue").unwrap_or(2.0)
    }

    fn value(&self, key: &str, report: &mut DiagnosticReport) -> Option<f64> {
        let text = self.model.get(key).and_then(YamlNode::scalar_text);
        let value = text.and_then(|text| quantity::parse_milli(&text).ok());
        if value.is_none() {
            report.error(self.model.at, format!("training.model requires {key} for these axes of parallelism"));
        }
        value.map(|milli| milli as f64 / 1_000.0)
    }

    /// Returns the product of the sizes of the axes with certain roles.
    fn sizes(
        &self, roles: &[&str], counts: impl Fn(&RoleAxis<'_>) -> bool, report: &mut DiagnosticReport,
    ) -> Option<f64> {
        let mut product = 1.0;
        for other in self.all.iter().filter(|other| roles.contains(&other.role) && counts(other)) {
            let Some(size) = other.axis.size else {
                let message = format!("training.model requires the size of axis {:?}", other.axis.name);
                report.error(self.model.at, message);
                return None;
            };
            product *= f64::from(size);
        }
        Some(product)
    }
}
