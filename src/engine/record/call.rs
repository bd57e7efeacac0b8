//! The kinds of API requests that components send, named as in the audit log, and the token bucket that each of them
//! waits in.
//!
//! A table. Must never decide when a request is sent.

use super::outcome::Resource;

/// Cost class of a request; each class has its own latency in `timing.yaml`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cost {
    Read,
    Write,
    PodCreate,
}

/// One kind of request by one client.
pub struct CallKind {
    /// Client name in the audit log.
    pub client: &'static str,
    pub verb: &'static str,
    pub resource: &'static str,
    /// The token bucket that the request waits in; `None` if it is not limited.
    pub bucket: Option<Resource>,
    pub cost: Cost,
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
            cost: Cost::$cost,
        }),*];
    };
}

const JOB_CONTROLLER: Option<Resource> = Some(Resource::JobControllerClient);
const COLLECTOR: Option<Resource> = Some(Resource::GarbageCollectorClient);
const JOBSET_JOBS: Option<Resource> = Some(Resource::JobSetClient);
const JOBSET_STATUS: Option<Resource> = Some(Resource::JobSetStatusClient);
const JOBSET_PODS: Option<Resource> = Some(Resource::JobSetPodClient);
const BIND: Option<Resource> = Some(Resource::SchedulerBindClient);
const NODES: Option<Resource> = Some(Resource::NodeRequests);
const EVICTION: Option<Resource> = Some(Resource::TaintEvictionClient);
/// Clients without a rate limit, or so idle that their bucket is never empty.
const FREE: Option<Resource> = None;

calls! {
    JobPodCreate: "job-controller" "create" "pods", JOB_CONTROLLER, PodCreate;
    JobPodDelete: "job-controller" "delete" "pods", JOB_CONTROLLER, Write;
    JobPodPatch: "job-controller" "patch" "pods", JOB_CONTROLLER, Write;
    JobStatusUpdate: "job-controller" "update" "jobs/status", JOB_CONTROLLER, Write;
    JobEventCreate: "job-controller" "create" "events", JOB_CONTROLLER, Write;
    JobEventPatch: "job-controller" "patch" "events", JOB_CONTROLLER, Write;
    CollectorPodGet: "generic-garbage-collector" "get" "pods", COLLECTOR, Read;
    CollectorJobGet: "generic-garbage-collector" "get" "jobs", COLLECTOR, Read;
    CollectorPodDelete: "generic-garbage-collector" "delete" "pods", COLLECTOR, Write;
    CollectorJobPatch: "generic-garbage-collector" "patch" "jobs", COLLECTOR, Write;
    CollectorJobDelete: "generic-garbage-collector" "delete" "jobs", COLLECTOR, Write;
    JobSetStatusUpdate: "jobset" "update" "jobsets/status", JOBSET_STATUS, Write;
    JobSetJobDelete: "jobset" "delete" "jobs", JOBSET_JOBS, Write;
    JobSetJobCreate: "jobset" "create" "jobs", JOBSET_JOBS, Write;
    JobSetJobUpdate: "jobset" "update" "jobs", JOBSET_JOBS, Write;
    JobSetPodStatus: "jobset" "update" "pods/status", JOBSET_PODS, Write;
    JobSetPodDelete: "jobset" "delete" "pods", JOBSET_PODS, Write;
    JobSetServiceCreate: "jobset" "create" "services", FREE, Write;
    JobSetEventCreate: "jobset" "create" "events", FREE, Write;
    JobSetDelete: "jobset" "delete" "jobsets", JOBSET_STATUS, Write;
    Bind: "kube-scheduler" "create" "pods/binding", BIND, Write;
    SchedulerEvent: "kube-scheduler" "create" "events", FREE, Write;
    KubeletStatus: "kubelets" "patch" "pods/status", NODES, Write;
    KubeletDelete: "kubelets" "delete" "pods", NODES, Write;
    AgentList: "kubelets" "list" "jobsets", NODES, Read;
    AgentPatch: "kubelets" "patch" "pods", NODES, Write;
    EvictionPodGet: "taint-eviction-controller" "get" "pods", EVICTION, Read;
    EvictionPodPatch: "taint-eviction-controller" "patch" "pods/status", EVICTION, Write;
    EvictionPodDelete: "taint-eviction-controller" "delete" "pods", EVICTION, Write;
    PodGcPatch: "pod-garbage-collector" "patch" "pods/status", FREE, Write;
    PodGcDelete: "pod-garbage-collector" "delete" "pods", FREE, Write;
    JobSetClaimCreate: "jobset" "create" "persistentvolumeclaims", FREE, Write;
    JobSetJobPatch: "jobset" "patch" "jobs", JOBSET_JOBS, Write;
    TtlJobGet: "ttl-after-finished-controller" "get" "jobs", FREE, Read;
    TtlJobDelete: "ttl-after-finished-controller" "delete" "jobs", FREE, Write;
    CollectorServiceGet: "generic-garbage-collector" "get" "services", COLLECTOR, Read;
    CollectorServiceDelete: "generic-garbage-collector" "delete" "services", COLLECTOR, Write;
    CollectorClaimGet: "generic-garbage-collector" "get" "persistentvolumeclaims", COLLECTOR, Read;
    CollectorClaimDelete: "generic-garbage-collector" "delete" "persistentvolumeclaims", COLLECTOR, Write;
    JobSetJobStatusUpdate: "jobset" "update" "jobs/status", JOBSET_JOBS, Write;
}

impl Call {
    /// Returns the text of the kind, such as `job-controller create pods`.
    pub fn text(self) -> String {
        let k = self.kind();
        format!("{} {} {}", k.client, k.verb, k.resource)
    }
}
