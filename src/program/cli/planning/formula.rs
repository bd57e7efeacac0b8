//! Inputs of the closed forms for checkpoint intervals, and features of the inputs that the closed forms ignore.

use sim_analysis::experiment::{ExperimentSubject, ReplicationResult};
use sim_api::spec::{
    ArrivalProcess, Checkpoint, CheckpointSchedule, ExposureSpec, FaultProcess, FleetSpec, ProgressSpec, TrainingJob,
};
use sim_base::Duration;
use sim_base::random::Distribution;
use sim_engine::record::TrainingPhase;

/// Checkpoint interval and blocking time of the inputs.
pub struct CheckpointCosts {
    pub every: Duration,
    pub blocking: Duration,
}

/// Returns the index of the tier of `checkpoint` that a path such as `training.checkpoint.tiers[0].every` names.
fn tier_of(path: &str) -> Option<usize> {
    let (_, tier) = path.rsplit_once(".tiers[")?;
    tier.strip_suffix("].every")?.parse().ok()
}

/// Returns the checkpoints of the tier in the path, otherwise the durable ones. The error explains why the inputs have
/// no checkpoint interval.
pub fn checkpoints(subject: &ExperimentSubject, path: &str) -> Result<CheckpointCosts, String> {
    let none = |what: &str| format!("{what}: no checkpoint interval to optimize");
    match subject {
        ExperimentSubject::Fleet(fleet) => match fleet.training.progress {
            ProgressSpec::Checkpoints { every, blocking } => Ok(CheckpointCosts { every, blocking }),
            ProgressSpec::Kept => Err(none("the job saves continuously")),
            ProgressSpec::FromScratch => Err(none("the job saves no checkpoints")),
        },
        ExperimentSubject::Pods { .. } | ExperimentSubject::Nodes(_) => {
            let job = subject.scenario().and_then(|s| s.training.first());
            let job = job.ok_or_else(|| none("the scenario has no `training`"))?;
            of_path(job, path).map_or_else(
                || match job.checkpoint_schedule {
                    CheckpointSchedule::Always => Err(none("the job saves continuously")),
                    _ => Err(none("the job saves no checkpoints")),
                },
                |c| Ok(CheckpointCosts { every: c.every, blocking: c.blocking }),
            )
        }
    }
}

fn of_path<'j>(job: &'j TrainingJob, path: &str) -> Option<&'j Checkpoint> {
    let all = job.checkpoints();
    tier_of(path).map_or(all.last(), |tier| all.get(tier))
}

/// Returns the seconds of work and the number of interruptions of work in replications.
pub fn at_work(subject: &ExperimentSubject, trials: &[ReplicationResult]) -> (f64, f64) {
    let beside = match subject {
        ExperimentSubject::Fleet(fleet) => share_while_not_running(fleet),
        _ => 0.0,
    };
    let mut sums = (0.0, 0.0);
    for replication in trials {
        let output = |name: &str| {
            let matching = replication.outputs.iter().find(|(known, _)| known == name);
            matching.map_or(0.0, |(_, value)| *value)
        };
        let hours = output("compute_h") + output("lost_work_h") + output("checkpoint_h");
        sums.0 += hours * 3600.0;
        // Restarts of a Fleet may also interrupt a recovery. They are counted in proportion to the time at work.
        let part = hours / (hours + beside * output("recovery_h")).max(1e-9);
        sums.1 += output("restarts") * part;
        let training = replication.jobsets.iter().find_map(|j| j.training.as_ref());
        if let Some(training) = training {
            let at = [TrainingPhase::Productive, TrainingPhase::Lost, TrainingPhase::Checkpoint];
            let seconds = |p: &TrainingPhase| training.time_s.get(p.as_str()).copied().unwrap_or(0.0);
            sums.0 += at.iter().map(seconds).sum::<f64>();
            sums.1 += f64::from(training.interruptions);
        }
    }
    sums
}

/// Returns the fraction of all faults that also occur while the job does not run.
fn share_while_not_running(fleet: &FleetSpec) -> f64 {
    let rate = |f: &FaultProcess| 1.0 / f.life.mean_s().max(1e-9);
    let all: f64 = fleet.faults.iter().map(rate).sum();
    let running = fleet.faults.iter().filter(|f| f.exposure == ExposureSpec::Running);
    1.0 - running.map(rate).sum::<f64>() / all.max(1e-300)
}

/// Returns a description of each feature of the inputs that the closed forms ignore.
pub fn unknown_to_them(subject: &ExperimentSubject, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    match subject {
        ExperimentSubject::Fleet(fleet) => {
            let (traced, drawn): (Vec<_>, Vec<_>) = fleet.faults.iter().partition(|f| f.trace.is_some());
            let lives = drawn.iter().map(|f| (f.cause.as_str(), &f.life));
            all.extend(not_exponential(lives));
            all.extend(traced.first().map(|f| as_listed(&f.cause)));
            if fleet.lemons.share > 0.0 || fleet.lemons.regeneration.is_some() {
                all.push("some nodes fail more often than others until they are repaired".to_owned());
            }
        }
        ExperimentSubject::Pods { .. } | ExperimentSubject::Nodes(_) => {
            let Some(scenario) = subject.scenario() else {
                return all;
            };
            let lives = scenario.fault_processes.iter().filter_map(|p| match &p.arrivals {
                ArrivalProcess::Renewal(life) => Some((p.cause.as_str(), life)),
                ArrivalProcess::Trace(_) => None,
            });
            all.extend(not_exponential(lives));
            let traced = |p: &&sim_api::spec::RandomFaults| matches!(p.arrivals, ArrivalProcess::Trace(_));
            all.extend(scenario.fault_processes.iter().find(traced).map(|p| as_listed(&p.cause)));
            if !scenario.faults.is_empty() {
                all.push("scripted faults occur at fixed times".to_owned());
            }
            all.extend(scenario.training.first().into_iter().flat_map(|job| of_training(job, path)));
        }
    }
    all
}

fn as_listed(cause: &str) -> String {
    format!("faults of cause {cause} occur at the times of a trace")
}

fn not_exponential<'a>(lives: impl Iterator<Item = (&'a str, &'a Distribution)>) -> Option<String> {
    let other = |(_, life): &(&str, &Distribution)| {
        !matches!(life, Distribution::Exponential { .. }) && **life != Distribution::Fixed(Duration(u64::MAX))
    };
    let names: Vec<&str> = lives.filter(other).map(|(cause, _)| cause).collect();
    (!names.is_empty()).then(|| format!("times to failure for {} are not exponentially distributed", names.join(", ")))
}

fn of_training(job: &TrainingJob, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(checkpoint) = of_path(job, path) {
        let commit = checkpoint.commit_delay.mean_s();
        if commit > 0.0 {
            let commit = Duration::from_seconds_f64(commit);
            all.push(format!("a checkpoint can be restored only {commit} after its blocking part, so a failure loses that much more work"));
        }
    }
    if job.checkpoints().len() > 1 {
        let text = match tier_of(path) {
            Some(_) => "a loss that the tier does not survive loses the work since a checkpoint of another tier",
            None => "most failures leave checkpoints of other tiers intact, so durable checkpoints matter less",
        };
        all.push(text.to_owned());
    }
    if job.save_at_notice {
        all.push("the job saves when a node is cordoned, so maintenance loses little work".to_owned());
    }
    if let Some(step) = job.step {
        all.push(format!("intervals are multiples of the step time {step}"));
    }
    all
}
