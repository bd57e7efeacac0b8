//! Verification: repeats a run and checks the whole state after every event.

use super::stop::{LimitSink, ReplicationLimits};
use crate::metrics::RunView;
use crate::metrics::restarts::restart::RestartOutcome;
use sim_base::{JobSetId, SimTime};
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use std::collections::BTreeMap;

/// The reason why a run is not verified.
pub enum NotVerified {
    /// A limit stopped the second run.
    Stopped,
    /// A description of the difference.
    Differs(String),
}

/// Runs the scenario again and requires equal records, a ledger that accounts for all accelerator time, and restarts
/// that agree with the readiness of their JobSets.
pub fn verify(again: &mut SimulationInput, view: &RunView<'_>, limits: &ReplicationLimits) -> Result<(), NotVerified> {
    let outcome = view.outcome;
    again.set_paranoid(true);
    let second = again.run(view.seed, 0, &mut LimitSink::sink(limits));
    again.set_paranoid(false);
    if second.end_reason == EndReason::Stopped {
        return Err(NotVerified::Stopped);
    }
    if second.digest != outcome.digest {
        return Err(NotVerified::Differs(format!(
            "two runs of the same inputs differ: digests {:016x} and {:016x}",
            outcome.digest, second.digest
        )));
    }
    let ledger = &outcome.ledger;
    let booked: u128 = ledger.accelerator_ns.iter().sum();
    let installed = ledger.installed_ns;
    if booked != installed {
        return Err(NotVerified::Differs(format!(
            "the ledger accounts for {booked} of {installed} accelerator-nanoseconds"
        )));
    }
    match restart_contradiction(view) {
        Some(text) => Err(NotVerified::Differs(text)),
        None => Ok(()),
    }
}

/// Returns a description of the first restart whose spans do not add up to it, or that begins before its JobSet was
/// ready the last time: what ended an attempt cannot be older than the attempt.
fn restart_contradiction(view: &RunView<'_>) -> Option<String> {
    let mut ready_since: BTreeMap<JobSetId, SimTime> = BTreeMap::new();
    for (at, restart) in view.restarts().iter().enumerate() {
        let (number, name) = (at + 1, view.names.jobset(restart.jobset));
        let spans: u64 = restart.spans().iter().map(|span| span.duration().0).sum();
        if spans != restart.total().0 {
            let total = restart.total().0;
            return Some(format!("the spans of restart {number} of JobSet {name} add up to {spans} of {total} ns"));
        }
        let ready = ready_since.get(&restart.jobset).copied().unwrap_or(SimTime::ZERO);
        if restart.start < ready {
            let start = restart.start;
            return Some(format!(
                "restart {number} of JobSet {name} begins at {start}, but all pods became ready at {ready}"
            ));
        }
        if restart.ending == RestartOutcome::Ready {
            ready_since.insert(restart.jobset, restart.end);
        }
    }
    None
}
