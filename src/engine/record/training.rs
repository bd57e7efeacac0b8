//! What a training job leaves at the end of a run: where its time went, how far it came.

#![deny(missing_docs)]

use sim_base::*;

/// What the time of a training job goes to, from its submission to its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TrainingPhase {
    /// Until every pod is ready for the first time.
    Startup,
    /// Devices and collectives, at every start.
    Initialization,
    /// At every start, after it.
    Compile,
    /// A checkpoint is read.
    Restore,
    /// Steps that nothing took back.
    Productive,
    /// Standing still for checkpoints.
    Checkpoint,
    /// Steps that an interruption took back.
    Lost,
    /// From an interruption until every pod is ready again.
    Recovery,
    /// From the end of the work to that of the JobSet.
    Ending,
    /// No steps, and the JobSet is suspended.
    Suspended,
    /// What steps take longer right after a start.
    WarmUp,
    /// What steps take longer because a machine is slow.
    Slow,
    /// Processes hang, and the job makes no steps.
    Hang,
    /// A job with other slices than before sets itself up anew, with processes that have run on.
    Reinitialization,
    /// What steps take longer because slices are away.
    Degraded,
}

impl TrainingPhase {
    /// How many there are.
    pub const COUNT: usize = 15;

    /// All of them, in order.
    pub const ALL: [TrainingPhase; TrainingPhase::COUNT] = [
        Self::Startup,
        Self::Initialization,
        Self::Compile,
        Self::Restore,
        Self::Productive,
        Self::Checkpoint,
        Self::Lost,
        Self::Recovery,
        Self::Ending,
        Self::Suspended,
        Self::WarmUp,
        Self::Slow,
        Self::Hang,
        Self::Reinitialization,
        Self::Degraded,
    ];

    /// The name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Initialization => "initialization",
            Self::Compile => "compile",
            Self::Restore => "restore",
            Self::Productive => "productive",
            Self::Checkpoint => "checkpoint",
            Self::Lost => "lost",
            Self::Recovery => "recovery",
            Self::Ending => "ending",
            Self::Suspended => "suspended",
            Self::WarmUp => "warmUp",
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Reinitialization => "reinitialization",
            Self::Degraded => "degraded",
        }
    }
}

/// The training job of one JobSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingOutcome {
    /// Whose.
    pub jobset: JobSetId,
    /// When the JobSet was stored.
    pub submitted: Time,
    /// When it came to its end; else the end of the run.
    pub end: Time,
    /// Nanoseconds by phase, in the order of `TrainingPhase::ALL`: they sum to `end - submitted`.
    pub spent_ns: [u64; TrainingPhase::COUNT],
    /// Nanoseconds during which its pods held all the nodes that they want.
    pub held_ns: u64,
    /// Work until the last instant at which it stepped.
    pub reached: Duration,
    /// Of that, what no interruption takes back.
    pub kept: Duration,
    /// The same in steps, if the scenario says what a step takes.
    pub reached_steps: Option<u64>,
    /// The same in steps.
    pub kept_steps: Option<u64>,
    /// What was to be done.
    pub work: Option<Duration>,
    /// All of it was done.
    pub done: bool,
    /// How often every pod was there, and it began or went on.
    pub starts: u32,
    /// How often it was interrupted.
    pub interruptions: u32,
    /// Checkpoints that were completed.
    pub commits: u64,
    /// Each start until what ended it, in order.
    pub stretches: Vec<TrainingStretch>,
}

/// What a training job did from one start, with every pod there, until it was interrupted or done.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingStretch {
    /// When it began.
    pub since: Time,
    /// When something interrupted it, or its work was done.
    pub until: Time,
    /// Steps that counted in the end.
    pub productive: Duration,
    /// What of its steps, and of those before it, was lost with its end.
    pub lost: Duration,
    /// Until processes had found each other, again or for the first time, and compiled.
    pub rendezvous: Duration,
    /// Reading a checkpoint.
    pub restore: Duration,
    /// Making steps that were made before.
    pub redo: Duration,
    /// After it, until the next one began: how long the JobSet was suspended.
    pub suspended: Duration,
}

impl TrainingOutcome {
    /// Nanoseconds in one phase.
    pub fn ns(&self, phase: TrainingPhase) -> u64 {
        self.spent_ns[phase as usize]
    }
}
