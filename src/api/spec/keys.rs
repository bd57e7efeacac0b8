//! Keys of labels, annotations, taints and finalizers. Each key is defined only here.
//!
//! This module must not define how a component uses a key.

/// Prefix of the keys that are reserved for JobSet.
pub const JOBSET_PREFIX: &str = "jobset.sigs.k8s.io/";
/// Beginning of JobSet's keys that may change.
pub const JOBSET_ALPHA_PREFIX: &str = "alpha.jobset.sigs.k8s.io/";

pub const JOBSET_NAME: &str = "jobset.sigs.k8s.io/jobset-name";
pub const JOBSET_UID: &str = "jobset.sigs.k8s.io/jobset-uid";
pub const REPLICATED_JOB_NAME: &str = "jobset.sigs.k8s.io/replicatedjob-name";
pub const REPLICATED_JOB_REPLICAS: &str = "jobset.sigs.k8s.io/replicatedjob-replicas";
pub const JOB_INDEX: &str = "jobset.sigs.k8s.io/job-index";
pub const JOB_GLOBAL_INDEX: &str = "jobset.sigs.k8s.io/job-global-index";
pub const GLOBAL_REPLICAS: &str = "jobset.sigs.k8s.io/global-replicas";
pub const JOB_KEY: &str = "jobset.sigs.k8s.io/job-key";
pub const RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/restart-attempt";
pub const JOB_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/job-restart-attempt";
pub const GROUP_NAME: &str = "jobset.sigs.k8s.io/group-name";
pub const GROUP_REPLICAS: &str = "jobset.sigs.k8s.io/group-replicas";
pub const JOB_GROUP_INDEX: &str = "jobset.sigs.k8s.io/job-group-index";
pub const COORDINATOR: &str = "jobset.sigs.k8s.io/coordinator";
/// Label with the priority of a pod, written by the pod webhook.
pub const PRIORITY: &str = "jobset.sigs.k8s.io/priority";
/// Annotation written by in-place agents (AG-2).
pub const IN_PLACE_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/in-place-restart-attempt";
/// Annotation that disables the in-place agent (API-32).
pub const DISABLE_IN_PLACE_RESTART: &str = "jobset.sigs.k8s.io/disable-in-place-restart";
/// The only value of `managedBy` for which the JobSet controller acts (REC-4).
pub const JOBSET_CONTROLLER: &str = "jobset.sigs.k8s.io/jobset-controller";

/// Annotation with the node label key of exclusive placement (API-30).
pub const EXCLUSIVE_TOPOLOGY: &str = "alpha.jobset.sigs.k8s.io/exclusive-topology";
/// Annotation that selects the node-selector strategy of exclusive placement (API-31).
pub const NODE_SELECTOR_STRATEGY: &str = "alpha.jobset.sigs.k8s.io/node-selector";
/// Beginning of the keys of taints that the control plane sets.
pub const NODE_TAINT_PREFIX: &str = "node.kubernetes.io/";
/// Taint that accompanies `spec.unschedulable`.
pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// Taint that admission adds to every new Node; the node lifecycle controller removes it.
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// Taint that the node lifecycle controller adds to a node that does not renew its Lease.
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Taints of nodes that do not answer or are not ready.
pub const LOST_NODE_TAINTS: [&str; 2] = [NOT_READY, UNREACHABLE];
/// Taint of a node that a user has taken out of service.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Node label of the node-selector strategy.
pub const NAMESPACED_JOB: &str = "alpha.jobset.sigs.k8s.io/namespaced-job";
/// Taint of the node-selector strategy.
pub const NO_SCHEDULE: &str = "alpha.jobset.sigs.k8s.io/no-schedule";

pub const JOB_COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";
pub const JOB_INDEX_FAILURE_COUNT: &str = "batch.kubernetes.io/job-index-failure-count";
/// Finalizer that delays the deletion of an object until its dependents are deleted.
pub const FOREGROUND_DELETION: &str = "foregroundDeletion";
pub const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";
pub const BATCH_JOB_NAME: &str = "batch.kubernetes.io/job-name";
pub const BATCH_CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
/// Unprefixed Job labels from before the `batch.kubernetes.io/` prefix existed.
pub const LEGACY_JOB_NAME: &str = "job-name";
pub const LEGACY_CONTROLLER_UID: &str = "controller-uid";

/// Kueue label with the name of the LocalQueue that admits the object.
pub const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// Kueue label with the name of a WorkloadPriorityClass.
pub const KUEUE_PRIORITY_CLASS: &str = "kueue.x-k8s.io/priority-class";

/// Kueue label with the longest execution time in seconds.
pub const KUEUE_MAX_EXECUTION_TIME: &str = "kueue.x-k8s.io/max-exec-time-seconds";

/// Kueue annotation or label with the name of a Workload that another component creates.
pub const KUEUE_PREBUILT_WORKLOAD: &str = "kueue.x-k8s.io/prebuilt-workload-name";

/// Kueue annotation of jobs whose size may change while they run.
pub const KUEUE_ELASTIC_JOB: &str = "kueue.x-k8s.io/elastic-job";

/// Kueue annotation with the names of gates that delay the admission.
pub const ADMISSION_GATED_BY: &str = "kueue.x-k8s.io/admission-gated-by";

/// Node label with the zone. The node lifecycle controller groups nodes by it.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// Node label with the name of a slice of TPU cubes, set by GKE's slice controller.
pub const TPU_SLICE: &str = "cloud.google.com/gke-tpu-slice";

/// Pod annotation with the shape of the slice for the pod's Job (GKE dynamic slicing).
pub const TPU_SLICE_TOPOLOGY: &str = "cloud.google.com/gke-tpu-slice-topology";

/// Node label with the id of the cube of 4x4x4 TPU chips, set by GKE.
pub const TPU_CUBE: &str = "cloud.google.com/gke-tpu-partition-4x4x4-id";

/// Node label with the block, for TPU7x the superpod. Optical switches connect the cubes of one superpod.
pub const TPU_BLOCK: &str = "cloud.google.com/gce-topology-block";

/// Node label that every kubelet maintains.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// Node feature that pods with RestartAllContainers rules require (kubernetes.md 10).
pub const RESTART_ALL_CONTAINERS: &str = "RestartAllContainersOnContainerExits";
