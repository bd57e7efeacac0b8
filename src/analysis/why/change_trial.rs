//! Runs of a scenario with a change that may admit a JobSet.

use super::trials::{self, MeasuredTrial, TrialTarget};
use crate::admission::inputs::apply;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::SimulationInput;
use sim_engine::record::{Body, RecordNames, RecordSink, SimulationRecord, WorkloadConditionType};
use sim_kueue::verdict::QueueChange;

/// Number of events between two checks whether to stop.
const CHECK_EVERY: u64 = 100;

/// A wait of a JobSet for admission that changes are to end or shorten.
pub(super) struct ChangeTrial<'a> {
    pub simulation: &'a SimulationInput,
    pub seed: u64,
    pub jobset: JobSetId,
    pub goal: TrialGoal,
}

/// When a change counts as one that admits the JobSet.
#[derive(Copy, Clone, Debug)]
pub(super) enum TrialGoal {
    /// It completes, or is ready during the wait that began at this time and has not ended.
    ReadySince(SimTime),
    /// The subject takes at most this time, or does not occur.
    AtMost { target: TrialTarget, time: Duration },
}

/// Result of a change that admits the JobSet.
pub(super) struct ChangedWait {
    /// Wait for quota in seconds, if it was measured.
    pub wait: Option<f64>,
}

/// Observes whether a JobSet is ready at some time from the start of its wait on.
struct ReadySink {
    jobset: JobSetId,
    from: SimTime,
    created: SimTime,
    is_ready: bool,
    /// First reservation of quota.
    reserved: Option<SimTime>,
    now: SimTime,
}

impl RecordSink for ReadySink {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.now = record.at;
        match record.body {
            Body::JobSetCreated { jobset } if jobset == self.jobset => self.created = record.at,
            // Pods that stop before the wait begins do not count.
            Body::AllReady { jobset, ready } if jobset == self.jobset && (ready || record.at < self.from) => {
                self.is_ready = ready;
            }
            Body::WorkloadCondition { jobset, kind: WorkloadConditionType::QuotaReserved, status: true, .. }
                if jobset == self.jobset =>
            {
                self.reserved.get_or_insert(record.at);
            }
            _ => {}
        }
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        CHECK_EVERY
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.is_ready && self.now >= self.from
    }
}

impl ChangeTrial<'_> {
    /// Runs the scenario with changes from its start on. Returns `None` if they do not admit the JobSet. The end of
    /// another Workload cannot be tried in this way.
    pub fn run(&self, changes: &[QueueChange]) -> Option<ChangedWait> {
        let mut scenario = self.simulation.scenario().clone();
        let mut objects = scenario.kueue.take()?;
        for change in changes {
            if !apply(change, &mut scenario, &mut objects, self.jobset.ix()) {
                return None;
            }
        }
        scenario.kueue = Some(objects);
        let mut simulation = SimulationInput::new(&scenario).ok()?;
        let from = match self.goal {
            TrialGoal::ReadySince(from) => from,
            TrialGoal::AtMost { target, time } => {
                let is_short = match trials::measure(&mut simulation, target, (self.seed, 0)) {
                    MeasuredTrial::Took(takes) => takes <= time,
                    MeasuredTrial::Absent => true,
                    MeasuredTrial::NeverEnded => false,
                };
                return is_short.then_some(ChangedWait { wait: None });
            }
        };
        let mut sink = ReadySink {
            jobset: self.jobset,
            from,
            created: SimTime::ZERO,
            is_ready: false,
            reserved: None,
            now: SimTime::ZERO,
        };
        let outcome = simulation.run(self.seed, 0, &mut sink);
        let completed = outcome.jobsets.get(self.jobset.ix()).is_some_and(|own| own.terminal_state == "Completed");
        let wait = Some(sink.reserved?.since(sink.created).seconds());
        (sink.is_ready || completed).then_some(ChangedWait { wait })
    }
}
