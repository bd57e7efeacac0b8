//! The outcome of one replication of a fleet: its end reason, and every output by name.

use super::fleet_ledger::FleetLedger;
use super::job::FleetJobPhase;
use super::world::{FleetEnd, FleetWorld};
use sim_base::SimTime;
use std::sync::Arc;

/// Values by name. All replications of a simulation share the names, because there may be millions of replications.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOutputs {
    names: Arc<[String]>,
    values: Box<[f64]>,
}

impl FleetOutputs {
    /// Returns the names in the order of the values.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the values in the order of the names.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns all names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.names.iter().map(String::as_str).zip(self.values.iter().copied())
    }

    /// Returns the value of an output.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

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
    pub outputs: FleetOutputs,
    /// Time of the job by phase in nanoseconds; the sum is its end time.
    pub phases_ns: [(&'static str, u64); 7],
    /// Interruptions of the job: time in nanoseconds and fault process. Empty unless
    /// `FleetSimulation::noting_restarts` was called.
    pub interruptions: Vec<(u64, u32)>,
}

fn hours(ns: u64) -> f64 {
    ns as f64 / 3.6e12
}

impl FleetOutcome {
    /// Returns the outcome of a finished replication. `names` are those of an earlier one, or are set.
    pub(super) fn from_world(world: &FleetWorld<'_>, names: &mut Option<Arc<[String]>>) -> FleetOutcome {
        let (why, end) = world.ended_at.expect("the run has ended");
        let spent = |phase: FleetJobPhase| world.job.spent[phase as usize];
        let all: u64 = world.job.spent.iter().sum();
        assert_eq!(all, end, "the times of the job's phases must sum to its end time");
        let nodes = world.pool.rows.len() as u128;
        assert_eq!(world.books.total_node_ns(), nodes * u128::from(end), "node time must sum to nodes × end time");
        let compute = spent(FleetJobPhase::Working) - world.job.lost;
        let phases_ns = [
            ("compute", compute),
            ("lost_work", world.job.lost),
            ("checkpoint", spent(FleetJobPhase::Saving)),
            ("recovery", spent(FleetJobPhase::Recovery)),
            ("host_selection", spent(FleetJobPhase::HostSelection)),
            ("waiting_for_spares", spent(FleetJobPhase::WaitingForSpares)),
            ("stalls", spent(FleetJobPhase::Stalled)),
        ];
        let (own, values): (Vec<String>, Vec<f64>) = outputs(world, (why, end), &phases_ns).into_iter().unzip();
        let names = names.get_or_insert_with(|| own.into()).clone();
        FleetOutcome {
            end: SimTime(end),
            why,
            digest: world.digest,
            books: world.books.clone(),
            outputs: FleetOutputs { names, values: values.into() },
            phases_ns,
            interruptions: world.noted.clone().unwrap_or_default(),
        }
    }
}

/// Returns every output by name. Outputs that a published model defines have its names.
fn outputs(
    world: &FleetWorld<'_>, (why, end): (FleetEnd, u64), phases_ns: &[(&'static str, u64)],
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
    for (stage, n) in fleet.repair.stages.iter().zip(&world.counts.stages) {
        count(&format!("{}_repairs", stage.name), *n);
    }
    count("successful_repairs", world.counts.successful_repairs);
    count("failed_repairs", world.counts.failed_repairs);
    count("retirements", world.counts.retirements);
    count("completed", u64::from(why == FleetEnd::Completed));
    count("depleted", u64::from(why == FleetEnd::Depleted));
    all
}
