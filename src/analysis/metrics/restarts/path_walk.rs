//! Critical paths in the restart fold: which tickets are stored, and where the backward walk begins.
//!
//! Must never store a ticket that no open or future restart can need.

use super::fold::RestartFold;
use super::path::{CriticalPath, PathPart, PathStep};
use super::restart::Milestone;
use super::root_cause::LaterFault;
use sim_base::{JobSetId, NodeId, PodId, SimTime};
use sim_engine::record::{Body, RecordNames, SimulationRecord, TicketSubject, TicketWait, WorkTicket};
use std::collections::BTreeSet;

impl RestartFold {
    pub(crate) fn keep(&mut self, ticket: &WorkTicket) {
        self.tickets.push(ticket);
        if self.tickets.are_many(self.troubles.pods()) {
            let now = self.now.max(ticket.from);
            let ends: Vec<u32> = self.newest().map(|(id, _)| id).collect();
            self.tickets.drop_before(self.horizon(now), &ends);
        }
    }

    /// Returns a lower bound for the start of all open and future restarts.
    fn horizon(&self, now: SimTime) -> SimTime {
        let open = self.jobsets.iter().filter_map(|js| js.open.as_ref());
        let open = open.map(|restart| restart.start).min();
        let counts = |id: JobSetId| self.jobsets.get(id.ix()).is_none_or(|js| !js.over);
        let latent = self.troubles.oldest(counts);
        [open, latent].into_iter().flatten().fold(now, SimTime::min)
    }

    fn newest(&self) -> impl Iterator<Item = (u32, SimTime)> {
        let open = self.jobsets.iter().filter(|js| js.open.is_some());
        open.filter_map(|js| js.newest)
    }

    /// Returns the path of the open restart of a JobSet that ends now with the ticket `last`.
    pub(crate) fn path(&self, jobset: JobSetId, last: u32, names: &RecordNames) -> CriticalPath {
        self.path_to(jobset, (last, self.now), names)
    }

    fn path_to(&self, jobset: JobSetId, (last, end): (u32, SimTime), names: &RecordNames) -> CriticalPath {
        let open = self.jobsets.get(jobset.ix()).and_then(|js| js.open.as_ref());
        let walk = |start| CriticalPath::walk(|id| self.tickets.find(id), last, start, end);
        let mut path = open.map(|restart| walk(restart.start)).unwrap_or_default();
        while let Some(steps) = self.steps_before(jobset, &path, names) {
            path.steps.splice(..1, steps);
        }
        path
    }

    /// Returns the steps up to the fault or repair with which a path begins: the path to the latest progress before
    /// it, and the wait from there.
    fn steps_before(&self, jobset: JobSetId, path: &CriticalPath, names: &RecordNames) -> Option<Vec<PathStep>> {
        let first = path.steps.first().filter(|step| step.waited == TicketWait::Script)?;
        let state = self.jobsets.get(jobset.ix())?;
        let fault = state.later_faults.iter().find(|fault| fault.at == first.to)?;
        let (newest, at) = fault.newest.filter(|(_, at)| first.from < *at && *at < first.to)?;
        let mut steps = CriticalPath::walk(|id| self.tickets.find(id), newest, first.from, at).steps;
        let own = TicketSubject::JobSet(jobset);
        let pending = || {
            let pending = self.tickets.iter().filter(|t| {
                let is_pending = t.from <= at && t.to > first.to && is_awaited(t.wait);
                is_pending && self.jobset_of(t.subject, names) == Some(jobset)
            });
            pending.max_by_key(|t| (t.to, t.id))
        };
        let (waited, part, about) = match fault.silent_node {
            _ if fault.waits_for_capacity => (TicketWait::Unschedulable, PathPart::Whole, own),
            Some(node) => (TicketWait::SilentNode, PathPart::Whole, TicketSubject::Node(node)),
            None => match pending() {
                Some(t) => (t.wait, PathPart::Whole, t.subject),
                None if self.has_failed_index(jobset, fault.at) => (TicketWait::Script, PathPart::FailedIndexes, own),
                None => (TicketWait::Script, PathPart::Whole, own),
            },
        };
        let from = steps.last().map_or(first.from, |step| step.to);
        steps.push(PathStep { from, waited, part, about, ..*first });
        Some(steps)
    }

    /// Returns whether a pod of a Job with `backoffLimitPerIndex` has failed at that time and no Job has failed because
    /// of it.
    fn has_failed_index(&self, jobset: JobSetId, at: SimTime) -> bool {
        let has_limit = self.index_limits.get(jobset.ix()).is_some_and(|has| *has);
        let open = self.jobsets.get(jobset.ix()).and_then(|state| state.open.as_ref());
        let is_before = |milestone| open.and_then(|r| r.milestone(milestone)).is_some_and(|reached| reached < at);
        has_limit && is_before(Milestone::PodFailed) && !is_before(Milestone::FailureTarget)
    }

    /// Stores what open restarts wait for when a fault or repair occurs.
    pub(crate) fn note_fault(&mut self, node: NodeId) {
        let at = self.now;
        let open = self.jobsets.iter_mut().enumerate().filter(|(_, state)| state.open.is_some());
        for (row, state) in open {
            let waits_for_capacity = state.capacity.is_open();
            let is_silent = node.is_some() && self.troubles.is_silent_below(JobSetId(row as u32), node);
            let silent_node = Some(node).filter(|_| is_silent);
            state.later_faults.push(LaterFault { at, newest: state.newest, waits_for_capacity, silent_node });
        }
    }

    /// Returns the JobSet that an object belongs to, or `None` for nodes.
    fn jobset_of(&self, about: TicketSubject, names: &RecordNames) -> Option<JobSetId> {
        match about {
            TicketSubject::JobSet(id) => Some(id),
            TicketSubject::Job(job) => names.jobset_of(job),
            TicketSubject::Pod(pod) => self.troubles.pod_jobset(pod),
            TicketSubject::Node(_) | TicketSubject::Nothing => None,
        }
    }

    /// Stores the record as the latest progress of its JobSet, unless it only repeats an unsuccessful attempt.
    pub(crate) fn note_newest(&mut self, record: &SimulationRecord, names: &RecordNames) {
        // Scripted actions have no preceding waits; only their consequences do.
        let by_itself = matches!(record.body, Body::Fault { .. } | Body::Answered { .. });
        if by_itself || record.body.is_retry() {
            return;
        }
        let jobset = self.jobset_of(record.body.head().subject, names);
        let state = jobset.and_then(|id| self.jobsets.get_mut(id.ix()));
        if let Some(state) = state.filter(|state| state.open.is_some()) {
            state.newest = Some((record.ticket, record.at));
        }
    }

    /// Returns the ticket and time of the latest progress that follows from the failure, if the latest progress of all
    /// follows from containers that were not affected and ran on until they exited.
    fn last_of_failure(&self, jobset: JobSetId, start: SimTime, names: &RecordNames) -> Option<(u32, SimTime)> {
        let (newest, _) = self.jobsets.get(jobset.ix())?.newest?;
        // Parents come before their children.
        let mut unaffected = BTreeSet::new();
        for t in self.tickets.iter().filter(|t| t.to > start) {
            let ran_on = t.wait == TicketWait::Running && t.from < start;
            if ran_on || (t.from > start && unaffected.contains(&t.parent)) {
                unaffected.insert(t.id);
            }
        }
        if !unaffected.contains(&newest) {
            return None;
        }
        let own = self.tickets.iter().filter(|t| {
            let past = t.to > start && t.to <= self.now && is_awaited(t.wait);
            past && !unaffected.contains(&t.id) && self.jobset_of(t.subject, names) == Some(jobset)
        });
        own.max_by_key(|t| (t.to, t.id)).map(|t| (t.id, t.to))
    }

    /// Returns the ticket and time of the latest progress of a pod that cannot be removed: other pods of the JobSet may
    /// run on, but the restart does not depend on them.
    fn last_of_stuck_pod(&self, jobset: JobSetId) -> Option<(u32, SimTime)> {
        let stuck: BTreeSet<PodId> = self.troubles.stuck_pods(jobset).map(|(pod, _)| pod).collect();
        let is_about = |t: &&WorkTicket| matches!(t.subject, TicketSubject::Pod(pod) if stuck.contains(&pod));
        let past = self.tickets.iter().filter(|t| t.to <= self.now && is_awaited(t.wait)).filter(is_about);
        past.max_by_key(|t| (t.to, t.id)).map(|t| (t.id, t.to))
    }

    /// Returns the path of a restart that is still open at the end of the run. If it is permanently blocked, the last
    /// step is open; otherwise it is the pending wait that would have ended last.
    pub(crate) fn unfinished_path(&self, jobset: JobSetId, dead_end: bool, names: &RecordNames) -> CriticalPath {
        let state = self.jobsets.get(jobset.ix());
        let open = state.and_then(|js| Some((js.open.as_ref()?.start, js.newest?)));
        let Some((start, (newest, at))) = open.filter(|_| !self.tickets.are_none()) else {
            return CriticalPath::default();
        };
        let under_way = self.tickets.iter().filter(|t| {
            let now = t.from <= self.now && t.to > self.now;
            now && is_awaited(t.wait) && self.jobset_of(t.subject, names) == Some(jobset)
        });
        match under_way.max_by_key(|t| t.to).filter(|_| !dead_end) {
            Some(t) => self.path(jobset, t.id, names),
            None => {
                let last = self.last_of_failure(jobset, start, names).unwrap_or((newest, at));
                let mut path = self.path_to(jobset, last, names);
                let runs_on = path.steps.iter().any(|step| step.waited == TicketWait::Running);
                if let Some(stuck) = self.last_of_stuck_pod(jobset).filter(|_| dead_end && runs_on) {
                    path = self.path_to(jobset, stuck, names);
                }
                let about = TicketSubject::JobSet(jobset);
                let waits_for_capacity = state.is_some_and(|js| js.capacity.is_open());
                if waits_for_capacity && !dead_end {
                    path.wait_for_capacity(start, self.now, about);
                } else {
                    path.leave_open(start, self.now, about);
                }
                path
            }
        }
    }
}

/// Whether a restart progresses when such a wait ends; containers that just run and time limits do not count.
fn is_awaited(waited: TicketWait) -> bool {
    use TicketWait::*;
    let is_limit = matches!(
        waited,
        ActiveDeadline
            | Ttl
            | HangDetection
            | CorruptionDetection
            | RendezvousTimeout
            | LastCall
            | AdmissionCheck
            | PodsReadyTimeout
            | RequeueBackoff
            | MaxExecutionTime
            | UsageSample
    );
    !is_limit && !matches!(waited, Script | Running | SilentNode)
}
