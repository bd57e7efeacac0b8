//! `run --check-collapsed`: replications at both levels with the same faults, side by side.

use crate::cli::args::{RunArgs, TableFormat};
use crate::cli::inputs::load::Loaded;
use crate::cli::output;
use crate::cli::output::Progress;
use crate::cli::{Failure, interrupt};
use sim_analysis::experiment::{Collapsed, NoRuns, NotCollapsed, check_collapsed};
use sim_api::spec::Scenario;
use sim_report::console::check_collapsed as report;
use std::sync::Mutex;

/// Replications, unless it is said.
const REPLICATIONS: u64 = 20;

pub fn cli(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let n = args.seeds.unwrap_or(REPLICATIONS);
    let collapsed = measured(&loaded.scenario, args.quiet)?;
    let limits = interrupt::limits();
    let highest = Progress::default();
    let progress = |done: u64| {
        if !args.quiet {
            highest.reach(done, |done| {
                output::progress(&format!("{done}/{n} replications at both levels"));
            });
        }
    };
    let threads = args.play.threads();
    let all = check_collapsed(&collapsed, (loaded.seed, n), (threads, &limits), &progress);
    if !args.quiet {
        output::progress("");
    }
    let all = all.map_err(|why| match why {
        NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
        NoRuns::Scenario(_) => Failure::CannotBePlaced(why.to_string()),
    })?;
    let checked = report::Check::of(&collapsed, loaded.seed, &all);
    match args.format {
        TableFormat::Json => output::json(&checked)?,
        TableFormat::Csv => output::bytes(&checked.csv()?)?,
        TableFormat::Md => output::result(&sim_report::files::csv::markdown(&checked.csv()?)?)?,
        TableFormat::Text => {
            let style = output::style(&args.look);
            output::styled(&checked.text(&style), &style)?;
        }
    }
    if (all.len() as u64) < n {
        let kept = format!("{} of {n} replications are checked", all.len());
        return Err(interrupt::failure(&kept));
    }
    checked
        .failure()
        .map_or(Ok(()), |why| Err(Failure::Gate(why)))
}

/// What this process has measured, the newest last: points and variants differ in little that restarts hang on.
static MEASURED: Mutex<Vec<Collapsed>> = Mutex::new(Vec::new());
/// More of them are not kept.
const KEPT: usize = 64;

/// The scenario at the collapsed level, measured unless that was done for one like it; what it does not model is wrong
/// input.
pub fn measured(scenario: &Scenario, quiet: bool) -> Result<Collapsed, Failure> {
    let mut known = MEASURED.lock().expect("nobody panics with it");
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
