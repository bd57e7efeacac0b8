//! `run --seeds N`: replications in parallel. Results are placed by index, so threads change nothing.

use super::args::{Format, RunArgs, Trace};
use super::load::Loaded;
use super::run::{Done, play, simulation};
use super::{Failure, output};
use crate::metrics::Folds;
use crate::metrics::replications::{Replication, Replications};
use crate::report::replications;
use crate::report::rundir::RunDir;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn cli(args: &RunArgs, loaded: &Loaded) -> Result<(), Failure> {
    let n = args.seeds.unwrap_or(1);
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|e| Failure::Invalid(format!("cannot start threads: {e}")))?;
    // Names and texts for the report; also refuses before the threads start.
    let mut sim = simulation(&loaded.scenario)?;
    let first = play(&mut sim, loaded, None, Trace::None)?;
    let done = AtomicU64::new(0);
    let rows: Result<Vec<Replication>, Failure> = pool.install(|| {
        (0..n)
            .into_par_iter()
            .map_init(
                || simulation(&loaded.scenario),
                |sim, i| {
                    let sim = sim.as_mut().map_err(|e| e.clone())?;
                    let mut folds = Folds::new(&loaded.scenario, sim.names(), false);
                    let outcome = sim.run(loaded.seed, i, &mut folds);
                    let folded = folds.finish(&outcome);
                    let one = Done {
                        names: sim.names().clone(),
                        outcome,
                        folded,
                        decisions: None,
                    };
                    let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if !args.quiet {
                        output::progress(&format!("{finished}/{n} replications"));
                    }
                    Ok(Replication::of(&one.view(loaded, sim.texts()), i))
                },
            )
            .collect()
    });
    if !args.quiet {
        output::progress("");
    }
    let rows = rows?;
    let all = Replications::of(&first.view(loaded, sim.texts()), &rows);
    if let Some(dir) = dir {
        keep(dir, &all, &rows, loaded)?;
    }
    match args.format {
        Format::Json => output::json(&all),
        Format::Text => output::result(&replications::text(&all, &output::style(&args.look))),
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
