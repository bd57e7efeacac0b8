//! The reduced model of Fleets against closed forms: `reference` names the section of the calibration reference.

use sim_analysis::fleet::{Category, FleetEnd, FleetOutcome, FleetSimulation};
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::{Dist, Empirical};

const HOUR: f64 = 3600.0;

pub fn s(seconds: f64) -> Duration {
    Duration::from_seconds_f64(seconds)
}

/// Returns a fault process on every node whose failures only interrupt the job.
pub fn crashes(life: Dist, exposure: Exposure) -> FaultProcess {
    FaultProcess {
        cause: "crash".to_owned(),
        only_lemons: false,
        life,
        exposure,
        trace: None,
        needs_repair: false,
    }
}

pub fn exponential(mean_s: f64) -> Dist {
    Dist::Exponential { mean_s }
}

/// Returns a Fleet of `nodes` nodes, all of them needed by the job, without spares.
pub fn plain(nodes: u32, work_s: f64, progress: Progress, faults: Vec<FaultProcess>) -> Fleet {
    Fleet {
        name: "test".to_owned(),
        description: String::new(),
        nodes,
        spares: SparePool {
            nodes: 0,
            take_over: Duration::ZERO,
        },
        job: FleetJob {
            nodes,
            standbys: 0,
            selection: HostSelection::LongestInPool,
            select: Dist::ZERO,
            recovery: Dist::ZERO,
            max_restarts: None,
        },
        training: Training {
            work: s(work_s),
            progress,
        },
        faults,
        lemons: Lemons {
            share: 0.0,
            regeneration: None,
        },
        diagnosis: Diagnosis {
            finds: 1.0,
            blames_another: 0.0,
        },
        repair: Repair {
            stages: Vec::new(),
            crews: None,
        },
        retirement: Retirement::Never,
        stop_at: Duration(u64::MAX / 2),
        seed: 1,
    }
}

fn play(fleet: &Fleet, n: u64) -> Vec<FleetOutcome> {
    let mut simulation = FleetSimulation::new(fleet);
    (0..n).map(|i| simulation.run(7, i)).collect()
}

fn output(outcome: &FleetOutcome, name: &str) -> f64 {
    let found = outcome.outputs.iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("no output {name}")).1
}

/// Asserts that the mean is within three standard errors of the formula's value.
fn within(what: &str, values: &[f64], expected: f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!(
        (mean - expected).abs() <= 3.0 * error + 1e-9 * expected.abs(),
        "{what}: {mean} ± {error}, the formula says {expected}"
    );
    // A wide interval would accept any value.
    assert!(
        error < 0.05 * expected.abs().max(0.01),
        "{what}: ± {error} is too wide"
    );
}

#[test]
fn segments_with_checkpoints_take_the_time_that_daly_says() {
    // reference 6.1: M, tau, C, R; then E[T] if failures also hit the restart (A), and if they do not (B).
    for (case, [mean, every, blocking, restart], [a, b]) in [
        (
            "CT-1",
            [3600.0, 600.0, 60.0, 300.0],
            [787.324_041, 784.737_510],
        ),
        (
            "CT-2",
            [3600.0, 600.0, 60.0, 0.0],
            [724.373_087, 724.373_087],
        ),
        (
            "CT-3",
            [10_000.0, 1800.0, 30.0, 600.0],
            [2_132.320_776, 2_128.632_726],
        ),
        (
            "CT-4",
            [2_658.461_538, 1200.0, 20.0, 130.0],
            [1_625.746_349, 1_623.864_783],
        ),
        (
            "CT-5",
            [2_658.461_538, 1200.0, 20.0, 10.0],
            [1_553.993_568, 1_553.982_602],
        ),
    ] {
        for (convention, exposure, expected) in
            [("A", Exposure::Assigned, a), ("B", Exposure::Running, b)]
        {
            let progress = Progress::Checkpoints {
                every: s(every),
                blocking: s(blocking),
            };
            let faults = vec![crashes(exponential(mean), exposure)];
            let mut fleet = plain(1, every * 500.0, progress, faults);
            fleet.job.recovery = Dist::Fixed(s(restart));
            let segment = |o: &FleetOutcome| o.end.seconds() / 500.0;
            let times: Vec<f64> = play(&fleet, 60).iter().map(segment).collect();
            within(&format!("{case} {convention}"), &times, expected);
        }
    }
}

#[test]
fn a_limit_of_restarts_is_survived_as_poisson_and_geometric_chances_say() {
    // reference 6.3, lambda W = 1: from scratch, and with perfect checkpoints; m = 0, 1, 2, 3.
    for (progress, expected) in [
        (
            Progress::FromScratch,
            [0.367_879, 0.600_424, 0.747_420, 0.840_339],
        ),
        (Progress::Kept, [0.367_879, 0.735_759, 0.919_699, 0.981_012]),
    ] {
        for (m, expected) in expected.into_iter().enumerate() {
            let faults = vec![crashes(exponential(1000.0), Exposure::Running)];
            let mut fleet = plain(1, 1000.0, progress, faults);
            fleet.job.max_restarts = Some(m as u32);
            let done = |o: &FleetOutcome| f64::from(o.why == FleetEnd::Completed);
            let done: Vec<f64> = play(&fleet, 6000).iter().map(done).collect();
            within(&format!("{progress:?}, {m} restarts"), &done, expected);
        }
    }
}

#[test]
fn spares_and_crews_give_the_availability_of_the_birth_death_chain() {
    // reference 6.4: N, S, MTBF, MTTR (h), crews; then availability and mean number of failed nodes, if nodes fail
    // at any time (hot spares), only while assigned to the job (cold spares), or only while the job runs.
    type Row = (u32, u32, f64, f64, u32, [[f64; 2]; 3]);
    let rows: [Row; 4] = [
        (
            64,
            0,
            1000.0,
            24.0,
            64,
            [[0.219_181, 1.5], [0.219_181, 1.5], [0.394_322, 0.605_68]],
        ),
        (
            64,
            2,
            1000.0,
            24.0,
            66,
            [
                [0.798_384, 1.546_87],
                [0.801_378, 1.529_00],
                [0.860_178, 1.321_23],
            ],
        ),
        (
            64,
            4,
            1000.0,
            24.0,
            68,
            [
                [0.978_205, 1.593_75],
                [0.979_798, 1.535_37],
                [0.984_588, 1.512_33],
            ],
        ),
        (
            256,
            8,
            3693.0,
            24.0,
            2,
            [
                [0.796_588, 5.255_93],
                [0.806_835, 5.073_60],
                [0.957_652, 3.401_19],
            ],
        ),
    ];
    for (n, spare, mtbf, mttr, crews, conventions) in rows {
        let exposures = [Exposure::Always, Exposure::Assigned, Exposure::Running];
        for (exposure, [availability, failed]) in exposures.into_iter().zip(conventions) {
            let faults = vec![FaultProcess {
                needs_repair: true,
                ..crashes(exponential(mtbf * HOUR), exposure)
            }];
            let mut fleet = plain(n, 1e9, Progress::Kept, faults);
            fleet.nodes = n + spare;
            fleet.training.work = Duration(u64::MAX / 2);
            fleet.stop_at = s(100_000.0 * HOUR);
            fleet.repair = Repair {
                stages: vec![RepairStage {
                    name: "repair".to_owned(),
                    takes: exponential(mttr * HOUR),
                    escalates: 0.0,
                    fails: 0.0,
                }],
                crews: Some(crews),
            };
            let played = play(&fleet, 60);
            let up = |o: &FleetOutcome| output(o, "effective_training_ratio");
            let down = |o: &FleetOutcome| o.books.node_ns(Category::Repair) as f64 / o.end.0 as f64;
            let what = format!("{n}+{spare}, {crews} crews, {exposure:?}");
            within(
                &what,
                &played.iter().map(up).collect::<Vec<_>>(),
                availability,
            );
            within(&what, &played.iter().map(down).collect::<Vec<_>>(), failed);
        }
    }
}

#[test]
fn the_first_failure_of_a_new_gang_comes_when_weibull_says() {
    // reference 6.8: 64 nodes of mean life 3,693 h; shape and mean time to the first failure in hours.
    for (shape, hours) in [(0.7, 9.708), (1.0, 57.703), (1.5, 230.81)] {
        let life = Dist::Weibull {
            scale_s: 3693.0 * HOUR / libm::tgamma(1.0 + 1.0 / shape),
            shape,
        };
        let mut fleet = plain(
            64,
            1e9,
            Progress::Kept,
            vec![crashes(life, Exposure::Running)],
        );
        fleet.job.max_restarts = Some(0);
        let first: Vec<f64> = play(&fleet, 4000)
            .iter()
            .map(|o| o.end.seconds() / HOUR)
            .collect();
        within(&format!("shape {shape}"), &first, hours);
    }
}

#[test]
fn in_the_long_run_failures_come_at_the_rate_of_the_mean_whatever_the_distribution() {
    // Renewal theorem: N / M failures per unit of time, if node ages survive the restarts of the job.
    let mean_s = 50.0 * HOUR;
    let dists = [
        exponential(mean_s),
        Dist::Weibull {
            scale_s: mean_s / libm::tgamma(1.0 + 1.0 / 0.7),
            shape: 0.7,
        },
        Dist::Weibull {
            scale_s: mean_s / libm::tgamma(1.0 + 1.0 / 1.5),
            shape: 1.5,
        },
        Dist::LogNormal {
            median_s: mean_s * libm::exp(-0.5),
            sigma: 1.0,
        },
        Dist::Uniform {
            low_s: 0.0,
            high_s: 2.0 * mean_s,
        },
        Dist::Gamma { mean_s, shape: 0.7 },
        Dist::Gamma { mean_s, shape: 3.0 },
        // If all lifetimes are multiples of one number, the theorem holds only for the mean over long times.
        Dist::Empirical(Empirical::new(&[(0.31 * mean_s, 0.5), (1.69 * mean_s, 0.5)]).unwrap()),
    ];
    for life in dists {
        // The difference of two runs of different length excludes the first failures of new nodes, which are in
        // both.
        let rate = |work_h: f64, i: u64| {
            let faults = vec![crashes(life.clone(), Exposure::Running)];
            let fleet = plain(20, work_h * HOUR, Progress::Kept, faults);
            output(&FleetSimulation::new(&fleet).run(3, i), "failures")
        };
        let per_hour: Vec<f64> = (0..60)
            .map(|i| (rate(6000.0, i) - rate(1000.0, i)) / 5000.0)
            .collect();
        within(&format!("{life:?}"), &per_hour, 20.0 / 50.0);
    }
}

/// Returns a Fleet that uses every feature.
fn rich(selection: HostSelection, retirement: Retirement) -> Fleet {
    let faults = vec![
        FaultProcess {
            needs_repair: true,
            ..crashes(exponential(200.0 * HOUR), Exposure::Running)
        },
        FaultProcess {
            needs_repair: true,
            only_lemons: true,
            ..crashes(exponential(40.0 * HOUR), Exposure::Always)
        },
        crashes(exponential(900.0 * HOUR), Exposure::Assigned),
    ];
    let progress = Progress::Checkpoints {
        every: s(900.0),
        blocking: s(20.0),
    };
    let mut fleet = plain(30, 400.0 * HOUR, progress, faults);
    fleet.nodes = 36;
    fleet.spares = SparePool {
        nodes: 4,
        take_over: s(1200.0),
    };
    fleet.job.standbys = 2;
    fleet.job.selection = selection;
    fleet.job.select = Dist::Fixed(s(180.0));
    fleet.job.recovery = exponential(600.0);
    fleet.lemons = Lemons {
        share: 0.2,
        regeneration: Some((s(100.0 * HOUR), 0.1)),
    };
    fleet.diagnosis = Diagnosis {
        finds: 0.9,
        blames_another: 0.1,
    };
    let stage = |name: &str, hours: f64, escalates, fails| RepairStage {
        name: name.to_owned(),
        takes: exponential(hours * HOUR),
        escalates,
        fails,
    };
    fleet.repair = Repair {
        stages: vec![
            stage("automatic", 2.0, 0.8, 0.4),
            stage("manual", 20.0, 0.0, 0.2),
        ],
        crews: Some(5),
    };
    fleet.retirement = retirement;
    fleet
}

#[test]
fn the_phases_of_the_job_and_the_time_of_the_nodes_close_to_the_nanosecond() {
    for selection in [HostSelection::LongestInPool, HostSelection::FewestFailures] {
        for retirement in [
            Retirement::Never,
            Retirement::Window(3, s(7.0 * 24.0 * HOUR)),
            Retirement::Life(4),
        ] {
            for outcome in play(&rich(selection, retirement), 5) {
                let phases: u64 = outcome.phases_ns.iter().map(|(_, ns)| ns).sum();
                assert_eq!(phases, outcome.end.0, "the phases");
                assert_eq!(
                    outcome.books.total_node_ns(),
                    40 * u128::from(outcome.end.0),
                    "the nodes"
                );
                let work = output(&outcome, "compute_h");
                assert!(
                    outcome.why != FleetEnd::Completed || (work - 400.0).abs() < 1e-9,
                    "{work}"
                );
            }
        }
    }
}

#[test]
fn a_replication_is_the_same_whoever_played_before_it() {
    let fleet = rich(HostSelection::LongestInPool, Retirement::Never);
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
        let faults = vec![crashes(exponential(300.0 * HOUR), Exposure::Running)];
        let mut fleet = plain(8, 1e7, Progress::Kept, faults);
        fleet.job.recovery = Dist::Fixed(s(recovery_s));
        let outcome = FleetSimulation::new(&fleet).run(5, 0);
        output(&outcome, "failures")
    };
    assert_eq!(first(0.0), first(3600.0));
}
