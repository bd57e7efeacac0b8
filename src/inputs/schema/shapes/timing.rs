//! Field table of `timing` in a scenario. The fields are the ids of `src/inputs/presets/timing.yaml`, which contains
//! the defaults.

use super::distribution::DELAY;
use crate::schema::shape::{Field, Object, Shape, field};

/// Creates a field for a delay that can be random.
const fn delay(name: &'static str, doc: &'static str) -> Field {
    field(name, DELAY, doc).example("{uniform: [100ms, 400ms]}")
}

/// Creates a field for a fixed delay.
const fn fixed(name: &'static str, doc: &'static str) -> Field {
    field(name, Shape::Duration, doc).example("5us")
}

/// Fields that have no effect with a scripted kubelet.
pub const OF_REAL_KUBELETS: &[&str] = &[
    "volumes",
    "sandbox",
    "containerStart",
    "imageCheck",
    "statusWrite",
    "containerStop",
    "cleanup",
    "containerRemove",
    "agentBoot",
    "plegPeriod",
    "unmountPoll",
    "minimumGrace",
];

pub static TIMING: Object = Object {
    kind: "Timing",
    fields: &[
        delay("apiRead", "one read of the API server that is not busy"),
        delay("apiWrite", "one write"),
        delay("apiPodCreate", "one pod CREATE, with two webhooks"),
        delay("watchLag", "from a write to a controller's cache"),
        delay("agentFanout", "a JobSet update reaching one in-place agent"),
        fixed("jobsetListPerPod", "listing one pod in a JobSet pass"),
        fixed(
            "jobSyncBatchPeriod",
            "the Job controller gathers changes for so long before it syncs a Job",
        )
        .example("500ms"),
        delay("volumes", "cgroup and volumes of a pod"),
        delay("sandbox", "sandbox and network of a pod"),
        delay("containerStart", "create and start one container"),
        delay(
            "imageCheck",
            "registry round trip of imagePullPolicy Always",
        ),
        delay("statusWrite", "kubelet's status update"),
        delay("containerStop", "SIGTERM to exit"),
        delay("cleanup", "last exit to removal of the pod"),
        delay("containerRemove", "removing an exited container"),
        delay("agentBoot", "in-place agent start to first API call"),
        fixed("plegPeriod", "kubelet's relist period").example("1s"),
        fixed(
            "unmountPoll",
            "how often a kubelet looks whether an ended pod's volumes are unmounted",
        )
        .example("300ms"),
        fixed("minimumGrace", "kubelet's SIGKILL floor").example("2s"),
        fixed("schedulerFixed", "one scheduling cycle"),
        fixed("schedulerPerNode", "for each node examined"),
        fixed(
            "schedulerAffinityPerNode",
            "for each node, with (anti-)affinity",
        ),
        field("kubelet", Shape::Object(&KUBELET), "another kubelet model")
            .otherwise("kubelets as the other fields say")
            .example("{scripted: {start: 1s}}"),
    ],
};

static KUBELET: Object = Object {
    kind: "KubeletModel",
    fields: &[field(
        "scripted",
        Shape::Object(&SCRIPTED),
        "fixed times, without images, volumes and periods",
    )
    .required()
    .example("{start: 1s, stop: 500ms}")],
};

static SCRIPTED: Object = Object {
    kind: "ScriptedKubelet",
    fields: &[
        field("start", Shape::Duration, "binding to ready")
            .default("1s")
            .example("500ms"),
        field("stop", Shape::Duration, "deletion to exit")
            .default("0s")
            .example("2s"),
        field("stopExitCode", Shape::Int(0, 255), "of that exit")
            .default("0")
            .example("143"),
        field("restart", Shape::Duration, "exit to running again")
            .default("1s")
            .example("700ms"),
    ],
};
