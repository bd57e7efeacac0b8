//! What the containers of a JobSet compute: the steps of a training job, and what a restart takes back of them.

use sim_base::Duration;
use sim_base::random::Dist;

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

/// What an interruption takes back of a training job.
#[derive(Clone, Debug, PartialEq)]
pub enum Saves {
    /// Nothing: every instant is saved.
    Always,
    /// Everything.
    Never,
    /// What was done since the last complete checkpoint. The last one is durable: no interruption takes it.
    Checkpoints(Vec<Checkpoint>),
}

/// One kind of checkpoint that a training job writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Work between two of them.
    pub every: Duration,
    /// How long the job stands still for one.
    pub blocking: Duration,
    /// From the end of its blocking part until it can be restored.
    pub commit_delay: Dist,
    /// At each start at which one is restored.
    pub restore: Dist,
    /// The greatest loss after which it is still there.
    pub survives: Loss,
}

/// What an interruption takes of the hosts of a job, the least first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Processes alone: each host is one of the job again, with its memory.
    Process,
    /// At most one host of each slice.
    Host,
    /// Hosts of one slice.
    Slice,
    /// More than these.
    All,
}

impl Loss {
    /// Those that a file may name, in order: what is not durable is gone after more.
    pub const NAMED: [Loss; 3] = [Loss::Process, Loss::Host, Loss::Slice];

    /// The word in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Loss::Process => "Process",
            Loss::Host => "Host",
            Loss::Slice => "Slice",
            Loss::All => "All",
        }
    }
}

/// Steps that are slower than others.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// So many billionths of a step's time does one take.
    pub factor: u64,
    /// For so long after each start.
    pub lasts: Duration,
}

/// How a job goes on without some of its slices, which are the child Jobs of a replicatedJob. The others of the JobSet
/// have to be there.
#[derive(Clone, Debug, PartialEq)]
pub struct Elastic {
    /// Which replicatedJob of the JobSet.
    pub slices_of: u32,
    /// It does not step with fewer.
    pub min_slices: u32,
    /// What is left of its pace while some are away, in billionths; without it the share of those that are there.
    pub factor: Option<u64>,
    /// When a slice that is back takes part.
    pub regrow: Regrow,
    /// With enough of them, but not all, it waits so long for more before it begins.
    pub last_call: Duration,
    /// In place of initialization and compilation where processes of a slice run on.
    pub reinitialization: Option<Dist>,
}

/// When a slice that is back takes part again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Regrow {
    /// When the next durable checkpoint is complete, which is restored then.
    NextCheckpoint,
    /// After the step at hand, from memory.
    AtOnce,
    /// When the job begins anew for another reason.
    Never,
}

impl Regrow {
    /// All of them.
    pub const ALL: [Regrow; 3] = [Regrow::NextCheckpoint, Regrow::AtOnce, Regrow::Never];

    /// The word in a scenario file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Regrow::NextCheckpoint => "NextCheckpoint",
            Regrow::AtOnce => "AtOnce",
            Regrow::Never => "Never",
        }
    }
}

/// The training job that a JobSet of a scenario is. It steps while every pod that the JobSet wants is ready, or as many
/// slices as it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingJob {
    /// Which of the scenario's JobSets.
    pub jobset: usize,
    /// Time that it steps until its containers end; without it they go on as they do.
    pub work: Option<Duration>,
    /// How long a step takes on average; without it the job can stop at any instant of its work.
    pub step: Option<Duration>,
    /// The standard deviation of that, in seconds.
    pub step_sd_s: f64,
    /// Steps right after a start.
    pub warm_up: Option<WarmUp>,
    /// What an interruption takes back.
    pub saves: Saves,
    /// It writes a durable checkpoint when one of its nodes is cordoned, too.
    pub save_at_notice: bool,
    /// At each start: devices, collectives.
    pub initialization: Dist,
    /// At each start, after it.
    pub compile: Dist,
    /// A process that waits longer for the others exits with 1.
    pub rendezvous_timeout: Option<Duration>,
    /// It goes on without some slices.
    pub elastic: Option<Elastic>,
}

impl TrainingJob {
    /// A length of work in whole steps.
    pub fn in_steps(&self, work: Duration) -> Duration {
        match self.step {
            Some(step) => Duration(work.0.div_ceil(step.0).saturating_mul(step.0)),
            None => work,
        }
    }

    /// What it writes, the durable kind last; nothing if it does without.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        match &self.saves {
            Saves::Checkpoints(all) => all,
            Saves::Always | Saves::Never => &[],
        }
    }

    /// How many whole steps a length of work is.
    pub fn steps(&self, work: Duration) -> Option<u64> {
        self.step.map(|step| work.0 / step.0)
    }
}
