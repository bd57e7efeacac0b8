//! Field tables of `training` in a scenario, and of checkpoints in scenarios and Fleets.

use super::distribution::DELAY;
use crate::schema::field_type::FieldType::{
    Amount, Bool, Duration, Either, Int, Line, NonEmpty, Number, Object, OneOf, Str,
};
use crate::schema::field_type::{FieldSchema, ObjectSchema, field};

/// Legal values of `checkpoint` without checkpoints: an interruption loses no work (`Continuous`) or all work
/// (`Never`).
pub const WITHOUT: [&str; 2] = ["Continuous", "Never"];

pub const CHECKPOINT: [FieldSchema; 2] = [
    field("every", Duration)
        .doc("Work between two checkpoints. A final checkpoint is written at the end of the work.")
        .required()
        .example("15m"),
    field("blocking", Duration).doc("Time during which a checkpoint blocks the job.").default("0s").example("10s"),
];

pub static TRAINING: ObjectSchema = ObjectSchema {
    kind: "Training",
    fields: &[
        field("jobSet", Str).doc("Name of the JobSet that trains.").otherwise("the only JobSet").example("train"),
        field("work", Duration)
            .doc(
                "Amount of training as time spent in steps, rounded to whole steps. The containers exit with 0 \
                 when it is done.",
            )
            .otherwise("unlimited; the container rules apply")
            .example("20d"),
        field("step", DELAY)
            .doc("Duration of one step. A distribution is sampled independently for each step.")
            .otherwise("training is continuous and can stop or be saved at any time")
            .example("6s"),
        field("warmUp", Object(&WARM_UP))
            .doc("Slower steps after each start of the job.")
            .example("{factor: 1.5, for: 5m}"),
        field("checkpoint", Either(&OneOf(&WITHOUT), &Object(&TRAINING_CHECKPOINT)))
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
        field("rendezvousTimeout", Duration)
            .doc("Time that a process waits for all others before it exits with 1.")
            .otherwise("processes wait indefinitely")
            .example("5m"),
        field("elastic", Object(&ELASTIC))
            .doc(
                "Elastic training, which continues without some of its slices. A slice is a child Job of one \
                 replicatedJob.",
            )
            .otherwise("training requires all pods")
            .example("{minSlices: 3}"),
        field("parallelism", NonEmpty(&Object(&PARALLEL_AXIS)))
            .doc("Axes of parallelism, for `communication`. The last axis of a span varies fastest among its members.")
            .example("[{axis: data, over: Islands}, {axis: fsdp, over: Island}]"),
        field("communication", NonEmpty(&Object(&STEP_TRAFFIC)))
            .doc(
                "Communication in each step. Its time follows from the placement of the pods and the links of \
                 the topology (`interconnect`, `dcnLevels`); a step takes the longer of `step` and the overlapped \
                 communication, plus the exposed communication.",
            )
            .otherwise("`step` includes all communication")
            .example("[{axis: data, collective: AllReduce, bytes: 140G}]"),
        field("model", Object(&MODEL))
            .doc("Size of the model, from which the communication of all axes with a `role` follows.")
            .example("{parameters: 70G}"),
    ],
};

static PARALLEL_AXIS: ObjectSchema = ObjectSchema {
    kind: "ParallelAxis",
    fields: &[
        field("axis", Line).doc("Name of the axis.").required().example("data"),
        field("over", OneOf(&["Island", "Islands", "All"]))
            .doc(
                "Members of a group: accelerators of one island (`Island`), islands, whose hosts exchange one \
                 shard each (`Islands`), or all accelerators, first within each island, then between islands (`All`).",
            )
            .required(),
        field("size", Int(1, 1_000_000))
            .doc("Number of members of a group.")
            .otherwise("all members that the other axes of the same span leave")
            .example("8"),
        field("role", OneOf(&["Data", "Sharded", "Tensor", "Pipeline"]))
            .doc(
                "With `model`: gradients are reduced (`Data`); weights are also gathered twice (`Sharded`); \
                 activations are reduced four times in each layer (`Tensor`) or passed on (`Pipeline`).",
            )
            .otherwise("only `communication` states what the axis exchanges"),
        field("overlap", Number(0.0, 1.0))
            .doc("Share of the communication that follows from `model` that computation hides.")
            .default("0")
            .example("0.9"),
        ORDER,
    ],
};

static STEP_TRAFFIC: ObjectSchema = ObjectSchema {
    kind: "StepTraffic",
    fields: &[
        field("axis", Line).doc("Name of an axis of `parallelism`.").required().example("data"),
        field("collective", OneOf(&["AllGather", "ReduceScatter", "AllReduce", "AllToAll", "SendReceive"]))
            .doc(
                "Operation. `SendReceive` passes the buffer from each member to the next one, as between stages \
                 of a pipeline.",
            )
            .required(),
        field("bytes", Amount)
            .doc("Size of the gathered or reduced buffer of a group, summed over all calls in a step.")
            .required()
            .example("140G"),
        field("calls", Int(1, 1_000_000_000))
            .doc("Number of calls in a step, each with an equal part of `bytes`. Each call has the latency of the links.")
            .default("1")
            .example("160"),
        field("overlap", Number(0.0, 1.0)).doc("Share that computation hides.").default("0").example("0.9"),
        ORDER,
        field("algorithm", super::topology::ALGORITHM)
            .doc(
                "A ring through all accelerators, two binary trees between the islands (AllReduce), first within the \
                 islands and then between them, or a reduction in the switches and two trees (AllReduce). Without a \
                 tree, `Tree` and `Nvls` are a ring.",
            )
            .otherwise("`algorithm` of the first network level")
            .example("Ring"),
    ],
};

const ORDER: FieldSchema = field("order", OneOf(&["Ring", "Hierarchical"]))
    .doc(
        "Between islands: a ring in the order of the pods, wherever they are, or first within each group of every \
         network level, then between groups.",
    )
    .default("Ring")
    .example("Hierarchical");

static MODEL: ObjectSchema = ObjectSchema {
    kind: "Model",
    fields: &[
        field("parameters", Amount).doc("Number of parameters.").required().example("70G"),
        field("bytesPerValue", Number(0.125, 16.0))
            .doc("Bytes of a weight, gradient or activation.")
            .default("2")
            .example("1"),
        field("layers", Int(1, 1_000_000))
            .doc("Number of layers, for `Tensor`. `Sharded` weights are gathered and reduced layer by layer.")
            .otherwise("none; `Sharded` weights are one layer")
            .example("80"),
        field("microbatches", Int(1, 1_000_000))
            .doc("Number of parts of a step, each with calls of its own of `Tensor` and `Pipeline`.")
            .default("1")
            .example("8"),
        field("width", Int(1, 1_000_000_000))
            .doc("Values per token between two layers, for `Tensor` and `Pipeline`.")
            .otherwise("none")
            .example("8192"),
        field("tokens", Amount)
            .doc("Tokens per step of the whole job, for `Tensor` and `Pipeline`.")
            .otherwise("none")
            .example("16M"),
    ],
};

/// Legal values of `regrow`, which are the names of `RegrowPolicy`.
const REGROW: [&str; 3] = ["NextCheckpoint", "AtOnce", "Never"];

static ELASTIC: ObjectSchema = ObjectSchema {
    kind: "Elastic",
    fields: &[
        field("minSlices", Int(1, 65_536))
            .doc("Minimum number of complete slices required for training.")
            .required()
            .example("3"),
        field("replicatedJob", Str)
            .doc("Name of the replicatedJob whose child Jobs are the slices. All other Jobs must always be present.")
            .otherwise("the only replicatedJob")
            .example("workers"),
        field("factor", Number(0.001, 1.0))
            .doc("Relative training speed while slices are missing.")
            .otherwise("the share of slices that are present")
            .example("0.7"),
        field("regrow", OneOf(&REGROW))
            .doc(
                "When a returned slice rejoins: after the next durable checkpoint, which is then restored \
                 (`NextCheckpoint`), after the current step, from memory (`AtOnce`), or at the next restart for \
                 another reason (`Never`).",
            )
            .default("NextCheckpoint")
            .example("AtOnce"),
        field("lastCall", Duration)
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
        field("factor", Number(1.0, 1000.0))
            .doc("Factor by which steps take longer during the warm-up.")
            .required()
            .example("1.5"),
        field("for", Duration)
            .doc("Duration of the warm-up, counted as time in steps from the first step.")
            .required()
            .example("5m"),
    ],
};

const COMMIT_DELAY: FieldSchema = field("commitDelay", DELAY)
    .doc(
        "Time from the end of the blocking part until the checkpoint is complete. It is drawn once per start. \
         Only one checkpoint is written at a time.",
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
        field("atNotice", Bool)
            .doc(
                "Whether an additional checkpoint is written after the current step when a node of the job is \
                 cordoned, for example before maintenance.",
            )
            .default("false"),
        field("tiers", NonEmpty(&Object(&CHECKPOINT_TIER)))
            .doc("Additional checkpoint tiers, such as in host memory, which do not survive every loss.")
            .example("[{every: 1m, survives: Host, restore: 10s}]"),
    ],
};

static CHECKPOINT_TIER: ObjectSchema = ObjectSchema {
    kind: "CheckpointTier",
    fields: &[
        field("every", Duration).doc("Work between two checkpoints of this tier.").required().example("1m"),
        CHECKPOINT[1],
        COMMIT_DELAY,
        RESTORE,
        field("survives", OneOf(&["Process", "Host", "Slice"]))
            .doc(
                "Largest loss after which checkpoints of this tier can be restored: of processes only \
                 (`Process`), of one host in each slice (`Host`), or of one slice (`Slice`).",
            )
            .required()
            .example("Host"),
    ],
};
