//! Field table of `timing` in a scenario. The fields are the ids of `src/inputs/presets/timing.yaml`, which contains
//! the defaults.

use super::distribution::DELAY;
use crate::schema::field_type::FieldType::{Duration, Int, Object};
use crate::schema::field_type::{FieldSchema, ObjectSchema, field};

/// Creates a field for a delay that can be random.
const fn delay(name: &'static str, doc: &'static str) -> FieldSchema {
    field(name, DELAY).doc(doc).example("{uniform: [100ms, 400ms]}")
}

/// Creates a field for a fixed delay.
const fn fixed(name: &'static str, doc: &'static str) -> FieldSchema {
    field(name, Duration).doc(doc).example("5us")
}

/// Fields that have no effect with a scripted kubelet.
pub const OF_REAL_KUBELETS: &[&str] = &[
    "volumes", "sandbox", "containerStart", "imageCheck", "statusWrite", "containerStop", "cleanup", "containerRemove",
    "agentBoot", "plegPeriod", "unmountPoll", "minimumGrace",
];

pub static TIMING: ObjectSchema = ObjectSchema {
    kind: "Timing",
    fields: &[
        delay("apiRead", "Latency of a read request to an idle API server."),
        delay("apiWrite", "Latency of a write request to an idle API server."),
        delay("apiPodCreate", "Latency of a pod CREATE request, including two webhooks."),
        delay("watchLag", "Time from a write until it is visible in a controller's cache."),
        delay("agentFanout", "Time until a JobSet update reaches an in-place agent."),
        fixed("jobsetListPerPod", "CPU time per listed pod in a reconciliation of a JobSet."),
        fixed("jobSyncBatchPeriod", "Time during which the Job controller batches changes before it syncs a Job.")
            .example("500ms"),
        delay("volumes", "Time to set up the cgroup and the volumes of a pod."),
        delay("sandbox", "Time to create the sandbox and the network of a pod."),
        delay("containerStart", "Time to create and start one container."),
        delay("imageCheck", "Registry round trip with imagePullPolicy Always."),
        delay("statusWrite", "Time until a status update of the kubelet is written."),
        delay("containerStop", "Time from SIGTERM until the container exits."),
        delay("cleanup", "Time from the last container exit until the pod is removed."),
        delay("containerRemove", "Time to remove an exited container."),
        delay("agentBoot", "Time from the start of the in-place agent to its first API request."),
        fixed("plegPeriod", "Relist period of the kubelet's PLEG.").example("1s"),
        fixed(
            "unmountPoll",
            "Interval at which the kubelet checks whether the volumes of a terminated pod are unmounted.",
        )
        .example("300ms"),
        fixed("minimumGrace", "Minimum time between SIGTERM and SIGKILL in the kubelet.").example("2s"),
        fixed("schedulerFixed", "Fixed cost of one scheduling cycle."),
        fixed("schedulerPerNode", "Additional scheduling cost for each node examined."),
        fixed("schedulerPerFeasibleNode", "Additional scheduling cost for each feasible node found, for its score."),
        fixed(
            "schedulerAffinityPerNode",
            "Additional scheduling cost for each node, and for each pod on a node, if the pod has required affinity or \
             anti-affinity terms.",
        ),
        fixed(
            "schedulerPreferredPerNode",
            "Additional scheduling cost for each node, and for each pod on a node, if the pod has preferred terms about other pods.",
        ),
        fixed(
            "schedulerExistingTerm",
            "Additional scheduling cost for each pod on a node with affinity or anti-affinity terms, and for each node with such pods.",
        ),
        fixed("schedulerNodeAffinity", "Additional scheduling cost of a pod with node affinity."),
        fixed(
            "schedulerHardSpreadPerNode",
            "Additional scheduling cost for each allowed node and each constraint `DoNotSchedule`.",
        ),
        fixed(
            "schedulerSoftSpreadPerNode",
            "Additional scheduling cost for each allowed node and each constraint `ScheduleAnyway`; pods that a Service selects have two by default.",
        ),
        fixed("schedulerPerClaim", "Additional scheduling cost for each PersistentVolumeClaim."),
        field("kubelet", Object(&KUBELET))
            .doc("Alternative model of the kubelet.")
            .otherwise("the detailed kubelet model, with the delays above")
            .example("{scripted: {start: 1s}}"),
    ],
};

static KUBELET: ObjectSchema = ObjectSchema {
    kind: "KubeletModel",
    fields: &[field("scripted", Object(&SCRIPTED))
        .doc("Kubelet with fixed delays, without images, volumes and polling periods.")
        .required()
        .example("{start: 1s, stop: 500ms}")],
};

static SCRIPTED: ObjectSchema = ObjectSchema {
    kind: "ScriptedKubelet",
    fields: &[
        field("start", Duration)
            .doc("Time from the binding of a pod until it is ready.")
            .default("1s")
            .example("500ms"),
        field("stop", Duration)
            .doc("Time from the deletion of a pod until its containers exit.")
            .default("0s")
            .example("2s"),
        field("stopExitCode", Int(0, 255))
            .doc("Exit code of containers stopped by a deletion.")
            .default("0")
            .example("143"),
        field("restart", Duration)
            .doc("Time from the exit of a container until it runs again.")
            .default("1s")
            .example("700ms"),
    ],
};
