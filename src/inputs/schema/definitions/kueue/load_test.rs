//! Field table of the generator files of Kueue's performance tests (`test/performance/scheduler/configs`).

use crate::schema::field_type::FieldType::{Amount, Int, NonEmpty, Number, Object, OneOf, Str};
use crate::schema::field_type::{COUNT, FieldSchema, FieldType, INT32, ObjectSchema, field, inert};

/// Milliseconds of at most 1,000 hours.
const MILLISECONDS: FieldType = Int(0, 3_600_000_000);
/// Number of objects of one entry.
const MANY: FieldType = Int(1, 100_000);

pub static KUEUE_LOAD: ObjectSchema = ObjectSchema {
    kind: "KueueLoad",
    fields: &[
        field("topology", Object(&TOPOLOGY)).doc("Nodes in a tree of domains."),
        field("resourceFlavor", Object(&FLAVOR)).doc("The only ResourceFlavor."),
        field("cohorts", NonEmpty(&Object(&COHORTS))).doc("Cohorts with queues and Workloads.").required(),
        field("manager", Object(&MANAGER)).doc("Kueue's manager. Not a field of Kueue's files."),
        field("runner", Object(&CLIENT)).doc("Rate limit of the client that creates and ends the Workloads."),
    ],
};

static TOPOLOGY: ObjectSchema = ObjectSchema {
    kind: "KueueLoadTopology",
    fields: &[field("name", Str).required(), field("levels", NonEmpty(&Object(&LEVEL))).required()],
};

static LEVEL: ObjectSchema = ObjectSchema {
    kind: "KueueLoadLevel",
    fields: &[
        field("name", Str).required(),
        field("count", MANY).required(),
        field("nodeLabel", Str).required(),
        field("capacity", Object(&CAPACITY)).doc("Capacity of each node, at the last level."),
    ],
};

static CAPACITY: ObjectSchema =
    ObjectSchema { kind: "KueueLoadCapacity", fields: &[field("cpu", Amount), field("memory", Amount)] };

static FLAVOR: ObjectSchema = ObjectSchema {
    kind: "KueueLoadFlavor",
    fields: &[field("name", Str).required(), field("nodeLabel", Str), inert("topologyName", Str)],
};

static COHORTS: ObjectSchema = ObjectSchema {
    kind: "KueueLoadCohorts",
    fields: &[
        field("className", Str).required(),
        field("count", MANY).required(),
        field("queuesSets", NonEmpty(&Object(&QUEUES))).required(),
    ],
};

/// Policies that each preemption field permits.
const POLICIES: FieldType = OneOf(&["Never", "Any", "LowerPriority", "LowerOrNewerEqualPriority"]);

static QUEUES: ObjectSchema = ObjectSchema {
    kind: "KueueLoadQueues",
    fields: &[
        field("className", Str).required(),
        field("count", MANY).required(),
        field("nominalQuota", Amount).doc("Quota of CPUs.").required(),
        field("borrowingLimit", Amount),
        field("reclaimWithinCohort", POLICIES),
        field("withinClusterQueue", POLICIES),
        field("workloadsSets", NonEmpty(&Object(&WORKLOADS))).required(),
    ],
};

static WORKLOADS: ObjectSchema = ObjectSchema {
    kind: "KueueLoadWorkloads",
    fields: &[
        field("count", COUNT).required(),
        field("creationIntervalMs", MILLISECONDS).required(),
        field("workloads", NonEmpty(&Object(&TEMPLATE))).required(),
    ],
};

static TEMPLATE: ObjectSchema = ObjectSchema {
    kind: "KueueLoadTemplate",
    fields: &[
        field("className", Str).required(),
        field("runtimeMs", MILLISECONDS).required(),
        field("priority", INT32),
        field("request", Amount).doc("CPUs of each pod.").required(),
        field("podCount", COUNT),
        field("tasConstraint", OneOf(&["required", "preferred", "balanced"])),
        field("tasLevel", Str),
        field("sliceSize", COUNT),
    ],
};

const LIMITS: [FieldSchema; 2] = [
    field("requestsPerSecond", Number(0.01, 1e6)).doc("Rate limit for each kind of objects."),
    field("burst", Int(1, 1_000_000)).doc("Requests that do not wait after a pause."),
];

static CLIENT: ObjectSchema = ObjectSchema { kind: "KueueLoadClient", fields: &[LIMITS[0], LIMITS[1]] };

static MANAGER: ObjectSchema = ObjectSchema {
    kind: "KueueLoadManager",
    fields: &[
        LIMITS[0],
        LIMITS[1],
        field("mainBranchOn", Str).doc("Day whose state of Kueue's main branch is simulated.").example("2026-02-24"),
    ],
};
