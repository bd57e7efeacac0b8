//! The loop: pop the next event, hand it to the component it belongs to. Read this first.
//!
//! One match over the closed set of events; handlers live in the file of their component. Text, files and names do
//! not exist here, only ids.

use super::event::Event;
use super::model::Model;
use super::world::World;
use super::{check, digest};
use crate::base::random::{Dist, Purpose};
use crate::base::*;
use crate::placement::TemplateFacts;
use crate::record::*;
use crate::spec::{BY_SCRIPT, FaultTime, JobSpec, StopWhen};

/// One run in progress: the fixed model, the changing world, the sink of records.
pub struct Run<'a> {
    pub m: &'a Model,
    pub w: &'a mut World,
    pub sink: &'a mut dyn Sink,
    pub paranoid: bool,
}

/// Longer than any timer of the modelled controllers (pod-failure back-off 600 s, toleration 300 s): when only
/// retries have happened for so long, nothing else will.
const QUIET: Duration = Duration::from_secs(900);

impl Run<'_> {
    pub fn execute(&mut self) -> EndReason {
        self.begin();
        let limit = Time::ZERO + self.m.scenario.stop.at;
        let reason = loop {
            let Some((at, event, cause)) = self.w.queue.pop() else {
                break self.rest_reason();
            };
            if at > limit {
                self.w.now = limit;
                break EndReason::TimeLimit;
            }
            debug_assert!(at >= self.w.now, "time runs backwards");
            self.w.now = at;
            self.w.cause = cause;
            self.w.events += 1;
            self.handle(event);
            if self.paranoid {
                check::whole_state(self.m, self.w);
            }
            if let Some(reason) = self.should_stop() {
                break reason;
            }
        };
        if self.m.scenario.stop.when == StopWhen::Time {
            self.w.now = limit;
        }
        self.emit(Body::End { reason });
        reason
    }

    fn begin(&mut self) {
        for (i, js) in self.m.jobsets.iter().enumerate() {
            if js.submit_at == BY_SCRIPT {
                continue;
            }
            let at = Time::ZERO + js.submit_at;
            self.at(at, Event::Submit(JobSetId(i as u32)));
        }
        for (i, switch) in self.m.scenario.gate_switches.iter().enumerate() {
            self.at(Time::ZERO + switch.at, Event::GateSwitch(i as u32));
        }
        for (i, fault) in self.m.scenario.faults.iter().enumerate() {
            if let FaultTime::At(at) = fault.at {
                self.at(Time::ZERO + at, Event::Fault(i as u32));
            }
        }
    }

    fn handle(&mut self, event: Event) {
        use Event::*;
        match event {
            Submit(jobset) => self.submit(jobset),
            Fault(index) => self.fault(index),
            GateSwitch(index) => self.switch_gates(index),
            ContainersUp { pod, epoch } => self.containers_up(pod, epoch),
            ContainerExit { pod, epoch } => self.container_exit(pod, epoch),
            ExitNoticed { pod, epoch } => self.exit_noticed(pod, epoch),
            ContainersBack { pod, epoch } => self.containers_back(pod, epoch),
            Stopped { pod, incarnation } => self.stopped(pod, incarnation),
            AgentSees { pod, epoch } => self.agent_sees(pod, epoch),
            WorkerUp { pod, epoch } => self.worker_up(pod, epoch),
            StatusWritten { pod, epoch, what } => self.status_written(pod, epoch, what),
            KubeletDeleted { pod, incarnation } => self.kubelet_deleted(pod, incarnation),
            AttemptWritten { pod, epoch } => self.attempt_written(pod, epoch),
            PodCreateAnswered { worker, job, index } => {
                self.pod_create_answered(worker, job, index)
            }
            PodDeleteAnswered {
                worker,
                pod,
                incarnation,
            } => self.pod_delete_answered(worker, pod, incarnation),
            FinalizerAnswered {
                worker,
                pod,
                incarnation,
            } => self.finalizer_answered(worker, pod, incarnation),
            JobStatusAnswered { worker } => self.job_status_answered(worker),
            JobEventSent => self.job_event_sent(),
            CollectorAnswered { worker } => self.collector_answered(worker),
            JobSetAnswered { jobset, call, job } => self.jobset_answered(jobset, call, job),
            BindAnswered { pod, incarnation } => self.bind_answered(pod, incarnation),
            EvictionAnswered { pod, incarnation } => self.eviction_answered(pod, incarnation),
            JobDue(job) => self.job_due(job),
            JobSeen(job) => self.job_seen(job),
            JobSetSeen(jobset) => self.jobset_seen(jobset),
            JobSetDue(jobset) => self.jobset_due(jobset),
            JobSetPodNews(jobset) => self.pod_news_arrives(jobset),
            JobSetComputed(jobset) => self.jobset_computed(jobset),
            JobTtlOver { job, incarnation } => self.job_ttl_over(job, incarnation),
            JobTtlDeletes { job, incarnation } => self.job_ttl_deletes(job, incarnation),
            CollectorSees {
                job,
                incarnation,
                deleted,
            } => self.collector_sees(job, incarnation, deleted),
            CollectorDeletesJob(job) => self.collector_deletes_job(job),
            MonitorTick => self.monitor_tick(),
            TaintDue(node) => self.taint_due(node),
            TolerationOver { pod, incarnation } => self.toleration_over(pod, incarnation),
            PodGcTick => self.pod_gc_tick(),
            CycleDone { pod, incarnation } => self.cycle_done(pod, incarnation),
            BackoffOver { pod, incarnation } => self.backoff_over(pod, incarnation),
        }
    }

    /// What the scheduler knows of the Job's pods.
    pub fn facts(&self, job: JobId) -> &TemplateFacts {
        match &self.w.jobs[job.ix()].facts {
            Some(facts) => facts,
            None => &self.m.templates[self.m.jobs[job.ix()].template.ix()],
        }
    }

    /// The Job's spec as stored now.
    pub fn job_spec(&self, job: JobId) -> &JobSpec {
        match &self.w.jobs[job.ix()].spec {
            Some(spec) => spec,
            None => self.m.job_spec(job),
        }
    }

    /// Schedules an event; its cause is the newest record of this handler, or the event's own.
    pub fn at(&mut self, at: Time, event: Event) {
        self.w.queue.push(at, event, self.w.cause);
    }

    pub fn after(&mut self, delay: Duration, event: Event) {
        self.at(self.w.now + delay, event);
    }

    /// Writes a record; what the handler does next is caused by it.
    pub fn emit(&mut self, body: Body) -> u32 {
        let record = Record {
            seq: self.w.records,
            cause: self.w.cause,
            at: self.w.now,
            body,
        };
        self.w.digest = digest::add(self.w.digest, &record, &self.w.texts);
        self.w.records = self
            .w
            .records
            .checked_add(1)
            .expect("more than 4 billion records");
        self.sink.record(&record, &self.w.texts);
        if !matches!(
            body,
            Body::PodCreateRejected { .. } | Body::KubeEvent { .. } | Body::PodUnschedulable { .. }
        ) {
            self.w.last_progress = self.w.now;
        }
        self.w.cause = record.seq;
        record.seq
    }

    /// One draw keyed by (purpose, pod place, nth life).
    pub fn draw(&self, purpose: Purpose, pod: PodId, occurrence: u32, dist: &Dist) -> Duration {
        match dist {
            Dist::Fixed(d) => *d,
            _ => self
                .w
                .streams
                .stream(purpose, pod.0, occurrence)
                .sample(dist),
        }
    }

    fn should_stop(&self) -> Option<EndReason> {
        let finished = |r: &Self| {
            r.w.jobsets
                .iter()
                .all(|js| js.submitted && (js.status.terminal_state.is_some() || js.deleted))
        };
        match self.m.scenario.stop.when {
            StopWhen::Time => None,
            StopWhen::AllJobSetsFinished if finished(self) => Some(EndReason::AllJobSetsFinished),
            _ => {
                let quiet = self.w.now.since(self.w.last_progress) > QUIET;
                (quiet && self.w.pending_exits == 0 && self.script_is_over())
                    .then(|| self.rest_reason())
            }
        }
    }

    fn script_is_over(&self) -> bool {
        self.w.faults_left == 0 || (!self.w.ready_faults_armed && self.only_ready_faults_left())
    }

    fn only_ready_faults_left(&self) -> bool {
        let waiting = self
            .m
            .scenario
            .faults
            .iter()
            .filter(|f| matches!(f.at, FaultTime::AfterReady(_)))
            .count();
        self.w.faults_left as usize == waiting
    }

    /// Why nothing happens any more.
    fn rest_reason(&self) -> EndReason {
        let done =
            |js: &super::jobsets::JobSetState| js.deleted || js.status.terminal_state.is_some();
        if self.w.jobsets.iter().all(done) {
            return EndReason::AllJobSetsFinished;
        }
        let rests = |js: &super::jobsets::JobSetState| {
            done(js) || js.all_ready || (js.suspended && !js.deleting)
        };
        if self.w.jobsets.iter().all(rests) {
            EndReason::Settled
        } else {
            EndReason::Stuck
        }
    }
}
