//! Builds the life of a JobSet, its Jobs, pods and nodes from observed object versions, one after another.

use super::from_events::{add_pods_from_events, bound_jobset_creation};
use super::nodes::NodeHistory;
use super::{JobLife, JobSetLife, ObservedEvent, ObservedLifecycle, PodLife};
use crate::observe::facts::{ObservedCondition, ObservedFacts, ObservedPod};
use crate::observe::object_version::{ObjectVersion, WatchEventKind};
use crate::{observe::facts::ObservedKind, observe::timestamp::ClockTime};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct LifecycleBuilder<'s> {
    life: ObservedLifecycle,
    jobs: BTreeMap<&'s str, usize>,
    pods: BTreeMap<&'s str, usize>,
    /// Objects that a watch showed. A list adds nothing to them.
    watched: BTreeSet<&'s str>,
    events: BTreeSet<&'s str>,
    nodes: NodeHistory,
}

impl<'s> LifecycleBuilder<'s> {
    pub fn new(life: ObservedLifecycle, watched: BTreeSet<&'s str>) -> LifecycleBuilder<'s> {
        LifecycleBuilder {
            life,
            jobs: BTreeMap::new(),
            pods: BTreeMap::new(),
            watched,
            events: BTreeSet::new(),
            nodes: NodeHistory::default(),
        }
    }

    pub fn add_version(&mut self, s: &'s ObjectVersion, at: Option<ClockTime>) {
        let listed = s.event_kind == WatchEventKind::Listed;
        if listed && s.kind != ObservedKind::Event && self.watched.contains(s.uid.as_str()) {
            return;
        }
        if self.life.jobset.deleted.is_some() && !listed && s.kind != ObservedKind::Node {
            // Later changes belong to the deletion of the JobSet, not to a restart.
            return;
        }
        match &s.facts {
            ObservedFacts::JobSet { .. } => self.add_jobset(s, at),
            ObservedFacts::Job { jobset, .. } if *jobset == self.life.jobset.name => self.add_job(s, at),
            ObservedFacts::Pod(pod) if pod.jobset == self.life.jobset.name => self.add_pod(s, pod, at),
            ObservedFacts::Event { .. } => self.add_event(s),
            ObservedFacts::Node(node) => self.nodes.add_version(s, node, at),
            _ => {}
        }
    }

    fn add_jobset(&mut self, s: &ObjectVersion, at: Option<ClockTime>) {
        let ObservedFacts::JobSet { manifest, status, conditions } = &s.facts else {
            return;
        };
        let life = &mut self.life.jobset;
        if s.name != life.name {
            return;
        }
        life.manifest = manifest.clone();
        let created = s.created.map(ClockTime::within_second);
        let at = match s.event_kind {
            WatchEventKind::Listed => created,
            _ => at.or(created),
        };
        if life.created.is_none() {
            self.life.watched |= s.event_kind != WatchEventKind::Listed;
            life.created = created;
        }
        let Some(at) = at else { return };
        if s.event_kind == WatchEventKind::Deleted || (s.deleting.is_some() && s.event_kind == WatchEventKind::Modified)
        {
            life.deleted = Some(at);
            return;
        }
        let last = life.statuses.last().map(|(_, status)| status);
        if last != Some(status) {
            life.statuses.push((at, status.clone()));
        }
        add_condition_changes(&mut life.conditions, conditions, at, s.event_kind == WatchEventKind::Listed);
    }

    fn add_job(&mut self, s: &'s ObjectVersion, at: Option<ClockTime>) {
        let ObservedFacts::Job { attempt, suspended, counts, conditions, is_new: new, .. } = &s.facts else {
            return;
        };
        let jobs = &mut self.life.jobs;
        let i = *self.jobs.entry(&s.uid).or_insert_with(|| {
            jobs.push(JobLife::default());
            jobs.len() - 1
        });
        let job = &mut jobs[i];
        let first = job.created.is_none();
        job.name = s.name.clone();
        job.attempt = attempt.clone();
        job.suspended = *suspended;
        let listed = s.event_kind == WatchEventKind::Listed;
        if first {
            job.created = creation_time(s, at, *new);
        }
        if s.event_kind == WatchEventKind::Deleted {
            job.gone = at;
        } else if let (Some(at), false, false) = (at, *new, listed)
            && (job.counts != *counts || first)
        {
            job.statuses.push(at);
        }
        job.counts = *counts;
        if s.deleting.is_some() && job.deleting.is_none() {
            job.deleting = deletion_mark_time(s, at);
        }
        if let Some(at) = at.or(s.created.map(ClockTime::within_second)) {
            add_condition_changes(&mut job.conditions, conditions, at, listed);
        }
    }

    fn add_pod(&mut self, s: &'s ObjectVersion, seen: &ObservedPod, at: Option<ClockTime>) {
        let pods = &mut self.life.pods;
        let i = *self.pods.entry(&s.uid).or_insert_with(|| {
            pods.push(PodLife::default());
            pods.len() - 1
        });
        let pod = &mut pods[i];
        let listed = s.event_kind == WatchEventKind::Listed;
        let since = |kind: &str| {
            let c = seen.conditions.iter().find(|c| c.matches(kind, "True"));
            c.and_then(|c| ClockTime::parse(c.last_transition.as_deref()?))
        };
        if pod.created.is_none() {
            let new = seen.conditions.is_empty() && seen.node.is_empty();
            pod.created = creation_time(s, at, new);
        }
        if !seen.node.is_empty() && pod.bound.is_none() {
            // A pod that was already bound when it was first observed had been bound earlier.
            let early = pod.name.is_empty();
            pod.bound = if early || listed { since("PodScheduled").or(at) } else { at };
        }
        let ready = seen.conditions.iter().any(|c| c.matches("Ready", "True"));
        let was = pod.ready.last().is_some_and(|(_, ready)| *ready);
        let now = if listed { since("Ready") } else { at };
        if let (true, Some(now)) = (ready != was && s.event_kind != WatchEventKind::Deleted, now) {
            pod.ready.push((now, ready));
        }
        let ended = ["Failed", "Succeeded"].contains(&seen.phase.as_str());
        if ended && pod.finished.is_none() {
            pod.finished = if listed { seen.finished.map(ClockTime::within_second) } else { at };
        }
        if s.deleting.is_some() && pod.deleting.is_none() {
            pod.deleting = deletion_mark_time(s, at);
        }
        let was_tracked = pod.last_observed.has_tracking_finalizer;
        if was_tracked && !seen.has_tracking_finalizer && pod.finalizer_removed.is_none() {
            pod.finalizer_removed = at;
        }
        if let (Some(attempt), Some(at)) = (seen.in_place, at)
            && pod.in_place.last().is_none_or(|(_, last)| *last < attempt)
        {
            pod.in_place.push((at, attempt));
        }
        if s.event_kind == WatchEventKind::Deleted {
            pod.gone = at;
        }
        pod.name = s.name.clone();
        pod.last_observed = seen.clone();
    }

    fn add_event(&mut self, s: &'s ObjectVersion) {
        let ObservedFacts::Event { object, kind, reason, message, first_emitted: first, component: by, .. } = &s.facts
        else {
            return;
        };
        if s.event_kind == WatchEventKind::Deleted || !self.events.insert(&s.uid) {
            return;
        }
        self.life.events.push(ObservedEvent {
            component: by.clone(),
            object: object.clone(),
            kind: kind.clone(),
            reason: reason.clone(),
            message: message.clone(),
            at: *first,
        });
    }

    pub fn finish(mut self) -> ObservedLifecycle {
        let name = self.life.jobset.name.clone();
        let jobs: Vec<String> = self.life.jobs.iter().map(|j| j.name.clone()).collect();
        let starts = child_prefixes(&self.life.jobset);
        let about = |event: &ObservedEvent| match event.object.split_once('/') {
            Some(("JobSet", of)) => of == name,
            Some(("Job", of)) => jobs.iter().any(|job| job == of) || is_child(of, &starts),
            Some(("Pod", of)) => is_child(of, &starts),
            _ => false,
        };
        self.life.events.retain(about);
        if let Some(end) = self.life.jobset.deleted {
            self.life.events.retain(|e| e.at.is_none_or(|at| at.ns <= end.ns));
        }
        self.life.events.sort_by_key(|e| e.at.map(|at| at.ns));
        add_pods_from_events(&mut self.life);
        bound_jobset_creation(&mut self.life);
        let nodes = std::mem::take(&mut self.nodes);
        self.life.nodes = nodes.finish(&self.life);
        self.life
    }
}

/// Returns the prefixes of child names, `js-w-` for each replicated job. The replicated job is included because
/// another JobSet may be called `js-2`.
fn child_prefixes(jobset: &JobSetLife) -> Vec<String> {
    let all = jobset.manifest["spec"]["replicatedJobs"].as_array();
    let names = all.into_iter().flatten().filter_map(|rj| rj["name"].as_str());
    names.map(|rj| format!("{}-{rj}-", jobset.name)).collect()
}

/// Returns whether a name can be that of a child: `js-w-0`, `js-w-0-3-abcde`.
fn is_child(name: &str, starts: &[String]) -> bool {
    let rest = starts.iter().filter_map(|start| name.strip_prefix(start.as_str()));
    let mut index = rest.map(|rest| rest.split('-').next().unwrap_or(""));
    index.any(|index| index.parse::<u32>().is_ok())
}

/// Returns when an object was created: the time of the write if it was observed, otherwise the second in its metadata.
fn creation_time(s: &ObjectVersion, at: Option<ClockTime>, new: bool) -> Option<ClockTime> {
    let second = s.created.map(ClockTime::within_second);
    match (s.event_kind, new) {
        (WatchEventKind::Added, true) => at.or(second),
        _ => second,
    }
}

fn deletion_mark_time(s: &ObjectVersion, at: Option<ClockTime>) -> Option<ClockTime> {
    let second = s.deleting.map(ClockTime::within_second);
    match s.event_kind {
        WatchEventKind::Modified => at.or(second),
        _ => second,
    }
}

/// Records the conditions whose status has changed. If they come from a list, the time is that of the last transition.
fn add_condition_changes(
    kept: &mut Vec<(ClockTime, ObservedCondition)>, now: &[ObservedCondition], at: ClockTime, listed: bool,
) {
    for condition in now {
        let last = kept.iter().rev().find(|(_, c)| c.kind == condition.kind);
        if last.is_some_and(|(_, c)| c.status == condition.status) {
            continue;
        }
        let since = condition.last_transition.as_deref().and_then(ClockTime::parse);
        let at = if listed { since.unwrap_or(at) } else { at };
        kept.push((at, condition.clone()));
    }
}
