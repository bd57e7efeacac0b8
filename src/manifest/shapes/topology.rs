//! `kind: Topology`.

use super::pod::EFFECTS;
use super::scenario::{API_VERSION, METADATA};
use crate::manifest::shape::{Field, Object, STR_LIST, STR_MAP, Shape, field};

/// More nodes than this are a typing error.
pub const NODES_MAX: i64 = 1_000_000;
const COUNT: Shape = Shape::Int(0, NODES_MAX);

const HEAD: [Field; 2] = [
    field("apiVersion", Shape::OneOf(&[API_VERSION]), API_VERSION).required(),
    field("kind", Shape::OneOf(&["Topology"]), "Topology").required(),
];

pub static TOPOLOGY: Object = Object {
    kind: "Topology",
    fields: &[
        HEAD[0],
        HEAD[1],
        field("metadata", Shape::Object(&METADATA), "{name: ...}").required(),
        field("currency", Shape::Str, "of all prices; default: USD"),
        field(
            "dcnLevels",
            Shape::List(&Shape::Object(&DCN_LEVEL)),
            "network levels, nearest first",
        ),
        field("pools", Shape::List(&Shape::Object(&POOL)), "the nodes").required(),
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
        .required(),
        field("count", COUNT, "how many pools like this; default: 1"),
        field("islands", COUNT, "islands in one pool; default: 1"),
        field("nodesPerIsland", COUNT, "nodes in one island").required(),
        field(
            "islandKind",
            Shape::OneOf(&["None", "Ici", "NvLink"]),
            "what connects the nodes of an island; default: None",
        ),
        field(
            "allocatable",
            Shape::Map(&Shape::Amount),
            "resources of one node; pods: 110",
        ),
        field(
            "accelerator",
            Shape::Str,
            "the resource that counts as accelerators",
        ),
        field("pricePerNodeHour", Shape::Number(0.0, 1e6), "default: 0"),
        field("taints", Shape::List(&Shape::Object(&TAINT)), ""),
        field(
            "labels",
            STR_MAP,
            "values may contain {pool}, {island} and {node}",
        ),
        field(
            "features",
            STR_LIST,
            "declared node features (status.declaredFeatures)",
        ),
    ],
};

pub static TAINT: Object = Object {
    kind: "Taint",
    fields: &[
        field("key", Shape::Str, "").required(),
        field("value", Shape::Str, ""),
        field("effect", Shape::OneOf(EFFECTS), "").required(),
    ],
};

static DCN_LEVEL: Object = Object {
    kind: "DcnLevel",
    fields: &[
        field("name", Shape::Str, "").required(),
        field(
            "label",
            Shape::Str,
            "node label whose values are the groups",
        )
        .required(),
        field("gbitsPerSecond", Shape::Number(0.0, 1e9), "").required(),
    ],
};
