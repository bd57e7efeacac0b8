//! `sweep merge`: merges the shards of a sweep into the result of an unsharded run.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{StoredRun, stored_run};
use crate::cli::sweep::directory::{JOURNAL, PART};
use crate::cli::sweep::{directory, output, stored};
use crate::{cli::args::parse_until, cli::sweep::args::MergeArgs, cli::sweep::request::SweepRequest};
use sim_analysis::sweep::identity::ShardIdentity;
use sim_analysis::sweep::journal;
use sim_analysis::sweep::{FinishedPoints, SweepResults, SweepShard, WorkTarget};
use sim_report::assumptions::sensitivity;
use sim_report::figures::sweep_figure::SweptMetric;
use sim_report::files::rundir::RunDir;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub fn cli(args: &MergeArgs) -> Result<(), CommandFailure> {
    let conditions = output::conditions(&args.output)?;
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let parts = parts(&args.dirs)?;
    let (first, one) = parts.first().ok_or_else(|| "no shards given".to_owned())?;
    let identity = &one.experiment;
    if identity.version != env!("CARGO_PKG_VERSION") {
        bail!(
            "{} was written by jobset-sim {}, and this is {}: merge shards with the version that simulated them",
            first.display(),
            identity.version,
            env!("CARGO_PKG_VERSION")
        );
    }
    let finished = together(&parts)?;
    let points = identity.points().map_err(|e| e.to_string())?;
    let until = identity.until.as_deref().map(parse_until).transpose()?;
    let target: WorkTarget = super::request::target(points.count(), identity.replications, until.as_ref());
    if let Some(gaps) = target.describe_gaps(&finished) {
        return Err(CommandFailure::Invalid(gaps));
    }
    output::note_imprecise_points(identity, &target, SweepShard::WHOLE, &finished, &points);
    let results = SweepResults::new(points, finished.into_rows());
    let (assumption_lines, currency) = merged_assumptions(first, &results)?;
    let results = results.with_currency(&currency);
    if let Some(dir) = dir {
        let inputs = stored_run::stored_inputs(first)?;
        let of = SweptMetric { identity, results: &results, assumption_lines: &assumption_lines, currency: &currency };
        output::keep(&dir, &args.output, of, (&inputs.files, &inputs.command))?;
        dir.commit()?;
    }
    output::results(&args.output, identity, &results)?;
    output::gates(&conditions, &results)
}

/// Returns the dominant assumptions of the merged sweep and its currency, from the inputs stored in a shard.
fn merged_assumptions(shard: &Path, results: &SweepResults) -> Result<(Vec<String>, String), CommandFailure> {
    let StoredRun::Sweep(args) = stored_run::stored(shard)? else {
        return Ok((Vec::new(), String::new()));
    };
    let sweep = SweepRequest::open(&args.input, &args.over, true)?;
    let lines = sensitivity::footer_lines(&stored::dominant_assumptions(&sweep, results));
    Ok((lines, sweep.currency().to_owned()))
}

/// Returns the shards in index order. Every shard must be present once, and all must belong to the same experiment.
fn parts(dirs: &[PathBuf]) -> Result<Vec<(PathBuf, ShardIdentity)>, CommandFailure> {
    let mut parts: Vec<(PathBuf, ShardIdentity)> = Vec::new();
    for dir in dirs {
        let before = parts.len();
        add(dir, &mut parts)?;
        if parts.len() == before {
            let inside = fs::read_dir(dir).map_err(|e| format!("cannot read {}: {e}", dir.display()))?;
            let mut inside: Vec<PathBuf> = inside.filter_map(|e| Some(e.ok()?.path())).collect();
            inside.sort();
            for dir in &inside {
                add(dir, &mut parts)?;
            }
        }
        if parts.len() == before {
            bail!("{} is not a shard of a sweep and contains none: {PART} is missing", dir.display());
        }
    }
    let (first, one) = &parts[0];
    for (dir, part) in &parts[1..] {
        let mut differences = one.experiment.differences(&part.experiment);
        if one.shard.of != part.shard.of {
            differences.push(format!("number of shards ({} and {})", one.shard.of, part.shard.of));
        }
        if !differences.is_empty() {
            bail!(
                "{} and {} are shards of different sweeps; they differ in: {}",
                first.display(),
                dir.display(),
                differences.join(", ")
            );
        }
    }
    let of = one.shard.of;
    let mut by_index: BTreeMap<u64, (PathBuf, ShardIdentity)> = BTreeMap::new();
    for (dir, part) in parts {
        let index = part.shard.index;
        if let Some((other, _)) = by_index.get(&index) {
            bail!("{} and {} are both shard {index} of {of}", other.display(), dir.display());
        }
        by_index.insert(index, (dir, part));
    }
    let missing: Vec<String> = (0..of).filter(|i| !by_index.contains_key(i)).map(|i| i.to_string()).collect();
    if !missing.is_empty() {
        const SHOWN: usize = 20;
        let more = missing.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = &missing[..missing.len().min(SHOWN)];
        bail!("shards are missing: {}{more} of {of} (counted from 0)", listed.join(", "));
    }
    Ok(by_index.into_values().collect())
}

fn add(dir: &Path, parts: &mut Vec<(PathBuf, ShardIdentity)>) -> Result<(), CommandFailure> {
    let Some(part) = directory::part_of(dir)? else {
        return Ok(());
    };
    if directory::is_unfinished(dir) {
        bail!(
            "{} is an unfinished shard, {} of {}; run its command again to resume it",
            dir.display(),
            part.shard.index,
            part.shard.of
        );
    }
    parts.push((dir.to_owned(), part));
    Ok(())
}

/// Reads the replications of all shards.
fn together(parts: &[(PathBuf, ShardIdentity)]) -> Result<FinishedPoints, CommandFailure> {
    let mut finished = FinishedPoints::default();
    for (dir, part) in parts {
        let (head, rows) = journal::read(&dir.join(JOURNAL)).map_err(|e| e.to_string())?;
        let shard = SweepShard::new(part.shard.index, part.shard.of).map_err(|e| e.to_string())?;
        if head.experiment != part.experiment.digest() || head.shard != shard {
            bail!("{}: the journal and {PART} belong to different sweeps", dir.display());
        }
        for row in rows {
            let (point, replication) = row.key();
            if !finished.add(row) {
                bail!("replication {replication} of point {point} occurs twice, the second time in {}", dir.display());
            }
        }
    }
    Ok(finished)
}
