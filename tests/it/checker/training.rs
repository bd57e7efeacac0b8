//! What a training job may do: begin where it was saved, never twice, and lose nothing that was saved.

use jobset_sim::base::{Duration, JobSetId};
use jobset_sim::record::Body;
use std::collections::BTreeMap;

/// By JobSet: whether its job steps, and what of it is saved.
#[derive(Default)]
pub struct Training(BTreeMap<u32, (bool, Duration)>);

impl Training {
    fn of(&mut self, jobset: JobSetId) -> &mut (bool, Duration) {
        self.0.entry(jobset.0).or_default()
    }

    pub fn body(&mut self, body: &Body) {
        match *body {
            Body::TrainingStarted { jobset, from } => {
                let (steps, saved) = self.of(jobset);
                assert!(!*steps, "training begins twice");
                assert_eq!(from, *saved, "training goes on from what is saved");
                *steps = true;
            }
            Body::TrainingInterrupted {
                jobset,
                reached,
                kept,
            } => {
                let (steps, saved) = self.of(jobset);
                assert!(*steps, "an interruption of nothing");
                let legal = *saved <= kept && kept <= reached;
                assert!(legal, "saved work is lost");
                (*steps, *saved) = (false, kept);
            }
            Body::TrainingDone { jobset, work } => {
                let (steps, saved) = self.of(jobset);
                let legal = *steps && *saved <= work;
                assert!(legal, "done without having begun");
                (*steps, *saved) = (false, work);
            }
            _ => {}
        }
    }
}
