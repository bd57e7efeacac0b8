//! `sweep`: simulates a scenario at many points of its fields, on all cores or in shards; interrupted sweeps resume.

pub mod args;
mod auto;
pub mod axes;
mod closed_forms;
mod directory;
mod merge;
mod output;
mod plan;
mod progress;
mod request;
pub mod stored;

use crate::cli::failure::{CommandFailure, bail, check_metric};
use crate::cli::interrupt;
use crate::cli::output::{notice, progress};
use crate::cli::sweep::args::{SweepArgs, SweepCommand};
use directory::{DirectoryState, SweepDirectory};
use progress::SweepProgress;
use request::SweepRequest;
use sim_analysis::experiment::{ExperimentSubject, ReplicationLimits};
use sim_analysis::sweep::{FinishedPoints, HostInfo, SweepResults, SweepRow, SweepShard, simulate};
use sim_base::condition::FieldCondition;
use sim_engine::CannotRun;
use sim_report::assumptions::sensitivity;
use sim_report::figures::sweep_figure::SweptMetric;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub fn cli(args: &SweepArgs) -> Result<(), CommandFailure> {
    match &args.command {
        Some(SweepCommand::Merge(args)) => merge::cli(args),
        Some(SweepCommand::Plan(args)) => plan::cli(args),
        None => sweep(args),
    }
}

fn sweep(args: &SweepArgs) -> Result<(), CommandFailure> {
    // `--shard 0/1` also counts as a shard: its result must be merged.
    let part = args.shard.map(auto::shard).transpose()?;
    let conditions = output::conditions(&args.output)?;
    let shard = part.unwrap_or(SweepShard::WHOLE);
    let sweep = SweepRequest::read(&args.input, &args.over, args.output.quiet)?;
    output::check_names(&conditions, &sweep)?;
    let limits = interrupt::limits();
    let mut finished = FinishedPoints::default();
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
                    "{} is already complete, and --fail-if is checked only after a simulation; remove the directory or choose another name for --out",
                    out.display()
                );
            }
            DirectoryState::Done => {
                notice(&format!("{} is already complete", out.display()));
                return Ok(());
            }
        }
    }
    let job = SweepJob {
        sweep: &sweep,
        total: sweep.target.total(shard),
        limits: &limits,
        progress: Mutex::new(SweepProgress::new(finished.count() as u64, args.output.quiet)),
        state: Mutex::new(SweepState { finished, directory }),
    };
    let replication = job.simulate(shard, args.input.threads());
    if !args.output.quiet {
        progress("");
    }
    let state = job.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    replication.map_err(|why| with_finished_count(why, &state))?;
    end(args, (&sweep, &conditions), (shard, job.total), state, &limits)
}

/// Replaces `{shard}` in the name of a directory.
fn named(out: &std::path::Path, shard: SweepShard) -> PathBuf {
    let text = out.to_string_lossy();
    if text.contains("{shard}") { text.replace("{shard}", &shard.index.to_string()).into() } else { out.to_owned() }
}

/// Reports the results, and renames the directory if the sweep is finished.
fn end(
    args: &SweepArgs, (sweep, conditions): (&SweepRequest, &[FieldCondition]), (shard, total): (SweepShard, u64),
    state: SweepState, limits: &ReplicationLimits,
) -> Result<(), CommandFailure> {
    let done = sweep.target.next(shard, &state.finished).is_empty();
    let count = state.finished.count();
    if !done {
        assert!(limits.flag.is_raised());
        let at_most = if sweep.target.until.is_some() { "at most " } else { "" };
        let mut text = format!("{count} of {at_most}{total} replications were finished");
        if let Some(directory) = &state.directory {
            text.push_str(&format!(" and saved in {}; the same command resumes the sweep", directory.display_path()));
            return Err(interrupt::failure(&text));
        }
        if count > 0 {
            let results =
                SweepResults::new(sweep.points.clone(), state.finished.into_rows()).with_currency(sweep.currency());
            output::results(&args.output, &sweep.identity, &results)?;
            text.push_str(" and are reported");
        }
        return Err(interrupt::failure(&text));
    }
    output::note_imprecise_points(&sweep.identity, &sweep.target, shard, &state.finished, &sweep.points);
    let Some(directory) = state.directory else {
        let results =
            SweepResults::new(sweep.points.clone(), state.finished.into_rows()).with_currency(sweep.currency());
        output::results(&args.output, &sweep.identity, &results)?;
        return output::gates(conditions, &results);
    };
    if args.shard.is_some() {
        directory.finish(|_| Ok(()))?;
        if !args.output.quiet {
            notice(&format!("shard {shard}: {count} replications; merge all {} shards with `sweep merge`", shard.of));
        }
        return Ok(());
    }
    let results = SweepResults::new(sweep.points.clone(), state.finished.into_rows()).with_currency(sweep.currency());
    let inputs = (sweep.inputs.files.as_slice(), sweep.inputs.command.as_str());
    let footer = sensitivity::footer_lines(&stored::dominant_assumptions(sweep, &results));
    let of = SweptMetric {
        identity: &sweep.identity,
        results: &results,
        assumption_lines: &footer,
        currency: sweep.currency(),
    };
    directory.finish(|dir| output::keep(dir, &args.output, of, inputs))?;
    output::results(&args.output, &sweep.identity, &results)?;
    output::gates(conditions, &results)
}

/// A running sweep.
struct SweepJob<'a> {
    sweep: &'a SweepRequest,
    /// Number of replications of the shard.
    total: u64,
    limits: &'a ReplicationLimits,
    progress: Mutex<SweepProgress>,
    state: Mutex<SweepState>,
}

struct SweepState {
    finished: FinishedPoints,
    directory: Option<Box<SweepDirectory>>,
}

impl SweepJob<'_> {
    /// Simulates in rounds: with `--until`, the next replications depend on the previous results.
    fn simulate(&self, shard: SweepShard, threads: usize) -> Result<(), CommandFailure> {
        loop {
            let work = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                self.check_metric(&state.finished)?;
                self.sweep.target.next(shard, &state.finished)
            };
            if work.is_empty() || self.limits.flag.is_raised() {
                return Ok(());
            }
            simulate(self, work, self.sweep.seed, (threads, self.limits))?;
        }
    }

    fn check_metric(&self, finished: &FinishedPoints) -> Result<(), CommandFailure> {
        let until = self.sweep.target.until.as_ref();
        match (until, finished.names()) {
            (Some(until), Some(names)) => check_metric("--until", &until.metric, &names),
            _ => Ok(()),
        }
    }
}

impl HostInfo for SweepJob<'_> {
    type Error = CommandFailure;

    fn load(&self, point: usize) -> Result<ExperimentSubject, CommandFailure> {
        self.sweep.load(point)
    }

    fn point_error(&self, point: usize, why: CannotRun) -> CommandFailure {
        self.sweep.named(point, why.into())
    }

    fn receive(&self, row: SweepRow) -> Result<(), CommandFailure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = &mut state.directory {
            let appended = directory.journal.append(&row);
            appended.map_err(|e| e.to_string())?;
            if progress.syncs() {
                directory.journal.sync().map_err(|e| e.to_string())?;
            }
        }
        state.finished.add(row);
        let done = state.finished.count() as u64;
        progress.show(done, self.total, self.sweep.target.until.is_some());
        Ok(())
    }
}

/// Adds to the error the number and location of the finished replications.
fn with_finished_count(why: CommandFailure, state: &SweepState) -> CommandFailure {
    let Some(directory) = state.directory.as_ref().filter(|_| state.finished.count() > 0) else {
        return why;
    };
    let count = state.finished.count();
    let more = format!("\n{count} replications were finished and saved in {}", directory.display_path());
    why.map_input_error(|m| m + &more)
}
