//! What Kueue knows of each JobSet, and the requests in flight.

use crate::ctx::ContextMark;
use sim_api::spec::JobSet;
use sim_base::{PodId, SimTime};
use sim_kueue::control::JobView;
use sim_kueue::workload::Workload;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

#[derive(Clone, Default)]
pub(super) struct ManagedJobSet {
    /// True if the cache has the JobSet.
    pub exists: bool,
    pub view: JobView,
    pub spec: Arc<JobSet>,
    pub version: u32,
    /// The JobSet when its Workload was created: the templates to restore when it stops.
    pub original: Arc<JobSet>,
    /// The Workload in the cache.
    pub workload: Option<Arc<Workload>>,
    pub workload_version: u32,
    /// Number of requests about the JobSet and its Workload.
    pub requests: u32,
    /// Requests in flight of the two reconcilers.
    pub jobset_write: Option<Write>,
    pub workload_write: Option<StatusWrite>,
    /// Versions that the reconcilers have written. They wait until the cache has them.
    pub written: (u32, u32),
    /// Time of the pending timer.
    pub due: Option<SimTime>,
    /// Start of the current wait of the Workload for quota; `None` if it has quota or a back-off.
    pub queued: Option<ContextMark>,
    /// Admission checks whose controllers will report, with the times of the reports, and numbers of reports so far.
    pub check_reports: BTreeMap<u32, SimTime>,
    pub check_reported: BTreeMap<u32, u32>,
    /// Pods in the cache that are placed by topology.
    pub pods: BTreeSet<PodId>,
    pub ungating: Ungating,
    /// Why the reconciler of JobSets makes no progress.
    pub error: Option<String>,
}

/// State of the topology ungater for one JobSet.
#[derive(Clone, Default)]
pub(super) struct Ungating {
    /// Time of the pending pass.
    pub due: Option<SimTime>,
    /// Pods of which the cache does not show the removed gate yet. The next pass waits for them.
    pub unobserved: BTreeSet<PodId>,
    /// Pods to release, each with its incarnation and the labels of its domain.
    pub queue: VecDeque<(PodId, u32, DomainLabels)>,
    /// Number of requests in flight.
    pub in_flight: usize,
}

/// Labels of a topology domain, which become a node selector.
pub(super) type DomainLabels = Arc<BTreeMap<String, String>>;

/// A request of the reconciler of JobSets.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Create(Box<Workload>),
    /// Starts the JobSet with the admission of the Workload.
    Start(Arc<Workload>),
    /// Stops the JobSet; the text is the message of the Event.
    Stop(String),
    /// Stops a JobSet and deletes its Workload, which no longer describes it.
    StopAndDelete(Arc<Workload>),
    Status(StatusWrite),
    /// Writes the spec of the Workload; the text is the message of the Event.
    Update(StatusWrite, String),
}

/// A new state of the Workload and the version on which it is based.
#[derive(Clone, Debug)]
pub(super) struct StatusWrite {
    pub workload: Box<Workload>,
    pub based_on: u32,
}

impl ManagedJobSet {
    /// Returns true if the cache has everything that the reconcilers wrote.
    pub fn is_current(&self) -> bool {
        self.version >= self.written.0 && self.workload_version >= self.written.1
    }
}
