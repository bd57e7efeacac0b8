//! Inputs of the closed forms for checkpoint intervals, and features of the inputs that the closed forms ignore.

use sim_analysis::experiment::{Replication, Subject};
use sim_api::spec::{Arrivals, Exposure, FaultProcess, Fleet, Progress, Saves, TrainingJob};
use sim_base::Duration;
use sim_base::random::Dist;
use sim_engine::record::TrainingPhase;

/// Checkpoint interval and blocking time of the inputs.
pub struct Checkpoints {
    pub every: Duration,
    pub blocking: Duration,
}

/// Returns the durable checkpoints. The error explains why the inputs have no checkpoint interval.
pub fn checkpoints(subject: &Subject) -> Result<Checkpoints, String> {
    let none = |what: &str| format!("{what}: there is no checkpoint interval to search");
    match subject {
        Subject::Fleet(fleet) => match fleet.training.progress {
            Progress::Checkpoints { every, blocking } => Ok(Checkpoints { every, blocking }),
            Progress::Kept => Err(none("the job saves every instant")),
            Progress::FromScratch => Err(none("the job saves nothing")),
        },
        Subject::Pods { .. } | Subject::Collapsed(_) => {
            let job = subject.scenario().and_then(|s| s.training.first());
            let job = job.ok_or_else(|| none("the scenario says nothing of `training`"))?;
            let durable = job.checkpoints().last();
            durable.map_or_else(
                || match job.saves {
                    Saves::Always => Err(none("the job saves every instant")),
                    _ => Err(none("the job saves nothing")),
                },
                |c| {
                    Ok(Checkpoints {
                        every: c.every,
                        blocking: c.blocking,
                    })
                },
            )
        }
    }
}

/// Returns the seconds of work and the number of interruptions of work in replications.
pub fn at_work(subject: &Subject, played: &[Replication]) -> (f64, f64) {
    let beside = match subject {
        Subject::Fleet(fleet) => beside_work(fleet),
        _ => 0.0,
    };
    let mut sums = (0.0, 0.0);
    for replication in played {
        let output = |name: &str| {
            let found = replication.outputs.iter().find(|(known, _)| known == name);
            found.map_or(0.0, |(_, value)| *value)
        };
        let hours = output("compute_h") + output("lost_work_h") + output("checkpoint_h");
        sums.0 += hours * 3600.0;
        // Restarts of a Fleet may also interrupt a recovery. They are counted in proportion to the time at work.
        let part = hours / (hours + beside * output("recovery_h")).max(1e-9);
        sums.1 += output("restarts") * part;
        let training = replication.jobsets.iter().find_map(|j| j.training.as_ref());
        if let Some(training) = training {
            let at = [
                TrainingPhase::Productive,
                TrainingPhase::Lost,
                TrainingPhase::Checkpoint,
            ];
            let seconds =
                |p: &TrainingPhase| training.time_s.get(p.as_str()).copied().unwrap_or(0.0);
            sums.0 += at.iter().map(seconds).sum::<f64>();
            sums.1 += f64::from(training.interruptions);
        }
    }
    sums
}

/// Returns the fraction of all faults that also occur while the job does not run.
fn beside_work(fleet: &Fleet) -> f64 {
    let rate = |f: &FaultProcess| 1.0 / f.life.mean_s().max(1e-9);
    let all: f64 = fleet.faults.iter().map(rate).sum();
    let running = fleet
        .faults
        .iter()
        .filter(|f| f.exposure == Exposure::Running);
    1.0 - running.map(rate).sum::<f64>() / all.max(1e-300)
}

/// Returns a description of each feature of the inputs that the closed forms ignore.
pub fn unknown_to_them(subject: &Subject) -> Vec<String> {
    let mut all = Vec::new();
    match subject {
        Subject::Fleet(fleet) => {
            let (traced, drawn): (Vec<_>, Vec<_>) =
                fleet.faults.iter().partition(|f| f.trace.is_some());
            let lives = drawn.iter().map(|f| (f.cause.as_str(), &f.life));
            all.extend(not_exponential(lives));
            all.extend(traced.first().map(|f| as_listed(&f.cause)));
            if fleet.lemons.share > 0.0 || fleet.lemons.regeneration.is_some() {
                all.push(
                    "some nodes fail more often than others, until they are repaired".to_owned(),
                );
            }
        }
        Subject::Pods { .. } | Subject::Collapsed(_) => {
            let Some(scenario) = subject.scenario() else {
                return all;
            };
            let lives = scenario
                .fault_processes
                .iter()
                .filter_map(|p| match &p.arrivals {
                    Arrivals::Renewal(life) => Some((p.cause.as_str(), life)),
                    Arrivals::Trace(_) => None,
                });
            all.extend(not_exponential(lives));
            let traced =
                |p: &&sim_api::spec::RandomFaults| matches!(p.arrivals, Arrivals::Trace(_));
            all.extend(
                scenario
                    .fault_processes
                    .iter()
                    .find(traced)
                    .map(|p| as_listed(&p.cause)),
            );
            if !scenario.faults.is_empty() {
                all.push("faults of the script come at their own times".to_owned());
            }
            all.extend(scenario.training.first().into_iter().flat_map(of_training));
        }
    }
    all
}

fn as_listed(cause: &str) -> String {
    format!("faults of cause {cause} come as a trace lists them")
}

fn not_exponential<'a>(lives: impl Iterator<Item = (&'a str, &'a Dist)>) -> Option<String> {
    let other = |(_, life): &(&str, &Dist)| {
        !matches!(life, Dist::Exponential { .. }) && **life != Dist::Fixed(Duration(u64::MAX))
    };
    let names: Vec<&str> = lives.filter(other).map(|(cause, _)| cause).collect();
    (!names.is_empty()).then(|| {
        format!(
            "times to failures by {} are not exponential",
            names.join(", ")
        )
    })
}

fn of_training(job: &TrainingJob) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(durable) = job.checkpoints().last() {
        let commit = durable.commit_delay.mean_s();
        if commit > 0.0 {
            let commit = Duration::from_seconds_f64(commit);
            all.push(format!("a checkpoint can be restored only {commit} after its blocking part, so a failure takes back that much more"));
        }
    }
    if job.checkpoints().len() > 1 {
        all.push(
            "most failures leave checkpoints of other tiers, so durable ones are less urgent"
                .to_owned(),
        );
    }
    if job.save_at_notice {
        all.push("a cordoned node makes the job save, so maintenance takes back little".to_owned());
    }
    if let Some(step) = job.step {
        all.push(format!("intervals are whole steps of {step}"));
    }
    all
}
