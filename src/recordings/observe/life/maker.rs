//! Builds the life of a JobSet, its Jobs, pods and nodes from observed object versions, one after another.

use super::nodes::Nodes;
use super::told::{sooner, told_pods};
use super::{JobLife, JobSetLife, Life, PodLife, Told};
use crate::observe::facts::Kind;
use crate::observe::facts::{Condition, Facts, Pod};
use crate::observe::sighting::{How, Sighting};
use crate::observe::stamp::At;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Maker<'s> {
    life: Life,
    jobs: BTreeMap<&'s str, usize>,
    pods: BTreeMap<&'s str, usize>,
    /// Objects that a watch showed. A list adds nothing to them.
    watched: BTreeSet<&'s str>,
    events: BTreeSet<&'s str>,
    nodes: Nodes,
}

impl<'s> Maker<'s> {
    pub fn new(life: Life, watched: BTreeSet<&'s str>) -> Maker<'s> {
        Maker {
            life,
            jobs: BTreeMap::new(),
            pods: BTreeMap::new(),
            watched,
            events: BTreeSet::new(),
            nodes: Nodes::default(),
        }
    }

    pub fn sighting(&mut self, s: &'s Sighting, at: Option<At>) {
        let listed = s.how == How::Listed;
        if listed && s.kind != Kind::Event && self.watched.contains(s.uid.as_str()) {
            return;
        }
        if self.life.jobset.deleted.is_some() && !listed && s.kind != Kind::Node {
            // Later changes belong to the deletion of the JobSet, not to a restart.
            return;
        }
        match &s.facts {
            Facts::JobSet { .. } => self.jobset(s, at),
            Facts::Job { jobset, .. } if *jobset == self.life.jobset.name => self.job(s, at),
            Facts::Pod(pod) if pod.jobset == self.life.jobset.name => self.pod(s, pod, at),
            Facts::Event { .. } => self.event(s),
            Facts::Node(node) => self.nodes.sighting(s, node, at),
            _ => {}
        }
    }

    fn jobset(&mut self, s: &Sighting, at: Option<At>) {
        let Facts::JobSet {
            manifest,
            status,
            conditions,
        } = &s.facts
        else {
            return;
        };
        let life = &mut self.life.jobset;
        if s.name != life.name {
            return;
        }
        life.manifest = manifest.clone();
        let created = s.created.map(At::within_second);
        let at = match s.how {
            How::Listed => created,
            _ => at.or(created),
        };
        if life.created.is_none() {
            self.life.watched |= s.how != How::Listed;
            life.created = created;
        }
        let Some(at) = at else { return };
        if s.how == How::Deleted || (s.deleting.is_some() && s.how == How::Modified) {
            life.deleted = Some(at);
            return;
        }
        let last = life.statuses.last().map(|(_, status)| status);
        if last != Some(status) {
            life.statuses.push((at, status.clone()));
        }
        changes(&mut life.conditions, conditions, at, s.how == How::Listed);
    }

    fn job(&mut self, s: &'s Sighting, at: Option<At>) {
        let Facts::Job {
            attempt,
            suspended,
            counts,
            conditions,
            new,
            ..
        } = &s.facts
        else {
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
        let listed = s.how == How::Listed;
        if first {
            job.created = came(s, at, *new);
        }
        if s.how == How::Deleted {
            job.gone = at;
        } else if let (Some(at), false, false) = (at, *new, listed)
            && (job.counts != *counts || first)
        {
            job.statuses.push(at);
        }
        job.counts = *counts;
        if s.deleting.is_some() && job.deleting.is_none() {
            job.deleting = marked(s, at);
        }
        if let Some(at) = at.or(s.created.map(At::within_second)) {
            changes(&mut job.conditions, conditions, at, listed);
        }
    }

    fn pod(&mut self, s: &'s Sighting, seen: &Pod, at: Option<At>) {
        let pods = &mut self.life.pods;
        let i = *self.pods.entry(&s.uid).or_insert_with(|| {
            pods.push(PodLife::default());
            pods.len() - 1
        });
        let pod = &mut pods[i];
        let listed = s.how == How::Listed;
        let since = |kind: &str| {
            let c = seen.conditions.iter().find(|c| c.is(kind, "True"));
            c.and_then(|c| At::of(c.since.as_deref()?))
        };
        if pod.created.is_none() {
            let new = seen.conditions.is_empty() && seen.node.is_empty();
            pod.created = came(s, at, new);
        }
        if !seen.node.is_empty() && pod.bound.is_none() {
            // A pod that was already bound when it was first observed had been bound earlier.
            let early = pod.name.is_empty();
            pod.bound = match early || listed {
                true => since("PodScheduled").or(at),
                false => at,
            };
        }
        let ready = seen.conditions.iter().any(|c| c.is("Ready", "True"));
        let was = pod.ready.last().is_some_and(|(_, ready)| *ready);
        let now = match listed {
            true => since("Ready"),
            false => at,
        };
        if let (true, Some(now)) = (ready != was && s.how != How::Deleted, now) {
            pod.ready.push((now, ready));
        }
        let ended = ["Failed", "Succeeded"].contains(&seen.phase.as_str());
        if ended && pod.finished.is_none() {
            pod.finished = match listed {
                true => seen.finished.map(At::within_second),
                false => at,
            };
        }
        if s.deleting.is_some() && pod.deleting.is_none() {
            pod.deleting = marked(s, at);
        }
        let was_tracked = pod.last.tracked;
        if was_tracked && !seen.tracked && pod.counted.is_none() {
            pod.counted = at;
        }
        if let (Some(attempt), Some(at)) = (seen.in_place, at)
            && pod.in_place.last().is_none_or(|(_, last)| *last < attempt)
        {
            pod.in_place.push((at, attempt));
        }
        if s.how == How::Deleted {
            pod.gone = at;
        }
        pod.name = s.name.clone();
        pod.last = seen.clone();
    }

    fn event(&mut self, s: &'s Sighting) {
        let Facts::Event {
            object,
            kind,
            reason,
            message,
            first,
            by,
            ..
        } = &s.facts
        else {
            return;
        };
        if s.how == How::Deleted || !self.events.insert(&s.uid) {
            return;
        }
        self.life.events.push(Told {
            by: by.clone(),
            object: object.clone(),
            kind: kind.clone(),
            reason: reason.clone(),
            message: message.clone(),
            at: *first,
        });
    }

    pub fn finish(mut self) -> Life {
        let name = self.life.jobset.name.clone();
        let jobs: Vec<String> = self.life.jobs.iter().map(|j| j.name.clone()).collect();
        let starts = child_names(&self.life.jobset);
        let about = |told: &Told| match told.object.split_once('/') {
            Some(("JobSet", of)) => of == name,
            Some(("Job", of)) => jobs.iter().any(|job| job == of) || is_child(of, &starts),
            Some(("Pod", of)) => is_child(of, &starts),
            _ => false,
        };
        self.life.events.retain(about);
        if let Some(end) = self.life.jobset.deleted {
            self.life
                .events
                .retain(|e| e.at.is_none_or(|at| at.ns <= end.ns));
        }
        self.life.events.sort_by_key(|e| e.at.map(|at| at.ns));
        told_pods(&mut self.life);
        sooner(&mut self.life);
        let nodes = std::mem::take(&mut self.nodes);
        self.life.nodes = nodes.finish(&self.life);
        self.life
    }
}

/// Returns the prefixes of child names, `js-w-` for each replicated job. The replicated job is included because
/// another JobSet may be called `js-2`.
fn child_names(jobset: &JobSetLife) -> Vec<String> {
    let all = jobset.manifest["spec"]["replicatedJobs"].as_array();
    let names = all
        .into_iter()
        .flatten()
        .filter_map(|rj| rj["name"].as_str());
    names.map(|rj| format!("{}-{rj}-", jobset.name)).collect()
}

/// Returns whether a name can be that of a child: `js-w-0`, `js-w-0-3-abcde`.
fn is_child(name: &str, starts: &[String]) -> bool {
    let rest = starts
        .iter()
        .filter_map(|start| name.strip_prefix(start.as_str()));
    let mut index = rest.map(|rest| rest.split('-').next().unwrap_or(""));
    index.any(|index| index.parse::<u32>().is_ok())
}

/// Returns when an object was created: the time of the write if it was observed, otherwise the second in its
/// metadata.
fn came(s: &Sighting, at: Option<At>, new: bool) -> Option<At> {
    let second = s.created.map(At::within_second);
    match (s.how, new) {
        (How::Added, true) => at.or(second),
        _ => second,
    }
}

fn marked(s: &Sighting, at: Option<At>) -> Option<At> {
    let second = s.deleting.map(At::within_second);
    match s.how {
        How::Modified => at.or(second),
        _ => second,
    }
}

/// Records the conditions whose status has changed. If they come from a list, the time is that of the last
/// transition.
fn changes(kept: &mut Vec<(At, Condition)>, now: &[Condition], at: At, listed: bool) {
    for condition in now {
        let last = kept.iter().rev().find(|(_, c)| c.kind == condition.kind);
        if last.is_some_and(|(_, c)| c.status == condition.status) {
            continue;
        }
        let since = condition.since.as_deref().and_then(At::of);
        let at = if listed { since.unwrap_or(at) } else { at };
        kept.push((at, condition.clone()));
    }
}
