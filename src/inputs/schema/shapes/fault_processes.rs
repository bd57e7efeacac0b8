//! Field table of `faultProcesses` in a scenario.

use super::distribution::DELAY;
use super::fleet::{DIAGNOSIS, REPAIR_FIELDS};
use super::rate::{PRESET, RATE};
use crate::schema::shape::{Object, STR_LIST, Shape, field};
use sim_api::spec::Exposure;

/// Legal values of `does`, the action of a fault.
pub const DOES: [&str; 8] = [
    "Crash",
    "Partition",
    "Drain",
    "Reclaim",
    "Exit",
    "Hang",
    "Slow",
    "Corrupt",
];

pub static RANDOM_FAULTS: Object = Object {
    kind: "RandomFaults",
    fields: &[
        field(
            "cause",
            Shape::Line,
            "what they are called; with the name of what fails it names the random numbers",
        )
        .example("host"),
        PRESET[0],
        PRESET[1],
        field(
            "on",
            Shape::Either(&Shape::OneOf(&ON), &Shape::Object(&DOMAIN)),
            "each node, each pod that the JobSets want, each accelerator (its node is lost with it), all nodes of an island \
             or of a domain at once: a tray, a rack, a switch, a power domain, whatever a label of nodes says",
        )
        .default("Node")
        .example("{label: example.com/rack}"),
        field(
            "takesAlong",
            Shape::Object(&DOMAIN),
            "how far a fault of one node or accelerator reaches: the nodes of its domain are lost with it",
        )
        .otherwise("the node itself")
        .example("{label: example.com/rack}"),
        field(
            "trace",
            Shape::Either(&Shape::Str, &Shape::Object(&TRACE)),
            "instead of a rate: a file of faults that happened, CSV with a head line or JSON lines",
        )
        .example("faults.csv"),
        RATE[0],
        RATE[1],
        RATE[2],
        RATE[3],
        RATE[4],
        field(
            "ages",
            Shape::OneOf(&Exposure::NAMES),
            "what makes a node or a pod older: processes that run on it, a pod that is bound to it, or the calendar; it does not \
             age in its repair",
        )
        .default("Always")
        .example("Running"),
        field(
            "does",
            Shape::OneOf(&DOES),
            "kubelet and containers stop, contact is lost, the node is cordoned and its pods are evicted, the provider takes the machine back, or the containers of the pod exit; training stands still (Hang), takes longer steps (Slow) or computes what is wrong (Corrupt), and nobody is told",
        )
        .otherwise("Exit on Pod, Crash on all else"),
        field(
            "exitCode",
            Shape::Int(1, 255),
            "of Exit, and of Hang when a detector ends the process",
        )
        .default("1")
        .example("137"),
        field(
            "detectedAfter",
            DELAY,
            "of Hang: so long after, a detector ends the processes that hang",
        )
        .otherwise("nobody notices")
        .example("10m"),
        field(
            "factor",
            Shape::Number(1.0, 1000.0),
            "of Slow: steps take so many times as long until backAfter is over; of several, the slowest",
        )
        .example("1.3"),
        field(
            "foundAfter",
            DELAY,
            "of Corrupt: so long after, somebody finds out",
        )
        .example("{exponential: {mean: 6h}}"),
        field(
            "backAfter",
            DELAY,
            "time of repair; the next fault is drawn from its end",
        )
        .otherwise("a node never comes back")
        .example("{logNormal: {median: 1h, sigma: 1.9}}"),
        field(
            "comesBack",
            Shape::Number(0.0, 1.0),
            "the chance that there is a machine after backAfter; else never",
        )
        .default("1")
        .example("0.7"),
        field(
            "notice",
            Shape::Duration,
            "of Drain: the node is cordoned so long before; of Reclaim: its pods are evicted at the fault, and it is gone so \
             long after (30s on GKE, 2m on EC2)",
        )
        .otherwise("none")
        .example("30s"),
        field(
            "grace",
            Shape::Duration,
            "of Reclaim: processes that are told to end go on so long after the notice, so that a job may save (15s on GKE; on \
             EC2 what the pods' grace period is); their pods are evicted then",
        )
        .default("0s")
        .example("15s"),
        field(
            "from",
            Shape::Duration,
            "it begins then: a bad version of some software, for instance",
        )
        .default("0s")
        .example("3d"),
        field("until", Shape::Duration, "and ends then")
            .otherwise("the end of the run")
            .example("5d"),
        field(
            "lemons",
            Shape::Object(&LEMONS),
            "some fail more often than the others",
        )
        .otherwise("none")
        .example("{share: 0.05, factor: 10}"),
        field(
            "asNew",
            Shape::Bool,
            "the repaired node is a new Node of that name",
        )
        .default("false"),
        field(
            "deletedAfter",
            Shape::Duration,
            "so long after the fault the Node is deleted, as a cloud's node repair does, if it is not back by then; what comes back is a new Node",
        )
        .otherwise("never")
        .example("10m"),
    ],
};

static LEMONS: Object = Object {
    kind: "FaultLemons",
    fields: &[
        field(
            "share",
            Shape::Number(0.0, 1.0),
            "of all of them; which ones is the same for every cause",
        )
        .required()
        .example("0.05"),
        field("factor", Shape::Number(1.0, 1e6), "so many times as often")
            .required()
            .example("10"),
        field(
            "healed",
            Shape::Number(0.0, 1.0),
            "the chance that a repair makes one as good as the others",
        )
        .default("0")
        .example("0.5"),
    ],
};

/// Legal names for `on`, the component that fails.
pub const ON: [&str; 4] = ["Node", "Pod", "Accelerator", "Island"];

static TRACE: Object = Object {
    kind: "FaultTrace",
    fields: &[
        field(
            "file",
            Shape::Str,
            "columns `node` (or `pod`) and `time` since the run began, and, if there are, `kind` and `duration` until it is \
             repaired",
        )
        .required()
        .example("faults.csv"),
        field(
            "kinds",
            STR_LIST,
            "faults of these kinds alone; what they do says `does`",
        )
        .otherwise("all of them, and the kind, if there is one, is a word of `does`")
        .example("[xid79, reboot]"),
    ],
};

static DOMAIN: Object = Object {
    kind: "FaultDomain",
    fields: &[field(
        "label",
        Shape::Str,
        "nodes with one value of it fail at once",
    )
    .required()
    .example("example.com/rack")],
};

pub static NODE_REPAIR: Object = Object {
    kind: "NodeRepair",
    fields: &[
        field(
            "detectedAfter",
            DELAY,
            "from the fault until somebody looks; what is not found to be broken is back then",
        )
        .default("0s")
        .example("10m"),
        field(
            "diagnosis",
            Shape::Object(&DIAGNOSIS),
            "who is sent to repair",
        )
        .otherwise("the one that failed")
        .example("{probability: 0.9, uncertainty: 0.05}"),
        REPAIR_FIELDS[0],
        REPAIR_FIELDS[1],
        REPAIR_FIELDS[2],
    ],
};

pub static NODE_SPARES: Object = Object {
    kind: "NodeSpares",
    fields: &[
        field(
            "label",
            Shape::Str,
            "KEY=VALUE that they have at the start; they are cordoned then",
        )
        .required()
        .example("example.com/role=spare"),
        field(
            "unit",
            Shape::Object(&DOMAIN),
            "nodes with one value of this label take over together, when one of such nodes is lost: a slice, a rack",
        )
        .otherwise("each node for itself")
        .example("{label: cloud.google.com/gke-nodepool}"),
        field(
            "takeOver",
            Shape::Duration,
            "from the loss until pods may be bound to the spare: none for a hot one, longer for a warm or a cold one",
        )
        .default("0s")
        .example("10m"),
        field(
            "handBack",
            Shape::Bool,
            "the spare is drained when what was lost is back; else what is back is a spare from then on",
        )
        .default("false"),
    ],
};
