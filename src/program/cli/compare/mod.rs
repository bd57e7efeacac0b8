//! `compare`: variants of a scenario or of manifests with common random numbers.

pub mod args;
mod variants;

use crate::cli::args::{TableFormat, TimeLimit};
use crate::cli::compare::variants::{CompareVariant, VariantSource};
use crate::cli::failure::{CommandFailure, check_metric, unknown_metric};
use crate::cli::inputs::{dominant_assumptions, fail_if};
use crate::cli::{interrupt, output};
use crate::{cli::compare::args::CompareArgs, cli::output::ProgressLine};
use serde::Serialize;
use sim_analysis::experiment::fail_if::ConditionGroup;
use sim_analysis::experiment::parallel::in_parallel_with;
use sim_analysis::experiment::{
    ReplicationLimits, SimulatedVariant, SubjectSimulator, VariantChange, VariantComparison, metrics, never_placed,
    sample_kind,
};
use sim_base::stats::{InterimLook, InterimLooks};
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::console::compare::{self, MetricSelection};
use sim_report::figures::compare_figure;
use sim_report::figures::compare_figure::ComparedVariants;
use sim_report::files::compare_tables;
use sim_report::files::rundir::RunDir;
use std::sync::atomic::{AtomicU64, Ordering};

/// Default number of replications per variant.
const REPLICATIONS: u64 = 20;
/// With `--until`: replications before the first check of the precision, and the maximum.
const FIRST_LOOK: usize = 32;
const UNTIL_MAX: u64 = 100_000;

pub fn cli(args: &CompareArgs) -> Result<(), CommandFailure> {
    with(args, |job, not_simulated| job.run(not_simulated))
}

/// Returns the comparison and the dominant assumptions of its variants, for other reports than the text.
pub fn with_assumptions(
    args: &CompareArgs,
) -> Result<(VariantComparison, Vec<SimulatedVariant>, Vec<SensitiveResult>), CommandFailure> {
    with(args, |job, not_simulated| {
        let (all, variants, _) = job.simulate(not_simulated)?;
        if job.limits.flag.is_raised() {
            Err(interrupt::failure("no results were kept"))
        } else {
            Ok((all, variants, job.dominant_assumptions()))
        }
    })
}

fn with<T>(
    args: &CompareArgs, act: impl FnOnce(&ComparisonJob<'_>, Vec<SimulatedVariant>) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let base = VariantSource::read(args)?;
    let (variants, left_out) = base.variants(args)?;
    base.baseline.print_notices(args.quiet);
    let job = ComparisonJob {
        args,
        base: &base,
        variants: &variants,
        left_out: &left_out,
        seed: args.input.seed.unwrap_or(variants[0].subject.seed()),
        limits: &interrupt::limits(),
    };
    act(&job, variants.iter().map(not_simulated).collect())
}

/// A comparison to run.
struct ComparisonJob<'a> {
    args: &'a CompareArgs,
    base: &'a VariantSource,
    variants: &'a [CompareVariant],
    /// Sentences on the strategies that were left out.
    left_out: &'a [String],
    seed: u64,
    limits: &'a ReplicationLimits,
}

impl ComparisonJob<'_> {
    /// Simulates the variants in `simulated`, which have no replications yet. Also returns the requested number of
    /// replications.
    fn simulate(
        &self, mut simulated: Vec<SimulatedVariant>,
    ) -> Result<(VariantComparison, Vec<SimulatedVariant>, u64), CommandFailure> {
        let args = self.args;
        let request = args.seeds.or(self.base.baseline.experiment().replications);
        let wanted = match &args.until {
            _ if !args.held.is_empty() => {
                let place = |name: &String| self.variants.iter().position(|variant| variant.name == *name);
                let tasks = args.held.iter().filter_map(|(name, replication)| Some((place(name)?, *replication)));
                let tasks: Vec<(usize, u64)> = tasks.collect();
                self.simulate_tasks(&mut simulated, (tasks.len() as u64, &|i| tasks[i as usize]))?;
                request.unwrap_or(REPLICATIONS)
            }
            Some(until) => {
                let most = request.unwrap_or(UNTIL_MAX);
                self.until_precise(until, &mut simulated, most)?
            }
            None => {
                let n = request.unwrap_or(REPLICATIONS);
                self.simulate_to(&mut simulated, n)?;
                n
            }
        };
        simulated.retain(|variant| !variant.replications.is_empty());
        if simulated.is_empty() {
            return Err(interrupt::failure("no replication was finished"));
        }
        let name = self.variants[0].subject.name();
        let mut all = VariantComparison::from_variants((name, self.seed), &simulated);
        all.warnings.splice(0..0, self.left_out.iter().cloned());
        if !args.held.is_empty() {
            let n = args.held.len();
            all.warnings.insert(0, format!("interrupted: only the {n} replications that the directory contains"));
        }
        for variant in &simulated {
            let subject = self.variants.iter().find(|known| known.name == variant.name);
            let tails = subject.map(|known| known.subject.heavy_tails(&variant.replications));
            let tails = tails.iter().flatten().map(|tail| format!("{}: {tail}", variant.name));
            all.warnings.extend(tails);
        }
        Ok((all, simulated, wanted))
    }

    fn run(&self, simulated_variants: Vec<SimulatedVariant>) -> Result<(), CommandFailure> {
        let args = self.args;
        let conditions = fail_if::read(&args.fail_if)?;
        let named = |v: &CompareVariant| ConditionGroup::from_names(&v.name, v.subject.metric_names());
        fail_if::check_names(&conditions, &self.variants.iter().map(named).collect::<Vec<_>>())?;
        let dir = args.out.as_deref().map(RunDir::create).transpose()?;
        let variants = simulated_variants.len() as u64;
        let (mut all, simulated_variants, wanted) = self.simulate(simulated_variants)?;
        let finished: u64 = simulated_variants.iter().map(|v| v.replications.len() as u64).sum();
        let request = wanted * variants;
        let mark = interrupt::mark((&mut all.interrupted, &mut all.warnings), (finished, request));
        if let Some(dir) = dir {
            dir.write_json("summary.json", &CompareSummary::new(&all, &args.metrics))?;
            let rows = compare_tables::replications(self.seed, &simulated_variants).csv();
            dir.write("replications.csv", &rows)?;
            let footer = sensitivity::footer_lines(&self.dominant_assumptions());
            charts(&dir, &all, &simulated_variants, &footer)?;
            let inputs = self.base.inputs(args, self.seed, wanted);
            dir.write_inputs(&inputs.files, &(inputs.command + &mark))?;
            dir.commit()?;
        }
        print_result(args, &all)?;
        if all.interrupted {
            let kept = format!("{finished} of {request} replications were finished and are reported");
            return Err(interrupt::failure(&kept));
        }
        for variant in &simulated_variants {
            let rows = variant.replications.iter();
            if let Some(why) = never_placed(rows.map(|r| r.never_placed.as_deref())) {
                return Err(CommandFailure::CannotBePlaced(why).in_variant(&variant.name));
            }
        }
        let groups: Vec<ConditionGroup> = simulated_variants.iter().map(group).collect();
        fail_if::check(&conditions, &groups)
    }

    /// Returns the dominant assumptions of the first replication of each variant.
    fn dominant_assumptions(&self) -> Vec<SensitiveResult> {
        let of = |v: &CompareVariant| dominant_assumptions::of_input(&v.name, &v.loaded, self.seed);
        self.variants.iter().map(of).collect()
    }

    /// Simulates more replications of each variant until it has `n`.
    fn simulate_to(&self, simulated: &mut [SimulatedVariant], n: u64) -> Result<(), CommandFailure> {
        let from = simulated.iter().map(|variant| variant.replications.len() as u64).max().unwrap_or(0);
        let variants = simulated.len() as u64;
        let task = |i: u64| ((i % variants) as usize, from + i / variants);
        self.simulate_tasks(simulated, (n.saturating_sub(from) * variants, &task))
    }

    /// Simulates a number of tasks, each a variant and a replication. The same replication of all variants is simulated
    /// together, so that an interrupted comparison has pairs.
    fn simulate_tasks<'j>(
        &'j self, simulated: &mut [SimulatedVariant], (total, task): (u64, &(dyn Fn(u64) -> (usize, u64) + Sync)),
    ) -> Result<(), CommandFailure> {
        let progress = ProgressLine::new(self.args.quiet, |done| format!("{done}/{total} replications"));
        let finished = AtomicU64::new(0);
        let make = || Ok(self.variants.iter().map(|_| None).collect::<Vec<Option<SubjectSimulator<'j>>>>());
        let one = |players: &mut Vec<Option<SubjectSimulator<'j>>>, i: u64| {
            let (variant, replication) = task(i);
            let player = match &mut players[variant] {
                Some(player) => player,
                none => match self.variants[variant].subject.player() {
                    Ok(player) => none.insert(player),
                    Err(why) => return Some((variant, Err(why))),
                },
            };
            let result = player.simulate((self.seed, replication), self.limits)?;
            progress.reach(finished.fetch_add(1, Ordering::Relaxed) + 1);
            Some((variant, Ok(result)))
        };
        let on = (total, self.args.input.threads());
        let all = in_parallel_with(make, on, &self.limits.flag, one);
        drop(progress);
        for (variant, result) in all.map_err(|why| CommandFailure::Invalid(why.to_string()))? {
            let name = &self.variants[variant].name;
            let result = result.map_err(|why| CommandFailure::from(why).in_variant(name))?;
            simulated[variant].replications.push(result);
        }
        Ok(())
    }

    /// Adds replications until the metric has the requested precision in every variant. Returns the number of
    /// replications.
    fn until_precise(
        &self, until: &TimeLimit, variants: &mut [SimulatedVariant], most: u64,
    ) -> Result<u64, CommandFailure> {
        for look in InterimLooks::new(FIRST_LOOK, 0.95).looks() {
            let n = (look.n as u64).min(most);
            self.simulate_to(variants, n)?;
            if self.limits.flag.is_raised() {
                return Ok(n);
            }
            let mut ends = true;
            for variant in variants.iter() {
                ends &= is_precise(variant, until, look)?;
            }
            if ends {
                return Ok(n);
            }
            if n == most {
                let text = format!("--until {}: precision not reached after {most} replications", until.text);
                output::notice(&text);
                return Ok(n);
            }
        }
        Ok(most)
    }
}

fn group(variant: &SimulatedVariant) -> ConditionGroup {
    ConditionGroup::evaluate(&variant.name, &variant.jobsets, &variant.replications)
}

/// Writes the charts to `charts/`: SVG, and PNG if the program is built with it.
fn charts(
    dir: &RunDir, all: &VariantComparison, variants: &[SimulatedVariant], footer: &[String],
) -> Result<(), CommandFailure> {
    let of =
        ComparedVariants { all, simulated_variants: variants, assumption_lines: footer, is_slide: false, window: None };
    for (name, scene) in compare_figure::figures(of) {
        dir.write_chart(&format!("charts/{name}"), &scene)?;
    }
    Ok(())
}

/// Content of `summary.json` and of `--format json`.
#[derive(Serialize)]
struct CompareSummary<'a> {
    #[serde(flatten)]
    comparison: &'a VariantComparison,
    /// First sentence of the text report.
    conclusion: String,
}

impl CompareSummary<'_> {
    fn new<'a>(comparison: &'a VariantComparison, request: &[String]) -> CompareSummary<'a> {
        CompareSummary { comparison, conclusion: compare::conclusion(comparison, request) }
    }
}

fn print_result(args: &CompareArgs, all: &VariantComparison) -> Result<(), CommandFailure> {
    for metric in &args.metrics {
        check_metric("--metric", metric, &all.metrics)?;
    }
    match args.format {
        TableFormat::Json => output::json(&CompareSummary::new(all, &args.metrics)),
        TableFormat::Csv => output::bytes(&compare_tables::estimates(all).csv()),
        TableFormat::Md => output::result(&compare_tables::markdown(all, &args.metrics)),
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            let selection = match args.metrics.as_slice() {
                [] if args.all || args.verbosity.verbose => MetricSelection::All,
                [] => MetricSelection::Main,
                names => MetricSelection::Named(names),
            };
            output::styled(&compare::text(all, selection, &style), &style)
        }
    }
}

/// Returns a variant without replications. Returns an error if its pods cannot be placed, before anything is simulated.
fn not_simulated(variant: &CompareVariant) -> SimulatedVariant {
    let change = |c: &sim_api::spec::FieldChange| VariantChange {
        path: c.path.clone(),
        value: c.value.clone(),
        because: c.reason.clone(),
    };
    SimulatedVariant {
        name: variant.name.clone(),
        changes: variant.changes.iter().map(change).collect(),
        jobsets: variant.subject.jobsets(),
        currency: variant.subject.currency(),
        replications: Vec::new(),
    }
}

fn is_precise(variant: &SimulatedVariant, until: &TimeLimit, look: InterimLook) -> Result<bool, CommandFailure> {
    let rows = variant.replications.iter();
    let rows: Vec<_> = rows.map(|r| metrics(r, &variant.jobsets)).collect();
    let known = rows.iter().flatten().any(|(name, _)| *name == until.metric);
    if !known {
        let names: Vec<&str> = rows.iter().flatten().map(|(name, _)| name.as_str()).collect();
        return Err(unknown_metric("--until", &until.metric, names));
    }
    let own = rows.iter().flatten().filter(|(name, _)| *name == until.metric);
    let values: Vec<f64> = own.filter_map(|(_, m)| m.value()).collect();
    Ok(look.sufficient_interval((&values, sample_kind(&until.metric)), until.precision).is_some())
}
