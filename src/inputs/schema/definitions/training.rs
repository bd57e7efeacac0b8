//! Field tables of `training` in a scenario, and of checkpoints in scenarios and Fleets.

use super::distribution::DELAY;
use crate::schema::field_type::{FieldSchema, FieldType, ObjectSchema, field};

/// Legal values of `checkpoint` without checkpoints: an interruption loses no work (`Continuous`) or all work
/// (`Never`).
pub const WITHOUT: [&str; 2] = ["Continuous", "Never"];

pub const CHECKPOINT: [FieldSchema; 2] = [
    field("every", FieldType::Duration)
        .doc("Work between two checkpoints. A final checkpoint is written at the end of the work.")
        .required()
        .example("15m"),
    field("blocking", FieldType::Duration)
        .doc("Time during which a checkpoint blocks the job.")
        .default("0s")
        .example("10s"),
];

pub static TRAINING: ObjectSchema = ObjectSchema {
    kind: "Training",
    fields: &[
        field("jobSet", FieldType::Str)
            .doc("Name of the JobSet that trains.")
            .otherwise("the only JobSet")
            .example("train"),
        field("work", FieldType::Duration)
            .doc(
                "Amount of training as time spent in steps, rounded to whole steps. The containers exit with 0 when \
                 it is done.",
            )
            .otherwise("unlimited; the container rules apply")
            .example("20d"),
        field("step", DELAY)
            .doc("Duration of one step. A distribution is sampled independently for each step.")
            .otherwise("training is continuous and can stop or be saved at any time")
            .example("6s"),
        field("warmUp", FieldType::Object(&WARM_UP))
            .doc("Slower steps after each start of the job.")
            .example("{factor: 1.5, for: 5m}"),
        field("checkpoint", FieldType::Either(&FieldType::OneOf(&WITHOUT), &FieldType::Object(&TRAINING_CHECKPOINT)))
            .doc(
                "Work lost at an interruption: none (`Continuous`), all (`Never`), or the work since the last \
                 complete checkpoint (a mapping).",
            )
            .required()
            .example("{every: 15m, blocking: 10s}"),
        field("initialization", DELAY)
            .doc("Time to initialize devices and collectives at each start, after all pods are ready.")
            .default("0s")
            .example("30s"),
        field("compile", DELAY)
            .doc("Time to compile at each start, after the initialization.")
            .default("0s")
            .example("2m"),
        field("rendezvousTimeout", FieldType::Duration)
            .doc("Time that a process waits for all others before it exits with 1.")
            .otherwise("processes wait indefinitely")
            .example("5m"),
        field("elastic", FieldType::Object(&ELASTIC))
            .doc(
                "Elastic training, which continues without some of its slices. A slice is a child Job of one \
                 replicatedJob.",
            )
            .otherwise("training requires all pods")
            .example("{minSlices: 3}"),
    ],
};

/// Legal values of `regrow`, which are the names of `Regrow`.
const REGROW: [&str; 3] = ["NextCheckpoint", "AtOnce", "Never"];

static ELASTIC: ObjectSchema = ObjectSchema {
    kind: "Elastic",
    fields: &[
        field("minSlices", FieldType::Int(1, 65_536))
            .doc("Minimum number of complete slices required for training.")
            .required()
            .example("3"),
        field("replicatedJob", FieldType::Str)
            .doc("Name of the replicatedJob whose child Jobs are the slices. All other Jobs must always be present.")
            .otherwise("the only replicatedJob")
            .example("workers"),
        field("factor", FieldType::Number(0.001, 1.0))
            .doc("Relative training speed while slices are missing.")
            .otherwise("the share of slices that are present")
            .example("0.7"),
        field("regrow", FieldType::OneOf(&REGROW))
            .doc(
                "When a returned slice rejoins: after the next durable checkpoint, which is then restored \
                 (`NextCheckpoint`), after the current step, from memory (`AtOnce`), or at the next restart for \
                 another reason (`Never`).",
            )
            .default("NextCheckpoint")
            .example("AtOnce"),
        field("lastCall", FieldType::Duration)
            .doc("Time that a starting job with at least `minSlices` slices waits for the missing ones.")
            .default("30s")
            .example("0s"),
        field("reinitialization", DELAY)
            .doc("Time that replaces `initialization` and `compile` at a start in which some processes kept running.")
            .otherwise("the same as at any other start")
            .example("45s"),
    ],
};

static WARM_UP: ObjectSchema = ObjectSchema {
    kind: "WarmUp",
    fields: &[
        field("factor", FieldType::Number(1.0, 1000.0))
            .doc("Factor by which steps take longer during the warm-up.")
            .required()
            .example("1.5"),
        field("for", FieldType::Duration)
            .doc("Duration of the warm-up, counted as time in steps from the first step.")
            .required()
            .example("5m"),
    ],
};

const COMMIT_DELAY: FieldSchema = field("commitDelay", DELAY)
    .doc(
        "Time from the end of the blocking part until \
     the checkpoint is complete. It is drawn once per start. Only one checkpoint is written at a time.",
    )
    .default("0s")
    .example("51s");

const RESTORE: FieldSchema =
    field("restore", DELAY).doc("Time to restore a checkpoint at each start.").default("0s").example("130s");

static TRAINING_CHECKPOINT: ObjectSchema = ObjectSchema {
    kind: "TrainingCheckpoint",
    fields: &[
        CHECKPOINT[0],
        CHECKPOINT[1],
        COMMIT_DELAY,
        RESTORE,
        field("atNotice", FieldType::Bool)
            .doc(
                "Whether an additional checkpoint is written after the current step when a node of the job is \
                 cordoned, for example before maintenance.",
            )
            .default("false"),
        field("tiers", FieldType::NonEmpty(&FieldType::Object(&CHECKPOINT_TIER)))
            .doc("Additional checkpoint tiers, such as in host memory, which do not survive every loss.")
            .example("[{every: 1m, survives: Host, restore: 10s}]"),
    ],
};

static CHECKPOINT_TIER: ObjectSchema = ObjectSchema {
    kind: "CheckpointTier",
    fields: &[
        field("every", FieldType::Duration).doc("Work between two checkpoints of this tier.").required().example("1m"),
        CHECKPOINT[1],
        COMMIT_DELAY,
        RESTORE,
        field("survives", FieldType::OneOf(&["Process", "Host", "Slice"]))
            .doc(
                "Largest loss after which checkpoints of this tier can be restored: of processes only (`Process`), \
                 of one host in each slice (`Host`), or of one slice (`Slice`).",
            )
            .required()
            .example("Host"),
    ],
};
