//! Reasons and messages of the conditions of Workloads (`apis/kueue/v1beta2/workload_types.go`).

pub const QUOTA_RESERVED: &str = "QuotaReserved";
pub const PENDING_EVALUATION: &str = "PendingEvaluation";
pub const WAITING_FOR_QUOTA: &str = "WaitingForQuota";
pub const WAITING_FOR_PREEMPTED: &str = "WaitingForPreemptedWorkloads";
pub const WAITING_FOR_PODS_READY: &str = "WaitingForPodsReady";
pub const NO_MATCHING_FLAVOR: &str = "NoMatchingFlavor";
pub const EXCEEDS_MAX_QUOTA: &str = "ExceedsMaxQuota";
pub const TOPOLOGY_PLACEMENT_FAILED: &str = "TopologyPlacementFailed";
pub const SUSPENDED: &str = "Suspended";
pub const MISCONFIGURED: &str = "Misconfigured";
pub const ADMISSION_GATED: &str = "AdmissionGated";

pub const PREEMPTED: &str = "Preempted";
pub const PODS_READY_TIMEOUT: &str = "PodsReadyTimeout";
pub const ADMISSION_CHECK: &str = "AdmissionCheck";
pub const CLUSTER_QUEUE_STOPPED: &str = "ClusterQueueStopped";
pub const LOCAL_QUEUE_STOPPED: &str = "LocalQueueStopped";
pub const CLUSTER_QUEUE_RESTARTED: &str = "ClusterQueueRestarted";
pub const LOCAL_QUEUE_RESTARTED: &str = "LocalQueueRestarted";
pub const NODE_FAILURES: &str = "NodeFailures";
pub const DEACTIVATED: &str = "Deactivated";
pub const REACTIVATED: &str = "Reactivated";
pub const BACKOFF_FINISHED: &str = "BackoffFinished";
pub const REQUEUING_LIMIT_EXCEEDED: &str = "RequeuingLimitExceeded";
pub const MAX_EXECUTION_TIME_EXCEEDED: &str = "MaximumExecutionTimeExceeded";

pub const WAIT_FOR_START: &str = "WaitForStart";
pub const WAIT_FOR_RECOVERY: &str = "WaitForRecovery";
pub const STARTED: &str = "Started";
pub const RECOVERED: &str = "Recovered";

pub const SUCCEEDED: &str = "Succeeded";
pub const FAILED: &str = "Failed";
pub const OUT_OF_SYNC: &str = "OutOfSync";
pub const FAILED_TO_START: &str = "FailedToStart";
pub const OWNER_NOT_FOUND: &str = "OwnerNotFound";

pub const IN_CLUSTER_QUEUE: &str = "InClusterQueue";
pub const IN_COHORT_RECLAMATION: &str = "InCohortReclamation";
pub const IN_COHORT_FAIR_SHARING: &str = "InCohortFairSharing";
pub const IN_COHORT_RECLAIM_WHILE_BORROWING: &str = "InCohortReclaimWhileBorrowing";

pub const DEACTIVATED_MESSAGE: &str = "The workload is deactivated";
pub const STOPPED_MESSAGE: &str = "The ClusterQueue is stopped";
