//! `run --seeds N`: replications, as text or JSON, and their directory.

use super::args::{Format, RunArgs, Trace};
use super::load::Loaded;
use super::output::{self, Progress};
use super::run::{play, simulation};
use super::{Failure, fail_if, interrupt};
use crate::base::condition::Condition;
use crate::experiment::fail_if::Group;
use crate::experiment::{NoRuns, Replication, Replications, replicate};
use crate::report::replications;
use crate::report::rundir::RunDir;

pub fn cli(args: &RunArgs, loaded: &Loaded, conditions: &[Condition]) -> Result<(), Failure> {
    let n = args.seeds.unwrap_or(1);
    let limits = interrupt::limits();
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    // Names for the report; also refuses before the threads start.
    let mut sim = simulation(loaded)?;
    let first = play((&mut sim, &limits), loaded, None, Trace::None)?;
    let highest = Progress::default();
    let progress = |done: u64| {
        if !args.quiet {
            highest.reach(done, |done| {
                output::progress(&format!("{done}/{n} replications"));
            });
        }
    };
    let inputs = (&loaded.scenario, loaded.not_modelled.as_slice());
    let threads = args.threads.map_or(0, usize::from);
    let rows = replicate(inputs, (loaded.seed, n), (threads, &limits), &progress);
    if !args.quiet {
        output::progress("");
    }
    let rows = rows.map_err(|why| match why {
        NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
        NoRuns::Scenario(_) => Failure::CannotBePlaced(why.to_string()),
    })?;
    if rows.is_empty() {
        return Err(interrupt::failure("no replication is finished"));
    }
    let all = Replications::of(&first.view(loaded), &rows);
    if let Some(dir) = dir {
        keep(dir, &all, &rows, loaded)?;
    }
    tell(args, &all)?;
    let finished = rows.len();
    if (finished as u64) < n {
        let kept = format!("{finished} of {n} replications are finished, and these are reported");
        return Err(interrupt::failure(&kept));
    }
    let mut placed = rows.iter().filter(|r| r.never_placed.is_none());
    match (placed.next(), &rows[0].never_placed) {
        (None, Some(why)) => Err(Failure::CannotBePlaced(format!(
            "in none of the replications: {why}"
        ))),
        _ if conditions.is_empty() => Ok(()),
        _ => {
            let names = first.view(loaded).names;
            let jobsets: Vec<String> = names.jobsets.iter().map(|j| j.name.clone()).collect();
            let group = Group {
                name: "",
                jobsets: &jobsets,
                replications: &rows,
            };
            fail_if::check(conditions, &[group])
        }
    }
}

fn tell(args: &RunArgs, all: &Replications) -> Result<(), Failure> {
    match args.format {
        Format::Json => output::json(all),
        Format::Text => {
            let style = output::style(&args.look);
            output::styled(&replications::text(all, &style), &style)
        }
    }
}

fn keep(
    dir: RunDir,
    all: &Replications,
    rows: &[Replication],
    loaded: &Loaded,
) -> Result<(), Failure> {
    dir.write_json("summary.json", all)?;
    dir.write("replications.csv", &replications::csv(all, rows)?)?;
    dir.write_inputs(&loaded.inputs.files, &loaded.inputs.command)?;
    dir.commit()?;
    Ok(())
}
