//! Field table of Fleet files, an input of the reduced model.

use super::common::{API_VERSION, EXPERIMENTS, METADATA, PARAMETERS};
use super::distribution::DELAY;
use super::rate::{PRESET, RATE};
use super::training::{self, WITHOUT};
use crate::schema::shape::{Field, Object, STR_LIST, Shape, field};
use sim_api::spec::Exposure;

/// Number of nodes in a fleet.
const NODES: Shape = Shape::Int(0, 10_000_000);
const CHANCE: Shape = Shape::Number(0.0, 1.0);

pub static FLEET: Object = Object {
    kind: "Fleet",
    fields: &[
        field("apiVersion", Shape::OneOf(&[API_VERSION]), "of this format").required(),
        field("kind", Shape::OneOf(&["Fleet"]), "of this file").required(),
        field("metadata", Shape::Object(&METADATA), "{name: ...}")
            .required()
            .example("{name: spares}"),
        PARAMETERS,
        field("nodes", NODES, "in the working pool at the start")
            .required()
            .example("64"),
        field(
            "spares",
            Shape::Object(&SPARES),
            "nodes beside the working pool, pulled when it has too few",
        )
        .otherwise("none")
        .example("{nodes: 4, takeOver: 20m}"),
        field("job", Shape::Object(&JOB), "what runs on the nodes")
            .required()
            .example("{nodes: 64, recovery: 5m}"),
        field(
            "training",
            Shape::Object(&TRAINING),
            "what the job has to do",
        )
        .required()
        .example("{work: 20d}"),
        field(
            "faults",
            Shape::List(&Shape::Object(&PROCESS)),
            "each node has each of these processes",
        )
        .otherwise("nothing fails")
        .example("[{cause: host, mtbf: 200d}]"),
        field(
            "lemons",
            Shape::Object(&LEMONS),
            "nodes that fail more often",
        )
        .otherwise("none")
        .example("{share: 0.1}"),
        field(
            "diagnosis",
            Shape::Object(&DIAGNOSIS),
            "which node is sent to repair after a failure",
        )
        .otherwise("the one that failed")
        .example("{probability: 0.9, uncertainty: 0.05}"),
        field(
            "repair",
            Shape::Object(&REPAIR),
            "what happens to nodes that failed",
        )
        .otherwise("they never come back")
        .example("{stages: [{name: manual, takes: 2h}]}"),
        field(
            "stop",
            Shape::Object(&STOP),
            "when the run ends in any case",
        )
        .example("{at: 365d}"),
        field("seed", Shape::Int(0, i64::MAX), "of all random numbers")
            .default("1")
            .example("42"),
        EXPERIMENTS,
    ],
};

static SPARES: Object = Object {
    kind: "FleetSpares",
    fields: &[
        field("nodes", NODES, "how many at the start")
            .required()
            .example("4"),
        field(
            "takeOver",
            Shape::Duration,
            "time to pull one; they come one after another and never go back",
        )
        .default("0s")
        .example("20m"),
    ],
};

static JOB: Object = Object {
    kind: "FleetJob",
    fields: &[
        field("nodes", Shape::Int(1, 10_000_000), "needed at once")
            .required()
            .example("64"),
        field(
            "standbys",
            NODES,
            "nodes that it owns beside them, to take over without a host selection",
        )
        .default("0")
        .example("2"),
        field(
            "hostSelection",
            Shape::Object(&SELECTION),
            "when no standby is left",
        )
        .otherwise("those longest in the pool, at once")
        .example("{takes: 3m}"),
        field("recovery", DELAY, "from a failure until the job runs on")
            .default("0s")
            .example("20m"),
        field(
            "maxRestarts",
            Shape::Int(0, u32::MAX as i64),
            "one more fails the job",
        )
        .otherwise("no limit")
        .example("100"),
    ],
};

/// Legal values of `hostSelection.order`; the first one is the default.
pub const ORDERS: [&str; 2] = ["random", "fewest-failures"];

static SELECTION: Object = Object {
    kind: "HostSelection",
    fields: &[
        field(
            "order",
            Shape::OneOf(&ORDERS),
            "random: those longest in the pool, standbys by chance among them; fewest-failures: those that failed least",
        )
        .default("random"),
        field("takes", DELAY, "how long it takes").default("0s").example("3m"),
    ],
};

static TRAINING: Object = Object {
    kind: "FleetTraining",
    fields: &[
        field(
            "work",
            Shape::Duration,
            "time that the job needs without failures and checkpoints",
        )
        .required()
        .example("20d"),
        field(
            "checkpoint",
            Shape::Either(&Shape::OneOf(&WITHOUT), &Shape::Object(&CHECKPOINT)),
            "what a failure takes back: nothing, everything, or the work since the last checkpoint",
        )
        .default("Continuous")
        .example("{every: 15m, blocking: 10s}"),
    ],
};

static CHECKPOINT: Object = Object {
    kind: "Checkpoint",
    fields: &training::CHECKPOINT,
};

static PROCESS: Object = Object {
    kind: "FaultProcess",
    fields: &[
        field("cause", Shape::Line, "in reports: failures_CAUSE").example("host"),
        PRESET[0],
        PRESET[1],
        RATE[0],
        RATE[1],
        RATE[2],
        RATE[3],
        RATE[4],
        field(
            "trace",
            Shape::Either(&Shape::Str, &Shape::Object(&TRACE)),
            "instead of a rate: a file of faults that happened, CSV with a head line or JSON lines",
        )
        .example("faults.csv"),
        field(
            "needsRepair",
            Shape::Bool,
            "the node leaves for a repair; false: only the job is interrupted, as by a crash of its program",
        )
        .default("true"),
        field("onlyLemons", Shape::Bool, "good nodes do not have it").default("false"),
        field(
            "ages",
            Shape::OneOf(&Exposure::NAMES),
            "while the job runs on the node, while the job owns it, or always but in repair",
        )
        .default("Running"),
    ],
};

static TRACE: Object = Object {
    kind: "FleetTrace",
    fields: &[
        field(
            "file",
            Shape::Str,
            "columns `node` and `time` since the start, and, if there are, `kind` and `duration` until it is back; each name is one \
             of the nodes, which one is chance",
        )
        .required()
        .example("faults.csv"),
        field("kinds", STR_LIST, "faults of these kinds alone")
            .otherwise("all of them")
            .example("[xid79, reboot]"),
    ],
};

static LEMONS: Object = Object {
    kind: "Lemons",
    fields: &[
        field("share", CHANCE, "of all nodes at the start")
            .required()
            .example("0.1"),
        field(
            "regenerateEvery",
            Shape::Duration,
            "good nodes turn bad, every so often",
        )
        .otherwise("never")
        .example("30d"),
        field(
            "regenerateShare",
            CHANCE,
            "this part of `share` of the good ones turns bad, one at least",
        )
        .default("0.1")
        .example("0.1"),
    ],
};

pub static DIAGNOSIS: Object = Object {
    kind: "Diagnosis",
    fields: &[
        field(
            "probability",
            CHANCE,
            "that a failure leads to a repair; else the node is back at once",
        )
        .default("1")
        .example("0.9"),
        field(
            "uncertainty",
            CHANCE,
            "that another node is blamed: of a Fleet one of the job, of a Scenario one that has the same faults",
        )
        .default("0")
        .example("0.05"),
    ],
};

static REPAIR: Object = Object {
    kind: "Repair",
    fields: &REPAIR_FIELDS,
};

/// Fields for the repair of nodes, which Fleets and scenarios share.
pub const REPAIR_FIELDS: [Field; 3] = [
    field(
        "stages",
        STAGES,
        "one after another, until one closes the ticket",
    )
    .required()
    .example("[{name: manual, takes: 2h}]"),
    field(
        "crews",
        Shape::Int(1, u32::MAX as i64),
        "nodes that can be repaired at a time",
    )
    .otherwise("no limit")
    .example("2"),
    field(
        "retire",
        Shape::Str,
        "never, window:FAILURES:DURATION or life:FAILURES; decided when a repair ends",
    )
    .default("never")
    .example("window:3:7d"),
];

const STAGES: Shape = Shape::NonEmpty(&Shape::Object(&STAGE));

static STAGE: Object = Object {
    kind: "RepairStage",
    fields: &[
        field("name", Shape::Line, "in reports: NAME_repairs")
            .required()
            .example("automatic"),
        field("takes", DELAY, "how long")
            .required()
            .example("{exponential: {mean: 2h}}"),
        field(
            "escalates",
            CHANCE,
            "the chance that the next stage is needed",
        )
        .default("0")
        .example("0.8"),
        field(
            "fails",
            CHANCE,
            "the chance that it says repaired, and the node is as it was",
        )
        .default("0")
        .example("0.4"),
    ],
};

static STOP: Object = Object {
    kind: "FleetStop",
    fields: &[field("at", Shape::Duration, "virtual time")
        .default("36500d")
        .example("365d")],
};
