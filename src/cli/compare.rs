//! `compare`: variants of a scenario, or of manifests, under the same random numbers.

use super::args::{CompareArgs, TableFormat};
use super::variants::{Base, Variant};
use super::{Failure, fail_if, interrupt, output};
use crate::experiment::fail_if::Group;
use crate::experiment::{
    Change, Comparison, Limits, NoRuns, PlayedVariant, Player, Replication, metrics, replicate_from,
};
use crate::report::rundir::RunDir;
use crate::report::{chart, compare, compare_figure, compare_tables};
use crate::stats::{Look, Looks};
use serde::Serialize;

/// Replications of each variant, unless it is said.
const REPLICATIONS: u64 = 20;
/// With `--until`: the first look, and when to give up.
const FIRST_LOOK: usize = 32;
const UNTIL_MAX: u64 = 100_000;

pub fn cli(args: &CompareArgs) -> Result<(), Failure> {
    let conditions = fail_if::read(&args.fail_if)?;
    let base = Base::read(args)?;
    let variants = base.variants(args)?;
    if !args.quiet && !base.skipped().is_empty() {
        output::notice(&format!("not simulated: {}", base.skipped().join(", ")));
    }
    let dir = args.out.as_deref().map(RunDir::create).transpose()?;
    let seed = args.seed.unwrap_or(variants[0].loaded.scenario.seed);
    let limits = interrupt::limits();
    let unplayed = variants.iter().map(unplayed);
    let mut played: Vec<PlayedVariant> = unplayed.collect::<Result<_, _>>()?;
    let asked = args.seeds.or(base.experiment().replications);
    let wanted = match &args.until {
        Some(until) => {
            let most = asked.unwrap_or(UNTIL_MAX);
            until_precise(
                (args, until),
                (&variants, &mut played),
                (seed, most),
                &limits,
            )?
        }
        None => {
            let n = asked.unwrap_or(REPLICATIONS);
            play_to(args, (&variants, &mut played), (seed, n), &limits)?;
            n
        }
    };
    played.retain(|variant| !variant.replications.is_empty());
    if played.is_empty() {
        return Err(interrupt::failure("no replication is finished"));
    }
    let all = Comparison::of((&variants[0].loaded.scenario.name, seed), &played);
    if let Some(dir) = dir {
        dir.write_json("summary.json", &Summary::of(&all))?;
        dir.write(
            "replications.csv",
            &compare_tables::replications_csv(seed, &played)?,
        )?;
        charts(&dir, &all, &played)?;
        let inputs = base.inputs(args, seed, wanted);
        dir.write_inputs(&inputs.files, &inputs.command)?;
        dir.commit()?;
    }
    tell(args, &all)?;
    let finished: u64 = played.iter().map(|v| v.replications.len() as u64).sum();
    let asked = wanted * variants.len() as u64;
    if limits.flag.is_raised() && finished < asked {
        let kept =
            format!("{finished} of {asked} replications are finished, and these are reported");
        return Err(interrupt::failure(&kept));
    }
    let groups: Vec<Group<'_>> = played.iter().map(group).collect();
    fail_if::check(&conditions, &groups)
}

fn group(variant: &PlayedVariant) -> Group<'_> {
    Group {
        name: &variant.name,
        jobsets: &variant.jobsets,
        replications: &variant.replications,
    }
}

/// `charts/`: SVG, and PNG where it is built in.
fn charts(dir: &RunDir, all: &Comparison, played: &[PlayedVariant]) -> Result<(), Failure> {
    let dir = dir.inner("charts")?;
    for (name, scene) in compare_figure::figures(all, played) {
        chart::save(&scene, &dir.path(&format!("{name}.svg")))?;
        if cfg!(feature = "png") {
            chart::save(&scene, &dir.path(&format!("{name}.png")))?;
        }
    }
    dir.commit()?;
    Ok(())
}

/// `summary.json` and what `--format json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// The sentence that the text begins with.
    conclusion: String,
}

impl Summary<'_> {
    fn of(comparison: &Comparison) -> Summary<'_> {
        Summary {
            comparison,
            conclusion: compare::conclusion(comparison),
        }
    }
}

fn tell(args: &CompareArgs, all: &Comparison) -> Result<(), Failure> {
    match args.format {
        TableFormat::Json => output::json(&Summary::of(all)),
        TableFormat::Csv => output::bytes(&compare_tables::csv(all)?),
        TableFormat::Md => output::result(&compare_tables::markdown(all)),
        TableFormat::Text => {
            let style = output::style(&args.look);
            output::styled(&compare::text(all, &style), &style)
        }
    }
}

/// A variant before its first replication. Refuses what cannot be placed before anything is played.
fn unplayed(variant: &Variant) -> Result<PlayedVariant, Failure> {
    let scenario = &variant.loaded.scenario;
    Player::new(scenario).map_err(|why| variant.named(Failure::CannotBePlaced(why.to_string())))?;
    let change = |c: &crate::spec::FieldChange| Change {
        path: c.path.clone(),
        value: c.value.clone(),
        because: c.because.clone(),
    };
    Ok(PlayedVariant {
        name: variant.name.clone(),
        changes: variant.changes.iter().map(change).collect(),
        jobsets: scenario
            .jobsets
            .iter()
            .map(|j| j.jobset.name.clone())
            .collect(),
        replications: Vec::new(),
    })
}

/// Plays each variant up to `n` replications, from where it is.
fn play_to(
    args: &CompareArgs,
    (variants, played): (&[Variant], &mut [PlayedVariant]),
    (seed, n): (u64, u64),
    limits: &Limits,
) -> Result<(), Failure> {
    let threads = args.threads.map_or(0, usize::from);
    for (variant, rows) in variants.iter().zip(played) {
        let from = rows.replications.len() as u64;
        let progress = |done: u64| {
            if !args.quiet {
                let done = from + done;
                output::progress(&format!("{}: {done}/{n} replications", variant.name));
            }
        };
        let inputs = (&variant.loaded.scenario, variant.not_modelled.as_slice());
        let more = replicate_from(inputs, (seed, from..n), (threads, limits), &progress);
        if !args.quiet {
            output::progress("");
        }
        let more: Vec<Replication> = more.map_err(|why| match why {
            NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
            NoRuns::Scenario(_) => variant.named(Failure::CannotBePlaced(why.to_string())),
        })?;
        rows.replications.extend(more);
    }
    Ok(())
}

/// Plays until the metric is known as precisely as asked in every variant; how many replications that took.
fn until_precise(
    (args, until): (&CompareArgs, &super::variants::Until),
    (variants, played): (&[Variant], &mut [PlayedVariant]),
    (seed, most): (u64, u64),
    limits: &Limits,
) -> Result<u64, Failure> {
    for look in Looks::new(FIRST_LOOK, 0.95).all() {
        let n = (look.n as u64).min(most);
        play_to(args, (variants, &mut *played), (seed, n), limits)?;
        if limits.flag.is_raised() {
            return Ok(n);
        }
        let mut ends = true;
        for variant in played.iter() {
            ends &= is_precise(variant, until, look)?;
        }
        if ends {
            return Ok(n);
        }
        if n == most {
            let text = format!(
                "--until {}: not reached after {most} replications",
                until.text
            );
            output::notice(&text);
            return Ok(n);
        }
    }
    Ok(most)
}

fn is_precise(
    variant: &PlayedVariant,
    until: &super::variants::Until,
    look: Look,
) -> Result<bool, Failure> {
    let rows = variant.replications.iter();
    let rows: Vec<_> = rows.map(|r| metrics(r, &variant.jobsets)).collect();
    let known = rows.iter().flatten().any(|(name, _)| *name == until.metric);
    if !known {
        let names: Vec<&str> = rows
            .iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        return Err(Failure::Invalid(until.unknown(names)));
    }
    let own = rows
        .iter()
        .flatten()
        .filter(|(name, _)| *name == until.metric);
    let values: Vec<f64> = own.filter_map(|(_, m)| m.value()).collect();
    Ok(look.ends(&values, until.precision).is_some())
}
