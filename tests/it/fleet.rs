//! The Fleet model against closed forms: `reference` names the section of the calibration reference.

use crate::support::cases;
use sim_analysis::experiment::FleetReplications;
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::{Distribution, EmpiricalDistribution};
use sim_surrogate::fleet::{FleetEnd, FleetOutcome, FleetSimulation, TimeCategory};

const HOUR: f64 = 3600.0;

pub fn s(seconds: f64) -> Duration {
    Duration::from_seconds_f64(seconds)
}

/// Returns a fault process on every node whose failures only interrupt the job.
pub fn crashes(life: Distribution, exposure: ExposureSpec) -> FaultProcess {
    FaultProcess { cause: "crash".to_owned(), only_lemons: false, life, exposure, trace: None, needs_repair: false }
}

pub fn exponential(mean_s: f64) -> Distribution {
    Distribution::Exponential { mean_s }
}

/// Returns a Fleet of `nodes` nodes, all of them needed by the job, without spares.
pub fn plain(nodes: u32, work_s: f64, progress: ProgressSpec, faults: Vec<FaultProcess>) -> FleetSpec {
    FleetSpec {
        name: "test".to_owned(),
        description: String::new(),
        nodes,
        spares: SparePool { nodes: 0, take_over: Duration::ZERO },
        job: FleetJob {
            nodes,
            standbys: 0,
            selection: HostSelection::LongestInPool,
            selection_time: Distribution::ZERO,
            recovery: Distribution::ZERO,
            max_restarts: None,
        },
        training: FleetTraining { work: s(work_s), progress },
        faults,
        lemons: LemonSpec { share: 0.0, regeneration: None },
        diagnosis: DiagnosisSpec { repair_probability: 1.0, misdiagnosis_probability: 0.0 },
        repair: RepairSpec { stages: Vec::new(), crews: None },
        retirement: RetirementSpec::Never,
        stop_at: Duration(u64::MAX / 2),
        seed: 1,
    }
}

fn play(fleet: &FleetSpec, n: u64) -> Vec<FleetOutcome> {
    let mut simulation = FleetSimulation::new(fleet);
    (0..n).map(|i| simulation.run(7, i)).collect()
}

fn output(outcome: &FleetOutcome, name: &str) -> f64 {
    outcome.outputs.get(name).unwrap_or_else(|| panic!("no output {name}"))
}

/// Asserts that the mean is within three standard errors of the formula's value.
fn assert_mean(what: &str, values: &[f64], expected: f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(
        (mean - expected).abs() <= 3.0 * error + 1e-9 * expected.abs(),
        "{what}: {mean} ± {error}, expected {expected}"
    );
    // A wide interval would accept any value.
    assert!(error < 0.05 * expected.abs().max(0.01), "{what}: ± {error} is too wide an interval");
}

#[test]
fn checkpointed_segments_agree_with_daly() {
    // reference 6.1: M, tau, C, R; then E[T] if failures also hit the restart (A), and if they do not (B).
    for (case, [mean, every, blocking, restart], [a, b]) in [
        ("CT-1", [3600.0, 600.0, 60.0, 300.0], [787.324_041, 784.737_510]),
        ("CT-2", [3600.0, 600.0, 60.0, 0.0], [724.373_087, 724.373_087]),
        ("CT-3", [10_000.0, 1800.0, 30.0, 600.0], [2_132.320_776, 2_128.632_726]),
        ("CT-4", [2_658.461_538, 1200.0, 20.0, 130.0], [1_625.746_349, 1_623.864_783]),
        ("CT-5", [2_658.461_538, 1200.0, 20.0, 10.0], [1_553.993_568, 1_553.982_602]),
    ] {
        for (convention, exposure, expected) in [("A", ExposureSpec::Assigned, a), ("B", ExposureSpec::Running, b)] {
            let progress = ProgressSpec::Checkpoints { every: s(every), blocking: s(blocking) };
            let faults = vec![crashes(exponential(mean), exposure)];
            let mut fleet = plain(1, every * 500.0, progress, faults);
            fleet.job.recovery = Distribution::Fixed(s(restart));
            let segment = |o: &FleetOutcome| o.end.seconds() / 500.0;
            let times: Vec<f64> = play(&fleet, 60).iter().map(segment).collect();
            assert_mean(&format!("{case} {convention}"), &times, expected);
        }
    }
}

#[test]
fn survival_of_a_restart_limit_agrees_with_poisson_and_geometric() {
    // reference 6.3, lambda W = 1: from scratch, and with perfect checkpoints; m = 0, 1, 2, 3.
    for (progress, expected) in [
        (ProgressSpec::FromScratch, [0.367_879, 0.600_424, 0.747_420, 0.840_339]),
        (ProgressSpec::Kept, [0.367_879, 0.735_759, 0.919_699, 0.981_012]),
    ] {
        for (m, expected) in expected.into_iter().enumerate() {
            let faults = vec![crashes(exponential(1000.0), ExposureSpec::Running)];
            let mut fleet = plain(1, 1000.0, progress, faults);
            fleet.job.max_restarts = Some(m as u32);
            let done = |o: &FleetOutcome| f64::from(o.why == FleetEnd::Completed);
            let done: Vec<f64> = play(&fleet, 6000).iter().map(done).collect();
            assert_mean(&format!("{progress:?}, {m} restarts"), &done, expected);
        }
    }
}

#[test]
fn spares_and_crews_give_the_availability_of_the_birth_death_chain() {
    // reference 6.4: N, S, MTBF, MTTR (h), crews; then availability and mean number of failed nodes, if nodes fail
    // at any time (hot spares), only while assigned to the job (cold spares), or only while the job runs.
    type Row = (u32, u32, f64, f64, u32, [[f64; 2]; 3]);
    let rows: [Row; 4] = [
        (64, 0, 1000.0, 24.0, 64, [[0.219_181, 1.5], [0.219_181, 1.5], [0.394_322, 0.605_68]]),
        (64, 2, 1000.0, 24.0, 66, [[0.798_384, 1.546_87], [0.801_378, 1.529_00], [0.860_178, 1.321_23]]),
        (64, 4, 1000.0, 24.0, 68, [[0.978_205, 1.593_75], [0.979_798, 1.535_37], [0.984_588, 1.512_33]]),
        (256, 8, 3693.0, 24.0, 2, [[0.796_588, 5.255_93], [0.806_835, 5.073_60], [0.957_652, 3.401_19]]),
    ];
    for (n, spare, mtbf, mttr, crews, conventions) in rows.into_iter().step_by(cases(2, 1) as usize) {
        let exposures = [ExposureSpec::Always, ExposureSpec::Assigned, ExposureSpec::Running];
        for (exposure, [availability, failed]) in exposures.into_iter().zip(conventions) {
            let faults = vec![FaultProcess { needs_repair: true, ..crashes(exponential(mtbf * HOUR), exposure) }];
            let mut fleet = plain(n, 1e9, ProgressSpec::Kept, faults);
            fleet.nodes = n + spare;
            fleet.training.work = Duration(u64::MAX / 2);
            fleet.stop_at = s(40_000.0 * HOUR);
            fleet.repair = RepairSpec {
                stages: vec![RepairStage {
                    name: "repair".to_owned(),
                    duration: exponential(mttr * HOUR),
                    escalates: 0.0,
                    fails: 0.0,
                }],
                crews: Some(crews),
            };
            let run = play(&fleet, cases(20, 40));
            let up = |o: &FleetOutcome| output(o, "effective_training_ratio");
            let down = |o: &FleetOutcome| o.books.node_ns(TimeCategory::Repair) as f64 / o.end.0 as f64;
            let what = format!("{n}+{spare}, {crews} crews, {exposure:?}");
            assert_mean(&what, &run.iter().map(up).collect::<Vec<_>>(), availability);
            assert_mean(&what, &run.iter().map(down).collect::<Vec<_>>(), failed);
        }
    }
}

#[test]
fn first_failure_time_agrees_with_the_weibull_minimum() {
    // reference 6.8: 64 nodes of mean life 3,693 h; shape and mean time to the first failure in hours.
    for (shape, hours) in [(0.7, 9.708), (1.0, 57.703), (1.5, 230.81)] {
        let life = Distribution::Weibull { scale_s: 3693.0 * HOUR / libm::tgamma(1.0 + 1.0 / shape), shape };
        let mut fleet = plain(64, 1e9, ProgressSpec::Kept, vec![crashes(life, ExposureSpec::Running)]);
        fleet.job.max_restarts = Some(0);
        let first: Vec<f64> = play(&fleet, 4000).iter().map(|o| o.end.seconds() / HOUR).collect();
        assert_mean(&format!("shape {shape}"), &first, hours);
    }
}

#[test]
fn in_the_long_run_failures_come_at_the_rate_of_the_mean_whatever_the_distribution() {
    // Renewal theorem: N / M failures per unit of time, if node ages survive the restarts of the job.
    let mean_s = 50.0 * HOUR;
    let dists = [
        exponential(mean_s),
        Distribution::Weibull { scale_s: mean_s / libm::tgamma(1.0 + 1.0 / 0.7), shape: 0.7 },
        Distribution::Weibull { scale_s: mean_s / libm::tgamma(1.0 + 1.0 / 1.5), shape: 1.5 },
        Distribution::LogNormal { median_s: mean_s * libm::exp(-0.5), sigma: 1.0 },
        Distribution::Uniform { low_s: 0.0, high_s: 2.0 * mean_s },
        Distribution::Gamma { mean_s, shape: 0.7 },
        Distribution::Gamma { mean_s, shape: 3.0 },
        // If all lifetimes are multiples of one number, the theorem holds only for the mean over long times.
        Distribution::Empirical(EmpiricalDistribution::new(&[(0.31 * mean_s, 0.5), (1.69 * mean_s, 0.5)]).unwrap()),
    ];
    for life in dists {
        // The difference of two runs of different length excludes the first failures of new nodes, which are in
        // both.
        let rate = |work_h: f64, i: u64| {
            let faults = vec![crashes(life.clone(), ExposureSpec::Running)];
            let fleet = plain(20, work_h * HOUR, ProgressSpec::Kept, faults);
            output(&FleetSimulation::new(&fleet).run(3, i), "failures")
        };
        let per_hour: Vec<f64> = (0..cases(20, 40)).map(|i| (rate(6000.0, i) - rate(1000.0, i)) / 5000.0).collect();
        assert_mean(&format!("{life:?}"), &per_hour, 20.0 / 50.0);
    }
}

/// Returns a Fleet that uses every feature.
fn full_featured_fleet(selection: HostSelection, retirement: RetirementSpec) -> FleetSpec {
    let faults = vec![
        FaultProcess { needs_repair: true, ..crashes(exponential(200.0 * HOUR), ExposureSpec::Running) },
        FaultProcess {
            needs_repair: true,
            only_lemons: true,
            ..crashes(exponential(40.0 * HOUR), ExposureSpec::Always)
        },
        crashes(exponential(900.0 * HOUR), ExposureSpec::Assigned),
    ];
    let progress = ProgressSpec::Checkpoints { every: s(900.0), blocking: s(20.0) };
    let mut fleet = plain(30, 400.0 * HOUR, progress, faults);
    fleet.nodes = 36;
    fleet.spares = SparePool { nodes: 4, take_over: s(1200.0) };
    fleet.job.standbys = 2;
    fleet.job.selection = selection;
    fleet.job.selection_time = Distribution::Fixed(s(180.0));
    fleet.job.recovery = exponential(600.0);
    fleet.lemons = LemonSpec { share: 0.2, regeneration: Some((s(100.0 * HOUR), 0.1)) };
    fleet.diagnosis = DiagnosisSpec { repair_probability: 0.9, misdiagnosis_probability: 0.1 };
    let stage = |name: &str, hours: f64, escalates, fails| RepairStage {
        name: name.to_owned(),
        duration: exponential(hours * HOUR),
        escalates,
        fails,
    };
    fleet.repair =
        RepairSpec { stages: vec![stage("automatic", 2.0, 0.8, 0.4), stage("manual", 20.0, 0.0, 0.2)], crews: Some(5) };
    fleet.retirement = retirement;
    fleet
}

#[test]
fn the_phases_of_the_job_and_the_time_of_the_nodes_close_to_the_nanosecond() {
    for selection in [HostSelection::LongestInPool, HostSelection::FewestFailures] {
        for retirement in
            [RetirementSpec::Never, RetirementSpec::Window(3, s(7.0 * 24.0 * HOUR)), RetirementSpec::Life(4)]
        {
            for outcome in play(&full_featured_fleet(selection, retirement), 5) {
                let phases: u64 = outcome.phases_ns.iter().map(|(_, ns)| ns).sum();
                assert_eq!(phases, outcome.end.0, "the phases");
                assert_eq!(outcome.books.total_node_ns(), 40 * u128::from(outcome.end.0), "the nodes");
                let work = output(&outcome, "compute_h");
                assert!(outcome.why != FleetEnd::Completed || (work - 400.0).abs() < 1e-9, "{work}");
            }
        }
    }
}

#[test]
fn replication_is_independent_of_earlier_replications() {
    let fleet = full_featured_fleet(HostSelection::LongestInPool, RetirementSpec::Never);
    let mut used = FleetSimulation::new(&fleet);
    used.run(1, 0);
    let (again, fresh) = (used.run(1, 1), FleetSimulation::new(&fleet).run(1, 1));
    assert_eq!(again, fresh);
    assert_ne!(fresh.digest, FleetSimulation::new(&fleet).run(1, 2).digest);
}

#[test]
fn the_same_failures_meet_every_policy_while_nothing_else_differs() {
    // Common random numbers: the first failure is the same, whatever its recovery costs.
    let first = |recovery_s: f64| {
        let faults = vec![crashes(exponential(300.0 * HOUR), ExposureSpec::Running)];
        let mut fleet = plain(8, 1e7, ProgressSpec::Kept, faults);
        fleet.job.recovery = Distribution::Fixed(s(recovery_s));
        let outcome = FleetSimulation::new(&fleet).run(5, 0);
        output(&outcome, "failures")
    };
    assert_eq!(first(0.0), first(3600.0));
}

#[test]
fn heavy_tails_are_warned_of_by_the_law_and_not_by_the_sample() {
    use sim_analysis::experiment::FleetReplications;
    let warnings = |recovery: Distribution, n: u64| {
        let mut fleet =
            plain(1, 10.0 * HOUR, ProgressSpec::Kept, vec![crashes(exponential(HOUR), ExposureSpec::Always)]);
        fleet.job.recovery = recovery;
        let rows = play(&fleet, n);
        let warnings = FleetReplications::from_replications((&fleet, &[]), 7, &rows).warnings;
        warnings.into_iter().filter(|w| w.contains("heavy tail")).collect::<Vec<_>>()
    };
    let log_normal = |sigma| Distribution::LogNormal { median_s: 60.0, sigma };
    // Skewness 1,184: 35 million values are needed. The sample of 20 replications seldom meets the tail.
    let result = warnings(log_normal(2.17), 20);
    assert!(matches!(&result[..], [one] if one.contains("job.recovery") && one.contains("skewness 1")), "{result:?}");
    // Skewness 1.75: about 77 values are needed, and 200 occur.
    assert_eq!(warnings(log_normal(0.5), 20), [""; 0]);
    assert_eq!(warnings(exponential(60.0), 20), [""; 0]);
}

/// A replication that the time limit ended has no training time, and none of it enters the mean.
#[test]
fn the_training_time_is_that_of_replications_that_completed_their_work() {
    let recovery = exponential(5.0 * HOUR);
    let mut fleet =
        plain(1, 10.0 * HOUR, ProgressSpec::Kept, vec![crashes(exponential(4.0 * HOUR), ExposureSpec::Running)]);
    fleet.job.recovery = recovery;
    fleet.stop_at = s(20.0 * HOUR);
    let outcomes = play(&fleet, 40);
    let completed: Vec<f64> =
        outcomes.iter().filter(|o| o.why == FleetEnd::Completed).map(|o| output(o, "training_time_h")).collect();
    assert!(completed.len() > 5 && completed.len() < 35, "{} completed", completed.len());
    let all = FleetReplications::from_replications((&fleet, &[]), 7, &outcomes);
    let row = all.rows.iter().find(|(name, _)| name == "training_time_h").expect("an estimate");
    let mean = completed.iter().sum::<f64>() / completed.len() as f64;
    assert!((row.1.mean.unwrap_or(0.0) - mean).abs() < 1e-9, "{:?} instead of {mean}", row.1.mean);
    // Less than 90 % of the replications complete their work, so the 90th percentile is unknown.
    assert_eq!((row.1.n, row.1.p90, all.outputs["training_time_h"]["p90"].is_null()), (completed.len(), None, true));
    assert!(all.warnings[0].contains("training_time_h is that of the others"), "{:?}", all.warnings);
}
