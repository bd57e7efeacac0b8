//! Verification: repeats a run and checks the whole state after every event.

use super::stop::{LimitSink, ReplicationLimits};
use crate::metrics::RunView;
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;

/// The reason why a run is not verified.
pub enum NotVerified {
    /// A limit stopped the second run.
    Stopped,
    /// A description of the difference.
    Differs(String),
}

/// Runs the scenario again and requires equal records, and a ledger that accounts for all accelerator time.
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
    let installed = u128::from(ledger.accelerators) * u128::from(outcome.end.0);
    if booked != installed {
        return Err(NotVerified::Differs(format!(
            "the ledger accounts for {booked} of {installed} accelerator-nanoseconds"
        )));
    }
    Ok(())
}
