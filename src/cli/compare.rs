//! `compare`: variants of a scenario, or of manifests, under the same random numbers.

use super::args::{CompareArgs, TableFormat};
use super::inputs::Inputs;
use super::variants::{Base, Until, Variant};
use super::{Failure, compare_fleet, fail_if, interrupt, load, output};
use crate::experiment::fail_if::Group;
use crate::experiment::{
    Change, Comparison, Limits, NoRuns, PlayedVariant, Player, Replication, metrics, replicate_from,
};
use crate::manifest;
use crate::report::rundir::RunDir;
use crate::report::{chart, compare, compare_figure, compare_tables};
use crate::stats::{Look, Looks};
use serde::Serialize;
use std::ops::Range;

/// Replications of each variant, unless it is said.
const REPLICATIONS: u64 = 20;
/// With `--until`: the first look, and when to give up.
const FIRST_LOOK: usize = 32;
const UNTIL_MAX: u64 = 100_000;

pub fn cli(args: &CompareArgs) -> Result<(), Failure> {
    let fleet = args.scenario.as_deref().map(load::source).transpose()?;
    if let Some(source) = fleet.filter(manifest::is_fleet) {
        return compare_fleet::cli(args, &source);
    }
    let base = Base::read(args)?;
    let variants = base.variants(args)?;
    if !args.quiet && !base.skipped().is_empty() {
        output::notice(&format!("not simulated: {}", base.skipped().join(", ")));
    }
    let seed = args.seed.unwrap_or(variants[0].loaded.scenario.seed);
    let limits = interrupt::limits();
    let unplayed = variants.iter().map(unplayed);
    let played: Vec<PlayedVariant> = unplayed.collect::<Result<_, _>>()?;
    let job = Job {
        args,
        name: &variants[0].loaded.scenario.name,
        seed,
        replications: base.experiment().replications,
        limits: &limits,
        play: &|at, which, progress| {
            let variant = &variants[at];
            let inputs = (&variant.loaded.scenario, variant.not_modelled.as_slice());
            let threads = args.threads.map_or(0, usize::from);
            let more = replicate_from(inputs, (seed, which), (threads, &limits), progress);
            more.map_err(|why| match why {
                NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
                NoRuns::Scenario(_) => variant.named(Failure::CannotBePlaced(why.to_string())),
            })
        },
        inputs: &|wanted| base.inputs(args, seed, wanted),
    };
    job.run(played)
}

/// What is compared, whatever it is.
pub(super) struct Job<'a> {
    pub args: &'a CompareArgs,
    /// Of the scenario.
    pub name: &'a str,
    pub seed: u64,
    /// As many as the scenario asks for.
    pub replications: Option<u64>,
    pub limits: &'a Limits,
    /// Plays these replications of a variant, and tells how many are done.
    pub play: &'a Play<'a>,
    /// What a directory keeps, after so many replications.
    pub inputs: &'a dyn Fn(u64) -> Inputs,
}

type Play<'a> =
    dyn Fn(usize, Range<u64>, &(dyn Fn(u64) + Sync)) -> Result<Vec<Replication>, Failure> + 'a;

impl Job<'_> {
    /// `played`: the variants before their first replication.
    pub fn run(&self, mut played: Vec<PlayedVariant>) -> Result<(), Failure> {
        let args = self.args;
        let conditions = fail_if::read(&args.fail_if)?;
        let dir = args.out.as_deref().map(RunDir::create).transpose()?;
        let asked = args.seeds.or(self.replications);
        let variants = played.len() as u64;
        let wanted = match &args.until {
            Some(until) => {
                let most = asked.unwrap_or(UNTIL_MAX);
                self.until_precise(until, &mut played, most)?
            }
            None => {
                let n = asked.unwrap_or(REPLICATIONS);
                self.play_to(&mut played, n)?;
                n
            }
        };
        played.retain(|variant| !variant.replications.is_empty());
        if played.is_empty() {
            return Err(interrupt::failure("no replication is finished"));
        }
        let all = Comparison::of((self.name, self.seed), &played);
        if let Some(dir) = dir {
            dir.write_json("summary.json", &Summary::of(&all))?;
            let rows = compare_tables::replications_csv(self.seed, &played)?;
            dir.write("replications.csv", &rows)?;
            charts(&dir, &all, &played)?;
            let inputs = (self.inputs)(wanted);
            dir.write_inputs(&inputs.files, &inputs.command)?;
            dir.commit()?;
        }
        tell(args, &all)?;
        let finished: u64 = played.iter().map(|v| v.replications.len() as u64).sum();
        let asked = wanted * variants;
        if self.limits.flag.is_raised() && finished < asked {
            let kept =
                format!("{finished} of {asked} replications are finished, and these are reported");
            return Err(interrupt::failure(&kept));
        }
        let groups: Vec<Group<'_>> = played.iter().map(group).collect();
        fail_if::check(&conditions, &groups)
    }

    /// Plays each variant up to `n` replications, from where it is.
    fn play_to(&self, played: &mut [PlayedVariant], n: u64) -> Result<(), Failure> {
        for (at, variant) in played.iter_mut().enumerate() {
            let from = variant.replications.len() as u64;
            let name = &variant.name;
            let quiet = self.args.quiet;
            let progress = |done: u64| {
                if !quiet {
                    let done = from + done;
                    output::progress(&format!("{name}: {done}/{n} replications"));
                }
            };
            let more = (self.play)(at, from..n, &progress);
            if !quiet {
                output::progress("");
            }
            variant.replications.extend(more?);
        }
        Ok(())
    }

    /// Plays until the metric is known as precisely as asked in every variant; how many replications that took.
    fn until_precise(
        &self,
        until: &Until,
        played: &mut [PlayedVariant],
        most: u64,
    ) -> Result<u64, Failure> {
        for look in Looks::new(FIRST_LOOK, 0.95).all() {
            let n = (look.n as u64).min(most);
            self.play_to(played, n)?;
            if self.limits.flag.is_raised() {
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

fn is_precise(variant: &PlayedVariant, until: &Until, look: Look) -> Result<bool, Failure> {
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
