//! Columns of the files of a run directory: names, units and descriptions. `docs/reference/output.md` contains the
//! descriptions.

use crate::table::TableColumn;

/// Columns of `restarts.csv` except `digest`.
pub const RESTARTS: [TableColumn; 20] = [
    TableColumn::new("jobset", "", "name of the JobSet"),
    TableColumn::new("attempt", "", "restart attempt of the new pods; for in-place restarts, the new in-place attempt"),
    TableColumn::new(
        "strategy",
        "",
        "`Recreate`, `BlockingRecreate`, `InPlaceRestart`; or, without a restart of the JobSet: `RestartJob` (one Job was recreated), `Resume` (Kueue evicted the JobSet, or a user suspended it, and it was resumed), `PodReplacement` (the Job controller replaced pods), `ContainerRestart` (the kubelet restarted a container). Pods that an unreachable node made not ready for a time are no restart",
    ),
    TableColumn::new("fault_cause", "", "the fault that triggered the restart"),
    TableColumn::new("start_time_s", "s", "time of the fault"),
    TableColumn::new("end_s", "s", "time at which all pods were ready again; empty if they never were"),
    TableColumn::new("total_s", "s", "`end_s` − `start_time_s`"),
    TableColumn::new("detect_s", "s", "until the responsible component detects the failure"),
    TableColumn::new("terminate_s", "s", "until the last pod of the previous attempt is removed"),
    TableColumn::new("recreate_s", "s", "until the last pod object is created"),
    TableColumn::new(
        "queue_s",
        "s",
        "the JobSet is suspended: it waits for admission by Kueue, or until a user resumes it",
    ),
    TableColumn::new(
        "capacity_s",
        "s",
        "no node fits a pod, until a node is repaired, replaced or released; this time is not part of the other phases",
    ),
    TableColumn::new("schedule_s", "s", "until the last pod is bound to a node"),
    TableColumn::new("start_s", "s", "until the last pod is ready"),
    TableColumn::new(
        "barrier_s",
        "s",
        "in-place restarts: until the JobSet controller has seen all agents and lifts the barrier",
    ),
    TableColumn::new(
        "rendezvous_s",
        "s",
        "after `end_s`, for training jobs ([training.md](../training.md)): until the processes have connected and compiled",
    ),
    TableColumn::new("restore_s", "s", "after `end_s`, for training jobs: reading the checkpoint"),
    TableColumn::new(
        "redo_s",
        "s",
        "after `end_s`, for training jobs: repeating lost steps, up to the next interruption",
    ),
    TableColumn::new(
        "ending",
        "",
        "`ready`; `jobSetEnded`: the JobSet completed, failed or was deleted first; `unfinished`: the run ended before",
    ),
    TableColumn::new(
        "bottleneck",
        "",
        "the longest wait on the critical path of the restart; a second one after `; ` if it took at least 90 % of that time",
    ),
];

/// Columns of `pods.csv` except `digest`.
pub const PODS: [TableColumn; 21] = [
    TableColumn::new("pod", "", "name of the pod; its five-letter suffix is deterministic"),
    TableColumn::new("namespace", "", "namespace of the JobSet"),
    TableColumn::new("jobset", "", "name of the JobSet"),
    TableColumn::new("job", "", "name of the Job"),
    TableColumn::new("index", "", "completion index"),
    TableColumn::new("restart_attempt", "", "label `restart-attempt`"),
    TableColumn::new("node", "", "node to which the pod is bound"),
    TableColumn::new("created_s", "s", "time at which the object was created"),
    TableColumn::new("bound_s", "s", "time at which the binding was stored"),
    TableColumn::new("running_s", "s", "time at which phase Running was stored"),
    TableColumn::new("ready_s", "s", "first time at which the pod became ready"),
    TableColumn::new("not_ready_s", "s", "last time at which the pod lost readiness"),
    TableColumn::new("exited_s", "s", "last time at which a container exited without being stopped"),
    TableColumn::new("finished_s", "s", "time at which phase Succeeded or Failed was stored"),
    TableColumn::new("deleting_s", "s", "time at which the deletionTimestamp was set"),
    TableColumn::new("gone_s", "s", "time at which the object was removed"),
    TableColumn::new("phase", "", "last phase: `Pending`, `Running`, `Succeeded` or `Failed`"),
    TableColumn::new(
        "exit_code",
        "",
        "exit code of the last container exit; 255 if the container was lost in a crash of its node",
    ),
    TableColumn::new(
        "deleted_by",
        "",
        "component that requested the deletion: a controller name, `user`, `eviction` or `kubelet`",
    ),
    TableColumn::new("in_place_attempt", "", "last in-place attempt written by the pod's agent"),
    TableColumn::new("container_restarts", "", "number of container restarts"),
];

/// Columns of `nodes.csv` except `digest`.
pub const NODES: [TableColumn; 7] = [
    TableColumn::new("node", "", "name"),
    TableColumn::new("pods_bound", "", "number of pods bound to the node"),
    TableColumn::new("first_fault_s", "s", "time of the first scripted fault on the node or on one of its pods"),
    TableColumn::new("not_ready_total_s", "s", "time during which the Ready condition was not True"),
    TableColumn::new("gone_s", "s", "time at which the Node object was deleted"),
    TableColumn::new("transitions", "", "changes of the Ready condition as `seconds:status`, separated by `;`"),
    TableColumn::new("taints", "", "added and removed taints as `seconds:+key` or `seconds:-key`, separated by `;`"),
];

/// Columns of `ledger.csv` except `digest`.
pub const LEDGER: [TableColumn; 3] = [
    TableColumn::new("category", "", "see below"),
    TableColumn::new("accelerator_s", "accelerator·s", "accelerator time in this category"),
    TableColumn::new("cost", "currency", "cost at the topology's prices, in its currency"),
];

/// Columns of `control_plane.csv` except `digest`.
pub const CONTROL_PLANE: [TableColumn; 7] = [
    TableColumn::new(
        "resource",
        "",
        "a client's token bucket, a worker pool, the scheduling cycle, the reconciler, the taint limiter, or the API server's capacity for node requests",
    ),
    TableColumn::new("capacity", "", "rate or number of workers"),
    TableColumn::new("requests", "", "number of requests or work items"),
    TableColumn::new(
        "busy_share",
        "share",
        "share of the run with a non-empty queue; for a server, share of the run in which it was busy",
    ),
    TableColumn::new("busy_s", "s", "`busy_share` as a duration"),
    TableColumn::new("longest_queue", "", "largest queue length"),
    TableColumn::new(
        "bottleneck",
        "",
        "`true` if a restart spent at least 10 % of its critical path waiting for the resource",
    ),
];

/// Columns of `fragmentation.csv` except `digest`.
pub const FRAGMENTATION: [TableColumn; 6] = [
    TableColumn::new("time_s", "s", "time of the change; the values are valid until the next row of the same groups"),
    TableColumn::new(
        "groups",
        "",
        "kind of the groups: `island`, the name of a network level, or an exclusive-topology key with other groups",
    ),
    TableColumn::new(
        "free",
        "nodes",
        "nodes that are ready and on which no pod is bound, starting, running or stopping",
    ),
    TableColumn::new("whole", "groups", "groups whose nodes are all free"),
    TableColumn::new(
        "largest",
        "nodes",
        "largest number of free nodes in one group: the largest slice that still fits",
    ),
    TableColumn::new("stranded", "nodes", "free nodes in groups with a node that is not free"),
];
