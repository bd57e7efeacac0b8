//! The outcome of one replication of a fleet: its end reason, and every output by name.

use super::fleet_ledger::FleetLedger;
use super::job::FleetJobPhase;
use super::world::{FleetEnd, FleetWorld};
use sim_base::SimTime;

/// The outcome of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOutcome {
    /// End of the job.
    pub end: SimTime,
    /// End reason of the job.
    pub why: FleetEnd,
    /// Hash over the events of the replication.
    pub digest: u64,
    /// Node time per category, up to the end of the job.
    pub books: FleetLedger,
    /// Names and values of all outputs, in the same order in all replications of a fleet; values in hours have the
    /// suffix `_h`.
    pub outputs: Vec<(String, f64)>,
    /// Time of the job by phase in nanoseconds; the sum is its end time.
    pub phases_ns: Vec<(&'static str, u64)>,
    /// Interruptions of the job: time in nanoseconds and fault process. Empty unless
    /// `FleetSimulation::noting_restarts` was called.
    pub interruptions: Vec<(u64, u32)>,
}

fn hours(ns: u64) -> f64 {
    ns as f64 / 3.6e12
}

impl FleetOutcome {
    pub(super) fn from_world(world: &FleetWorld<'_>) -> FleetOutcome {
        let (why, end) = world.ended_at.expect("the run has ended");
        let spent = |phase: FleetJobPhase| world.job.spent[phase as usize];
        let all: u64 = world.job.spent.iter().sum();
        assert_eq!(all, end, "the times of the job's phases must sum to its end time");
        let nodes = world.pool.rows.len() as u128;
        assert_eq!(world.books.total_node_ns(), nodes * u128::from(end), "node time must sum to nodes × end time");
        let compute = spent(FleetJobPhase::Working) - world.job.lost;
        let phases_ns = vec![
            ("compute", compute),
            ("lost_work", world.job.lost),
            ("checkpoint", spent(FleetJobPhase::Saving)),
            ("recovery", spent(FleetJobPhase::Recovery)),
            ("host_selection", spent(FleetJobPhase::HostSelection)),
            ("waiting_for_spares", spent(FleetJobPhase::WaitingForSpares)),
            ("stalls", spent(FleetJobPhase::Stalled)),
        ];
        FleetOutcome {
            end: SimTime(end),
            why,
            digest: world.digest,
            books: world.books.clone(),
            outputs: outputs(world, (why, end), &phases_ns),
            phases_ns,
            interruptions: world.noted.clone().unwrap_or_default(),
        }
    }
}

/// Returns every output by name. Outputs that a published model defines have its names.
fn outputs(
    world: &FleetWorld<'_>,
    (why, end): (FleetEnd, u64),
    phases_ns: &[(&'static str, u64)],
) -> Vec<(String, f64)> {
    let fleet = world.fleet;
    let ratio = match end {
        0 => 0.0,
        end => phases_ns[0].1 as f64 / end as f64,
    };
    let failures: u64 = world.counts.failures.iter().sum();
    let mut all = vec![("training_time_h".to_owned(), hours(end)), ("effective_training_ratio".to_owned(), ratio)];
    all.extend(phases_ns.iter().map(|(name, ns)| (format!("{name}_h"), hours(*ns))));
    let mut count = |name: &str, n: u64| all.push((name.to_owned(), n as f64));
    count("failures", failures);
    let mut causes: Vec<(&str, u64)> = Vec::new();
    for (process, n) in fleet.faults.iter().zip(&world.counts.failures) {
        match causes.iter_mut().find(|(cause, _)| *cause == process.cause) {
            Some((_, sum)) => *sum += n,
            None => causes.push((&process.cause, *n)),
        }
    }
    for (cause, n) in causes {
        count(&format!("failures_{cause}"), n);
    }
    count("restarts", world.job.restarts);
    count("host_selections", world.counts.host_selections);
    count("spares_pulled", world.counts.spares_pulled);
    for (stage, n) in fleet.repair.stages.iter().zip(&world.repair_pipeline.done) {
        count(&format!("{}_repairs", stage.name), *n);
    }
    count("successful_repairs", world.repair_pipeline.successful);
    count("failed_repairs", world.repair_pipeline.failed);
    count("retirements", world.counts.retirements);
    count("completed", u64::from(why == FleetEnd::Completed));
    count("depleted", u64::from(why == FleetEnd::Depleted));
    all
}
