//! A run played again, with the whole state checked after every event.

use crate::engine::Simulation;
use crate::metrics::RunView;
use crate::record::Discard;

/// The same run again must give the same records, and every accelerator-second must be accounted for; the error is a
/// sentence for whoever looks for the bug.
pub fn verify(again: &mut Simulation, view: &RunView<'_>) -> Result<(), String> {
    let outcome = view.outcome;
    again.paranoid(true);
    let second = again.run(view.seed, 0, &mut Discard);
    again.paranoid(false);
    if second.digest != outcome.digest {
        return Err(format!(
            "two runs of the same inputs differ: digests {:016x} and {:016x}",
            outcome.digest, second.digest
        ));
    }
    let ledger = &outcome.ledger;
    let booked: u128 = ledger.accelerator_ns.iter().sum();
    let installed = u128::from(ledger.accelerators) * u128::from(outcome.end.0);
    if booked != installed {
        return Err(format!(
            "the ledger holds {booked} of {installed} accelerator-nanoseconds"
        ));
    }
    Ok(())
}
