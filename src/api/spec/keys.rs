//! Keys of labels, annotations, taints and finalizers: the one place where each is written.
//!
//! Must never say what a key means to a component.

/// What JobSet reserves for its own.
pub const JOBSET_PREFIX: &str = "jobset.sigs.k8s.io/";

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
/// The priority of a pod, which the pod webhook writes as a label.
pub const PRIORITY: &str = "jobset.sigs.k8s.io/priority";
/// The annotation that in-place agents write (AG-2).
pub const IN_PLACE_RESTART_ATTEMPT: &str = "jobset.sigs.k8s.io/in-place-restart-attempt";
/// API-32: the agent's bypass.
pub const DISABLE_IN_PLACE_RESTART: &str = "jobset.sigs.k8s.io/disable-in-place-restart";
/// The only `managedBy` value the JobSet controller acts on (REC-4).
pub const JOBSET_CONTROLLER: &str = "jobset.sigs.k8s.io/jobset-controller";

/// API-30: the node label key of exclusive placement.
pub const EXCLUSIVE_TOPOLOGY: &str = "alpha.jobset.sigs.k8s.io/exclusive-topology";
/// API-31: the node-selector strategy of exclusive placement.
pub const NODE_SELECTOR_STRATEGY: &str = "alpha.jobset.sigs.k8s.io/node-selector";
/// The node label of that strategy.
pub const NAMESPACED_JOB: &str = "alpha.jobset.sigs.k8s.io/namespaced-job";
/// The taint of that strategy.
pub const NO_SCHEDULE: &str = "alpha.jobset.sigs.k8s.io/no-schedule";

pub const JOB_COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";
pub const JOB_INDEX_FAILURE_COUNT: &str = "batch.kubernetes.io/job-index-failure-count";
/// The finalizer of the Job controller on pods.
pub const FOREGROUND_DELETION: &str = "foregroundDeletion";
pub const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";
pub const BATCH_JOB_NAME: &str = "batch.kubernetes.io/job-name";
pub const BATCH_CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
/// The same two as before batch labels had a prefix.
pub const LEGACY_JOB_NAME: &str = "job-name";
pub const LEGACY_CONTROLLER_UID: &str = "controller-uid";

/// Kueue's label: the LocalQueue that admits the object.
pub const KUEUE_QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// The label that every kubelet keeps in place.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// kubernetes.md 10: the declared feature without which a node takes no pod with RestartAllContainers rules.
pub const RESTART_ALL_CONTAINERS: &str = "RestartAllContainersOnContainerExits";
