//! The outcome of a training job: time per phase and progress.

#![deny(missing_docs)]

use sim_base::{Duration, JobSetId, SimTime};

/// Phases of a training job, from its submission to its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TrainingPhase {
    /// Until every pod is ready for the first time.
    Startup,
    /// Initialization of devices and collectives, at every start.
    Initialization,
    /// Compilation, at every start, after the initialization.
    Compile,
    /// Restoring a checkpoint.
    Restore,
    /// Steps that were not lost.
    Productive,
    /// Blocked by writing checkpoints.
    Checkpoint,
    /// Steps that an interruption undid.
    Lost,
    /// From an interruption until every pod is ready again.
    Recovery,
    /// From the end of the work to the end of the JobSet.
    Ending,
    /// No steps because the JobSet is suspended.
    Suspended,
    /// Additional time of steps directly after a start.
    WarmUp,
    /// Additional time of steps because a machine is slow.
    Slow,
    /// Processes hang and the job makes no steps.
    Hang,
    /// A job whose slices have changed initializes again, in processes that kept running.
    Reinitialization,
    /// Additional time of steps because slices are missing.
    Degraded,
    /// Communication of steps that computation does not hide.
    Communication,
}

impl TrainingPhase {
    /// Number of phases.
    pub const COUNT: usize = 16;

    /// All phases, in order.
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
        Self::Communication,
    ];

    /// Returns the name used in files.
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
            Self::Communication => "communication",
        }
    }
}

/// The outcome of one JobSet's training job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingOutcome {
    /// The JobSet of the record.
    pub jobset: JobSetId,
    /// Time at which the JobSet was stored.
    pub submitted: SimTime,
    /// End of the job, or of the run if the job did not end.
    pub end: SimTime,
    /// Nanoseconds per phase, in the order of `TrainingPhase::ALL`; they sum to `end - submitted`.
    pub spent_ns: [u64; TrainingPhase::COUNT],
    /// The part of `Suspended` before every pod was ready for the first time, in nanoseconds.
    pub suspended_before_start_ns: u64,
    /// Nanoseconds during which its pods held all required nodes.
    pub held_ns: u64,
    /// Progress at the last step.
    pub reached: Duration,
    /// The part of that progress that no interruption can undo.
    pub saved_progress: Duration,
    /// `reached` in steps, if the scenario defines the step time.
    pub reached_steps: Option<u64>,
    /// `saved_progress` in steps, if the scenario defines the step time.
    pub saved_steps: Option<u64>,
    /// Total work of the job.
    pub work: Option<Duration>,
    /// True if all work was completed.
    pub done: bool,
    /// Number of times that every pod was ready and the job started or resumed.
    pub starts: u32,
    /// Number of interruptions.
    pub interruptions: u32,
    /// Number of completed checkpoints.
    pub commits: u64,
    /// Periods from each start to its end, in order.
    pub segments: Vec<SegmentOutcome>,
    /// Step times of a job that communicates, in the order of their beginning.
    pub steps: Vec<StepOutcome>,
}

/// The step time of a training job from an instant on, with the placement of its pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// Time from which steps take this long.
    pub at: SimTime,
    /// Duration of a step: the longer of computation and overlapped communication, plus the exposed communication.
    pub step: Duration,
    /// Part of the step beyond the computation.
    pub exposed: Duration,
    /// Duration of each entry of `communication`.
    pub traffic: Vec<Duration>,
    /// What limits the largest exposed communication.
    pub limit: Option<String>,
    /// Number of islands in which the job has pods.
    pub islands: u32,
    /// Per network level, number of its groups in which the job has pods.
    pub groups: Vec<u32>,
}

/// A period from one start, with every pod ready, to an interruption or the completion of the work.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentOutcome {
    /// Start of the period.
    pub start: SimTime,
    /// End of the period: an interruption or the completion of the work.
    pub end: SimTime,
    /// Time of steps that were not lost.
    pub productive: Duration,
    /// Steps of this and earlier periods that were lost at its end.
    pub lost: Duration,
    /// Time until the processes had connected to each other and compiled.
    pub rendezvous: Duration,
    /// Time to restore a checkpoint.
    pub restore: Duration,
    /// Time to repeat steps made before.
    pub redo: Duration,
    /// Time after the period during which the JobSet was suspended, before the next period.
    pub suspended: Duration,
}

impl TrainingOutcome {
    /// Nanoseconds spent in one phase.
    pub fn ns(&self, phase: TrainingPhase) -> u64 {
        self.spent_ns[phase as usize]
    }
}
