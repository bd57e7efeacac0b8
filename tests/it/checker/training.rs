//! Permitted records of a training job: it starts from its saved progress, never starts twice, and loses no saved
//! work.

use sim_api::spec::{
    CheckpointSchedule, FaultAction, RandomAction, RandomFaults, ScenarioSpec, ScriptedFault, SilentFaults, TrainingJob,
};
use sim_base::{Duration, JobSetId};
use sim_engine::record::Body;
use std::collections::BTreeMap;

pub struct Training {
    /// By JobSet: whether its job is stepping, and its saved progress.
    jobs: BTreeMap<u32, (bool, Duration)>,
    /// Saved progress may be lost with a host that stored it, or because the checkpoint turns out to be corrupt.
    may_lose: bool,
    /// By JobSet: the minimum number of slices with which its job steps.
    elastic: BTreeMap<u32, u32>,
}

impl Training {
    pub fn new(scenario: &ScenarioSpec) -> Training {
        let kept_by_hosts = |job: &TrainingJob| match &job.checkpoint_schedule {
            CheckpointSchedule::Checkpoints(all) => all.len() > 1,
            _ => false,
        };
        let corrupts = |p: &RandomFaults| matches!(p.action, RandomAction::Corrupt { .. });
        let corrupt = |f: &ScriptedFault| {
            let wrong = SilentFaults::Corrupt { found_after: Duration::ZERO };
            matches!(&f.action, FaultAction::Silent { fault, .. } if fault.name() == wrong.name())
        };
        Training {
            jobs: BTreeMap::new(),
            elastic: (scenario.training.iter())
                .filter_map(|job| Some((job.jobset as u32, job.elastic.as_ref()?.min_slices)))
                .collect(),
            may_lose: scenario.training.iter().any(kept_by_hosts)
                || scenario.fault_processes.iter().any(corrupts)
                || scenario.faults.iter().any(corrupt),
        }
    }

    fn of(&mut self, jobset: JobSetId) -> &mut (bool, Duration) {
        self.jobs.entry(jobset.0).or_default()
    }

    pub fn body(&mut self, body: &Body) {
        match *body {
            Body::TrainingStarted { jobset, from } => {
                let may_lose = self.may_lose;
                let (steps, saved) = self.of(jobset);
                assert!(!*steps, "training starts twice");
                let legal = from == *saved || (may_lose && from < *saved);
                assert!(legal, "training continues from {from:?}, but {saved:?} is saved");
                (*steps, *saved) = (true, from);
            }
            Body::TrainingSlices { jobset, slices, of } => {
                let min = self.elastic.get(&jobset.0).expect("only elastic jobs report slices");
                assert!(slices <= of, "more slices than the job has");
                assert!(slices >= *min.min(&of), "fewer slices than the minimum");
                assert!(self.of(jobset).0, "slices reported for a job that is not stepping");
            }
            Body::TrainingInterrupted { jobset, reached, kept } => {
                let may_lose = self.may_lose;
                let (steps, saved) = self.of(jobset);
                // A corrupt checkpoint may be detected while the job waits.
                assert!(*steps || may_lose, "interruption of a job that is not stepping");
                let legal = (*saved <= kept || may_lose) && kept <= reached;
                assert!(legal, "saved work is lost");
                (*steps, *saved) = (false, kept);
            }
            Body::TrainingDone { jobset, work } => {
                let (steps, saved) = self.of(jobset);
                let legal = *steps && *saved <= work;
                assert!(legal, "the job completed without having started");
                (*steps, *saved) = (false, work);
            }
            _ => {}
        }
    }
}
