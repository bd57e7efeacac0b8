//! Reconstructs the life of one JobSet, its Jobs and its pods from observed object versions.
//!
//! This module does not decide what a restart is; `milestones` does.

mod from_events;
mod lifecycle_builder;
mod nodes;
mod selection;

use super::facts::ObservedKind;
use super::facts::{ObservedCondition, ObservedPod};
use super::object_version::{ObjectVersion, WatchEventKind};
use super::timestamp::ClockTime;
use super::write_time;
use lifecycle_builder::LifecycleBuilder;
pub use nodes::{NodeConditionChange, NodeLife};
pub use selection::{JobSetSelectionError, select_jobset};
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct JobSetLife {
    pub namespace: String,
    pub name: String,
    /// The manifest as last observed.
    pub manifest: Value,
    pub created: Option<ClockTime>,
    /// The status after each change.
    pub statuses: Vec<(ClockTime, Value)>,
    pub conditions: Vec<(ClockTime, ObservedCondition)>,
    pub deleted: Option<ClockTime>,
}

#[derive(Clone, Debug, Default)]
pub struct JobLife {
    pub name: String,
    pub attempt: String,
    pub created: Option<ClockTime>,
    pub deleting: Option<ClockTime>,
    pub gone: Option<ClockTime>,
    pub suspended: bool,
    pub conditions: Vec<(ClockTime, ObservedCondition)>,
    pub counts: [Option<u32>; 5],
    /// Times at which the Job controller wrote the Job's status.
    pub statuses: Vec<ClockTime>,
}

#[derive(Clone, Debug, Default)]
pub struct PodLife {
    pub name: String,
    /// Fields as last observed. For pods known only from Events, the fields derived from the name.
    pub last_observed: ObservedPod,
    pub created: Option<ClockTime>,
    pub bound: Option<ClockTime>,
    /// Changes of readiness, in order.
    pub ready: Vec<(ClockTime, bool)>,
    pub finished: Option<ClockTime>,
    pub deleting: Option<ClockTime>,
    pub gone: Option<ClockTime>,
    /// When the Job controller removed the tracking finalizer.
    pub finalizer_removed: Option<ClockTime>,
    pub in_place: Vec<(ClockTime, u32)>,
    /// Whether the pod is known only from Events.
    pub is_only_from_events: bool,
}

impl PodLife {
    /// Returns the name without its random suffix, as used in scripts.
    pub fn name_without_suffix(&self) -> &str {
        let name = self.name.as_str();
        name.rsplit_once('-').map_or(name, |(short, _)| short)
    }
}

#[derive(Clone, Debug)]
pub struct ObservedEvent {
    pub component: String,
    pub object: String,
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub at: Option<ClockTime>,
}

/// The observed history of one JobSet.
#[derive(Clone, Debug, Default)]
pub struct ObservedLifecycle {
    pub jobset: JobSetLife,
    pub jobs: Vec<JobLife>,
    pub pods: Vec<PodLife>,
    pub events: Vec<ObservedEvent>,
    pub nodes: Vec<NodeLife>,
    /// Whether the creation of the JobSet was watched. False if it was only listed afterwards.
    pub watched: bool,
    pub notes: Vec<String>,
}

/// Returns the life of the JobSet with this namespace and name.
pub fn observed_lifecycle(seen: &[ObjectVersion], (namespace, name): &(String, String)) -> ObservedLifecycle {
    let when = write_time::write_times(seen);
    let mut life = ObservedLifecycle::default();
    life.jobset.namespace = namespace.clone();
    life.jobset.name = name.clone();
    for kind in &when.separately_stored {
        life.notes.push(format!(
            "the resource versions of {kind:?} objects do not fit those of other kinds, so they are in a separate store; their times are \
             known only to the second"
        ));
    }
    let mine = |s: &ObjectVersion| s.namespace == *namespace || s.kind == ObservedKind::Node;
    let mut order: Vec<usize> = (0..seen.len()).filter(|i| mine(&seen[*i])).collect();
    // Lists are read before watches of the same object, because they contain less information.
    order.sort_by_key(|i| (seen[*i].event_kind != WatchEventKind::Listed, seen[*i].resource_version, *i));
    let watched = order
        .iter()
        .filter(|i| seen[**i].event_kind != WatchEventKind::Listed)
        .map(|i| seen[*i].uid.as_str())
        .collect();
    let mut maker = LifecycleBuilder::new(life, watched);
    for i in order {
        maker.add_version(&seen[i], when.at[i]);
    }
    maker.finish()
}
