//! The plan of a training job from one of its starts, with the random numbers of that start.

use super::pace::{self, Pace, Reason};
use super::stretch::{Kind, Plan, Saving};
use sim_api::spec::{Saves, TrainingJob};
use sim_base::random::{Dist, Draw, Draws, Key, Purpose, normal_quantile};

/// Time to restore a checkpoint of that kind; zero if no work is done yet.
pub fn restores(spec: &TrainingJob, (from, kind): (u64, usize)) -> &Dist {
    let restores = spec.checkpoints().get(kind).filter(|_| from > 0);
    restores.map_or(&Dist::ZERO, |kind| &kind.restore)
}

/// One start of a training job.
pub struct Start {
    /// Number of the start, from 0.
    pub nth: u32,
    /// The largest saved progress, and the kind of checkpoint that saved it.
    pub newest: (u64, usize),
    /// Progress from which it resumes: saved, or in the memory of its processes.
    pub from: u64,
    /// Processes have continued, and a separate initialization time applies.
    pub reinitializes: bool,
    /// Step time in billionths of the normal one, because of missing slices.
    pub factor: u64,
}

impl Start {
    /// With everybody there, from what is saved.
    pub fn of(nth: u32, newest: (u64, usize)) -> Start {
        Start {
            nth,
            newest,
            from: newest.0,
            reinitializes: false,
            factor: pace::ONE,
        }
    }
}

/// From the `nth` start on, of the work `from` that the kind of checkpoint has saved. Numbers are those of `jobset`.
pub fn plan(
    spec: &TrainingJob,
    (nth, newest): (u32, (u64, usize)),
    numbers: (Key, &mut Draws),
) -> Plan {
    plan_of(spec, &Start::of(nth, newest), numbers)
}

/// The plan from one of the job's starts, with the random numbers of `jobset`.
pub fn plan_of(spec: &TrainingJob, start: &Start, (jobset, draws): (Key, &mut Draws)) -> Plan {
    let nth = start.nth;
    let named = |purpose, occurrence| Draw {
        purpose,
        entity: jobset,
        occurrence,
        lane: 0,
    };
    let mut takes = |purpose, nth, dist: &Dist| draws.sample(named(purpose, nth), dist).0;
    let again = spec
        .elastic
        .as_ref()
        .and_then(|e| e.reinitialization.as_ref());
    let (initialization, compile) = match again.filter(|_| start.reinitializes) {
        Some(again) => (takes(Purpose::TrainingReinitialization, nth, again), 0),
        None => (
            takes(Purpose::TrainingInitialization, nth, &spec.initialization),
            takes(Purpose::TrainingCompile, nth, &spec.compile),
        ),
    };
    let restore = match start.from == start.newest.0 {
        true => takes(Purpose::TrainingRestore, nth, restores(spec, start.newest)),
        false => 0,
    };
    let before = [initialization, compile, restore];
    let saving = match &spec.saves {
        Saves::Always => Saving::Always,
        Saves::Never => Saving::Never,
        Saves::Checkpoints(kinds) => Saving::Checkpoints(
            (kinds.iter().zip(nth * kinds.len() as u32..))
                .map(|(kind, nth)| Kind {
                    every: spec.in_steps(kind.every).0,
                    blocking: kind.blocking.0,
                    commit: takes(Purpose::TrainingCommit, nth, &kind.commit_delay),
                })
                .collect(),
        ),
    };
    let mut pace = Pace::default();
    if let Some(step) = spec.step.filter(|_| spec.step_sd_s > 0.0) {
        let z = normal_quantile(draws.uniform(named(Purpose::TrainingSteps, nth)));
        pace.by_chance(z, step.seconds(), spec.step_sd_s);
    }
    if let Some(warm_up) = spec.warm_up {
        pace.changes(0, Reason::WarmUp, warm_up.factor);
        let one = u128::from(pace::ONE);
        let slow = u128::from(warm_up.lasts.0) * one / u128::from(warm_up.factor);
        let slow = (slow * one / u128::from(start.factor)) as u64;
        pace.changes(slow, Reason::WarmUp, pace::ONE);
    }
    if start.factor > pace::ONE {
        pace.changes(0, Reason::Degraded, start.factor);
    }
    Plan {
        before,
        work: spec.work.map(|work| spec.in_steps(work).0 - start.from),
        pace,
        saving,
        since: start.from - start.newest.0,
        ..Plan::default()
    }
}
