//! The life of one JobSet, its Jobs and its pods, put together from sightings.
//!
//! Must never decide what a restart is: `milestones` does.

use super::facts::{Condition, Facts, Pod};
use super::sighting::{How, Kind, Sighting};
use super::stamp::At;
use super::when;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct JobSetLife {
    pub namespace: String,
    pub name: String,
    /// As last seen.
    pub manifest: Value,
    pub created: Option<At>,
    /// Whenever it changed.
    pub statuses: Vec<(At, Value)>,
    pub conditions: Vec<(At, Condition)>,
    pub deleted: Option<At>,
}

#[derive(Clone, Debug, Default)]
pub struct JobLife {
    pub name: String,
    pub attempt: String,
    pub created: Option<At>,
    pub deleting: Option<At>,
    pub gone: Option<At>,
    pub suspended: bool,
    pub conditions: Vec<(At, Condition)>,
    pub counts: [Option<u32>; 5],
    /// Instants at which the Job controller wrote its status.
    pub statuses: Vec<At>,
}

#[derive(Clone, Debug, Default)]
pub struct PodLife {
    pub name: String,
    /// Its fields as last seen; of a pod that only Events speak of, what its name says.
    pub last: Pod,
    pub created: Option<At>,
    pub bound: Option<At>,
    /// Ready and not ready in turn.
    pub ready: Vec<(At, bool)>,
    pub finished: Option<At>,
    pub deleting: Option<At>,
    pub gone: Option<At>,
    /// When the Job controller took its finalizer.
    pub counted: Option<At>,
    pub in_place: Vec<(At, u32)>,
    /// Not seen itself.
    pub only_told: bool,
}

#[derive(Clone, Debug)]
pub struct Told {
    pub by: String,
    pub object: String,
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub at: Option<At>,
}

/// Everything that is known of one JobSet.
#[derive(Clone, Debug, Default)]
pub struct Life {
    pub jobset: JobSetLife,
    pub jobs: Vec<JobLife>,
    pub pods: Vec<PodLife>,
    pub events: Vec<Told>,
    /// Nodes as last seen, and those that were seen not to be ready.
    pub nodes: Vec<Value>,
    /// Whether its beginning was watched, and not only listed after the fact.
    pub watched: bool,
    pub notes: Vec<String>,
}

/// Which JobSet is meant; it must be one.
pub fn choose(
    seen: &[Sighting],
    name: Option<&str>,
    namespace: Option<&str>,
) -> Result<(String, String), String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for s in seen.iter().filter(|s| s.kind == Kind::JobSet) {
        let key = (s.namespace.clone(), s.name.clone());
        if !found.contains(&key) {
            found.push(key);
        }
    }
    let list = |found: &[(String, String)]| {
        let shown = found
            .iter()
            .take(10)
            .map(|(ns, name)| format!("{ns}/{name}"));
        shown.collect::<Vec<_>>().join(", ")
    };
    let meant = |(ns, n): &(String, String)| {
        name.is_none_or(|name| name == n) && namespace.is_none_or(|own| own == ns)
    };
    let of: Vec<(String, String)> = found.iter().filter(|key| meant(key)).cloned().collect();
    match of.as_slice() {
        [one] => Ok(one.clone()),
        [] if found.is_empty() => {
            Err("no JobSet in these files; `record` says what to save".to_owned())
        }
        [] => Err(format!(
            "no such JobSet in these files; there are: {}",
            list(&found)
        )),
        many => Err(format!(
            "{} JobSets in these files: {}; choose with --jobset and -n",
            many.len(),
            list(many)
        )),
    }
}

/// The life of the JobSet of this namespace and name.
pub fn read(seen: &[Sighting], (namespace, name): &(String, String)) -> Life {
    let when = when::solve(seen);
    let mut life = Life::default();
    life.jobset.namespace = namespace.clone();
    life.jobset.name = name.clone();
    for kind in &when.apart {
        life.notes.push(format!(
            "the numbers of {kind:?} writes do not fit the others': they are in a store of their own, and their times are \
             known to the second only"
        ));
    }
    let mine = |s: &Sighting| s.namespace == *namespace || s.kind == Kind::Node;
    let mut order: Vec<usize> = (0..seen.len()).filter(|i| mine(&seen[*i])).collect();
    // Lists come before watches of the same object: they know less.
    order.sort_by_key(|i| (seen[*i].how != How::Listed, seen[*i].rv, *i));
    let mut maker = Maker {
        life,
        jobs: BTreeMap::new(),
        pods: BTreeMap::new(),
        watched: order
            .iter()
            .filter(|i| seen[**i].how != How::Listed)
            .map(|i| seen[*i].uid.as_str())
            .collect(),
        events: std::collections::BTreeSet::new(),
        nodes: BTreeMap::new(),
        silent: std::collections::BTreeSet::new(),
    };
    for i in order {
        maker.sighting(&seen[i], when.at[i]);
    }
    maker.finish()
}

struct Maker<'s> {
    life: Life,
    jobs: BTreeMap<&'s str, usize>,
    pods: BTreeMap<&'s str, usize>,
    /// Objects that a watch showed: a list adds nothing to them.
    watched: std::collections::BTreeSet<&'s str>,
    events: std::collections::BTreeSet<&'s str>,
    nodes: BTreeMap<&'s str, Value>,
    silent: std::collections::BTreeSet<&'s str>,
}

impl<'s> Maker<'s> {
    fn sighting(&mut self, s: &'s Sighting, at: Option<At>) {
        let listed = s.how == How::Listed;
        if listed
            && s.kind != Kind::Event
            && s.kind != Kind::Node
            && self.watched.contains(s.uid.as_str())
        {
            return;
        }
        if self.life.jobset.deleted.is_some() && !listed && s.kind != Kind::Node {
            // What follows is the end of all of it, and no restart.
            return;
        }
        match &s.facts {
            Facts::JobSet { .. } => self.jobset(s, at),
            Facts::Job { jobset, .. } if *jobset == self.life.jobset.name => self.job(s, at),
            Facts::Pod(pod) if pod.jobset == self.life.jobset.name => self.pod(s, pod, at),
            Facts::Event { .. } => self.event(s),
            Facts::Node(node) => {
                let tainted = node["spec"]["taints"].as_array().into_iter().flatten();
                let silent = [
                    "node.kubernetes.io/unreachable",
                    "node.kubernetes.io/not-ready",
                ];
                if tainted
                    .into_iter()
                    .any(|t| silent.iter().any(|key| t["key"] == *key))
                {
                    self.silent.insert(&s.name);
                }
                self.nodes.insert(&s.name, node.clone());
            }
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
            // A pod that was bound when it was first seen was bound before.
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

    fn finish(mut self) -> Life {
        let name = self.life.jobset.name.clone();
        let jobs: Vec<String> = self.life.jobs.iter().map(|j| j.name.clone()).collect();
        let about = |told: &Told| match told.object.split_once('/') {
            Some(("JobSet", of)) => of == name,
            Some(("Job", of)) => jobs.iter().any(|job| job == of) || is_child(of, &name),
            Some(("Pod", of)) => is_child(of, &name),
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
        if !self.silent.is_empty() {
            let n = self.silent.len();
            self.life.notes.push(format!(
                "{n} nodes were seen without contact to the control plane: that is not played again"
            ));
        }
        self.life.nodes = self.nodes.into_values().collect();
        self.life
    }
}

/// Whether a name may be that of a child: `js-w-0`, `js-w-0-3-abcde`.
fn is_child(name: &str, jobset: &str) -> bool {
    name.strip_prefix(jobset)
        .is_some_and(|rest| rest.starts_with('-'))
}

/// When an object came: its write if that was seen, else its second.
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

/// Keeps what changed; a list tells since when.
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

/// Pods that are gone and were never seen are told of by Events.
fn told_pods(life: &mut Life) {
    let mut told: BTreeMap<String, PodLife> = BTreeMap::new();
    let known: std::collections::BTreeSet<String> =
        life.pods.iter().map(|p| p.name.clone()).collect();
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
        let entry = told.entry(pod.to_owned()).or_insert_with(|| named(pod));
        match what {
            0 => {
                entry.bound = event.at;
                let node = event
                    .message
                    .rsplit_once(" to ")
                    .map_or("", |(_, node)| node);
                entry.last.node = node.to_owned();
            }
            1 => entry.created = event.at,
            _ => entry.deleting = event.at,
        }
    }
    life.pods.extend(told.into_values());
}

/// `js-w-0-3-abcde`: pod 3 of the Job `js-w-0`.
fn named(pod: &str) -> PodLife {
    let mut parts = pod.rsplitn(3, '-');
    let (_, index, job) = (parts.next(), parts.next(), parts.next().unwrap_or(""));
    PodLife {
        name: pod.to_owned(),
        last: Pod {
            job: job.to_owned(),
            job_index: job.rsplit_once('-').and_then(|(_, i)| i.parse().ok()),
            index: index.and_then(|i| i.parse().ok()),
            ..Pod::default()
        },
        only_told: true,
        ..PodLife::default()
    }
}

/// A JobSet was there before its first pod.
fn sooner(life: &mut Life) {
    let Some(created) = life.jobset.created else {
        return;
    };
    let low = created.ns - created.off;
    let firsts = life.jobs.iter().filter_map(|j| j.created);
    let firsts = firsts.chain(life.pods.iter().filter_map(|p| p.created));
    let first = firsts.map(|at| at.ns + at.off).min();
    if let Some(first) = first.filter(|first| *first > low) {
        life.jobset.created = Some(At::between(low, first.min(created.ns + created.off)));
    }
}
