//! The reduced model of a scenario, with restart times measured by this process.

use crate::cli::failure::Failure;
use crate::cli::{interrupt, output};
use sim_analysis::experiment::{Collapsed, NotCollapsed};
use sim_api::spec::Scenario;
use std::sync::Mutex;

/// Measurements of this process, newest last. Points and variants often share the inputs that restart times depend
/// on.
static MEASURED: Mutex<Vec<Collapsed>> = Mutex::new(Vec::new());
/// Maximum number of measurements in memory.
const KEPT: usize = 64;

/// Returns the reduced model of a scenario. Measurements of an equivalent scenario are reused. A scenario that the
/// reduced model does not support is invalid input.
pub fn measured(scenario: &Scenario, quiet: bool) -> Result<Collapsed, Failure> {
    let mut known = MEASURED
        .lock()
        .expect("no thread panics while it holds the lock");
    let stop = &interrupt::limits().flag;
    let again = |known: &Collapsed| known.with_until(scenario, stop);
    if let Some(again) = known.iter().rev().find_map(again) {
        return Ok(again);
    }
    let collapsed = measure(scenario, quiet)?;
    if known.len() == KEPT {
        known.remove(0);
    }
    known.push(collapsed.clone());
    Ok(collapsed)
}

fn measure(scenario: &Scenario, quiet: bool) -> Result<Collapsed, Failure> {
    if !quiet {
        output::progress("measuring restarts with every pod");
    }
    let collapsed = Collapsed::of_until(scenario, &interrupt::limits().flag);
    if !quiet {
        output::progress("");
    }
    collapsed.map_err(|why| match why {
        NotCollapsed::Refused(_) => Failure::Invalid(why.to_string()),
        NotCollapsed::CannotRun(_) => Failure::CannotBePlaced(why.to_string()),
        NotCollapsed::Stopped => interrupt::failure("no replication is finished"),
    })
}
