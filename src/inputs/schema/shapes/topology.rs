//! Field tables of topology files.

use super::common::{API_VERSION, METADATA};
use super::pod::EFFECTS;
use crate::schema::shape::{Field, Object, STR_LIST, STR_MAP, Shape, field};

/// Maximum number of nodes. A larger number is probably a typing error.
pub const NODES_MAX: i64 = 1_000_000;
/// Price per hour in the currency of the topology.
pub const PRICE: Shape = Shape::Number(0.0, 1e6);
pub const PER_NODE: &str = "pricePerNodeHour";
pub const PER_ACCELERATOR: &str = "pricePerAcceleratorHour";
const COUNT: Shape = Shape::Int(0, NODES_MAX);

const HEAD: [Field; 2] = [
    field("apiVersion", Shape::OneOf(&[API_VERSION]), "of this format").required(),
    field("kind", Shape::OneOf(&["Topology"]), "of this file").required(),
];

pub static TOPOLOGY: Object = Object {
    kind: "Topology",
    fields: &[
        HEAD[0],
        HEAD[1],
        field("metadata", Shape::Object(&METADATA), "{name: ...}")
            .required()
            .example("{name: small-16}"),
        field("currency", Shape::Line, "of all prices")
            .default("USD")
            .example("EUR"),
        field(
            "dcnLevels",
            Shape::List(&Shape::Object(&DCN_LEVEL)),
            "network levels, nearest first",
        )
        .otherwise("none")
        .example("[{name: rack, label: rack, gbitsPerSecond: 400}]"),
        field(
            "extendedResourceToleration",
            Shape::Bool,
            "whether the API server has that admission plugin, as on GKE: pods that request google.com/tpu tolerate the \
             NoSchedule taint of that name, and so on for every extended resource",
        )
        .default("false")
        .example("true"),
        field("pools", Shape::NonEmpty(&Shape::Object(&POOL)), "the nodes")
            .required()
            .example("[{name: \"a-{node}\", nodesPerIsland: 4}]"),
    ],
};

static POOL: Object = Object {
    kind: "Pool",
    fields: &[
        field(
            "name",
            Shape::Str,
            "of the nodes; {pool}, {island} and {node} stand for running numbers",
        )
        .required()
        .example("\"a-{node}\""),
        field("count", COUNT, "how many pools like this")
            .default("1")
            .example("5"),
        field("islands", COUNT, "islands in one pool")
            .default("1")
            .example("4"),
        field("nodesPerIsland", COUNT, "nodes in one island")
            .required()
            .example("16"),
        field(
            "islandKind",
            Shape::OneOf(&["None", "Ici", "NvLink"]),
            "what connects the nodes of an island",
        )
        .default("None"),
        field(
            "allocatable",
            Shape::Map(&Shape::Amount),
            "resources of one node",
        )
        .otherwise("pods: 110")
        .example("{cpu: 8, memory: 64Gi, example.com/accelerator: 4}"),
        field(
            "accelerator",
            Shape::Str,
            "the resource that counts as accelerators",
        )
        .otherwise("none")
        .example("example.com/accelerator"),
        field(PER_NODE, PRICE, "in the currency; to a millionth")
            .default("0")
            .example("16.8"),
        field(PER_ACCELERATOR, PRICE, "the same of each accelerator")
            .otherwise("the node's, shared by its accelerators")
            .example("4.2"),
        field(
            "taints",
            Shape::List(&Shape::Object(&TAINT)),
            "of each node",
        )
        .otherwise("none")
        .example("[{key: accelerator, effect: NoSchedule}]"),
        field(
            "labels",
            STR_MAP,
            "of each node; values may contain {pool}, {island} and {node}",
        )
        .otherwise("none")
        .example("{rack: \"r-{island}\"}"),
        field(
            "features",
            STR_LIST,
            "declared node features (status.declaredFeatures)",
        )
        .otherwise("none")
        .example("[RestartAllContainersOnContainerExits]"),
    ],
};

pub static TAINT: Object = Object {
    kind: "Taint",
    fields: &[
        field("key", Shape::Str, "of the taint")
            .required()
            .example("accelerator"),
        field("value", Shape::Str, "of the taint")
            .otherwise("empty")
            .example("present"),
        field("effect", Shape::OneOf(EFFECTS), "of the taint").required(),
    ],
};

static DCN_LEVEL: Object = Object {
    kind: "DcnLevel",
    fields: &[
        field("name", Shape::Line, "stands in reports")
            .required()
            .example("rack"),
        field(
            "label",
            Shape::Str,
            "node label whose values are the groups",
        )
        .required()
        .example("rack"),
        field("gbitsPerSecond", Shape::Number(0.0, 1e9), "of one node")
            .required()
            .example("400"),
    ],
};
