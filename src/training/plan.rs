//! What a training job does from one of its starts on, with the numbers that belong to that start.

use super::pace::{self, Pace, Reason};
use super::stretch::{Kind, Plan, Saving};
use crate::base::random::{Dist, Draw, Draws, Key, Purpose, normal_quantile};
use crate::spec::{Saves, TrainingJob};

/// How long it takes to restore what that kind of checkpoint has saved; nothing where no work is done yet.
pub fn restores(spec: &TrainingJob, (from, kind): (u64, usize)) -> &Dist {
    let restores = spec.checkpoints().get(kind).filter(|_| from > 0);
    restores.map_or(&Dist::ZERO, |kind| &kind.restore)
}

/// From the `nth` start on, of the work `from` that the kind of checkpoint has saved. Numbers are those of `jobset`.
pub fn plan(
    spec: &TrainingJob,
    (nth, newest): (u32, (u64, usize)),
    (jobset, draws): (Key, &mut Draws),
) -> Plan {
    let named = |purpose, occurrence| Draw {
        purpose,
        entity: jobset,
        occurrence,
        lane: 0,
    };
    let mut takes = |purpose, nth, dist: &Dist| draws.sample(named(purpose, nth), dist).0;
    let before = [
        takes(Purpose::TrainingInitialization, nth, &spec.initialization),
        takes(Purpose::TrainingCompile, nth, &spec.compile),
        takes(Purpose::TrainingRestore, nth, restores(spec, newest)),
    ];
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
        let slow = u128::from(warm_up.lasts.0) * u128::from(pace::ONE);
        let slow = (slow / u128::from(warm_up.factor)) as u64;
        pace.changes(slow, Reason::WarmUp, pace::ONE);
    }
    Plan {
        before,
        work: spec.work.map(|work| spec.in_steps(work).0 - newest.0),
        pace,
        saving,
        also: Vec::new(),
    }
}
