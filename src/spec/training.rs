//! What the containers of a JobSet compute: the steps of a training job, and what a restart takes back of them.

use crate::base::Duration;
use crate::base::random::Dist;

/// What a failure takes back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing: every instant is saved.
    Kept,
    /// Everything.
    FromScratch,
    /// What was done since the last checkpoint that was complete; one is also written after the last piece of work.
    Checkpoints {
        /// Work between two of them.
        every: Duration,
        /// How long the job stands still for one.
        blocking: Duration,
    },
}

/// The training job that a JobSet of a scenario is. It steps while every pod that the JobSet wants is ready.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingJob {
    /// Which of the scenario's JobSets.
    pub jobset: usize,
    /// Time that it steps until its containers end; without it they go on as they do.
    pub work: Option<Duration>,
    /// How long a step takes; without it the job can stop at any instant of its work.
    pub step: Option<Duration>,
    /// What an interruption takes back.
    pub progress: Progress,
    /// From the end of a checkpoint's blocking part until it can be restored.
    pub commit_delay: Duration,
    /// At each start of which a checkpoint is restored.
    pub restore: Dist,
    /// At each start: devices, collectives.
    pub initialization: Dist,
    /// At each start, after it.
    pub compile: Dist,
    /// A process that waits longer for the others exits with 1.
    pub rendezvous_timeout: Option<Duration>,
}

impl TrainingJob {
    /// A length of work in whole steps.
    pub fn in_steps(&self, work: Duration) -> Duration {
        match self.step {
            Some(step) => Duration(work.0.div_ceil(step.0).saturating_mul(step.0)),
            None => work,
        }
    }

    /// A checkpoint comes after a whole step.
    pub fn progress_in_steps(&self) -> Progress {
        match self.progress {
            Progress::Checkpoints { every, blocking } => Progress::Checkpoints {
                every: self.in_steps(every),
                blocking,
            },
            other => other,
        }
    }

    /// How many whole steps a length of work is.
    pub fn steps(&self, work: Duration) -> Option<u64> {
        self.step.map(|step| work.0 / step.0)
    }
}
