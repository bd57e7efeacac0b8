//! Field tables of topology files.

use super::common::{API_VERSION, METADATA};
use super::pod::EFFECTS;
use crate::schema::field_type::FieldType::{
    Amount, Bool, Duration, Int, Line, List, Map, NonEmpty, Number, Object, OneOf, Str,
};
use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, STR_LIST, STR_MAP, field};

/// Maximum number of nodes. A larger number is probably a typing error.
pub const NODES_MAX: i64 = 1_000_000;
/// Price per hour in the currency of the topology.
pub const PRICE: FieldType = Number(0.0, 1e6);
pub const PER_NODE: &str = "pricePerNodeHour";
pub const PER_ACCELERATOR: &str = "pricePerAcceleratorHour";
const COUNT: FieldType = Int(0, NODES_MAX);

const HEAD: [FieldSchema; 2] = [
    field("apiVersion", OneOf(&[API_VERSION])).doc("API version of the file format.").required(),
    field("kind", OneOf(&["Topology"])).doc("Kind of the file.").required(),
];

pub static TOPOLOGY: ObjectSchema = ObjectSchema {
    kind: "Topology",
    fields: &[
        HEAD[0],
        HEAD[1],
        field("metadata", Object(&METADATA))
            .doc("Name and description of the topology.")
            .required()
            .example("{name: small-16}"),
        field("currency", Line).doc("Currency of all prices.").default("USD").example("EUR"),
        field("dcnLevels", List(&Object(&DCN_LEVEL)))
            .doc("Levels of the data center network, from the nearest to the farthest.")
            .otherwise("none")
            .example("[{name: rack, label: rack, gbitsPerSecond: 400}]"),
        field("extendedResourceToleration", Bool)
            .doc(
                "Whether the API server runs the admission plugin ExtendedResourceToleration, as on GKE. Pods \
                 that request an extended resource such as google.com/tpu then tolerate the NoSchedule taint with \
                 the same key.",
            )
            .default("false")
            .example("true"),
        field("slices", List(&Object(&SLICE)))
            .doc(
                "Slices of several TPU7x cubes that GKE's slice controller formed before the run (dynamic slicing). \
                 Their nodes get the label cloud.google.com/gke-tpu-slice. With `sliceFormation` of the scenario, a \
                 slice that lost a cube is formed again.",
            )
            .otherwise("none")
            .example("[{name: slice-a, shape: 4x4x8, cubes: [cube-0, cube-1]}]"),
        field("pools", NonEmpty(&Object(&POOL)))
            .doc("Node pools of the cluster.")
            .required()
            .example("[{name: \"a-{node}\", nodesPerIsland: 4}]"),
    ],
};

static POOL: ObjectSchema = ObjectSchema {
    kind: "Pool",
    fields: &[
        field("name", Str)
            .doc(
                "Name pattern of the nodes. The variables {pool}, {island} and {node} are replaced by running \
                 numbers.",
            )
            .required()
            .example("\"a-{node}\""),
        field("count", COUNT).doc("Number of copies of this pool.").default("1").example("5"),
        field("islands", COUNT).doc("Number of islands in one copy of the pool.").default("1").example("4"),
        field("nodesPerIsland", COUNT).doc("Number of nodes in one island.").required().example("16"),
        field("islandKind", OneOf(&["None", "Ici", "NvLink"]))
            .doc("Kind of an island: an ICI slice or an NVLink domain.")
            .default("None"),
        field("interconnect", Object(&INTERCONNECT))
            .doc("Links between the accelerators of an island, which `training.communication` uses.")
            .otherwise("unknown")
            .example("{kind: Switch, gbitsPerSecond: 3600}"),
        field("allocatable", Map(&Amount))
            .doc("Allocatable resources of one node.")
            .otherwise("pods: 110")
            .example("{cpu: 8, memory: 64Gi, example.com/accelerator: 4}"),
        field("occupied", Map(&Amount))
            .doc(
                "Part of allocatable that pods outside of the scenario hold on each node during the whole run. No pod \
                 can use it or preempt its holders.",
            )
            .otherwise("none")
            .example("{cpu: 500m, memory: 1Gi}"),
        field("accelerator", Str)
            .doc("Name of the resource that represents accelerators.")
            .otherwise("none")
            .example("example.com/accelerator"),
        field(PER_NODE, PRICE)
            .doc("Price of one node per hour, with a resolution of one millionth of the currency unit.")
            .default("0")
            .example("16.8"),
        field(PER_ACCELERATOR, PRICE)
            .doc("Price of one accelerator per hour, with a resolution of one millionth of the currency unit.")
            .otherwise("the node price divided by its number of accelerators")
            .example("4.2"),
        field("billing", OneOf(&["reserved", "onDemand"]))
            .doc(
                "Whether a machine is billed always (reserved), or only while it exists (onDemand): not after \
                 its Node was deleted, and not as an idle spare of nodeSpares with a takeOver.",
            )
            .otherwise("onDemand if a label denotes spot machines (such as cloud.google.com/gke-spot), else reserved")
            .example("onDemand"),
        field("taints", List(&Object(&TAINT)))
            .doc("Taints of each node.")
            .otherwise("none")
            .example("[{key: accelerator, effect: NoSchedule}]"),
        field("labels", STR_MAP)
            .doc(
                "Labels of each node. Values may contain the variables {pool}, {island} and {node}; {node/16} numbers \
                 groups of 16 nodes.",
            )
            .otherwise("none")
            .example("{rack: \"r-{island}\"}"),
        field("features", STR_LIST)
            .doc("Declared features of each node (status.declaredFeatures).")
            .otherwise("none")
            .example("[RestartAllContainersOnContainerExits]"),
        field("nodes", List(&Object(&LISTED_NODE)))
            .doc(
                "The first nodes of the pool by name, with their differences from the pool. Further nodes are \
                 named by the pattern, and a smaller count omits the last ones.",
            )
            .otherwise("none")
            .example("[{name: gke-a7f3, labels: {rack: r7}}]"),
    ],
};

static SLICE: ObjectSchema = ObjectSchema {
    kind: "FormedSlice",
    fields: &[
        field("name", Str).doc("Name of the slice, the value of the label.").required().example("slice-a"),
        field("shape", Str)
            .doc("Chips along each axis: three multiples of 4. All axes are closed to rings.")
            .required()
            .example("4x4x8"),
        field("cubes", STR_LIST)
            .doc("Values of the label cloud.google.com/gke-tpu-partition-4x4x4-id; one per 64 chips, in one block.")
            .required()
            .example("[cube-0, cube-1]"),
    ],
};

static LISTED_NODE: ObjectSchema = ObjectSchema {
    kind: "NamedNode",
    fields: &[
        field("name", Str).doc("Name of the node.").required().example("gke-a7f3"),
        field("labels", STR_MAP)
            .doc("Labels in addition to those of the pool, or instead of them.")
            .otherwise("none")
            .example("{rack: r7}"),
        field("taints", List(&Object(&TAINT)))
            .doc("Taints in addition to those of the pool.")
            .otherwise("none")
            .example("[{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]"),
        field("allocatable", Map(&Amount))
            .doc("Allocatable resources that replace those of the pool.")
            .otherwise("none")
            .example("{memory: 60Gi}"),
        field("occupied", Map(&Amount))
            .doc("Occupied resources that replace those of the pool.")
            .otherwise("none")
            .example("{example.com/accelerator: 4}"),
        field("workloads", Map(&Map(&Amount)))
            .doc(
                "Part of occupied that pods of Kueue's Workloads hold, by namespace and name of the Workload. It becomes \
                 free when the Workload ends or is evicted.",
            )
            .otherwise("none")
            .example("{team-a/job-tune-1a2b3: {example.com/accelerator: 4}}"),
        field("jobSets", Map(&Map(&Amount)))
            .doc(
                "Part of occupied that pods of JobSets hold, by namespace and name of the JobSet. It is free if the inputs \
                 contain the JobSet, which a run starts again.",
            )
            .otherwise("none")
            .example("{team-a/train: {example.com/accelerator: 4}}"),
    ],
};

pub static TAINT: ObjectSchema = ObjectSchema {
    kind: "Taint",
    fields: &[
        field("key", Str).doc("Key of the taint.").required().example("accelerator"),
        field("value", Str).doc("Value of the taint.").otherwise("empty").example("present"),
        field("effect", OneOf(EFFECTS)).doc("Effect of the taint.").required(),
    ],
};

static INTERCONNECT: ObjectSchema = ObjectSchema {
    kind: "Interconnect",
    fields: &[
        field("kind", OneOf(&["Torus", "Switch"]))
            .doc(
                "A torus connects each accelerator with its neighbors along each axis. A switch connects all \
                 accelerators of the island.",
            )
            .required(),
        field("shape", Str)
            .doc("For a torus: accelerators along each axis, such as 4x4x8. Required for a torus.")
            .example("4x4x8"),
        field("wrap", List(&Bool))
            .doc("For a torus: for each axis, whether the last accelerator is connected to the first.")
            .otherwise("no axis is")
            .example("[true, true, true]"),
        field("gbitsPerSecond", Number(0.001, 1e9))
            .doc("Bandwidth in one direction, in Gbit/s: of one link of a torus, or of one accelerator at a switch.")
            .required()
            .example("800"),
        field("latency", Duration)
            .doc(
                "Latency of one hop in a torus, or of an AllReduce over a switch; an AllGather or ReduceScatter has \
                 half of its steps.",
            )
            .default("0s")
            .example("1us"),
        field("callLatency", Duration)
            .doc("Latency of each call in addition to that of its hops or steps: launch and synchronization.")
            .default("0s")
            .example("5us"),
        EFFICIENCY,
        field("nvls", Number(0.001, 1.0))
            .doc(
                "For a switch that reduces (NVLink SHARP): share of the effective bandwidth that an AllReduce in the \
                 switch reaches.",
            )
            .otherwise("the switch does not reduce")
            .example("0.85"),
    ],
};

/// Legal values of `algorithm`, which are the names of `CollectiveAlgorithm`.
pub const ALGORITHM: FieldType = OneOf(&["Ring", "Tree", "Hierarchical", "Nvls"]);

const EFFICIENCY: FieldSchema = field("efficiency", Number(0.001, 1.0))
    .doc("Share of the bandwidth that collectives reach with large buffers.")
    .default("1")
    .example("0.8");

static DCN_LEVEL: ObjectSchema = ObjectSchema {
    kind: "DcnLevel",
    fields: &[
        field("name", Line).doc("Name of the network level in reports.").required().example("rack"),
        field("label", Str)
            .doc("Key of the node label whose values are the groups of this level.")
            .required()
            .example("rack"),
        field("gbitsPerSecond", Number(0.001, 1e9))
            .doc("Bandwidth of one node at this level in one direction, in Gbit/s.")
            .required()
            .example("400"),
        field("oversubscription", Number(0.01, 1e6))
            .doc(
                "Bandwidth of all nodes of a group, divided by that of the links that leave the group: 7 for \
                 7:1, and 1 for a non-blocking network.",
            )
            .default("1")
            .example("7"),
        field("latency", Duration)
            .doc("Latency of one step of a collective between nodes of one group.")
            .default("0s")
            .example("14us"),
        EFFICIENCY,
        field("algorithm", ALGORITHM)
            .doc(
                "Algorithm of collectives over all accelerators of several islands, if the communication states \
                 none. The value of the first level applies.",
            )
            .otherwise("`Hierarchical` between tori; the fastest of `Ring`, `Tree` and `Nvls` between switches")
            .example("Ring"),
    ],
};
