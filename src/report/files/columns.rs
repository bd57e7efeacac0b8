//! Columns of the files of a run directory: names, units and descriptions. `docs/run-directory.md` contains the
//! descriptions.

use crate::table::Column;

/// Columns of `restarts.csv` except `digest`.
pub const RESTARTS: [Column; 19] = [
    Column::new("jobset", "", "name of the JobSet"),
    Column::new(
        "attempt",
        "",
        "restart attempt that the new pods carry; in place, the new in-place attempt",
    ),
    Column::new(
        "strategy",
        "",
        "`Recreate`, `BlockingRecreate`, `InPlaceRestart`; or what happened instead: `RestartJob` (one Job was created again), `PodReplacement` (the Job controller replaced pods), `ContainerRestart` (the kubelet started a container again)",
    ),
    Column::new("fault_cause", "", "what went wrong first"),
    Column::new("start_time", "s", "instant of the fault"),
    Column::new(
        "end",
        "s",
        "instant at which every pod was ready again; empty if that was never reached",
    ),
    Column::new("total", "s", "`end` − `start_time`"),
    Column::new(
        "detect",
        "s",
        "until the failure is known where it is acted on",
    ),
    Column::new(
        "terminate",
        "s",
        "until the last pod of the previous attempt is gone",
    ),
    Column::new("recreate", "s", "until the last pod object is created"),
    Column::new(
        "queue",
        "s",
        "always 0: waiting for a token or a worker is part of the phase that waits",
    ),
    Column::new("schedule", "s", "until the last pod is bound to a node"),
    Column::new("start", "s", "until the last pod is ready"),
    Column::new(
        "barrier",
        "s",
        "in place: until the JobSet controller has seen all agents and opens the barrier",
    ),
    Column::new(
        "rendezvous",
        "s",
        "after `end`, of a JobSet that trains ([training.md](training.md)): until the processes have found each other and compiled",
    ),
    Column::new("restore", "s", "likewise: reading the checkpoint"),
    Column::new(
        "redo",
        "s",
        "likewise: making steps again that were made before; less if the next interruption comes first",
    ),
    Column::new(
        "ending",
        "",
        "`ready`; `jobSetEnded`: the JobSet completed, failed, was suspended or deleted first; `unfinished`: the run ended first",
    ),
    Column::new(
        "bottleneck",
        "",
        "what the restart waited for longest, on the chain of waits that led to its end; a second thing after `; ` if it took at least 90 % of that",
    ),
];

/// Columns of `pods.csv` except `digest`.
pub const PODS: [Column; 21] = [
    Column::new(
        "pod",
        "",
        "name; the five letters at the end are a function of the run, not random",
    ),
    Column::new("namespace", "", "namespace of the JobSet"),
    Column::new("jobset", "", "name of the JobSet"),
    Column::new("job", "", "name of the Job"),
    Column::new("index", "", "completion index"),
    Column::new("restart_attempt", "", "label `restart-attempt`"),
    Column::new("node", "", "node to which it is bound"),
    Column::new("created", "s", "the object exists"),
    Column::new("bound", "s", "the binding is stored"),
    Column::new("running", "s", "phase Running is stored"),
    Column::new("ready", "s", "it became ready, the first time"),
    Column::new("not_ready", "s", "it lost readiness, the last time"),
    Column::new("exited", "s", "a container ended by itself, the last time"),
    Column::new("finished", "s", "phase Succeeded or Failed is stored"),
    Column::new("deleting", "s", "it got a deletionTimestamp"),
    Column::new("gone", "s", "the object is removed"),
    Column::new(
        "phase",
        "",
        "the last one: `Pending`, `Running`, `Succeeded`, `Failed`",
    ),
    Column::new(
        "exit_code",
        "",
        "of its last end; 255: found dead after a crash of its node",
    ),
    Column::new(
        "deleted_by",
        "",
        "component that requested the deletion, by controller name; `user`, `eviction` or `kubelet`",
    ),
    Column::new(
        "in_place_attempt",
        "",
        "the last attempt that its agent wrote",
    ),
    Column::new(
        "container_restarts",
        "",
        "number of restarts of its containers",
    ),
];

/// Columns of `nodes.csv` except `digest`.
pub const NODES: [Column; 7] = [
    Column::new("node", "", "name"),
    Column::new("pods_bound", "", "number of pods bound to it"),
    Column::new(
        "first_fault",
        "s",
        "first action of the script on it, or on a pod on it",
    ),
    Column::new(
        "not_ready_total",
        "s",
        "seconds during which its Ready condition was not True",
    ),
    Column::new("gone", "s", "the Node object was deleted"),
    Column::new(
        "transitions",
        "",
        "its Ready condition as `seconds:status`, separated by `;`",
    ),
    Column::new(
        "taints",
        "",
        "`seconds:+key` or `seconds:-key`, separated by `;`",
    ),
];

/// Columns of `ledger.csv` except `digest`.
pub const LEDGER: [Column; 3] = [
    Column::new("category", "", "see below"),
    Column::new(
        "accelerator_seconds",
        "accelerator·s",
        "accelerators × seconds",
    ),
    Column::new(
        "cost",
        "currency",
        "with the topology's prices, in its currency",
    ),
];

/// Columns of `control_plane.csv` except `digest`.
pub const CONTROL_PLANE: [Column; 7] = [
    Column::new(
        "resource",
        "",
        "a client's token bucket, a pool of workers, the scheduling cycle, the reconciler, the taint limiter, or the API server's share for nodes",
    ),
    Column::new("capacity", "", "rate or number of workers"),
    Column::new("requests", "", "requests or pieces of work"),
    Column::new(
        "busy_share",
        "share",
        "share of the run with a non-empty queue; for a server, in which it worked",
    ),
    Column::new("busy_seconds", "s", "duration of `busy_share`"),
    Column::new("longest_queue", "", "largest queue length"),
    Column::new(
        "bottleneck",
        "",
        "`true` if at least a tenth of some restart was spent waiting for it, on the chain of waits that led to its end",
    ),
];
