//! `plot` of many runs: the charts of a directory of `compare`, or of replications of each run.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, StoredRun, dominant_assumptions, stored_run};
use crate::cli::plot::args::{ChartKind, PlotArgs, find_chart};
use crate::cli::{compare, interrupt};
use crate::{cli::plot::labels, cli::plot::one::of_path};
use sim_analysis::experiment::{SimulatedVariant, VariantComparison};
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::draw::scene::DrawScene;
use sim_report::figures::compare_figure;
use sim_report::figures::compare_figure::ComparedVariants;

/// Draws the chart; `None` if the kind of chart does not need several replications.
pub fn drawn(args: &PlotArgs) -> Result<Option<DrawScene>, CommandFailure> {
    let name = match args.kind {
        ChartKind::Cdf => "restarts".to_owned(),
        ChartKind::Differences
        | ChartKind::Ledger
        | ChartKind::Steps
        | ChartKind::Distributions
        | ChartKind::Goodput
        | ChartKind::Availability => args.kind.name(),
        _ => return Ok(None),
    };
    let (all, variants, assumptions) = match args.runs.as_slice() {
        [dir] if stored_run::is_run(dir) => match stored_run::stored(dir)? {
            StoredRun::Compare(mut stored) => {
                stored.quiet |= args.quiet;
                stored.input.seed = args.seed.or(stored.input.seed);
                compare::with_assumptions(&stored)?
            }
            StoredRun::Run(_) => replicated(args)?,
            StoredRun::Sweep(_) => {
                bail!(
                    "this chart needs runs or a comparison, not a sweep; the charts of a sweep are bands, heat, knee, scatter and scaling"
                );
            }
        },
        _ => replicated(args)?,
    };
    let of = ComparedVariants {
        all: &all,
        simulated_variants: &variants,
        assumption_lines: &sensitivity::footer_lines(&assumptions),
        is_slide: args.size.is_some(),
        window: args.window.map(|(from, to)| (from.seconds(), to.seconds())),
    };
    find_chart(compare_figure::figures(of), &name).map(Some)
}

/// Simulates each run as a variant with a common seed.
fn replicated(
    args: &PlotArgs,
) -> Result<(VariantComparison, Vec<SimulatedVariant>, Vec<SensitiveResult>), CommandFailure> {
    let (n, limits) = (args.seeds.unwrap_or(20), interrupt::limits());
    let mut variants: Vec<SimulatedVariant> = Vec::new();
    let (mut assumptions, mut properties) = (Vec::new(), Vec::new());
    let mut seed = args.seed;
    for path in &args.runs {
        let play = stored_run::resolved(&of_path(args, path))?;
        let loaded = ExperimentInput::read(&play)?.load(&[])?;
        let subject = loaded.subject()?;
        let seed = *seed.get_or_insert(play.seed.unwrap_or(subject.seed()));
        let more = subject.replicate((seed, 0..n), (0, &limits), &|_| {});
        let replications = more.map_err(|why| CommandFailure::CannotBePlaced(why.to_string()))?;
        if limits.flag.is_raised() {
            return Err(interrupt::failure("no results were kept"));
        }
        properties.push(labels::of_subject(&subject, &play, path));
        let name = subject.name().to_owned();
        assumptions.push(dominant_assumptions::of_input(&name, &loaded, seed));
        variants.push(SimulatedVariant {
            name,
            changes: Vec::new(),
            jobsets: subject.jobsets(),
            currency: subject.currency(),
            replications,
        });
    }
    let name = variants.first().map_or("", |p| p.name.as_str()).to_owned();
    if variants.len() > 1 {
        for (variant, label) in variants.iter_mut().zip(labels::differing(&properties)) {
            variant.name = label;
        }
    }
    let all = VariantComparison::from_variants((&name, seed.unwrap_or(0)), &variants);
    Ok((all, variants, assumptions))
}
