//! Field table of `faultProcesses` in a scenario.

use super::distribution::DELAY;
use super::fleet::{DIAGNOSIS, REPAIR_FIELDS};
use super::rate::{PRESET, RATE};
use crate::schema::field_type::FieldType::{Bool, Duration, Either, Int, Line, Number, Object, OneOf, Str};
use crate::schema::field_type::{ObjectSchema, STR_LIST, STR_MAP, field};
use sim_api::spec::ExposureSpec;

/// Legal values of `does`, the action of a fault.
pub const DOES: [&str; 9] = ["Crash", "Partition", "Drain", "Reclaim", "Exit", "Hang", "Slow", "Corrupt", "Degrade"];

pub static RANDOM_FAULTS: ObjectSchema = ObjectSchema {
    kind: "RandomFaults",
    fields: &[
        field("cause", Line)
            .doc("Name of the faults. Together with the name of the failing component it selects the random stream.")
            .example("host"),
        PRESET[0],
        PRESET[1],
        field("on", Either(&OneOf(&ON), &Object(&DOMAIN)))
            .doc(
                "Component that fails: each node, each pod of the JobSets, each accelerator (its node fails \
                 with it), each island, or each domain of nodes with the same value of a label, such as a tray, \
                 rack, switch or power domain.",
            )
            .default("Node")
            .example("{label: example.com/rack}"),
        field("takesAlong", Object(&DOMAIN))
            .doc("Domain that fails together with a node or accelerator: all nodes with the same value of a label.")
            .otherwise("only the node itself")
            .example("{label: example.com/rack}"),
        field("trace", Either(&Str, &Object(&TRACE)))
            .doc("File of recorded faults that replaces the rate: CSV with a header line, or JSON lines.")
            .example("faults.csv"),
        field("rolling", Object(&ROLLING))
            .doc(
                "Maintenance of all nodes or domains in turn, which replaces the rate. It begins at `from`; \
                 `does` is then `Drain` by default.",
            )
            .example("{batch: 4, every: 1h}"),
        RATE[0],
        RATE[1],
        RATE[2],
        RATE[3],
        RATE[4],
        field("ages", OneOf(&ExposureSpec::NAMES))
            .doc(
                "When a node or pod accumulates age: while processes run on it (`Running`), while a pod is \
                 bound to it (`Assigned`), or always except during repair (`Always`).",
            )
            .default("Always")
            .example("Running"),
        field("does", OneOf(&DOES))
            .doc(
                "Action of the fault. `Crash`: kubelet and containers stop. `Partition`: the node loses \
                 network contact. `Drain`: the node is cordoned and its pods are evicted. `Reclaim`: the provider \
                 removes the machine. `Exit`: the containers of the pod exit. `Hang`, `Slow` and `Corrupt`: training \
                 stops, has longer steps or computes wrong results, and Kubernetes does not detect the fault. `Degrade`: \
                 links become slower, which affects a training with `communication`.",
            )
            .otherwise("`Exit` for pods, `Crash` otherwise"),
        field("exitCode", Int(1, 255))
            .doc("Exit code of the containers, for `Exit` and for `Hang` with a detector.")
            .default("1")
            .example("137"),
        field("detectedAfter", DELAY)
            .doc("For `Hang`: time from the fault until a detector terminates the hanging processes.")
            .otherwise("the hang is never detected")
            .example("10m"),
        field("factor", Number(1.0, 1000.0))
            .doc(
                "For `Slow`: factor by which steps take longer until `backAfter` has elapsed. If several nodes \
                 are slow, the largest factor applies.",
            )
            .example("1.3"),
        field("bandwidth", Number(0.001, 1.0))
            .doc(
                "For `Degrade`: share of the bandwidth that remains until `backAfter` has elapsed. If several faults \
                 affect a link, the smallest share applies.",
            )
            .example("0.889"),
        field("links", OneOf(&["Island", "Network"]))
            .doc(
                "For `Degrade`: whether the links within the islands or the network ports of the nodes are degraded.",
            )
            .otherwise("`Island` with `on: Island`, else `Network`"),
        field("foundAfter", DELAY)
            .doc("For `Corrupt`: time from the fault until the corruption is discovered.")
            .example("{exponential: {mean: 6h}}"),
        field("backAfter", DELAY)
            .doc("Repair time of the node. The next fault is drawn from the end of the repair.")
            .otherwise("the node never returns")
            .example("{logNormal: {median: 1h, sigma: 1.9}}"),
        field("comesBack", Number(0.0, 1.0))
            .doc("Probability that a machine is available after `backAfter`. Otherwise the node never returns.")
            .default("1")
            .example("0.7"),
        field("notice", Duration)
            .doc(
                "For `Drain`: time from cordoning the node to the fault. For `Reclaim`: time from the fault \
                 until the machine is removed (30s on GKE, 2m on EC2); the pods are evicted after `grace`.",
            )
            .otherwise("none")
            .example("30s"),
        field("grace", Duration)
            .doc(
                "For `Reclaim`: time from the fault until the pods are evicted. Their processes can save a \
                 checkpoint meanwhile (15s on GKE; the pods' grace period on EC2).",
            )
            .default("0s")
            .example("15s"),
        field("from", Duration)
            .doc("Virtual time at which the process starts, for example the rollout of a faulty software version.")
            .default("0s")
            .example("3d"),
        field("until", Duration)
            .doc("Virtual time at which the process ends.")
            .otherwise("the end of the run")
            .example("5d"),
        field("lemons", Object(&LEMONS))
            .doc("Components that fail more often than the others.")
            .otherwise("none")
            .example("{share: 0.05, factor: 10}"),
        field("asNew", Bool).doc("Creates a new Node object with the same name after the repair.").default("false"),
        field("deletedAfter", Duration)
            .doc(
                "Time after the fault at which the Node object is deleted if the node has not returned, as \
                 cloud node repair does. The node then returns as a new Node object.",
            )
            .otherwise("never")
            .example("10m"),
    ],
};

static LEMONS: ObjectSchema = ObjectSchema {
    kind: "FaultLemons",
    fields: &[
        field("share", Number(0.0, 1.0))
            .doc("Share of the components that are lemons. The same components are lemons for every cause.")
            .required()
            .example("0.05"),
        field("factor", Number(1.0, 1e6)).doc("Factor by which lemons fail more often.").required().example("10"),
        field("healed", Number(0.0, 1.0))
            .doc("Probability that a repair turns a lemon into a normal component.")
            .default("0")
            .example("0.5"),
    ],
};

/// Legal names for `on`, the component that fails.
pub const ON: [&str; 4] = ["Node", "Pod", "Accelerator", "Island"];

static TRACE: ObjectSchema = ObjectSchema {
    kind: "FaultTrace",
    fields: &[
        field("file", Str)
            .doc(
                "Path of the trace. It has the columns `node` (or `pod`) and `time` (or `start`), and \
                 optionally `kind`, and `duration` or `end` of the repair. Times are durations since the start of \
                 the run, or timestamps.",
            )
            .required()
            .example("faults.csv"),
        field("kinds", STR_LIST)
            .doc("Kinds of faults to use from the trace. Their action is given by `does`.")
            .otherwise("all kinds; the column `kind` is then a value of `does`")
            .example("[xid79, reboot]"),
        field("start", Str)
            .doc("Timestamp of the start of the run. Faults before it are omitted, and the run lists their number.")
            .otherwise("the first timestamp of the trace")
            .example("2026-11-20T08:00:00Z"),
        field("names", STR_MAP)
            .doc("Names of the scenario for names of the trace.")
            .otherwise("the names are equal")
            .example("{gke-a7f3: n-0}"),
    ],
};

static ROLLING: ObjectSchema = ObjectSchema {
    kind: "RollingMaintenance",
    fields: &[
        field("batch", Int(1, 1_000_000))
            .doc("Number of nodes or domains that are maintained at the same time.")
            .default("1")
            .example("4"),
        field("every", Duration)
            .doc("Time from the start of one batch to the start of the next one.")
            .otherwise("`notice` + `backAfter`: the next batch starts when the last one returns")
            .example("1h"),
        field("order", OneOf(&["Forward", "Reverse"]))
            .doc("Order of the topology, or the reverse of it.")
            .default("Forward"),
        field("window", Object(&WINDOW))
            .doc("Daily time in which batches start.")
            .otherwise("always")
            .example("{from: 22h, lasts: 6h}"),
        field("repeatAfter", Duration)
            .doc("Time from the start of one round over all nodes to the next one.")
            .otherwise("a single round")
            .example("7d"),
    ],
};

static WINDOW: ObjectSchema = ObjectSchema {
    kind: "DailyWindow",
    fields: &[
        field("from", Duration)
            .doc("Time of the day at which the window opens; the run starts at 0h.")
            .required()
            .example("22h"),
        field("lasts", Duration).doc("Length of the window.").required().example("6h"),
    ],
};

static DOMAIN: ObjectSchema = ObjectSchema {
    kind: "FaultDomain",
    fields: &[field("label", Str)
        .doc("Key of the node label. Nodes with the same value form a domain.")
        .required()
        .example("example.com/rack")],
};

pub static NODE_REPAIR: ObjectSchema = ObjectSchema {
    kind: "NodeRepair",
    fields: &[
        field("detectedAfter", DELAY)
            .doc("Time from the fault to the diagnosis. A node that is diagnosed as healthy returns at this time.")
            .default("0s")
            .example("10m"),
        field("diagnosis", Object(&DIAGNOSIS))
            .doc("Accuracy of the diagnosis, which decides the node that is sent to repair.")
            .otherwise("the failed node is always repaired")
            .example("{probability: 0.9, uncertainty: 0.05}"),
        REPAIR_FIELDS[0],
        REPAIR_FIELDS[1],
        REPAIR_FIELDS[2],
    ],
};

pub static NODE_SPARES: ObjectSchema = ObjectSchema {
    kind: "NodeSpares",
    fields: &[
        field("label", Str)
            .doc("Label `KEY=VALUE` of the spare nodes. They are cordoned at the start of the run.")
            .required()
            .example("example.com/role=spare"),
        field("unit", Object(&DOMAIN))
            .doc("Domain that is replaced as a whole when one of its nodes is lost, such as a slice or a rack.")
            .otherwise("a single node")
            .example("{label: cloud.google.com/gke-nodepool}"),
        field("takeOver", Duration)
            .doc(
                "Time from the loss of a node until pods can be bound to the spare: zero for a hot spare, \
                 longer for a warm or cold one.",
            )
            .default("0s")
            .example("10m"),
        field("handBack", Bool)
            .doc(
                "Whether the spare is drained when the lost node returns. If false, the returned node becomes \
                 a spare.",
            )
            .default("false"),
    ],
};
