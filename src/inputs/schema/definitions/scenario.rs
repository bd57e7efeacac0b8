//! Field tables of scenario files.

use super::common::{API_VERSION, EXPERIMENTS, INDEX, METADATA, PARAMETERS};
use super::control_plane::CONTROL_PLANE;
use super::distribution::DELAY;
use super::fault_processes::{NODE_REPAIR, NODE_SPARES, RANDOM_FAULTS};
use super::faults::FAULT;
use super::objects::EXISTING;
use super::timing::TIMING;
use super::topology::{PRICE, TOPOLOGY};
use super::training::TRAINING;
use crate::schema::field_type::FieldType::{
    Assignment, Bool, Duration, Either, Int, Kinds, Line, List, Map, NonEmpty, Object, OneOf, Str,
};
use crate::schema::field_type::{COUNT, FieldSchema, FieldType, ObjectSchema, field};
use sim_api::spec::StopWhen;

pub static SCENARIO: ObjectSchema = ObjectSchema {
    kind: "Scenario",
    fields: &[
        field("apiVersion", OneOf(&[API_VERSION])).doc("API version of the file format.").required(),
        field("kind", OneOf(&["Scenario"])).doc("Kind of the file.").required(),
        field("metadata", Object(&METADATA))
            .doc("Name and description of the scenario.")
            .required()
            .example("{name: first-steps}"),
        field("topology", Either(&Str, &Object(&TOPOLOGY)))
            .doc(
                "Cluster of the run: the path of a Topology file relative to this file, the name of a shipped \
                 topology, or an inline Topology.",
            )
            .required()
            .example("../topologies/small-16.yaml"),
        BODY[0],
        BODY[1],
        field("jobSets", NonEmpty(&Object(&JOBSET)))
            .doc("JobSets to submit, as manifests.")
            .required()
            .example("[{manifest: train.yaml}]"),
        field("objects", List(&Kinds(&EXISTING)))
            .doc("Objects that exist when the run starts, inline or as files.")
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
        BODY[11],
        BODY[12],
        BODY[13],
        EXPERIMENTS,
    ],
};

/// Fields that can be set for a run without a scenario file.
pub static SETTINGS: ObjectSchema = ObjectSchema { kind: "Settings", fields: &BODY };

static BODY: [FieldSchema; 14] = [
    field("controlPlane", Object(&CONTROL_PLANE))
        .doc("Client rates, versions and feature gates of the control plane.")
        .example("{preset: stock}"),
    field("timing", Object(&TIMING)).doc("Delays that override the timing profile.").example("{sandbox: 300ms}"),
    field("containers", List(&Object(&CONTAINER_RULE)))
        .doc("Rules for the run time and exit code of containers. The first matching rule applies.")
        .otherwise("containers run indefinitely, or for the duration of a command that only sleeps")
        .example("[{replicatedJob: workers, runFor: 10m}]"),
    field("training", Either(&NonEmpty(&Object(&TRAINING)), &Object(&TRAINING)))
        .doc("Training of the JobSet. With several JobSets: a list with the name of the JobSet in each entry.")
        .otherwise("no training")
        .example("{work: 20d, step: 6s, checkpoint: {every: 15m}}"),
    field("prices", Object(&PRICES))
        .doc("Prices of accelerators, overriding those of the topology.")
        .otherwise("the prices of the topology")
        .example("{perAcceleratorHour: 4.2}"),
    field("faults", List(&Object(&FAULT)))
        .doc("Scripted faults and user actions on pods, nodes and JobSets.")
        .otherwise("none")
        .example("[{at: 2m, deletePod: {pod: train-workers-0-0}}]"),
    field("faultProcesses", List(&Object(&RANDOM_FAULTS)))
        .doc("Random faults of nodes, domains and pods. For a given seed they are the same for all policies.")
        .otherwise("none")
        .example("[{cause: host, mtbf: 200d, backAfter: 6h}]"),
    field("nodeRepair", Object(&NODE_REPAIR))
        .doc("Repair of nodes lost by random faults that do not set `backAfter`.")
        .otherwise("lost nodes never return")
        .example("{stages: [{name: manual, takes: 2h}], crews: 2}"),
    field("nodeSpares", Object(&NODE_SPARES))
        .doc("Spare nodes, which are cordoned until they replace nodes lost by random faults.")
        .otherwise("none")
        .example("{label: example.com/role=spare, takeOver: 10m}"),
    field("sliceFormation", DELAY)
        .doc(
            "Time in which a slice of the topology that lost a cube is formed again with a free cube of its block, \
             after its pods are gone. Its nodes have no slice label meanwhile. Free cubes are in no slice and have no \
             pods.",
        )
        .otherwise("a slice that lost a cube is not formed again")
        .example("{logNormal: {median: 30s, sigma: 0.5}}"),
    field("admissionChecks", List(&Object(&ADMISSION_CHECK)))
        .doc("Controllers of Kueue's AdmissionChecks, such as that of ProvisioningRequests.")
        .otherwise("checks stay Pending")
        .example("[{name: provisioning, after: 3m}]"),
    field("existingWorkloads", List(&Object(&EXISTING_WORKLOAD)))
        .doc(
            "Run times of the jobs of Kueue's Workloads in the inputs, other than those of its JobSets. The first \
             matching rule applies.",
        )
        .otherwise("these jobs run until the end of the simulation")
        .example("[{runTime: {logNormal: {median: 4h, sigma: 1}}}]"),
    field("stop", Object(&STOP)).doc("End of the run.").example("{at: 1h, when: Time}"),
    field("seed", Int(0, i64::MAX)).doc("Seed of all random numbers.").default("1").example("42"),
];

static ADMISSION_CHECK: ObjectSchema = ObjectSchema {
    kind: "AdmissionCheckController",
    fields: &[
        field("name", Str).doc("Name of the AdmissionCheck.").required().example("provisioning"),
        field("after", DELAY)
            .doc("Time from the reservation of quota until the controller reports the state of the check.")
            .required()
            .example("{exponential: {mean: 10m}}"),
        field("state", OneOf(&["Ready", "Rejected"]))
            .doc("State that the controller reports. Rejected deactivates the Workload.")
            .default("Ready")
            .example("Rejected"),
        field("retries", COUNT)
            .doc("Number of reports in the state Retry before the final one. Each evicts the Workload.")
            .default("0")
            .example("1"),
        field("message", Line).doc("Message of the state.").otherwise("none").example("no capacity in zone a"),
    ],
};

static EXISTING_WORKLOAD: ObjectSchema = ObjectSchema {
    kind: "ExistingWorkload",
    fields: &[
        selects("name", Str, "Name of the Workload.").example("job-tune-1a2b3"),
        selects("namespace", Str, "Namespace of the Workload.").example("team-a"),
        selects("localQueue", Str, "Name of the LocalQueue of the Workload.").example("training"),
        field("runTime", DELAY)
            .doc(
                "Run time from the admission. A Workload that is admitted at the start has run since then and ends \
                 after the rest of it. A preempted one starts again from the beginning.",
            )
            .otherwise("until the end of the simulation")
            .example("4h"),
    ],
};

static PRICES: ObjectSchema = ObjectSchema {
    kind: "Prices",
    fields: &[
        field("currency", Line).doc("Currency of all prices.").otherwise("the topology's currency").example("EUR"),
        field("perAcceleratorHour", PRICE)
            .doc("Price of one accelerator per hour, with a resolution of one millionth.")
            .otherwise("the topology's prices")
            .example("4.2"),
        field("pools", Map(&PRICE))
            .doc("Price of one accelerator per hour, by pool name. Overrides `perAcceleratorHour`.")
            .otherwise("the same price for all pools")
            .example("{\"a-{node}\": 4.2}"),
    ],
};

static JOBSET: ObjectSchema = ObjectSchema {
    kind: "SubmittedJobSet",
    fields: &[
        field("manifest", Str).doc("Path of the manifest, relative to this file.").required().example("train.yaml"),
        field("submitAt", Duration).doc("Virtual time of the submission.").default("0s").example("30s"),
        field("restartStrategy", OneOf(&["Recreate", "BlockingRecreate", "InPlaceRestart"]))
            .doc("Overrides spec.failurePolicy.restartStrategy.")
            .otherwise("the strategy in the manifest"),
        field("set", List(&Assignment))
            .doc("Overrides of the form path=value, applied to the manifest before it is validated.")
            .otherwise("none")
            .example("[\"spec.replicatedJobs[0].replicas=8\"]"),
    ],
};

/// Creates a field that restricts the pods or containers that a rule applies to.
const fn selects(name: &'static str, shape: FieldType, doc: &'static str) -> FieldSchema {
    field(name, shape).doc(doc).otherwise("any")
}

static CONTAINER_RULE: ObjectSchema = ObjectSchema {
    kind: "ContainerRule",
    fields: &[
        selects("jobSet", Str, "Name of the JobSet that the rule applies to.").example("train"),
        selects("replicatedJob", Str, "Name of the replicatedJob that the rule applies to.").example("workers"),
        selects("jobIndex", INDEX, "Index of the Job within the replicatedJob.").example("0"),
        selects("podIndex", INDEX, "Completion index of the pod.").example("3"),
        selects("restartAttempt", INDEX, "Value of the pod's restart-attempt label.").example("0"),
        selects("jobRestart", INDEX, "Value of the pod's job-restart-attempt label.").example("1"),
        selects(
            "jobTry",
            INDEX,
            "Number of the pod among the pods of the same index within one Job object, starting at 0.",
        )
        .example("0"),
        selects("inPlaceAttempt", INDEX, "In-place restart attempt that the pod's agent recorded.").example("1"),
        selects("containerRun", INDEX, "Number of the run of the container within the pod, starting at 0.")
            .example("0"),
        field("runFor", Duration)
            .doc("Time from the start of the container until it exits.")
            .otherwise("never")
            .example("10m"),
        field("exitCode", Int(0, 255)).doc("Exit code of the container.").default("0").example("1"),
        field("container", Str)
            .doc(
                "Name of the only container that exits with `exitCode`. The other main containers exit with 0. \
                 A rule that names an init container applies to it alone: it runs for `runFor`; without a rule it \
                 succeeds at once. A sidecar that exits is restarted; its `runFor` counts from the start of the main \
                 containers.",
            )
            .otherwise("all containers")
            .example("main"),
        field("podFails", Bool)
            .doc("For in-place restart: the exit ends the pod instead of restarting its containers.")
            .default("false"),
        field("atBarrierFor", Duration)
            .doc("For in-place restart: time at the barrier after which the container exits.")
            .otherwise("the container waits indefinitely")
            .example("5s"),
        field("readyAfter", Duration)
            .doc("Time from the start of the container until its startup and readiness probes would succeed.")
            .default("0s")
            .example("45s"),
        field("startAfter", Duration)
            .doc("Time from the binding of the pod until it is ready. Overrides `timing`.")
            .otherwise("set by `timing`")
            .example("20s"),
        field("stopAfter", Duration)
            .doc("Time from the deletion of the pod until its containers exit. Overrides `timing`.")
            .otherwise("set by `timing`")
            .example("15s"),
    ],
};

static STOP_WHEN: [&str; 3] = [StopWhen::ALL[0].as_str(), StopWhen::ALL[1].as_str(), StopWhen::ALL[2].as_str()];

static STOP: ObjectSchema = ObjectSchema {
    kind: "Stop",
    fields: &[
        field("at", Duration).doc("Time limit of the run, as virtual time.").default("24h").example("1h"),
        field("when", OneOf(&STOP_WHEN))
            .doc(
                "Condition for an earlier end. `AllJobSetsFinished`: all JobSets have finished. `Settled`: all \
                 JobSets have finished, or no further change is possible. `Time`: none.",
            )
            .default("Settled"),
    ],
};
