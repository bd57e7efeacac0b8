//! Field tables of `training` in a scenario, and of checkpoints in scenarios and Fleets.

use super::distribution::DELAY;
use crate::schema::shape::{Field, Object, Shape, field};

/// Legal values of `checkpoint` without checkpoints: an interruption loses no work (`Continuous`) or all work
/// (`Never`).
pub const WITHOUT: [&str; 2] = ["Continuous", "Never"];

/// Fields that every kind of checkpoint has.
pub const CHECKPOINT: [Field; 2] = [
    field(
        "every",
        Shape::Duration,
        "work between two; one is written after the last piece, too",
    )
    .required()
    .example("15m"),
    field("blocking", Shape::Duration, "the job stands still for it")
        .default("0s")
        .example("10s"),
];

pub static TRAINING: Object = Object {
    kind: "Training",
    fields: &[
        field("jobSet", Shape::Str, "name of the JobSet")
            .otherwise("the only one")
            .example("train"),
        field(
            "work",
            Shape::Duration,
            "time that it steps, in whole steps; then its containers exit with 0",
        )
        .otherwise("without end; its containers go on as they do")
        .example("20d"),
        field(
            "step",
            DELAY,
            "how long a step takes, if it varies each step by itself",
        )
        .otherwise("work may stop and be saved at any instant")
        .example("6s"),
        field(
            "warmUp",
            Shape::Object(&WARM_UP),
            "steps are slower right after each start",
        )
        .example("{factor: 1.5, for: 5m}"),
        field(
            "checkpoint",
            Shape::Either(
                &Shape::OneOf(&WITHOUT),
                &Shape::Object(&TRAINING_CHECKPOINT),
            ),
            "what an interruption takes back: nothing, everything, or the work since the last complete checkpoint",
        )
        .required()
        .example("{every: 15m, blocking: 10s}"),
        field(
            "initialization",
            DELAY,
            "of devices and collectives, at each start with every pod ready",
        )
        .default("0s")
        .example("30s"),
        field("compile", DELAY, "after it, at each start")
            .default("0s")
            .example("2m"),
        field(
            "rendezvousTimeout",
            Shape::Duration,
            "a process that has waited so long for all the others exits with 1",
        )
        .otherwise("it waits for ever")
        .example("5m"),
        field(
            "elastic",
            Shape::Object(&ELASTIC),
            "it goes on without some of its slices, which are the child Jobs of a replicatedJob",
        )
        .otherwise("it steps with every pod or not at all")
        .example("{minSlices: 3}"),
    ],
};

/// Legal values of `regrow`, which are the names of `Regrow`.
const REGROW: [&str; 3] = ["NextCheckpoint", "AtOnce", "Never"];

static ELASTIC: Object = Object {
    kind: "Elastic",
    fields: &[
        field(
            "minSlices",
            Shape::Int(1, 65_536),
            "it does not step with fewer complete slices",
        )
        .required()
        .example("3"),
        field(
            "replicatedJob",
            Shape::Str,
            "whose child Jobs are the slices; all other Jobs have to be there",
        )
        .otherwise("the only one")
        .example("workers"),
        field(
            "factor",
            Shape::Number(0.001, 1.0),
            "what is left of the pace while slices are away",
        )
        .otherwise("the share of the slices that are there")
        .example("0.7"),
        field(
            "regrow",
            Shape::OneOf(&REGROW),
            "when a slice that is back takes part: after the next durable checkpoint, which is restored then; after the step at hand, from memory; or when the job begins anew for another reason",
        )
        .default("NextCheckpoint")
        .example("AtOnce"),
        field(
            "lastCall",
            Shape::Duration,
            "with enough slices, but not all, a job that begins waits so long for more",
        )
        .default("30s")
        .example("0s"),
        field(
            "reinitialization",
            DELAY,
            "in place of initialization and compile at a start with processes that have run on",
        )
        .otherwise("as at any start")
        .example("45s"),
    ],
};

static WARM_UP: Object = Object {
    kind: "WarmUp",
    fields: &[
        field(
            "factor",
            Shape::Number(1.0, 1000.0),
            "how many times as long a step takes then",
        )
        .required()
        .example("1.5"),
        field(
            "for",
            Shape::Duration,
            "time of steps, from the first one on",
        )
        .required()
        .example("5m"),
    ],
};

const COMMIT_DELAY: Field = field(
    "commitDelay",
    DELAY,
    "from the end of the blocking part until it is complete, drawn for each start; one at a time",
)
.default("0s")
.example("51s");

const RESTORE: Field = field("restore", DELAY, "at each start from one of them")
    .default("0s")
    .example("130s");

static TRAINING_CHECKPOINT: Object = Object {
    kind: "TrainingCheckpoint",
    fields: &[
        CHECKPOINT[0],
        CHECKPOINT[1],
        COMMIT_DELAY,
        RESTORE,
        field(
            "atNotice",
            Shape::Bool,
            "one is written after the step at hand when a node of the job is cordoned, too, as before announced maintenance",
        )
        .default("false"),
        field(
            "tiers",
            Shape::NonEmpty(&Shape::Object(&CHECKPOINT_TIER)),
            "checkpoints of other kinds beside these, which some losses take away",
        )
        .example("[{every: 1m, survives: Host, restore: 10s}]"),
    ],
};

static CHECKPOINT_TIER: Object = Object {
    kind: "CheckpointTier",
    fields: &[
        field("every", Shape::Duration, "work between two")
            .required()
            .example("1m"),
        CHECKPOINT[1],
        COMMIT_DELAY,
        RESTORE,
        field(
            "survives",
            Shape::OneOf(&["Process", "Host", "Slice"]),
            "the greatest loss after which they can be restored: of processes alone, of a host in each slice, of one slice",
        )
        .required()
        .example("Host"),
    ],
};
