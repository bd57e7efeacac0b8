//! `run --seeds N`: replications in parallel. Results are placed by index, so threads change nothing.

use super::args::{Format, RunArgs, Trace};
use super::load::Loaded;
use super::run::{play, simulation};
use super::{Failure, output};
use crate::metrics::replications::{Replication, Replications};
use crate::metrics::{Folds, RunView};
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
    // Names for the report; also refuses before the threads start.
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
                    let mut folds = Folds::new(&loaded.scenario, false).without_paths();
                    let outcome = sim.run(loaded.seed, i, &mut folds);
                    let folded = folds.finish(&outcome, sim.names());
                    let one = RunView {
                        scenario: &loaded.scenario,
                        names: sim.names(),
                        outcome: &outcome,
                        folded: &folded,
                        seed: loaded.seed,
                        not_modelled: &loaded.not_modelled,
                    };
                    let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if !args.quiet {
                        output::progress(&format!("{finished}/{n} replications"));
                    }
                    Ok(Replication::of(&one, i))
                },
            )
            .collect()
    });
    if !args.quiet {
        output::progress("");
    }
    let rows = rows?;
    let all = Replications::of(&first.view(loaded), &rows);
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
