//! Field table of Fleet files.

use super::common::{API_VERSION, EXPERIMENTS, METADATA, PARAMETERS};
use super::distribution::DELAY;
use super::rate::{PRESET, RATE};
use super::training::{self, WITHOUT};
use crate::schema::field_type::FieldType::{
    Bool, Duration, Either, Int, Line, List, NonEmpty, Number, Object, OneOf, Str,
};
use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, STR_LIST, field};
use sim_api::spec::ExposureSpec;

const NODES: FieldType = Int(0, 10_000_000);
const CHANCE: FieldType = Number(0.0, 1.0);

pub static FLEET: ObjectSchema = ObjectSchema {
    kind: "Fleet",
    fields: &[
        field("apiVersion", OneOf(&[API_VERSION])).doc("API version of the file format.").required(),
        field("kind", OneOf(&["Fleet"])).doc("Kind of the file.").required(),
        field("metadata", Object(&METADATA))
            .doc("Name and description of the fleet.")
            .required()
            .example("{name: spares}"),
        PARAMETERS,
        field("nodes", NODES).doc("Number of nodes in the working pool at the start.").required().example("64"),
        field("acceleratorsPerNode", Int(1, 1_000))
            .doc("Number of accelerators of a node. The rates of fault presets are scaled to it.")
            .otherwise("as many as the nodes of the preset")
            .example("4"),
        field("spares", Object(&SPARES))
            .doc("Spare nodes outside the working pool. They are added when the working pool has too few nodes.")
            .otherwise("none")
            .example("{nodes: 4, takeOver: 20m}"),
        field("job", Object(&JOB))
            .doc("The job that runs on the nodes.")
            .required()
            .example("{nodes: 64, recovery: 5m}"),
        field("training", Object(&TRAINING))
            .doc("Amount of work of the job, and its checkpoints.")
            .required()
            .example("{work: 20d}"),
        field("faults", List(&Object(&PROCESS)))
            .doc("Fault processes. Each process applies to each node.")
            .otherwise("no faults")
            .example("[{cause: host, mtbf: 200d}]"),
        field("lemons", Object(&LEMONS))
            .doc("Nodes that fail more often than the others.")
            .otherwise("none")
            .example("{share: 0.1}"),
        field("diagnosis", Object(&DIAGNOSIS))
            .doc("Accuracy of the diagnosis, which decides the node that is sent to repair.")
            .otherwise("the failed node is always repaired")
            .example("{probability: 0.9, uncertainty: 0.05}"),
        field("repair", Object(&REPAIR))
            .doc("Repair of failed nodes.")
            .otherwise("failed nodes never return")
            .example("{stages: [{name: manual, takes: 2h}]}"),
        field("stop", Object(&STOP)).doc("Time limit of the run.").example("{at: 365d}"),
        field("seed", Int(0, i64::MAX)).doc("Seed of all random numbers.").default("1").example("42"),
        EXPERIMENTS,
    ],
};

static SPARES: ObjectSchema = ObjectSchema {
    kind: "FleetSpares",
    fields: &[
        field("nodes", NODES).doc("Number of spare nodes at the start.").required().example("4"),
        field("takeOver", Duration)
            .doc("Time to add one spare node to the working pool. Spares are added one at a time and never returned.")
            .default("0s")
            .example("20m"),
    ],
};

static JOB: ObjectSchema = ObjectSchema {
    kind: "FleetJob",
    fields: &[
        field("nodes", Int(1, 10_000_000))
            .doc("Number of nodes that the job needs at the same time.")
            .required()
            .example("64"),
        field("standbys", NODES)
            .doc("Number of additional nodes owned by the job, which replace failed nodes without a host selection.")
            .default("0")
            .example("2"),
        field("hostSelection", Object(&SELECTION))
            .doc("Selection of new nodes when no standby is left.")
            .otherwise("the nodes longest in the pool, without delay")
            .example("{takes: 3m}"),
        field("recovery", DELAY).doc("Time from a failure until the job runs again.").default("0s").example("20m"),
        field("maxRestarts", Int(0, u32::MAX as i64))
            .doc("Maximum number of restarts. One more failure fails the job.")
            .otherwise("no limit")
            .example("100"),
    ],
};

/// Legal values of `hostSelection.order`; the first one is the default.
pub const ORDERS: [&str; 2] = ["random", "fewest-failures"];

static SELECTION: ObjectSchema = ObjectSchema {
    kind: "HostSelection",
    fields: &[
        field("order", OneOf(&ORDERS))
            .doc(
                "Order of selection. `random`: the nodes longest in the pool, with standbys chosen at random \
                 among them. `fewest-failures`: the nodes with the fewest failures.",
            )
            .default("random"),
        field("takes", DELAY).doc("Duration of the host selection.").default("0s").example("3m"),
    ],
};

static TRAINING: ObjectSchema = ObjectSchema {
    kind: "FleetTraining",
    fields: &[
        field("work", Duration)
            .doc("Time that the job would need without failures and checkpoints.")
            .required()
            .example("20d"),
        field("checkpoint", Either(&OneOf(&WITHOUT), &Object(&CHECKPOINT)))
            .doc(
                "Work lost at a failure: none (`Continuous`), all (`Never`), or the work since the last \
                 checkpoint (a mapping).",
            )
            .default("Continuous")
            .example("{every: 15m, blocking: 10s}"),
    ],
};

static CHECKPOINT: ObjectSchema = ObjectSchema { kind: "Checkpoint", fields: &training::CHECKPOINT };

static PROCESS: ObjectSchema = ObjectSchema {
    kind: "FaultProcess",
    fields: &[
        field("cause", Line).doc("Name of the faults. Reports count them as failures_CAUSE.").example("host"),
        PRESET[0],
        PRESET[1],
        RATE[0],
        RATE[1],
        RATE[2],
        RATE[3],
        RATE[4],
        field("trace", Either(&Str, &Object(&TRACE)))
            .doc("File of recorded faults that replaces the rate: CSV with a header line, or JSON lines.")
            .example("faults.csv"),
        field("needsRepair", Bool)
            .doc(
                "Whether the node is sent to repair. If false, the fault only interrupts the job, like a crash \
                 of its program.",
            )
            .default("true"),
        field("onlyLemons", Bool).doc("Restricts the process to lemons.").default("false"),
        field("ages", OneOf(&ExposureSpec::NAMES))
            .doc(
                "When a node accumulates age: while the job runs on it (`Running`), while the job owns it \
                 (`Assigned`), or always except during repair (`Always`).",
            )
            .default("Running"),
    ],
};

static TRACE: ObjectSchema = ObjectSchema {
    kind: "FleetTrace",
    fields: &[
        field("file", Str)
            .doc(
                "Path of the trace. It has the columns `node` and `time` since the start, and optionally \
                 `kind` and `duration` of the outage. Each name is assigned to an arbitrary node.",
            )
            .required()
            .example("faults.csv"),
        field("kinds", STR_LIST)
            .doc("Kinds of faults to use from the trace.")
            .otherwise("all kinds")
            .example("[xid79, reboot]"),
    ],
};

static LEMONS: ObjectSchema = ObjectSchema {
    kind: "Lemons",
    fields: &[
        field("share", CHANCE).doc("Share of lemons among all nodes at the start.").required().example("0.1"),
        field("regenerateEvery", Duration)
            .doc("Interval at which good nodes become lemons.")
            .otherwise("never")
            .example("30d"),
        field("regenerateShare", CHANCE)
            .doc(
                "Share of the good nodes that become lemons at each interval, as a fraction of `share`. At \
                 least one node is affected.",
            )
            .default("0.1")
            .example("0.1"),
    ],
};

pub static DIAGNOSIS: ObjectSchema = ObjectSchema {
    kind: "Diagnosis",
    fields: &[
        field("probability", CHANCE)
            .doc("Probability that a failure leads to a repair. Otherwise the node returns immediately.")
            .default("1")
            .example("0.9"),
        field("uncertainty", CHANCE)
            .doc(
                "Probability that a different node is sent to repair: in a Fleet another node of the job, in a \
                 Scenario another node with the same fault process.",
            )
            .default("0")
            .example("0.05"),
    ],
};

static REPAIR: ObjectSchema = ObjectSchema { kind: "Repair", fields: &REPAIR_FIELDS };

/// Fields for the repair of nodes, which Fleets and scenarios share.
pub const REPAIR_FIELDS: [FieldSchema; 3] = [
    field("stages", STAGES)
        .doc("Repair stages, in order. A repair ends at the first stage that does not escalate.")
        .required()
        .example("[{name: manual, takes: 2h}]"),
    field("crews", Int(1, u32::MAX as i64))
        .doc("Number of repair crews, that is, of nodes that can be repaired at the same time.")
        .otherwise("no limit")
        .example("2"),
    field("retire", Str)
        .doc(
            "Rule for retiring a node at the end of a repair: `never`, `window:FAILURES:DURATION` (failures \
             within a time window) or `life:FAILURES` (failures in total). A failure counts for the node that the \
             diagnosis sends to repair.",
        )
        .default("never")
        .example("window:3:7d"),
];

const STAGES: FieldType = NonEmpty(&Object(&STAGE));

static STAGE: ObjectSchema = ObjectSchema {
    kind: "RepairStage",
    fields: &[
        field("name", Line)
            .doc("Name of the stage. Reports count its repairs as NAME_repairs.")
            .required()
            .example("automatic"),
        field("takes", DELAY).doc("Duration of the stage.").required().example("{exponential: {mean: 2h}}"),
        field("escalates", CHANCE).doc("Probability that the next stage is needed.").default("0").example("0.8"),
        field("fails", CHANCE)
            .doc("Probability that the repair is reported as successful but leaves the node unchanged.")
            .default("0")
            .example("0.4"),
    ],
};

static STOP: ObjectSchema = ObjectSchema {
    kind: "FleetStop",
    fields: &[field("at", Duration).doc("Virtual time at which the run ends.").default("36500d").example("365d")],
};
