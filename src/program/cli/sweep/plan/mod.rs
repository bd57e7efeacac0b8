//! `sweep plan`: the size of a sweep, the number of shards, and the manifest or script that starts them.
//!
//! Nothing is submitted: manifests and scripts are printed.

mod indexed_job;
mod pilot;
mod scripts;
mod shard_plan;

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::sweep::args::{SweepEngine, SweepPlanArgs};
use crate::cli::sweep::request::{SweepRequest, repeated};
use crate::{cli::args::InputArgs, cli::inputs::words, cli::output, cli::sweep::plan::shard_plan::ShardPlan};
use sim_analysis::format::count;
use sim_analysis::sweep::shard::SHARDS_MAX;

pub fn cli(args: &SweepPlanArgs) -> Result<(), CommandFailure> {
    let sweep = SweepRequest::read(&args.input, &args.over, args.quiet)?;
    let total = sweep.target.total(sim_analysis::sweep::SweepShard::WHOLE);
    let (shards, size) = match args.shards {
        Some(shards) => (shards, format!("{total} replications in {}", count(shards, "shard"))),
        None => pilot::measure(&sweep, total, args.cpus)?,
    };
    let pieces = match sweep.target.until {
        Some(_) => sweep.points.count() as u64,
        None => total,
    };
    if shards > pieces {
        let what = if sweep.target.until.is_some() { "points" } else { "replications" };
        bail!("--shards {shards} exceeds the number of {what}, which is {pieces}");
    }
    assert!(shards <= SHARDS_MAX);
    let plan = ShardPlan {
        name: args.name.clone().unwrap_or_else(|| label(&sweep.identity.scenario)),
        shards,
        cpus: args.cpus,
        words: words_of(&args.input, &sweep, args)?,
        out: args.out.clone(),
        image: args.image.clone().unwrap_or_else(|| format!("jobset-sim:{}", env!("CARGO_PKG_VERSION"))),
        claim: args.claim.clone(),
        size,
    };
    if !args.quiet && args.engine.is_some() {
        output::notice(&plan.size);
    }
    let text = match args.engine {
        None => return output::result(&format!("{}\n", plan.size)),
        Some(SweepEngine::IndexedJob) => indexed_job::manifest(&plan, &sweep.inputs)?,
        Some(SweepEngine::Slurm) => scripts::slurm(&plan),
        Some(SweepEngine::Ray) => scripts::ray(&plan),
        Some(SweepEngine::Parallel) => scripts::parallel(&plan),
    };
    output::result(&text)
}

/// Returns the `sweep` command of the shards. Seed and replications are explicit, so that later changes of the file
/// do not affect them.
fn words_of(input: &InputArgs, sweep: &SweepRequest, args: &SweepPlanArgs) -> Result<Vec<String>, CommandFailure> {
    if input.manifests.iter().any(|path| path == sim_inputs::STDIN) {
        bail!("shards cannot read standard input: pass the manifests as a file with -f");
    }
    let (inputs, own) = (input.words(), repeated(&args.over));
    Ok(words(&format!("sweep{inputs}{}{own}", sweep.tail())))
}

/// Converts a name to a valid Kubernetes object name.
fn label(name: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() => c,
        _ => '-',
    };
    let text: String = name.chars().map(plain).take(50).collect();
    match text.trim_matches('-') {
        "" => "sweep".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_lower_case_letters_digits_and_dashes() {
        assert_eq!(label("My sweep/β"), "my-sweep");
        assert_eq!(label("***"), "sweep");
    }
}
