//! Training jobs with all of their pods against the closed forms of the calibration reference, sections 6.2 and 6.3.

use crate::support;
use crate::training::{scenario_with, seconds};
use crate::training_kinds::mean;
use rayon::prelude::*;
use sim_api::spec::ScenarioSpec;
use sim_engine::record::*;

/// Runs each replication of a scenario in parallel, and returns a value of each outcome.
fn map_replications<T: Send>(scenario: &ScenarioSpec, n: u64, text: impl Fn(RunOutcome) -> T + Sync) -> Vec<T> {
    let one = |replication| {
        let drawn = sim_reliability::faults::draw_faults(scenario, 1, replication);
        text(support::simulation(&drawn).run(1, replication, &mut DiscardSink))
    };
    (0..n).into_par_iter().map(one).collect()
}

/// Returns the principal branch of Lambert's W for -1/e < x < 0.
fn lambert(x: f64) -> f64 {
    let mut w = x;
    for _ in 0..200 {
        let e = libm::exp(w);
        w -= (w * e - x) / (e * (w + 1.0));
    }
    w
}

#[test]
fn best_checkpoint_interval_agrees_with_lambert_w() {
    // reference 6.2: tau = M (1 + W0(-exp(-1 - C/M))); 617.8906 for C = 60 s, M = 3,600 s.
    let (blocking, mtbf) = (60.0, 3600.0);
    let best = mtbf * (1.0 + lambert(-libm::exp(-1.0 - blocking / mtbf)));
    assert!((best - 617.8906).abs() < 1e-3, "{best}");
    // The work is a multiple of the interval.
    let segments = |every: f64| (best * 240.0 / every).round();
    let durations = |every: f64| {
        let n = segments(every);
        let every = best * 240.0 / n;
        let text = format!(
            "training: {{work: {}s, checkpoint: {{every: {every}s, blocking: {blocking}s}}}}\n\
             faultProcesses: [{{cause: crash, on: Pod, mtbf: {mtbf}s, exitCode: 1}}]\n\
             stop: {{at: 300d, when: AllJobSetsFinished}}\n",
            every * n
        );
        let scenario = scenario_with(1, "restartPolicy: Never", &text);
        let rows = map_replications(&scenario, support::cases(12, 24), |outcome| {
            let training = &outcome.training[0];
            assert!(training.done);
            let wall: u64 = training.spent_ns.iter().sum();
            let outside = seconds(&outcome, TrainingPhase::Startup) + seconds(&outcome, TrainingPhase::Ending);
            let down = seconds(&outcome, TrainingPhase::Recovery) / f64::from(training.interruptions);
            (wall as f64 / 1e9 - outside, down)
        });
        // 6.1, without failures during the restart: E[T] = (M + D) (exp((tau + C)/M) - 1) for each segment.
        let down = rows.iter().map(|r| r.1).sum::<f64>() / rows.len() as f64;
        let expected = n * (mtbf + down) * libm::expm1((every + blocking) / mtbf);
        let durations: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let (actual, error) = mean(&durations);
        assert!((actual - expected).abs() < 3.0 * error, "{every}: {actual} ± {error}, expected {expected}");
        durations
    };
    let at_best = durations(best);
    for every in [best / 4.0, best * 4.0] {
        let more: Vec<f64> = durations(every).iter().zip(&at_best).map(|(a, b)| a - b).collect();
        let (more, error) = mean(&more);
        assert!(more > 3.0 * error, "{every}: {more} ± {error}");
    }
}

#[test]
fn the_chance_to_end_within_a_restart_limit_is_poisson_or_geometric() {
    // reference 6.3, lambda W = 1: the probability is P(Poisson(1) <= m) with perfect checkpoints, and 1 - (1 -
    // 1/e)^(m + 1) from scratch.
    const PERFECT: [f64; 4] = [0.367879, 0.735759, 0.919699, 0.981012];
    const SCRATCH: [f64; 4] = [0.367879, 0.600424, 0.747420, 0.840339];
    let n = support::cases(100, 200);
    for (saved, chances) in [("Continuous", PERFECT), ("Never", SCRATCH)] {
        let text = format!(
            "training: {{work: 100h, checkpoint: {saved}}}\n\
             faultProcesses: [{{cause: crash, on: Pod, mtbf: 100h, exitCode: 1}}]\n\
             stop: {{at: 400d, when: AllJobSetsFinished}}\n"
        );
        for (limit, chance) in chances.iter().enumerate() {
            let mut scenario = scenario_with(1, "restartPolicy: Never", &text);
            let policy = scenario.jobsets[0].jobset.spec.failure_policy.as_mut();
            policy.expect("the JobSet has a failure policy").max_restarts = limit as i32;
            let done = map_replications(&scenario, n, |outcome| outcome.training[0].done);
            let share = done.iter().filter(|done| **done).count() as f64 / n as f64;
            let error = (chance * (1.0 - chance) / n as f64).sqrt();
            assert!((share - chance).abs() < 3.0 * error, "{saved}, {limit}: {share}, expected {chance}");
        }
        if saved == "Never" {
            // Without a limit, the expected number of restarts is exp(lambda W) - 1.
            let scenario = scenario_with(1, "restartPolicy: Never", &text);
            let restarts = map_replications(&scenario, n, |outcome| f64::from(outcome.jobsets[0].restarts));
            let (actual, error) = mean(&restarts);
            let expected = libm::expm1(1.0);
            assert!((actual - expected).abs() < 3.0 * error, "{actual} ± {error}, expected {expected}");
        }
    }
}
