//! Derives unobserved pods, and the creation time of a JobSet, from Events and child objects.

use super::{ObservedLifecycle, PodLife};
use crate::{observe::facts::ObservedPod, observe::timestamp::ClockTime};
use std::collections::{BTreeMap, BTreeSet};

/// Adds pods that were removed before they could be observed and are known only from Events.
pub(super) fn add_pods_from_events(life: &mut ObservedLifecycle) {
    let mut lives: BTreeMap<String, PodLife> = BTreeMap::new();
    let known: BTreeSet<String> = life.pods.iter().map(|p| p.name.clone()).collect();
    for event in &life.events {
        let (pod, what) = match event.reason.as_str() {
            "Scheduled" => (event.object.strip_prefix("Pod/"), 0),
            "SuccessfulCreate" => (event.message.strip_prefix("Created pod: "), 1),
            "SuccessfulDelete" => (event.message.strip_prefix("Deleted pod: "), 2),
            _ => continue,
        };
        let Some(pod) = pod.filter(|pod| !known.contains(*pod)) else {
            continue;
        };
        let entry = lives.entry(pod.to_owned()).or_insert_with(|| pod_from_name(pod));
        match what {
            0 => {
                entry.bound = event.at;
                let node = event.message.rsplit_once(" to ").map_or("", |(_, node)| node);
                entry.last_observed.node = node.to_owned();
            }
            1 => entry.created = event.at,
            _ => entry.deleting = event.at,
        }
    }
    life.pods.extend(lives.into_values());
}

/// Derives Job and index from the name of a pod: `js-w-0-3-abcde` is pod 3 of the Job `js-w-0`.
fn pod_from_name(pod: &str) -> PodLife {
    let mut parts = pod.rsplitn(3, '-');
    let (_, index, job) = (parts.next(), parts.next(), parts.next().unwrap_or(""));
    PodLife {
        name: pod.to_owned(),
        last_observed: ObservedPod {
            job: job.to_owned(),
            job_index: job.rsplit_once('-').and_then(|(_, i)| i.parse().ok()),
            index: index.and_then(|i| i.parse().ok()),
            ..ObservedPod::default()
        },
        is_only_from_events: true,
        ..PodLife::default()
    }
}

/// Bounds the creation time of the JobSet by the creation of its first Job or pod.
pub(super) fn bound_jobset_creation(life: &mut ObservedLifecycle) {
    let Some(created) = life.jobset.created else {
        return;
    };
    let low = created.ns - created.uncertainty_ns;
    let firsts = life.jobs.iter().filter_map(|j| j.created);
    let firsts = firsts.chain(life.pods.iter().filter_map(|p| p.created));
    let first = firsts.map(|at| at.ns + at.uncertainty_ns).min();
    if let Some(first) = first.filter(|first| *first > low) {
        life.jobset.created = Some(ClockTime::between(low, first.min(created.ns + created.uncertainty_ns)));
    }
}
