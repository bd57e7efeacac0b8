//! Field tables of scenario files.

use super::common::{API_VERSION, EXPERIMENTS, INDEX, METADATA, PARAMETERS};
use super::control_plane::CONTROL_PLANE;
use super::fault_processes::{NODE_REPAIR, NODE_SPARES, RANDOM_FAULTS};
use super::faults::FAULT;
use super::objects::EXISTING;
use super::timing::TIMING;
use super::topology::{PRICE, TOPOLOGY};
use super::training::TRAINING;
use crate::schema::shape::{Field, Object, Shape, field};
use sim_api::spec::StopWhen;

pub static SCENARIO: Object = Object {
    kind: "Scenario",
    fields: &[
        field("apiVersion", Shape::OneOf(&[API_VERSION]), "of this format").required(),
        field("kind", Shape::OneOf(&["Scenario"]), "of this file").required(),
        field("metadata", Shape::Object(&METADATA), "{name: ...}")
            .required()
            .example("{name: first-steps}"),
        field(
            "topology",
            Shape::Either(&Shape::Str, &Shape::Object(&TOPOLOGY)),
            "path of a Topology, relative to this file, the name of a shipped one, or the Topology itself",
        )
        .required()
        .example("../topologies/small-16.yaml"),
        BODY[0],
        BODY[1],
        field(
            "jobSets",
            Shape::NonEmpty(&Shape::Object(&JOBSET)),
            "what is submitted",
        )
        .required()
        .example("[{manifest: train.yaml}]"),
        field(
            "objects",
            Shape::List(&Shape::Kinds(&EXISTING)),
            "what exists when the run begins: objects, or files of objects",
        )
        .otherwise("none")
        .example("[{manifest: others.yaml}]"),
        PARAMETERS,
        BODY[2],
        BODY[3],
        BODY[4],
        BODY[5],
        BODY[6],
        BODY[7],
        BODY[8],
        BODY[9],
        BODY[10],
        EXPERIMENTS,
    ],
};

/// Fields that can be set for a run without a scenario file.
pub static SETTINGS: Object = Object {
    kind: "Settings",
    fields: &BODY,
};

static BODY: [Field; 11] = [
    field(
        "controlPlane",
        Shape::Object(&CONTROL_PLANE),
        "rates, versions and feature gates",
    )
    .example("{preset: stock}"),
    field(
        "timing",
        Shape::Object(&TIMING),
        "delays that differ from the timing profile",
    )
    .example("{sandbox: 300ms}"),
    field(
        "containers",
        Shape::List(&Shape::Object(&CONTAINER_RULE)),
        "what containers do; the first rule that matches wins",
    )
    .otherwise("they run for ever; where their command only sleeps, as long as it does")
    .example("[{replicatedJob: workers, runFor: 10m}]"),
    field(
        "training",
        Shape::Either(
            &Shape::NonEmpty(&Shape::Object(&TRAINING)),
            &Shape::Object(&TRAINING),
        ),
        "what the only JobSet trains; a list, with the name of its JobSet in each entry, where there are several",
    )
    .otherwise("nobody trains")
    .example("{work: 20d, step: 6s, checkpoint: {every: 15m}}"),
    field(
        "prices",
        Shape::Object(&PRICES),
        "what accelerators cost, instead of what the topology says",
    )
    .otherwise("those of the topology")
    .example("{perAcceleratorHour: 4.2}"),
    field(
        "faults",
        Shape::List(&Shape::Object(&FAULT)),
        "what happens to pods, nodes and JobSets",
    )
    .otherwise("none")
    .example("[{at: 2m, deletePod: {pod: train-workers-0-0}}]"),
    field(
        "faultProcesses",
        Shape::List(&Shape::Object(&RANDOM_FAULTS)),
        "random faults of nodes, domains and pods, the same for every policy under one seed",
    )
    .otherwise("none")
    .example("[{cause: host, mtbf: 200d, backAfter: 6h}]"),
    field(
        "nodeRepair",
        Shape::Object(&NODE_REPAIR),
        "what happens to nodes lost by random faults without backAfter",
    )
    .otherwise("they never come back")
    .example("{stages: [{name: manual, takes: 2h}], crews: 2}"),
    field(
        "nodeSpares",
        Shape::Object(&NODE_SPARES),
        "nodes that are kept back until others are lost by random faults",
    )
    .otherwise("none")
    .example("{label: example.com/role=spare, takeOver: 10m}"),
    field("stop", Shape::Object(&STOP), "when the run ends").example("{at: 1h, when: Time}"),
    field("seed", Shape::Int(0, i64::MAX), "of all random numbers")
        .default("1")
        .example("42"),
];

static PRICES: Object = Object {
    kind: "Prices",
    fields: &[
        field("currency", Shape::Line, "of all prices")
            .otherwise("the topology's")
            .example("EUR"),
        field(
            "perAcceleratorHour",
            PRICE,
            "of every accelerator; to a millionth",
        )
        .otherwise("the topology's")
        .example("4.2"),
        field(
            "pools",
            Shape::Map(&PRICE),
            "the same by the name of a pool",
        )
        .otherwise("all alike")
        .example("{\"a-{node}\": 4.2}"),
    ],
};

static JOBSET: Object = Object {
    kind: "SubmittedJobSet",
    fields: &[
        field("manifest", Shape::Str, "path, relative to this file")
            .required()
            .example("train.yaml"),
        field("submitAt", Shape::Duration, "virtual time")
            .default("0s")
            .example("30s"),
        field(
            "restartStrategy",
            Shape::OneOf(&["Recreate", "BlockingRecreate", "InPlaceRestart"]),
            "replaces spec.failurePolicy.restartStrategy",
        )
        .otherwise("the manifest's"),
        field(
            "set",
            Shape::List(&Shape::Assignment),
            "path=value, applied to the manifest before it is read",
        )
        .otherwise("none")
        .example("[\"spec.replicatedJobs[0].replicas=8\"]"),
    ],
};

/// Creates a field that restricts the pods or containers that a rule applies to.
const fn selects(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    field(name, shape, doc).otherwise("any")
}

static CONTAINER_RULE: Object = Object {
    kind: "ContainerRule",
    fields: &[
        selects("jobSet", Shape::Str, "name of the JobSet").example("train"),
        selects("replicatedJob", Shape::Str, "its replicatedJob").example("workers"),
        selects("jobIndex", INDEX, "index of the Job in it").example("0"),
        selects("podIndex", INDEX, "completion index").example("3"),
        selects("restartAttempt", INDEX, "restart-attempt label of the pod").example("0"),
        selects("jobRestart", INDEX, "job-restart-attempt label of the pod").example("1"),
        selects(
            "jobTry",
            INDEX,
            "nth pod of that index within one Job object, from 0",
        )
        .example("0"),
        selects(
            "inPlaceAttempt",
            INDEX,
            "attempt that the pod's agent wrote",
        )
        .example("1"),
        selects(
            "containerRun",
            INDEX,
            "nth run of the container in that pod, from 0",
        )
        .example("0"),
        field(
            "runFor",
            Shape::Duration,
            "exits this long after it started",
        )
        .otherwise("never")
        .example("10m"),
        field("exitCode", Shape::Int(0, 255), "of that exit")
            .default("0")
            .example("1"),
        field(
            "container",
            Shape::Str,
            "only this container ends with exitCode, the others with 0",
        )
        .otherwise("all")
        .example("main"),
        field(
            "podFails",
            Shape::Bool,
            "in place: this exit ends the pod instead of restarting it",
        )
        .default("false"),
        field(
            "atBarrierFor",
            Shape::Duration,
            "in place: exits after waiting this long at the barrier",
        )
        .otherwise("it waits")
        .example("5s"),
        field(
            "startAfter",
            Shape::Duration,
            "replaces the time from binding to ready",
        )
        .otherwise("from `timing`")
        .example("20s"),
        field(
            "stopAfter",
            Shape::Duration,
            "replaces the time from deletion to exit",
        )
        .otherwise("from `timing`")
        .example("15s"),
    ],
};

static STOP_WHEN: [&str; 3] = [
    StopWhen::ALL[0].as_str(),
    StopWhen::ALL[1].as_str(),
    StopWhen::ALL[2].as_str(),
];

static STOP: Object = Object {
    kind: "Stop",
    fields: &[
        field("at", Shape::Duration, "the run ends here in any case")
            .default("24h")
            .example("1h"),
        field(
            "when",
            Shape::OneOf(&STOP_WHEN),
            "ends earlier when all JobSets have finished, or when nothing can change any more",
        )
        .default("Settled"),
    ],
};
