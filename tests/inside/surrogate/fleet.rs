//! Tests the closed form for checkpoints against a simulation of every checkpoint.

use super::FleetOutcome;
use super::fast_forward::EACH_MAX;
use super::world::FleetWorld;
use proptest::prelude::*;
use sim_api::spec::*;
use sim_base::Duration;
use sim_base::random::{Distribution, DrawSequence};

fn exactly(ns: u64) -> Distribution {
    Distribution::Fixed(Duration(ns))
}

/// Returns fleets whose times are all a few nanoseconds, so that many events coincide.
fn fleets() -> impl Strategy<Value = FleetSpec> {
    let training = (1..30u64, 0..8u64, 1..3000u64, 1..6000u64);
    let job = (1..5u32, 0..3u32, 0..3u32, 0..40u64, 0..20u64);
    let fault = (1..900u64, 0..3usize, any::<bool>(), any::<bool>());
    let faults = prop::collection::vec(fault, 0..3);
    let others = (0..200u64, prop::option::of(1..400u64), 0..5u64);
    (training, job, faults, others).prop_map(fleet)
}

type Fault = (u64, usize, bool, bool);
type Work = (u64, u64, u64, u64);
type Others = (u64, Option<u64>, u64);
/// The numbers for training, job, faults and all other fields, in the parameter order of `fleet`.
type Numbers = (Work, (u32, u32, u32, u64, u64), Vec<Fault>, Others);

fn fleet((training, job, faults, others): Numbers) -> FleetSpec {
    let (every, blocking, work, stop_at) = training;
    let (nodes, standbys, spares, recovery, select) = job;
    let (repair, regeneration, take_over) = others;
    let exposures = [ExposureSpec::Running, ExposureSpec::Assigned, ExposureSpec::Always];
    let process = |(life, exposure, needs_repair, is_fixed): Fault| FaultProcess {
        cause: "fault".to_owned(),
        only_lemons: life % 3 == 0,
        life: if is_fixed { exactly(life) } else { Distribution::Exponential { mean_s: life as f64 * 1e-9 } },
        exposure: exposures[exposure],
        trace: None,
        needs_repair,
    };
    FleetSpec {
        name: String::new(),
        description: String::new(),
        nodes: nodes + standbys,
        spares: SparePool { nodes: spares, take_over: Duration(take_over) },
        job: FleetJob {
            nodes,
            standbys,
            selection: HostSelection::LongestInPool,
            selection_time: exactly(select),
            recovery: exactly(recovery),
            max_restarts: None,
        },
        training: FleetTraining {
            work: Duration(work),
            progress: ProgressSpec::Checkpoints { every: Duration(every), blocking: Duration(blocking) },
        },
        faults: faults.into_iter().map(process).collect(),
        lemons: LemonSpec { share: 0.4, regeneration: regeneration.map(|every| (Duration(every), 0.5)) },
        diagnosis: DiagnosisSpec { repair_probability: 0.9, misdiagnosis_probability: 0.1 },
        repair: RepairSpec {
            stages: vec![RepairStage {
                name: "repair".to_owned(),
                duration: exactly(repair),
                escalates: 0.0,
                fails: 0.0,
            }],
            crews: Some(1),
        },
        retirement: RetirementSpec::Never,
        stop_at: Duration(stop_at),
        seed: 1,
    }
}

/// Returns the world of a run. The oracle simulates every checkpoint: it halts the run at any lost time, so that
/// checkpoints are never passed in bulk.
fn world(fleet: &FleetSpec, seed: u64, is_oracle: bool) -> FleetWorld<'_> {
    let mut world = FleetWorld::new(fleet, DrawSequence::new(seed, 0));
    world.noted = Some(Vec::new());
    world.halts_at = is_oracle.then_some(0);
    world
}

fn simulate(fleet: &FleetSpec, seed: u64, is_oracle: bool) -> (FleetOutcome, u64) {
    let mut world = world(fleet, seed, is_oracle);
    let steps = std::cell::Cell::new(0);
    let count = |events| {
        steps.set(events);
        false
    };
    assert!(world.run(&count));
    (FleetOutcome::from_world(&world, &mut None), steps.get())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn checkpoints_that_are_passed_at_once_leave_what_each_of_them_leaves(
        fleet in fleets(),
        seed in 0..1000u64,
    ) {
        let (closed, looped) = (simulate(&fleet, seed, false), simulate(&fleet, seed, true));
        prop_assert_eq!(closed.0, looped.0);
        prop_assert!(closed.1 <= looped.1);
    }

    #[test]
    fn a_run_that_halts_at_a_lost_time_halts_where_it_would_have(
        fleet in fleets(),
        seed in 0..1000u64,
        level in 0..500u64,
    ) {
        let halted = |is_oracle| {
            let mut world = world(&fleet, seed, is_oracle);
            if !is_oracle {
                world.halts_at = Some(level);
            }
            world.begin();
            while world.ended_at.is_none() && world.lost_time() < level {
                world.step();
            }
            (world.clocks.now, world.lost_time(), world.digest, world.books, world.ended_at)
        };
        prop_assert_eq!(halted(false), halted(true));
    }
}

/// Returns a fleet without faults, or with one fault at the given time.
fn quiet_fleet(work: u64, fault: Option<u64>) -> FleetSpec {
    let faults = fault.map(|at| (at, 0, false, true));
    let all = faults.into_iter().collect();
    let mut fleet = fleet(((2, 1, work, u64::MAX / 4), (1, 0, 0, 5, 0), all, (0, None, 0)));
    (fleet.lemons.share, fleet.lemons.regeneration) = (0.0, None);
    fleet
}

#[test]
fn a_run_of_many_checkpoints_has_as_many_events_as_one_of_few() {
    let (short, long) = (quiet_fleet(40, None), quiet_fleet(1 << 60, None));
    let (short, long) = (simulate(&short, 1, false).1, simulate(&long, 1, false).1);
    assert_eq!(short, long);
}

#[test]
fn beyond_what_the_digest_knows_one_by_one_everything_else_is_as_it_was() {
    let work = 2 * EACH_MAX + 9;
    for (checkpoints, fault) in [(EACH_MAX + 4, None), (0, Some(work + work / 2))] {
        let fleet = quiet_fleet(work, fault);
        let ((closed, _), (looped, _)) = (simulate(&fleet, 1, false), simulate(&fleet, 1, true));
        let saving = closed.phases_ns.iter().find(|(name, _)| *name == "checkpoint");
        if fault.is_none() {
            assert_eq!(saving.map(|(_, ns)| *ns), Some(checkpoints + 1));
        }
        assert_ne!(closed.digest, looped.digest);
        let digest = looped.digest;
        assert_eq!(FleetOutcome { digest, ..closed }, looped);
    }
}
