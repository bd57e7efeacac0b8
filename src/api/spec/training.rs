//! Training jobs in the containers of a JobSet: their steps, checkpoints and the progress that a restart loses.

use super::fabric::Communication;
use sim_base::Duration;
use sim_base::random::Distribution;
use std::cmp::Ordering;

/// Progress that is lost at a failure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ProgressSpec {
    /// No progress is lost.
    Kept,
    FromScratch,
    /// Progress since the last complete checkpoint is lost. A final checkpoint is written after the last work.
    Checkpoints {
        /// Work between two checkpoints.
        every: Duration,
        /// Time for which a checkpoint blocks the job.
        blocking: Duration,
    },
}

/// Progress of a training job that is lost at an interruption.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckpointSchedule {
    /// No progress is lost.
    Always,
    /// All progress is lost.
    Never,
    /// Progress since the last complete checkpoint is lost. The last kind in the list is durable: it survives every
    /// interruption.
    Checkpoints(Vec<Checkpoint>),
}

/// One kind of checkpoint that a training job writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Work between two checkpoints of this kind.
    pub every: Duration,
    /// Time for which a checkpoint blocks the job.
    pub blocking: Duration,
    /// Time from the end of the blocking part until the checkpoint can be restored.
    pub commit_delay: Distribution,
    /// Time to restore a checkpoint, at each start at which one is restored.
    pub restore: Distribution,
    /// Largest loss of hosts that the checkpoint survives.
    pub survives: LossSpec,
}

/// Extent of the hosts that an interruption affects, smallest first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossSpec {
    /// Only processes are lost. Each host remains in the job and keeps its memory.
    Process,
    /// At most one host of each slice is lost.
    Host,
    /// Several hosts of one slice are lost.
    Slice,
    /// Hosts of more than one slice are lost, and more than one host of some slice.
    All,
}

impl LossSpec {
    /// Losses that a file may specify, in order. A checkpoint that is not durable is gone after a larger loss.
    pub const NAMED: [LossSpec; 3] = [LossSpec::Process, LossSpec::Host, LossSpec::Slice];

    /// Returns the name of the loss in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            LossSpec::Process => "Process",
            LossSpec::Host => "Host",
            LossSpec::Slice => "Slice",
            LossSpec::All => "All",
        }
    }
}

/// Slower steps after a start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// Duration of a warm-up step in billionths of the normal step time.
    pub factor: u64,
    /// Duration of the warm-up after each start.
    pub duration: Duration,
}

/// Operation of a job without some of its slices. A slice is a child Job of one replicatedJob. All pods of the other
/// replicatedJobs must be ready.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticTraining {
    /// Index of the replicatedJob whose Jobs are the slices.
    pub slice_job: u32,
    /// Smallest number of slices with which the job steps.
    pub min_slices: u32,
    /// Fraction of the normal pace while slices are missing, in billionths. `None` means the fraction of slices that
    /// are present.
    pub factor: Option<u64>,
    /// Time at which a returned slice takes part again.
    pub regrow: RegrowPolicy,
    /// Time that the job waits for more slices before it starts with some missing.
    pub last_call: Duration,
    /// Time that replaces initialization and compilation if processes of a slice keep running.
    pub reinitialization: Option<Distribution>,
}

/// Time at which a returned slice takes part again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegrowPolicy {
    /// When the next durable checkpoint is complete, which is then restored.
    NextCheckpoint,
    /// After the current step, from memory.
    AtOnce,
    /// When the job restarts for a different reason.
    Never,
}

impl RegrowPolicy {
    /// All values, in the order of declaration.
    pub const ALL: [RegrowPolicy; 3] = [RegrowPolicy::NextCheckpoint, RegrowPolicy::AtOnce, RegrowPolicy::Never];

    /// Returns the name of the value in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            RegrowPolicy::NextCheckpoint => "NextCheckpoint",
            RegrowPolicy::AtOnce => "AtOnce",
            RegrowPolicy::Never => "Never",
        }
    }
}

/// Training job that a JobSet runs. It steps while all pods of the JobSet are ready, or while enough slices are ready.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingJob {
    /// Index of the JobSet in the scenario.
    pub jobset: usize,
    /// Total step time until the containers exit. `None` means that the container rules determine their end.
    pub work: Option<Duration>,
    /// Mean duration of a step. `None` means that the job can stop at any instant of its work.
    pub step: Option<Duration>,
    /// Standard deviation of the step duration, in seconds.
    pub step_sd_s: f64,
    /// Slower steps after a start.
    pub warm_up: Option<WarmUp>,
    /// Progress that is lost at an interruption.
    pub checkpoint_schedule: CheckpointSchedule,
    /// Whether the job also writes a durable checkpoint when one of its nodes is cordoned.
    pub save_at_notice: bool,
    /// Time to initialize devices and collectives, at each start.
    pub initialization: Distribution,
    /// Compilation time, at each start, after initialization.
    pub compile: Distribution,
    /// Time after which a process that waits for the others exits with code 1.
    pub rendezvous_timeout: Option<Duration>,
    /// Operation without some slices.
    pub elastic: Option<ElasticTraining>,
    /// Communication in each step. `step` is then the time of the computation.
    pub communication: Option<Communication>,
}

impl TrainingJob {
    /// Rounds an amount of work up to whole steps.
    pub fn round_up_to_steps(&self, work: Duration) -> Duration {
        match self.step {
            Some(step) => Duration(work.0.div_ceil(step.0).saturating_mul(step.0)),
            None => work,
        }
    }

    /// Returns the kinds of checkpoints, the durable kind last. Empty if the job writes none.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        match &self.checkpoint_schedule {
            CheckpointSchedule::Checkpoints(all) => all,
            CheckpointSchedule::Always | CheckpointSchedule::Never => &[],
        }
    }

    /// Returns the number of whole steps in an amount of work.
    pub fn whole_steps(&self, work: Duration) -> Option<u64> {
        self.step.map(|step| work.0 / step.0)
    }
}

/// Returns the contradictions of a checkpoint interval with its blocking time, with the work of the job, and with the
/// time limit of the run. `path` is the path of the checkpoint in the input file.
pub(super) fn checkpoint_contradictions(
    path: &str, (every, blocking): (Duration, Duration), work: Option<Duration>, stop: Duration,
) -> Vec<String> {
    let mut all = Vec::new();
    if blocking > Duration::ZERO && blocking >= every {
        all.push(format!(
            "{path}.blocking {blocking} is not shorter than {path}.every {every}: the job is blocked for longer than it works"
        ));
    }
    if let Some(work) = work.filter(|work| every > *work) {
        all.push(format!(
            "{path}.every {every} is longer than training.work {work}: no checkpoint precedes the end of the work"
        ));
    } else if every > stop {
        all.push(format!("{path}.every {every} is longer than stop.at {stop}: no checkpoint is written"));
    }
    all
}

/// Returns the contradictions of the time of a step with the work of the job and with the time limit of the run, and of
/// a start of the job that does not end before the time limit.
pub(super) fn step_contradictions(job: &TrainingJob, stop: Duration) -> Vec<String> {
    let mut all = Vec::new();
    if let Some((step, work)) = job.step.zip(job.work).filter(|(step, work)| step > work) {
        all.push(format!("training.step {step} is longer than training.work {work}: the work is extended to one step"));
    }
    if let Some(step) = job.step.filter(|step| *step > stop) {
        all.push(format!("training.step {step} is longer than stop.at {stop}: no step can end"));
    }
    if let (Some(step), CheckpointSchedule::Checkpoints(kinds)) = (job.step, &job.checkpoint_schedule) {
        let most_often = kinds.iter().map(|kind| kind.every).min();
        if let Some(every) = most_often.filter(|every| *every < step) {
            all.push(format!(
                "training.checkpoint.every {every} is shorter than training.step {step}: a checkpoint follows every step"
            ));
        }
    }
    let start = Duration::from_seconds_f64(job.initialization.mean_s() + job.compile.mean_s());
    if start > stop {
        all.push(format!(
            "training.initialization and training.compile take {start}, longer than stop.at {stop}: no step can begin"
        ));
    }
    all
}

/// Returns the contradiction of a fault trace of which every fault comes after the time limit.
pub(super) fn trace_contradiction(
    stop: Duration, cause: &str, times: impl Iterator<Item = Duration>,
) -> Option<String> {
    let first = times.min().filter(|first| *first > stop)?;
    Some(format!("stop.at {stop} comes before the first fault of the trace with cause {cause:?}, which is at {first}"))
}

/// Returns the contradiction of a time limit that comes before the work can be done, without any interruption.
/// `checkpoints` are the kinds of checkpoints with their intervals and blocking times. `starts_at_once` means that the
/// job needs no time until its first step.
pub(super) fn work_contradiction(
    stop: Duration, work: Option<Duration>, checkpoints: &[(Duration, Duration)], starts_at_once: bool,
) -> Option<String> {
    let work = work?;
    let sentence = format!("stop.at {stop} comes before the work can be done: training.work is {work}");
    if stop < work {
        return Some(sentence);
    }
    // Checkpoints of several kinds can be written together, and none is needed at the end of the work.
    let blocked = |(every, blocking): &(Duration, Duration)| {
        let before_the_end = work.0.saturating_sub(1).checked_div(every.0).unwrap_or(0);
        Duration(blocking.0.saturating_mul(before_the_end))
    };
    let blocked = checkpoints.iter().map(blocked).max().unwrap_or_default();
    let least = Duration(work.0.saturating_add(blocked.0));
    match stop.cmp(&least) {
        Ordering::Less => Some(format!("{sentence}, and its checkpoints block the job for {blocked}")),
        Ordering::Equal if !starts_at_once => Some(format!("{sentence}, and its pods start later than at 0 s")),
        _ => None,
    }
}
