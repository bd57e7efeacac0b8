//! `timing`: the ids of `src/presets/timing.yaml`.

use crate::manifest::shape::{Object, Shape, field};

const DIST_SHAPE: Shape = Shape::Either(&Shape::Duration, &Shape::Object(&DIST));

pub static TIMING: Object = Object {
    kind: "Timing",
    fields: &[
        field(
            "apiRead",
            DIST_SHAPE,
            "one read of the API server that is not busy",
        ),
        field("apiWrite", DIST_SHAPE, "one write"),
        field(
            "apiPodCreate",
            DIST_SHAPE,
            "one pod CREATE, with two webhooks",
        ),
        field(
            "watchLag",
            DIST_SHAPE,
            "from a write to a controller's cache",
        ),
        field(
            "agentFanout",
            DIST_SHAPE,
            "a JobSet update reaching one in-place agent",
        ),
        field(
            "jobsetListPerPod",
            Shape::Duration,
            "listing one pod in a JobSet pass",
        ),
        field("volumes", DIST_SHAPE, "cgroup and volumes of a pod"),
        field("sandbox", DIST_SHAPE, "sandbox and network of a pod"),
        field(
            "containerStart",
            DIST_SHAPE,
            "create and start one container",
        ),
        field(
            "imageCheck",
            DIST_SHAPE,
            "registry round trip of imagePullPolicy Always",
        ),
        field("statusWrite", DIST_SHAPE, "kubelet's status update"),
        field("containerStop", DIST_SHAPE, "SIGTERM to exit"),
        field("cleanup", DIST_SHAPE, "last exit to removal of the pod"),
        field(
            "containerRemove",
            DIST_SHAPE,
            "removing an exited container",
        ),
        field(
            "agentBoot",
            DIST_SHAPE,
            "in-place agent start to first API call",
        ),
        field("plegPeriod", Shape::Duration, "kubelet's relist period"),
        field("minimumGrace", Shape::Duration, "kubelet's SIGKILL floor"),
        field("schedulerFixed", Shape::Duration, "one scheduling cycle"),
        field(
            "schedulerPerNode",
            Shape::Duration,
            "for each node examined",
        ),
        field(
            "schedulerAffinityPerNode",
            Shape::Duration,
            "for each node, with (anti-)affinity",
        ),
        field("kubelet", Shape::Object(&KUBELET), "another kubelet model"),
    ],
};

pub static DIST: Object = Object {
    kind: "Distribution",
    fields: &[
        field("uniform", Shape::List(&Shape::Seconds), "[low, high]"),
        field("logNormal", Shape::Object(&LOG_NORMAL), ""),
        field("exponential", Shape::Object(&EXPONENTIAL), ""),
    ],
};

static LOG_NORMAL: Object = Object {
    kind: "LogNormal",
    fields: &[
        field("median", Shape::Seconds, ""),
        field("sigma", Shape::Number(0.0, 10.0), ""),
        field("p50", Shape::Seconds, ""),
        field("p95", Shape::Seconds, ""),
    ],
};

static EXPONENTIAL: Object = Object {
    kind: "Exponential",
    fields: &[field("mean", Shape::Seconds, "").required()],
};

static KUBELET: Object = Object {
    kind: "KubeletModel",
    fields: &[field("scripted", Shape::Object(&SCRIPTED), "fixed times").required()],
};

static SCRIPTED: Object = Object {
    kind: "ScriptedKubelet",
    fields: &[
        field("start", Shape::Duration, "binding to ready; default: 1s"),
        field("stop", Shape::Duration, "deletion to exit; default: 0s"),
        field("stopExitCode", Shape::Int(0, 255), "default: 0"),
        field(
            "restart",
            Shape::Duration,
            "exit to running again; default: 1s",
        ),
    ],
};
