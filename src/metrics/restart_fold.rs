//! The sink that finds restarts in the stream of records.
//!
//! A restart opens with the first trouble of a pod, counts as one when the JobSet stops being ready or the JobSet
//! controller orders it, and closes when every pod is ready again. Work per record is constant and, once every pod
//! and
//! node has been seen, nothing is allocated except the list of finished restarts. Must never write to the run.

use super::restart::*;
use super::trouble::{JobSetState, NO_POD, PodState, Troubles, is_harmful};
use crate::base::*;
use crate::record::{
    Body, Deleter, JobConditionType, JobSetConditionType, Names, Record, Sink, Texts,
};
use crate::spec::Scenario;

pub struct RestartFold {
    jobsets: Vec<JobSetState>,
    troubles: Troubles,
    finished: Vec<Restart>,
    now: Time,
}

impl RestartFold {
    pub fn new(scenario: &Scenario, names: &Names) -> RestartFold {
        let harmful = scenario.faults.iter().map(|f| is_harmful(&f.action));
        RestartFold::from_parts(names, harmful.collect())
    }

    /// `harmful[i]`: fault `i` of the scenario can break pods. Faults beyond the list are taken as harmful.
    pub fn from_parts(names: &Names, harmful: Vec<bool>) -> RestartFold {
        RestartFold {
            jobsets: names
                .jobsets
                .iter()
                .map(|_| JobSetState::default())
                .collect(),
            troubles: Troubles::new(names, harmful),
            finished: Vec::new(),
            now: Time::ZERO,
        }
    }

    /// Every restart in the order of its start; those still open end with the run, at `end`.
    pub fn finish(mut self, end: Time) -> Vec<Restart> {
        self.now = end;
        for i in 0..self.jobsets.len() {
            self.close(JobSetId(i as u32), Ending::Unfinished);
        }
        let mut all = self.finished;
        all.sort_by_key(|r| (r.start, r.jobset));
        all
    }

    fn open_of(&mut self, jobset: Option<JobSetId>) -> Option<&mut Restart> {
        self.jobsets.get_mut(jobset?.ix())?.open.as_mut()
    }

    fn pod_restart(&mut self, pod: PodId) -> Option<&mut Restart> {
        let jobset = self.troubles.pod_jobset(pod);
        self.open_of(jobset)
    }

    fn job_restart(&mut self, job: JobId) -> Option<&mut Restart> {
        let jobset = self.troubles.jobset_of(job);
        self.open_of(jobset)
    }

    /// A pod is in trouble that others can see: opens a restart unless one is open.
    fn trouble(&mut self, pod: PodId) {
        let Some((start, cause)) = self.troubles.cause(pod) else {
            return;
        };
        if let Some(jobset) = self.troubles.jobset_of(cause.job) {
            self.open(jobset, start, cause);
        }
    }

    fn open(&mut self, jobset: JobSetId, start: Time, cause: Cause) {
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        if state.open.is_none() {
            let mut restart = Restart::new(jobset, start, cause);
            restart.attempt = state.attempt;
            state.open = Some(restart);
            state.confirmed = false;
        }
        state.confirmed |= state.was_ready && !state.ready;
    }

    /// The JobSet controller ordered a restart.
    fn ordered(&mut self, jobset: JobSetId, shape: Shape, attempt: u32) -> Option<&mut Restart> {
        self.open(jobset, self.now, Cause::UNKNOWN);
        let state = self.jobsets.get_mut(jobset.ix())?;
        state.confirmed = true;
        state.attempt = attempt;
        let restart = state.open.as_mut()?;
        restart.became(shape);
        restart.attempt = attempt;
        Some(restart)
    }

    /// Ends the open restart of a JobSet; one that turned out to be none is forgotten.
    fn close(&mut self, jobset: JobSetId, ending: Ending) {
        let now = self.now;
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        let Some(mut restart) = state.open.take() else {
            return;
        };
        let ordered = restart.shape >= Shape::InPlaceRestart;
        if state.confirmed && (ending != Ending::JobSetEnded || ordered) {
            if ending == Ending::Unfinished && restart.milestone(Milestone::FailureTarget).is_some()
            {
                // Its Job has failed: what it waits for is the JobSet's restart.
                restart.became(Shape::Recreate);
            }
            restart.end = now;
            restart.ending = ending;
            self.finished.push(restart);
            state.last = self.finished.len();
        }
        state.confirmed = false;
    }

    fn ready_changed(&mut self, jobset: JobSetId, ready: bool) {
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        state.ready = ready;
        state.was_ready |= ready;
        if ready {
            self.close(jobset, Ending::Ready);
            self.troubles.all_well(jobset);
        } else if state.open.is_some() && state.was_ready {
            state.confirmed = true;
        }
    }

    fn jobset_record(&mut self, body: &Body) {
        let now = self.now;
        match *body {
            Body::RestartCounted {
                jobset, restarts, ..
            } => {
                if let Some(r) = self.ordered(jobset, Shape::Recreate, restarts) {
                    r.first(Milestone::RestartCounted, now);
                }
            }
            Body::JobRestartCounted {
                jobset, restarts, ..
            } => {
                if let Some(r) = self.ordered(jobset, Shape::RestartJob, restarts) {
                    r.first(Milestone::RestartCounted, now);
                }
            }
            Body::PreviousAttempt { jobset, attempt } => {
                if let Some(r) = self.ordered(jobset, Shape::InPlaceRestart, attempt + 1) {
                    r.first(Milestone::PreviousWritten, now);
                }
            }
            Body::CurrentAttempt { jobset, .. } => {
                if let Some(r) = self.open_of(Some(jobset)) {
                    r.last(Milestone::CurrentWritten, now);
                }
            }
            Body::AllReady { jobset, ready } => self.ready_changed(jobset, ready),
            Body::JobSetDeleted { jobset } => self.close(jobset, Ending::JobSetEnded),
            Body::JobSetCondition {
                jobset,
                kind,
                status,
                ..
            } => {
                self.condition(jobset, kind, status);
            }
            _ => {}
        }
    }

    fn condition(&mut self, jobset: JobSetId, kind: JobSetConditionType, status: bool) {
        use JobSetConditionType::*;
        let now = self.now;
        match (kind, status) {
            (Completed | Failed | Suspended, true) => {
                self.close(jobset, Ending::JobSetEnded);
                if let Some(state) = self.jobsets.get_mut(jobset.ix()) {
                    // Not being ready is from now on what was asked for.
                    state.was_ready = false;
                }
            }
            (RestartingJobSet, false) => {
                let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
                    return;
                };
                let done = self.finished.get_mut(state.last.wrapping_sub(1));
                if let Some(r) = state.open.as_mut().or(done) {
                    r.first(Milestone::JobsReady, now);
                }
            }
            _ => {}
        }
    }

    fn job_record(&mut self, body: &Body) {
        let now = self.now;
        let (job, first, last) = match *body {
            Body::JobCreated { job, .. } => (
                job,
                Some(Milestone::FirstJobCreated),
                Some(Milestone::LastJobCreated),
            ),
            Body::JobDeleting { job } => (job, Some(Milestone::FirstJobDeleting), None),
            Body::JobGone { job } => (
                job,
                Some(Milestone::FirstJobGone),
                Some(Milestone::LastJobGone),
            ),
            Body::JobCondition {
                job,
                kind: JobConditionType::FailureTarget,
                ..
            } => (job, Some(Milestone::FailureTarget), None),
            Body::JobCondition {
                job,
                kind: JobConditionType::Failed,
                ..
            } => (job, Some(Milestone::JobFailed), None),
            _ => return,
        };
        if let Some(r) = self.job_restart(job) {
            if let Some(m) = first {
                r.first(m, now);
            }
            if let Some(m) = last {
                r.last(m, now);
            }
        }
    }

    fn pod_created(&mut self, pod: PodId, state: PodState) {
        self.troubles.create(pod, state);
        if let Some(r) = self.pod_restart(pod) {
            r.became(Shape::PodReplacement);
            r.first(Milestone::FirstPodCreated, state.created);
            r.last(Milestone::LastPodCreated, state.created);
        }
    }

    fn pod_ready(&mut self, pod: PodId) {
        let now = self.now;
        let Some(p) = self.troubles.pod_mut(pod) else {
            return;
        };
        p.trouble = None;
        let (job, index) = (p.job, p.index);
        let Some(jobset) = self.troubles.jobset_of(job) else {
            return;
        };
        let state = &mut self.jobsets[jobset.ix()];
        let Some(r) = state.open.as_mut() else {
            return;
        };
        r.first(Milestone::FirstReady, now);
        r.last(Milestone::LastReady, now);
        r.pods += 1;
        // The pod that made trouble is back and nobody was disturbed: no restart.
        if !state.confirmed && r.cause.job == job && r.cause.index == index {
            state.open = None;
        }
    }

    /// What a pod does that only dates milestones of an open restart.
    fn pod_progress(&mut self, body: &Body) {
        use Milestone::*;
        let now = self.now;
        let (pod, first, last) = match *body {
            Body::PodBound { pod, node, .. } => {
                if let Some(p) = self.troubles.pod_mut(pod) {
                    p.node = node;
                }
                (pod, LastPodBound, LastPodBound)
            }
            Body::AttemptWritten { pod, .. } => (pod, AttemptsFirst, AttemptsLast),
            Body::PodGone { pod, .. } => {
                let created = self
                    .troubles
                    .pod_mut(pod)
                    .map_or(Time::NEVER, |p| p.created);
                if self.pod_restart(pod).is_none_or(|r| created > r.start) {
                    return;
                }
                (pod, LastOldPodGone, LastOldPodGone)
            }
            _ => return,
        };
        if let Some(r) = self.pod_restart(pod) {
            r.first(first, now);
            r.last(last, now);
        }
    }

    fn pod_trouble(&mut self, body: &Body) {
        let now = self.now;
        match *body {
            Body::ContainerExited { pod, exit_code, .. } => {
                self.troubles
                    .note(now, pod, CauseKind::ContainerExited { exit_code });
                if exit_code != 0 {
                    self.trouble(pod);
                }
            }
            Body::ContainersRestarting { pod, .. } => {
                self.troubles
                    .note(now, pod, CauseKind::ContainerExited { exit_code: 0 });
                self.trouble(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.first(Milestone::FirstContainersRestarting, now);
                    r.last(Milestone::LastContainersRestarting, now);
                }
            }
            Body::PodFinished {
                pod,
                succeeded: false,
                exit_code,
                ..
            } => {
                if self.troubles.root(pod).is_none() && self.pod_restart(pod).is_none() {
                    self.troubles
                        .note(now, pod, CauseKind::PodFailed { exit_code });
                }
                self.trouble(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.became(Shape::PodReplacement);
                    r.first(Milestone::PodFailed, now);
                }
            }
            Body::PodDeleting { pod, by, .. } => {
                // Controllers that delete pods carry out a decision; everybody else makes trouble.
                if matches!(by, Deleter::JobController | Deleter::GarbageCollector) {
                    return;
                }
                if self.troubles.root(pod).is_none() {
                    self.troubles.note(now, pod, CauseKind::PodDeleted { by });
                }
                self.trouble(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.became(Shape::PodReplacement);
                    r.first(Milestone::PodDeleting, now);
                }
            }
            Body::PodNotReady { pod, .. } => self.trouble(pod),
            _ => {}
        }
    }
}

impl Sink for RestartFold {
    fn record(&mut self, record: &Record, _: &Texts) {
        self.now = record.at;
        match record.body {
            Body::PodCreated {
                pod,
                incarnation,
                job,
                index,
                ..
            } => {
                let state = PodState {
                    incarnation,
                    job,
                    index,
                    created: record.at,
                    ..NO_POD
                };
                self.pod_created(pod, state);
            }
            Body::PodReady { pod, .. } => self.pod_ready(pod),
            Body::PodBound { .. } | Body::AttemptWritten { .. } | Body::PodGone { .. } => {
                self.pod_progress(&record.body);
            }
            Body::ContainerExited { .. }
            | Body::ContainersRestarting { .. }
            | Body::PodFinished { .. }
            | Body::PodDeleting { .. }
            | Body::PodNotReady { .. } => self.pod_trouble(&record.body),
            Body::JobCreated { .. }
            | Body::JobCondition { .. }
            | Body::JobDeleting { .. }
            | Body::JobGone { .. } => self.job_record(&record.body),
            Body::NodeState { node, ready } => self.troubles.node_state(record.at, node, ready),
            Body::Fault { index, node, pod } => self.troubles.fault(record.at, index, node, pod),
            _ => self.jobset_record(&record.body),
        }
    }
}
