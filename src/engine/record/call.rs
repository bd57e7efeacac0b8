//! The kinds of API requests that components send, named as in the audit log, and the token bucket that each of them
//! waits in.
//!
//! A table. Must never decide when a request is sent.

use super::outcome::LedgerResource;

/// Cost class of a request; each class has its own latency in `timing.yaml`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CallCost {
    Read,
    Write,
    /// The API server calls a mutating and then a validating webhook: JobSet's for pods, Kueue's for Workloads, and
    /// those of both for JobSets.
    TwoWebhooks,
}

/// One kind of request by one client.
pub struct CallKind {
    /// Client name in the audit log.
    pub client: &'static str,
    pub verb: &'static str,
    pub resource: &'static str,
    /// The token bucket that the request waits in; `None` if it is not limited.
    pub bucket: Option<LedgerResource>,
    pub cost: CallCost,
}

macro_rules! calls {
    ($($name:ident: $client:literal $verb:literal $resource:literal, $bucket:expr, $cost:ident;)*) => {
        /// A kind of request by one client.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Call { $($name),* }

        impl Call {
            pub const ALL: [Call; Call::COUNT] = [$(Call::$name),*];
            pub const COUNT: usize = [$($client),*].len();

            pub const fn kind(self) -> &'static CallKind {
                &KINDS[self as usize]
            }
        }

        static KINDS: [CallKind; Call::COUNT] = [$(CallKind {
            client: $client,
            verb: $verb,
            resource: $resource,
            bucket: $bucket,
            cost: CallCost::$cost,
        }),*];
    };
}

const JOB_CONTROLLER: Option<LedgerResource> = Some(LedgerResource::JobControllerClient);
const GARBAGE_COLLECTOR: Option<LedgerResource> = Some(LedgerResource::GarbageCollectorClient);
const JOBSET_JOBS: Option<LedgerResource> = Some(LedgerResource::JobSetClient);
const JOBSET_STATUS: Option<LedgerResource> = Some(LedgerResource::JobSetStatusClient);
const JOBSET_PODS: Option<LedgerResource> = Some(LedgerResource::JobSetPodClient);
const BIND: Option<LedgerResource> = Some(LedgerResource::SchedulerBindClient);
const NODES: Option<LedgerResource> = Some(LedgerResource::NodeRequests);
const EVICTION: Option<LedgerResource> = Some(LedgerResource::TaintEvictionClient);
const KUEUE_JOBSETS: Option<LedgerResource> = Some(LedgerResource::KueueJobSetClient);
const KUEUE_WORKLOADS: Option<LedgerResource> = Some(LedgerResource::KueueWorkloadClient);
const KUEUE_PODS: Option<LedgerResource> = Some(LedgerResource::KueuePodClient);
/// Clients without a rate limit, or so idle that their bucket is never empty.
const NO_LIMIT: Option<LedgerResource> = None;

calls! {
    JobPodCreate: "job-controller" "create" "pods", JOB_CONTROLLER, TwoWebhooks;
    JobPodDelete: "job-controller" "delete" "pods", JOB_CONTROLLER, Write;
    JobPodPatch: "job-controller" "patch" "pods", JOB_CONTROLLER, Write;
    JobStatusUpdate: "job-controller" "update" "jobs/status", JOB_CONTROLLER, Write;
    JobEventCreate: "job-controller" "create" "events", JOB_CONTROLLER, Write;
    JobEventPatch: "job-controller" "patch" "events", JOB_CONTROLLER, Write;
    CollectorPodGet: "generic-garbage-collector" "get" "pods", GARBAGE_COLLECTOR, Read;
    CollectorJobGet: "generic-garbage-collector" "get" "jobs", GARBAGE_COLLECTOR, Read;
    CollectorPodDelete: "generic-garbage-collector" "delete" "pods", GARBAGE_COLLECTOR, Write;
    CollectorJobPatch: "generic-garbage-collector" "patch" "jobs", GARBAGE_COLLECTOR, Write;
    CollectorJobDelete: "generic-garbage-collector" "delete" "jobs", GARBAGE_COLLECTOR, Write;
    JobSetStatusUpdate: "jobset" "update" "jobsets/status", JOBSET_STATUS, Write;
    JobSetJobDelete: "jobset" "delete" "jobs", JOBSET_JOBS, Write;
    JobSetJobCreate: "jobset" "create" "jobs", JOBSET_JOBS, Write;
    JobSetJobUpdate: "jobset" "update" "jobs", JOBSET_JOBS, Write;
    JobSetPodStatus: "jobset" "update" "pods/status", JOBSET_PODS, Write;
    JobSetPodDelete: "jobset" "delete" "pods", JOBSET_PODS, Write;
    JobSetServiceCreate: "jobset" "create" "services", NO_LIMIT, Write;
    JobSetEventCreate: "jobset" "create" "events", NO_LIMIT, Write;
    JobSetDelete: "jobset" "delete" "jobsets", JOBSET_STATUS, Write;
    Bind: "kube-scheduler" "create" "pods/binding", BIND, Write;
    SchedulerEvent: "kube-scheduler" "create" "events", NO_LIMIT, Write;
    KubeletStatus: "kubelets" "patch" "pods/status", NODES, Write;
    KubeletDelete: "kubelets" "delete" "pods", NODES, Write;
    AgentList: "kubelets" "list" "jobsets", NODES, Read;
    AgentPatch: "kubelets" "patch" "pods", NODES, Write;
    EvictionPodGet: "taint-eviction-controller" "get" "pods", EVICTION, Read;
    EvictionPodPatch: "taint-eviction-controller" "patch" "pods/status", EVICTION, Write;
    EvictionPodDelete: "taint-eviction-controller" "delete" "pods", EVICTION, Write;
    PodGcPatch: "pod-garbage-collector" "patch" "pods/status", NO_LIMIT, Write;
    PodGcDelete: "pod-garbage-collector" "delete" "pods", NO_LIMIT, Write;
    JobSetClaimCreate: "jobset" "create" "persistentvolumeclaims", NO_LIMIT, Write;
    JobSetJobPatch: "jobset" "patch" "jobs", JOBSET_JOBS, Write;
    TtlJobGet: "ttl-after-finished-controller" "get" "jobs", NO_LIMIT, Read;
    TtlJobDelete: "ttl-after-finished-controller" "delete" "jobs", NO_LIMIT, Write;
    CollectorServiceGet: "generic-garbage-collector" "get" "services", GARBAGE_COLLECTOR, Read;
    CollectorServiceDelete: "generic-garbage-collector" "delete" "services", GARBAGE_COLLECTOR, Write;
    CollectorClaimGet: "generic-garbage-collector" "get" "persistentvolumeclaims", GARBAGE_COLLECTOR, Read;
    CollectorClaimDelete: "generic-garbage-collector" "delete" "persistentvolumeclaims", GARBAGE_COLLECTOR, Write;
    JobSetJobStatusUpdate: "jobset" "update" "jobs/status", JOBSET_JOBS, Write;
    CollectorJobSetGet: "generic-garbage-collector" "get" "jobsets", GARBAGE_COLLECTOR, Read;
    CollectorJobSetPatch: "generic-garbage-collector" "patch" "jobsets", GARBAGE_COLLECTOR, Write;
    SchedulerPodPatch: "kube-scheduler" "patch" "pods/status", BIND, Write;
    PreemptionPodDelete: "kube-scheduler" "delete" "pods", BIND, Write;
    VolumeUpdate: "kube-scheduler" "update" "persistentvolumes", BIND, Write;
    ClaimUpdate: "kube-scheduler" "update" "persistentvolumeclaims", BIND, Write;
    KueueJobSetPatch: "kueue" "patch" "jobsets", KUEUE_JOBSETS, TwoWebhooks;
    KueueWorkloadCreate: "kueue" "create" "workloads", KUEUE_WORKLOADS, TwoWebhooks;
    KueueWorkloadPatch: "kueue" "patch" "workloads/status", KUEUE_WORKLOADS, Write;
    KueuePodPatch: "kueue" "patch" "pods", KUEUE_PODS, Write;
    KueuePodStatus: "kueue" "patch" "pods/status", KUEUE_PODS, Write;
    PodGroupPatch: "kube-scheduler" "patch" "podgroups/status", BIND, Write;
}

impl Call {
    /// Returns the text of the kind, such as `job-controller create pods`.
    pub fn text(self) -> String {
        let k = self.kind();
        format!("{} {} {}", k.client, k.verb, k.resource)
    }
}
