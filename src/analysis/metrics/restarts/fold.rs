//! Sink that detects restarts in the stream of records.
//!
//! A restart opens with the first visible failure of a pod, is confirmed when the JobSet stops being ready or the
//! JobSet controller orders it, and closes when every pod is ready again. Work per record is constant. Once every pod
//! and node has had a record, only the list of finished restarts allocates. Must never influence the run.

use super::path::CriticalPath;
use super::restart::{CauseKind, FatalFailure, Milestone, RestartCause, RestartMetrics, RestartOutcome, RestartScope};
use super::root_cause::{FaultHarm, JobSetState, NO_POD, PodFailureState, PodFailures};
use super::tickets::TicketIndex;
use sim_api::spec::{FaultAction, ObjectKind, RequestVerb, ScenarioSpec, ScriptedFault, SubmittedJobSet};
use sim_base::{JobSetId, NodeId, PodId, SimTime, TextId, row_or_default};
use sim_engine::record::{
    Body, DeletionActor, JobSetConditionType, NO_TICKET, ObjectRef, RecordNames, RecordSink, RunOutcome,
    SegmentOutcome, SimulationRecord, WorkTicket, WorkloadConditionType,
};
use sim_policy::conditions::JOBS_READY;
use sim_policy::job::DEADLINE_EXCEEDED;

pub struct RestartFold {
    pub(crate) jobsets: Vec<JobSetState>,
    pub(crate) troubles: PodFailures,
    finished: Vec<RestartMetrics>,
    /// Failures after which their JobSets ended instead of restarting.
    pub(crate) fatal: Vec<FatalFailure>,
    /// Index of each fault that suspends a JobSet, and the name of the JobSet.
    suspensions: Vec<(u32, String)>,
    pub(crate) now: SimTime,
    /// Ticket of the current record.
    ticket: u32,
    pub(crate) tickets: TicketIndex,
    with_paths: bool,
    /// Whether a Job of each JobSet has a limit of failures per index.
    pub(crate) index_limits: Vec<bool>,
}

impl RestartFold {
    pub fn new(scenario: &ScenarioSpec) -> RestartFold {
        let harms = scenario.faults.iter();
        let harms = harms.map(|f| FaultHarm::from_action(&f.action));
        let suspended = |(index, fault): (usize, &ScriptedFault)| {
            let name = suspended_jobset(&fault.action)?;
            Some((index as u32, name.to_owned()))
        };
        let has_limit = |submitted: &SubmittedJobSet| {
            let mut jobs = submitted.jobset.spec.replicated_jobs.iter();
            jobs.any(|rj| rj.template.backoff_limit_per_index.is_some())
        };
        RestartFold {
            index_limits: scenario.jobsets.iter().map(has_limit).collect(),
            suspensions: scenario.faults.iter().enumerate().filter_map(suspended).collect(),
            ..RestartFold::from_parts(harms.collect())
        }
    }

    /// Creates the fold. `harms[i]` states what fault `i` of the scenario can do to pods; faults beyond the list may
    /// break pods.
    pub fn from_parts(harms: Vec<FaultHarm>) -> RestartFold {
        RestartFold {
            jobsets: Vec::new(),
            troubles: PodFailures::new(harms),
            finished: Vec::new(),
            fatal: Vec::new(),
            suspensions: Vec::new(),
            now: SimTime::ZERO,
            ticket: NO_TICKET,
            tickets: TicketIndex::default(),
            with_paths: true,
            index_limits: Vec::new(),
        }
    }

    /// Returns the number of tickets that are stored for open and future restarts.
    pub fn kept_tickets(&self) -> usize {
        self.tickets.iter().count()
    }

    /// Turns off tickets: restarts then have no critical path.
    pub fn without_paths(self) -> RestartFold {
        RestartFold { with_paths: false, ..self }
    }

    /// Returns all restarts in order of their start. Restarts that are still open end with the run.
    pub fn finish(mut self, outcome: &RunOutcome, names: &RecordNames) -> Vec<RestartMetrics> {
        self.now = outcome.end;
        for jobset in (0..self.jobsets.len() as u32).map(JobSetId) {
            let dead_end = outcome.blocked_reason(names.jobset(jobset)).is_some();
            let path = self.unfinished_path(jobset, dead_end, names);
            self.close_restart(jobset, RestartOutcome::Unfinished, path);
        }
        let mut all = self.finished;
        all.sort_by_key(|r| (r.start, r.jobset));
        for training in &outcome.training {
            let own = all.iter_mut().filter(|r| r.jobset == training.jobset);
            note_next(own.collect(), &training.segments);
        }
        all
    }

    /// Returns the restarts of a JobSet that have ended so far.
    pub fn ended(&self, jobset: JobSetId) -> impl Iterator<Item = &RestartMetrics> {
        self.finished.iter().filter(move |r| r.jobset == jobset)
    }

    pub(crate) fn open_of(&mut self, jobset: Option<JobSetId>) -> Option<&mut RestartMetrics> {
        self.jobsets.get_mut(jobset?.ix())?.open.as_mut()
    }

    pub(crate) fn pod_restart(&mut self, pod: PodId) -> Option<&mut RestartMetrics> {
        let jobset = self.troubles.pod_jobset(pod);
        self.open_of(jobset)
    }

    /// Handles a visible failure of a pod: opens a restart of its JobSet unless one is open.
    fn handle_pod_failure(&mut self, pod: PodId) {
        let Some((mut start, mut cause)) = self.troubles.cause(pod) else {
            return;
        };
        // A surplus pod is a failure only if its deletion made the JobSet unready.
        let jobset = self.troubles.pod_jobset(pod);
        let state = jobset.and_then(|jobset| self.jobsets.get(jobset.ix()));
        if self.troubles.is_surplus(pod) && state.is_none_or(|state| state.unready_since != Some(start)) {
            return;
        }
        let requested = self.troubles.pod_mut(pod).and_then(|p| p.requested);
        if let Some((at, kind)) = requested.filter(|(at, _)| *at <= start) {
            start = at;
            cause = match kind {
                CauseKind::Suspended => RestartCause { kind, ..RestartCause::UNKNOWN },
                _ => RestartCause { kind, ..cause },
            };
        }
        if let Some(jobset) = jobset {
            self.open(jobset, start, cause);
            if cause.kind == CauseKind::Suspended
                && let Some(restart) = self.open_of(Some(jobset)).filter(|restart| restart.cause == cause)
            {
                restart.became(RestartScope::Resume);
            }
        }
    }

    fn open(&mut self, jobset: JobSetId, start: SimTime, cause: RestartCause) {
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        if state.over {
            return;
        }
        if state.open.is_none() {
            // The control plane may notice a later failure first.
            let loss = self.troubles.first_loss(jobset, state.ready_since);
            let (start, cause) = loss.filter(|(at, _)| *at < start).unwrap_or((start, cause));
            // A fault that was not visible when every pod was ready the last time, such as the crash of a node during
            // the restart before, ends the attempt that began then.
            let caused_at = start;
            let start = start.max(state.ready_since);
            let mut restart = RestartMetrics { caused_at, ..RestartMetrics::new(jobset, start, cause) };
            restart.attempt = state.attempt;
            state.open = Some(restart);
            state.begin_round();
            state.confirmed = false;
            state.newest = None;
            state.later_faults.clear();
        }
        state.confirmed |= state.was_ready && !state.ready;
    }

    /// Handles a restart that the JobSet controller ordered; opens one if none is open.
    fn ordered(&mut self, jobset: JobSetId, shape: RestartScope, attempt: u32) -> Option<&mut RestartMetrics> {
        let forced = row_or_default(&mut self.jobsets, jobset.ix()).forced.take();
        let (start, cause) = forced.unwrap_or((self.now, RestartCause::UNKNOWN));
        self.open(jobset, start, cause);
        let state = self.jobsets.get_mut(jobset.ix())?;
        state.confirmed = true;
        state.attempt = attempt;
        state.awaited = (shape == RestartScope::InPlaceRestart).then_some(attempt);
        if shape != RestartScope::RestartJob {
            state.begin_round();
        }
        let restart = state.open.as_mut()?;
        restart.became(shape);
        if shape != RestartScope::RestartJob {
            // Every pod becomes ready again: those that were ready in an earlier attempt as well.
            (restart.pods, restart.created) = (0, 0);
        }
        restart.attempt = attempt;
        Some(restart)
    }

    /// Ends the open restart of a JobSet at the current record.
    fn end(&mut self, jobset: JobSetId, ending: RestartOutcome, names: &RecordNames) {
        let path = self.path(jobset, self.ticket, names);
        self.close_restart(jobset, ending, path);
    }

    /// Closes the open restart of a JobSet; discards it if it was never confirmed.
    fn close_restart(&mut self, jobset: JobSetId, ending: RestartOutcome, path: CriticalPath) {
        let now = self.now;
        self.end_capacity_wait(jobset);
        self.resumed(jobset);
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        let Some(mut restart) = state.open.take() else {
            return;
        };
        // A node that was unreachable for a while: the pods were not ready, but their containers ran on.
        if ending == RestartOutcome::Ready && restart.is_interruption() {
            state.confirmed = false;
            return;
        }
        let ordered = restart.shape >= RestartScope::InPlaceRestart;
        let restart_is_suspension = restart.cause.kind == CauseKind::Suspended;
        if state.confirmed && ending == RestartOutcome::JobSetEnded && !ordered {
            self.fatal.push(FatalFailure { jobset, start: restart.start, end: now, cause: restart.cause });
        } else if state.confirmed {
            let is_resumed = restart.shape == RestartScope::Resume;
            let has_failed = restart.milestone(Milestone::FailureTarget).is_some();
            if ending == RestartOutcome::Unfinished && has_failed && !is_resumed {
                // Its Job has failed, so it waits for the restart of the JobSet.
                restart.became(RestartScope::Recreate);
            }
            // All pods were ready before the attempt became current: the restart ended at that time.
            let early = state.ready && state.awaited.is_some();
            let early = early && state.ready_since > restart.start;
            (restart.end, restart.ending) =
                if early { (state.ready_since, RestartOutcome::Ready) } else { (now, ending) };
            if restart.ending == RestartOutcome::Unfinished {
                restart.stuck_since = self.troubles.stuck_pods(jobset).map(|(_, deleted)| deleted).min();
            }
            restart.path = path;
            restart.path.truncate(restart.end);
            for &(from, to) in &restart.queue {
                restart.path.wait_for_admission(from, to, (jobset, None));
            }
            self.finished.push(restart);
            state.last = self.finished.len();
        }
        state.confirmed = false;
        state.awaited = None;
        state.forced = None;
        if restart_is_suspension {
            state.suspension_requested = None;
        }
    }

    fn ready_changed(&mut self, jobset: JobSetId, ready: bool, names: &RecordNames) {
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        state.ready = ready;
        state.was_ready |= ready;
        state.unready_since = (!ready).then_some(self.now);
        if ready {
            state.ready_since = self.now;
            self.all_ready(jobset, names);
        } else if state.open.is_some() && state.was_ready {
            state.confirmed = true;
        }
    }

    /// Ends the open restart if every pod is ready and no in-place attempt is outstanding.
    fn all_ready(&mut self, jobset: JobSetId, names: &RecordNames) {
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        let waits = state.open.is_some() && state.awaited.is_some();
        if state.ready && !waits {
            self.end(jobset, RestartOutcome::Ready, names);
            self.troubles.clear_failures(jobset);
        }
    }

    fn jobset_record(&mut self, body: &Body, names: &RecordNames) {
        let now = self.now;
        match *body {
            Body::RestartCounted { jobset, restarts, .. } => {
                if let Some(r) = self.ordered(jobset, RestartScope::Recreate, restarts) {
                    r.set_earliest(Milestone::RestartCounted, now);
                }
            }
            Body::JobRestartCounted { jobset, restarts, .. } => {
                if let Some(r) = self.ordered(jobset, RestartScope::RestartJob, restarts) {
                    r.set_earliest(Milestone::RestartCounted, now);
                }
            }
            Body::PreviousAttempt { jobset, attempt } => {
                if let Some(r) = self.ordered(jobset, RestartScope::InPlaceRestart, attempt + 1) {
                    r.set_earliest(Milestone::PreviousWritten, now);
                }
            }
            Body::CurrentAttempt { jobset, attempt } => {
                if let Some(r) = self.open_of(Some(jobset)) {
                    r.set_latest(Milestone::CurrentWritten, now);
                }
                let state = row_or_default(&mut self.jobsets, jobset.ix());
                if state.awaited.is_some_and(|awaited| awaited <= attempt) {
                    state.awaited = None;
                    self.all_ready(jobset, names);
                }
            }
            Body::AllReady { jobset, ready } => self.ready_changed(jobset, ready, names),
            Body::JobSetCreated { jobset } => row_or_default(&mut self.jobsets, jobset.ix()).over = false,
            Body::JobSetDeleted { jobset } => {
                self.end(jobset, RestartOutcome::JobSetEnded, names);
                row_or_default(&mut self.jobsets, jobset.ix()).over = true;
            }
            Body::JobSetCondition { kind: JobSetConditionType::RestartingJobSet, status: false, reason, .. }
                if names.text(reason) != JOBS_READY => {}
            Body::JobSetCondition { jobset, kind, status, .. } => {
                self.condition(jobset, (kind, status), names);
            }
            Body::WorkloadCondition { jobset, kind: WorkloadConditionType::Evicted, status: true, reason, .. } => {
                self.evicted(jobset, reason);
            }
            _ => {}
        }
    }

    fn condition(&mut self, jobset: JobSetId, (kind, status): (JobSetConditionType, bool), names: &RecordNames) {
        use JobSetConditionType::*;
        let now = self.now;
        match (kind, status) {
            (Completed | Failed, true) => {
                let state = row_or_default(&mut self.jobsets, jobset.ix());
                if let (None, Some((start, cause))) = (&state.open, state.forced) {
                    self.fatal.push(FatalFailure { jobset, start, end: now, cause });
                }
                self.end(jobset, RestartOutcome::JobSetEnded, names);
                let state = row_or_default(&mut self.jobsets, jobset.ix());
                // From here on the JobSet is meant to be unready, so that is not a restart.
                state.was_ready = false;
                state.over = true;
            }
            (Suspended, true) => self.suspended(jobset),
            (Suspended, false) => {
                row_or_default(&mut self.jobsets, jobset.ix()).suspension_requested = None;
                self.resumed(jobset);
            }
            (RestartingJobSet, false) => {
                let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
                    return;
                };
                // An interruption that has begun since, and restarts no Jobs yet, is another one.
                let done = self.finished.get_mut(state.last.wrapping_sub(1));
                let open = state.open.as_mut().filter(|r| r.shape >= RestartScope::InPlaceRestart);
                if let Some(r) = open.or(done) {
                    r.set_earliest(Milestone::JobsReady, now);
                }
            }
            _ => {}
        }
    }

    /// Handles an eviction by Kueue: it interrupts a JobSet whose pods were ready. It is not the cause of a restart
    /// that is already open.
    fn evicted(&mut self, jobset: JobSetId, reason: TextId) {
        if self.jobsets.get(jobset.ix()).is_some_and(|state| state.was_ready) {
            self.open(jobset, self.now, RestartCause { kind: CauseKind::Evicted { reason }, ..RestartCause::UNKNOWN });
        }
    }

    /// Handles the condition of a Job that exceeded its activeDeadlineSeconds: the Job controller has deleted its pods
    /// before.
    fn deadline_exceeded(&mut self, body: &Body, names: &RecordNames) {
        let Body::JobCondition { job, reason, .. } = *body else { return };
        let Some(jobset) = names.jobset_of(job).filter(|_| names.text(reason) == DEADLINE_EXCEEDED.0) else { return };
        let cause = RestartCause { kind: CauseKind::Deadline, job, ..RestartCause::UNKNOWN };
        let now = self.now;
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        let by = DeletionActor::JobController;
        match &mut state.open {
            Some(restart) if restart.cause.job == job && restart.cause.kind == CauseKind::PodDeleted { by } => {
                restart.cause = cause;
            }
            Some(_) => {}
            None => {
                state.forced.get_or_insert((now, cause));
            }
        }
    }

    /// Handles a request of a user to suspend a JobSet.
    fn suspension_requested(&mut self, index: u32, names: &RecordNames) {
        let Some((_, name)) = self.suspensions.iter().find(|(known, _)| *known == index) else {
            return;
        };
        for (row, state) in self.jobsets.iter_mut().enumerate() {
            if names.jobset(JobSetId(row as u32)) == name {
                state.suspension_requested = Some(self.now);
            }
        }
    }

    /// Handles the suspension of a JobSet: an open restart waits until the JobSet is resumed. Without one, the
    /// suspension of a JobSet whose pods were ready begins one.
    fn suspended(&mut self, jobset: JobSetId) {
        let now = self.now;
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        let since = state.suspension_requested.take().or(state.unready_since).unwrap_or(now);
        if state.was_ready {
            // The Job controller deletes the pods because of the suspension.
            let follows = |restart: &RestartMetrics| {
                let by = DeletionActor::JobController;
                let kind = restart.cause.kind;
                restart.start >= since && (kind == CauseKind::PodDeleted { by } || kind == CauseKind::Suspended)
            };
            if state.open.as_ref().is_some_and(follows) {
                state.open = None;
            }
            self.open(jobset, since, RestartCause { kind: CauseKind::Suspended, ..RestartCause::UNKNOWN });
        }
        let state = row_or_default(&mut self.jobsets, jobset.ix());
        let is_interrupted = state.was_ready || state.confirmed;
        if let Some(restart) = state.open.as_mut()
            && is_interrupted
        {
            restart.became(RestartScope::Resume);
            state.confirmed = true;
            state.awaited = None;
            state.suspended_since.get_or_insert(now);
        } else {
            // From here on the JobSet is meant to be unready, so that is not a restart.
            state.was_ready = false;
            state.open = None;
        }
    }

    /// The JobSet is not suspended any more, or its restart ends.
    fn resumed(&mut self, jobset: JobSetId) {
        let now = self.now;
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        if let (Some(since), Some(restart)) = (state.suspended_since.take(), state.open.as_mut())
            && since < now
        {
            restart.queue.push((since, now));
        }
    }

    fn pod_created(&mut self, pod: PodId, mut state: PodFailureState) {
        let jobset = self.jobsets.get_mut(state.jobset.ix());
        if let Some(jobset) = jobset.filter(|jobset| jobset.open.is_some()) {
            state.created_in = jobset.round;
            let is_new = jobset.to_create_again == 0;
            jobset.to_create_again = jobset.to_create_again.saturating_sub(1);
            if let Some(restart) = jobset.open.as_mut().filter(|_| is_new) {
                restart.created += 1;
            }
        }
        self.troubles.create(pod, state);
        if let Some(r) = self.pod_restart(pod) {
            r.became(RestartScope::PodReplacement);
            r.set_earliest(Milestone::FirstPodCreated, state.created);
            r.set_latest(Milestone::LastPodCreated, state.created);
        }
    }

    fn pod_ready(&mut self, pod: PodId) {
        let now = self.now;
        let Some(p) = self.troubles.pod_mut(pod) else {
            return;
        };
        p.trouble = None;
        let (job, index, jobset) = (p.job, p.index, p.jobset);
        let Some(state) = self.jobsets.get_mut(jobset.ix()) else {
            return;
        };
        let Some(r) = state.open.as_mut() else {
            return;
        };
        r.set_earliest(Milestone::FirstReady, now);
        r.set_latest(Milestone::LastReady, now);
        if p.counted != state.round {
            p.counted = state.round;
            match state.replaced.checked_sub(1) {
                Some(rest) => state.replaced = rest,
                None => r.pods += 1,
            }
        }
        // The failed pod is ready again and the JobSet was never unready: not a restart.
        if !state.confirmed && r.cause.job == job && r.cause.index == index {
            state.open = None;
        }
    }

    /// Handles the end of a pod that may be counted as ready again: the pod that replaces it does not count in
    /// addition.
    pub(crate) fn pod_ends(&mut self, pod: PodId) {
        let now = self.now;
        let Some(p) = self.troubles.pod_mut(pod).filter(|p| !p.succeeded) else {
            return;
        };
        p.ended = p.ended.min(now);
        let rounds = [&mut p.counted, &mut p.created_in].map(std::mem::take);
        let Some(state) = self.jobsets.get_mut(p.jobset.ix()) else { return };
        let [counted, created] = rounds.map(|round| u32::from(round > 0 && round == state.round));
        state.replaced += counted;
        state.to_create_again += created;
    }

    /// Returns the time and kind of the user's request because of which the Job controller deletes a pod: the request
    /// is the direct cause of the deletion, or the suspension that a user requested has not been observed yet.
    fn request_behind(&self, pod: PodId, record: &SimulationRecord) -> Option<(SimTime, CauseKind)> {
        let jobset = self.troubles.pod_jobset(pod)?;
        let suspension = self.jobsets.get(jobset.ix()).and_then(|state| state.suspension_requested);
        match self.troubles.request_behind(record) {
            Some((at, index)) if !self.suspensions.iter().any(|(known, _)| *known == index) => {
                Some((at, CauseKind::Fault { index }))
            }
            Some((at, _)) => Some((at, CauseKind::Suspended)),
            None if self.troubles.has_failing_job(pod) => None,
            None => Some((suspension?, CauseKind::Suspended)),
        }
    }

    /// Returns whether a pod ended before every pod of its JobSet was ready the last time: another pod has replaced it,
    /// and what happens to it later, such as the removal from a lost node, interrupts nothing.
    fn is_replaced(&self, pod: PodId) -> bool {
        let state = self.troubles.pod_jobset(pod).and_then(|jobset| self.jobsets.get(jobset.ix()));
        let ended = self.troubles.pod(pod).map_or(SimTime::NEVER, |p| p.ended);
        state.is_some_and(|state| state.was_ready && ended < state.ready_since)
    }

    fn pod_trouble(&mut self, record: &SimulationRecord) {
        let now = self.now;
        match record.body {
            Body::PodFinished { pod, .. } | Body::PodDeleting { pod, .. } | Body::PodNotReady { pod, .. }
                if self.is_replaced(pod) => {}
            // The container has done its work. In a Job with more completions than parallelism the JobSet is unready
            // until the next pod is ready. Only a restart of the container makes the exit a failure.
            Body::ContainerExited { pod, exit_code: 0, .. } => {
                if let Some(p) = self.troubles.pod_mut(pod) {
                    p.exited_well = now;
                }
            }
            Body::ContainerExited { pod, exit_code, .. } => {
                self.troubles.store_failure(now, pod, CauseKind::ContainerExited { exit_code });
                self.handle_pod_failure(pod);
            }
            Body::ContainersRestarting { pod, .. } => {
                let since = self.troubles.pod_mut(pod).map_or(now, |p| p.exited_well.min(now));
                self.troubles.store_failure(since, pod, CauseKind::ContainerExited { exit_code: 0 });
                self.handle_pod_failure(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.set_earliest(Milestone::FirstContainersRestarting, now);
                    r.set_latest(Milestone::LastContainersRestarting, now);
                }
            }
            Body::PodFinished { pod, succeeded: false, exit_code, .. } => {
                self.pod_ends(pod);
                if self.troubles.root(pod).is_none() && self.pod_restart(pod).is_none() {
                    let request = self.troubles.request_behind(record);
                    let failed = (now, CauseKind::PodFailed { exit_code });
                    let (at, kind) = request.map_or(failed, |(at, index)| (at, CauseKind::Fault { index }));
                    self.troubles.store_failure(at, pod, kind);
                }
                self.handle_pod_failure(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.became(RestartScope::PodReplacement);
                    r.set_earliest(Milestone::PodFailed, now);
                }
            }
            Body::PodFinished { pod, .. } => {
                // The pod succeeded, which is not a failure.
                if let Some(p) = self.troubles.pod_mut(pod) {
                    (p.trouble, p.succeeded) = (None, true);
                }
            }
            Body::PodDeleting { pod, by, .. } => {
                self.pod_ends(pod);
                if let Some(p) = self.troubles.pod_mut(pod) {
                    p.deleted = p.deleted.min(now);
                }
                if self.troubles.root(pod).is_none() && self.pod_restart(pod).is_none() {
                    self.troubles.store_failure(now, pod, CauseKind::PodDeleted { by });
                    let requested = self.request_behind(pod, record).filter(|_| by == DeletionActor::JobController);
                    if let Some(p) = self.troubles.pod_mut(pod) {
                        p.requested = requested;
                    }
                }
                // These controllers carry out a decision: it is a failure only if the JobSet becomes unready.
                if matches!(by, DeletionActor::JobController | DeletionActor::GarbageCollector) {
                    return;
                }
                self.handle_pod_failure(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.became(RestartScope::PodReplacement);
                    r.set_earliest(Milestone::PodDeleting, now);
                }
            }
            Body::PodNotReady { pod, .. } => {
                self.handle_pod_failure(pod);
                if let Some(r) = self.pod_restart(pod) {
                    r.set_earliest(Milestone::PodNotReady, now);
                }
            }
            _ => {}
        }
    }
}

/// Returns the name of the JobSet that an action of a user suspends, if any.
fn suspended_jobset(action: &FaultAction) -> Option<&str> {
    match action {
        FaultAction::SuspendJobSet(name) => Some(name),
        FaultAction::Request(request) => {
            let is_jobset = request.object.kind == ObjectKind::JobSet;
            let RequestVerb::Patch { body, status: false } = &request.verb else {
                return None;
            };
            (is_jobset && body["spec"]["suspend"] == true).then_some(&request.object.name)
        }
        _ => None,
    }
}

/// Assigns each finished restart the first training segment between its end and the next restart. Segments during the
/// restart (an elastic job that continued without some slices) add their rendezvous, restore and redo times.
///
/// A restart can begin with the last instant at which all pods were ready, and so with the segment that follows the
/// restart before.
fn note_next(restarts: Vec<&mut RestartMetrics>, segments: &[SegmentOutcome]) {
    let mut before = SimTime::NEVER;
    let mut ready: Vec<&mut RestartMetrics> =
        restarts.into_iter().filter(|r| r.ending == RestartOutcome::Ready).collect();
    let ends: Vec<SimTime> = ready.iter().map(|restart| restart.end).collect();
    for (nth, restart) in ready.iter_mut().enumerate().rev() {
        let at = segments.partition_point(|segment| segment.start < restart.end);
        let next = segments.get(at).filter(|segment| segment.start < before);
        let after_previous =
            nth.checked_sub(1).map_or(0, |nth| segments.partition_point(|segment| segment.start < ends[nth]) + 1);
        let meanwhile = segments.partition_point(|segment| segment.start < restart.start).max(after_previous);
        restart.next = next.copied();
        for segment in &segments[meanwhile.min(at)..at] {
            let next = restart.next.get_or_insert(SegmentOutcome::default());
            next.rendezvous = next.rendezvous + segment.rendezvous;
            next.restore = next.restore + segment.restore;
            next.redo = next.redo + segment.redo;
        }
        before = restart.end;
    }
}

impl RecordSink for RestartFold {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        (self.now, self.ticket) = (record.at, record.ticket);
        self.capacity_record(&record.body);
        match record.body {
            Body::PodCreated { pod, incarnation, job, index, .. } => {
                let state = PodFailureState {
                    incarnation,
                    job,
                    jobset: names.jobset_of(job).unwrap_or(JobSetId::NONE),
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
            | Body::PodNotReady { .. } => {
                if let Body::ContainerExited { pod, .. } = record.body
                    && let Some((at, kind)) = self.troubles.detected(record)
                {
                    self.troubles.store_failure(at, pod, kind);
                }
                self.pod_trouble(record);
            }
            Body::TrainingInterrupted { .. } => self.troubles.training_interrupted(record),
            Body::JobCreated { .. } | Body::JobCondition { .. } | Body::JobDeleting { .. } | Body::JobGone { .. } => {
                match record.body {
                    Body::JobDeleting { job } | Body::JobGone { job } => self.troubles.job_deleted(record, job),
                    Body::JobCreated { job, .. } => self.troubles.job_created(job),
                    Body::JobCondition { job, kind, status: true, .. } => {
                        let forced = self.troubles.job_condition(record, job, kind);
                        if let Some(((at, index), jobset)) = forced.zip(names.jobset_of(job)) {
                            let kind = CauseKind::Fault { index };
                            let cause = RestartCause { kind, job, ..RestartCause::UNKNOWN };
                            row_or_default(&mut self.jobsets, jobset.ix()).forced = Some((at, cause));
                        }
                        self.deadline_exceeded(&record.body, names);
                    }
                    _ => {}
                }
                self.job_record(&record.body, names);
            }
            // A kubelet refuses the pod; its status follows.
            Body::KubeEvent { object: ObjectRef::Pod(pod), warning: true, reason, .. } => {
                self.troubles.store_failure(record.at, pod, CauseKind::PodRefused { reason });
            }
            Body::Answered { index, answer } if !names.text(answer).is_empty() => self.troubles.refused(index),
            Body::NodeState { node, ready } => self.troubles.node_state(record.at, node, ready),
            Body::Fault { index, node, pod } => {
                if self.with_paths {
                    self.note_fault(node);
                }
                self.troubles.fault(record, index, node, pod);
                self.suspension_requested(index, names);
            }
            _ => {
                // The submission of another JobSet can lead to a preemption, like a fault.
                if self.with_paths && matches!(record.body, Body::JobSetCreated { .. }) {
                    self.note_fault(NodeId::NONE);
                }
                self.jobset_record(&record.body, names);
            }
        }
        if self.with_paths {
            self.note_newest(record, names);
        }
    }

    fn receives_tickets(&self) -> bool {
        self.with_paths
    }

    fn ticket(&mut self, ticket: &WorkTicket) {
        // Tickets may be sent because of another sink.
        if self.with_paths {
            self.keep(ticket);
        }
    }
}
