//! `sweep`: simulates a scenario at many points of its fields, on all cores or in shards; interrupted sweeps resume.

pub mod args;
mod auto;
pub mod axes;
mod directory;
mod merge;
mod output;
mod plan;
mod progress;
mod request;
pub mod stored;

use crate::cli::failure::{Failure, bail, check_metric};
use crate::cli::interrupt;
use crate::cli::output::{notice, progress};
use crate::cli::sweep::args::{SweepArgs, SweepCommand};
use directory::{DirectoryState, SweepDirectory};
use progress::Progress;
use request::Sweep;
use sim_analysis::experiment::{Limits, NoRuns, Subject};
use sim_analysis::sweep::{Finished, Host, Results, Row, Shard, play};
use sim_base::condition::Condition;
use sim_report::assumptions::hanging;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub fn cli(args: &SweepArgs) -> Result<(), Failure> {
    match &args.command {
        Some(SweepCommand::Merge(args)) => merge::cli(args),
        Some(SweepCommand::Plan(args)) => plan::cli(args),
        None => sweep(args),
    }
}

fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    // `--shard 0/1` also counts as a shard: its result must be merged.
    let part = args.shard.map(auto::shard).transpose()?;
    let conditions = output::conditions(&args.output)?;
    let shard = part.unwrap_or(Shard::WHOLE);
    let sweep = Sweep::read(&args.input, &args.over, args.output.quiet)?;
    let limits = interrupt::limits();
    let mut finished = Finished::default();
    let mut directory = None;
    if let Some(out) = &args.out {
        let out = named(out, shard);
        match SweepDirectory::open(&out, (&sweep.identity, part), &sweep.inputs)? {
            DirectoryState::Open(open, rows) => {
                rows.into_iter().for_each(|row| {
                    finished.add(row);
                });
                directory = Some(open);
            }
            DirectoryState::Done if !conditions.is_empty() => {
                bail!(
                    "{} is complete already: --fail-if is held against what is played; remove the directory, or name another one",
                    out.display()
                );
            }
            DirectoryState::Done => {
                notice(&format!("{} is complete already", out.display()));
                return Ok(());
            }
        }
    }
    let job = SweepJob {
        sweep: &sweep,
        total: sweep.target.total(shard),
        limits: &limits,
        progress: Mutex::new(Progress::new(finished.count() as u64, args.output.quiet)),
        state: Mutex::new(SweepState {
            finished,
            directory,
        }),
    };
    let played = job.play(shard, args.input.threads());
    if !args.output.quiet {
        progress("");
    }
    let state = job
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    played.map_err(|why| kept(why, &state))?;
    end(
        args,
        (&sweep, &conditions),
        (shard, job.total),
        state,
        &limits,
    )
}

/// Replaces `{shard}` in the name of a directory.
fn named(out: &std::path::Path, shard: Shard) -> PathBuf {
    let text = out.to_string_lossy();
    match text.contains("{shard}") {
        true => text.replace("{shard}", &shard.index.to_string()).into(),
        false => out.to_owned(),
    }
}

/// Reports the results, and renames the directory if the sweep is finished.
fn end(
    args: &SweepArgs,
    (sweep, conditions): (&Sweep, &[Condition]),
    (shard, total): (Shard, u64),
    state: SweepState,
    limits: &Limits,
) -> Result<(), Failure> {
    let done = sweep.target.next(shard, &state.finished).is_empty();
    let count = state.finished.count();
    if !done {
        debug_assert!(limits.flag.is_raised());
        let at_most = if sweep.target.until.is_some() {
            "at most "
        } else {
            ""
        };
        let mut text = format!("{count} of {at_most}{total} replications are finished");
        if let Some(directory) = &state.directory {
            text.push_str(&format!(
                " and kept in {}; the same command goes on from there",
                directory.shown()
            ));
            return Err(interrupt::failure(&text));
        }
        if count > 0 {
            let results = Results::of(sweep.points.clone(), state.finished.into_rows());
            output::results(&args.output, &sweep.identity, &results)?;
            text.push_str(", and these are reported");
        }
        return Err(interrupt::failure(&text));
    }
    output::imprecise(
        &sweep.identity,
        &sweep.target,
        shard,
        &state.finished,
        &sweep.points,
    );
    let Some(directory) = state.directory else {
        let results = Results::of(sweep.points.clone(), state.finished.into_rows());
        output::results(&args.output, &sweep.identity, &results)?;
        return output::gates(conditions, &results);
    };
    if args.shard.is_some() {
        directory.finish(|_| Ok(()))?;
        if !args.output.quiet {
            notice(&format!(
                "shard {shard}: {count} replications; put all {} together with `sweep merge`",
                shard.of
            ));
        }
        return Ok(());
    }
    let results = Results::of(sweep.points.clone(), state.finished.into_rows());
    let inputs = (sweep.inputs.files.as_slice(), sweep.inputs.command.as_str());
    let hangs = hanging::foot(&stored::hung(sweep, &results));
    directory.finish(|dir| {
        output::keep(
            dir,
            &args.output,
            (&sweep.identity, &hangs),
            &results,
            inputs,
        )
    })?;
    output::results(&args.output, &sweep.identity, &results)?;
    output::gates(conditions, &results)
}

/// A running sweep.
struct SweepJob<'a> {
    sweep: &'a Sweep,
    /// Number of replications of the shard.
    total: u64,
    limits: &'a Limits,
    progress: Mutex<Progress>,
    state: Mutex<SweepState>,
}

struct SweepState {
    finished: Finished,
    directory: Option<Box<SweepDirectory>>,
}

impl SweepJob<'_> {
    /// Simulates in rounds: with `--until`, the next replications depend on the previous results.
    fn play(&self, shard: Shard, threads: usize) -> Result<(), Failure> {
        loop {
            let work = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                self.check_metric(&state.finished)?;
                self.sweep.target.next(shard, &state.finished)
            };
            if work.is_empty() || self.limits.flag.is_raised() {
                return Ok(());
            }
            play(self, work, self.sweep.seed, (threads, self.limits))?;
        }
    }

    fn check_metric(&self, finished: &Finished) -> Result<(), Failure> {
        let until = self.sweep.target.until.as_ref();
        match (until, finished.names()) {
            (Some(until), Some(names)) => check_metric("--until", &until.metric, &names),
            _ => Ok(()),
        }
    }
}

impl Host for SweepJob<'_> {
    type Error = Failure;

    fn load(&self, point: usize) -> Result<Subject, Failure> {
        self.sweep.load(point)
    }

    fn refused(&self, point: Option<usize>, why: NoRuns) -> Failure {
        match (point, why) {
            (Some(point), NoRuns::Scenario(why)) => self.sweep.named(point, why.into()),
            (_, why) => Failure::Invalid(why.to_string()),
        }
    }

    fn keep(&self, row: Row) -> Result<(), Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &mut state.directory {
            directory.journal.append(&row)?;
            if progress.syncs() {
                directory.journal.sync()?;
            }
        }
        state.finished.add(row);
        let done = state.finished.count() as u64;
        progress.show(done, self.total, self.sweep.target.until.is_some());
        Ok(())
    }
}

/// Adds to the error the number and location of the finished replications.
fn kept(why: Failure, state: &SweepState) -> Failure {
    let Some(directory) = state
        .directory
        .as_ref()
        .filter(|_| state.finished.count() > 0)
    else {
        return why;
    };
    let count = state.finished.count();
    let more = format!(
        "\n{count} replications are finished and kept in {}",
        directory.shown()
    );
    why.map_input_error(|m| m + &more)
}
