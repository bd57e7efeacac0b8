//! `demo`: simulates the same fault with Recreate and with InPlaceRestart on 5,000 pods, from built-in files.

use crate::cli::args::{DisplayStyle, OutputFormat};
use crate::cli::inputs::{copy_scenario, model_defaults, result_options};
use crate::cli::run::simulate::{FinishedRun, RunInput};
use crate::cli::{interrupt, output};
use crate::{cli::failure::CommandFailure, cli::run::args::TraceFormat, cli::run::simulate};
use serde_json::json;
use sim_analysis::experiment::ReplicationLimits;
use sim_analysis::metrics::summary::RunSummary;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_inputs::{FileTextError, SourceText};
use sim_report::assumptions::provenance;
use sim_report::console::facts;
use sim_report::console::side_by_side;
use sim_report::console::side_by_side::VariantSide;
use sim_report::draw::chart::SLIDE;
use sim_report::figures::restart_figure;
use sim_report::files::rundir::RunDir;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Directory for the charts and both runs [default: jobset-sim-demo, or the first unused of jobset-sim-demo-2,
    /// -3 ...]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Output format; json prints the summaries of both runs
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    #[command(flatten)]
    pub display: DisplayStyle,
}

const RECREATE: (&str, &str) =
    ("scenarios/restart-5000-recreate.yaml", include_str!("../../../scenarios/restart-5000-recreate.yaml"));
const IN_PLACE: (&str, &str) =
    ("scenarios/restart-5000-in-place.yaml", include_str!("../../../scenarios/restart-5000-in-place.yaml"));
/// Files that the scenarios refer to.
const NAMED: [(&str, &str); 2] = [
    ("train-5000.yaml", include_str!("../../../scenarios/manifests/train-5000.yaml")),
    ("tpu-5000.yaml", include_str!("../../../topologies/tpu-5000.yaml")),
];

pub fn cli(args: &DemoArgs) -> Result<(), CommandFailure> {
    let out = args.out.clone().unwrap_or_else(free_name);
    let dir = RunDir::create(&out)?;
    let limits = interrupt::limits();
    let (left, right) =
        rayon::join(|| run((&dir, &limits), "recreate", RECREATE), || run((&dir, &limits), "in-place", IN_PLACE));
    let ((left, left_dir), (right, right_dir)) = (left?, right?);
    let views = (left.view(), right.view());
    let style = output::style(&args.display);
    let firsts = (views.0.restarts().first(), views.1.restarts().first());
    let (Some(l), Some(r)) = firsts else {
        let text = "a run of the demo has no restart";
        return Err(CommandFailure::Internal(text.to_owned()));
    };
    let (l, r) = (side_by_side(views.0, l), side_by_side(views.1, r));
    let (title, subtitle) = titles(&l, &r);
    let bars = [(l.label.to_owned(), l.restart.clone()), (r.label.to_owned(), r.restart.clone())];
    let control_plane = &views.0.scenario.control_plane.preset;
    let cluster = facts::describe_cluster(&views.0);
    let inputs = format!("cluster {cluster}; control plane {control_plane}; seed {}", views.0.seed);
    let table = side_by_side::compare(&l, &r, &style);
    let page = format!("{}\n{inputs}\n\n{table}\n{}", style.bold(&title), files(&out));
    let defaults = model_defaults();
    let named = [(l.label.to_owned(), l.run), (r.label.to_owned(), r.run)];
    let mut foot = provenance::runs_provenance(&named);
    for side in [&l, &r] {
        let footer = provenance::assumption_line(&side.run, &[side.restart], &defaults);
        foot.push(format!("{} {footer}", side.label));
    }
    let chart = restart_figure::restart_bars(&title, &subtitle, &bars, &foot, SLIDE);
    let keep = || rayon::join(|| left.keep(left_dir), || right.keep(right_dir));
    let (kept, drawn) = rayon::join(keep, || dir.write_chart("demo", &chart));
    kept.0.and(kept.1)?;
    drawn?;
    dir.commit()?;
    if args.format == OutputFormat::Json {
        return output::json(&json!({
            "recreate": RunSummary::from_run(&views.0),
            "inPlace": RunSummary::from_run(&views.1),
        }));
    }
    output::styled(&page, &style)
}

/// One of the two runs.
struct DemoRun {
    input: RunInput,
    finished: FinishedRun,
}

impl DemoRun {
    fn view(&self) -> RunView<'_> {
        self.finished.view(&self.input)
    }

    /// Writes the files of the run.
    fn keep(&self, dir: RunDir) -> Result<String, CommandFailure> {
        simulate::keep(dir, &self.view(), &self.input)
    }
}

fn run(
    (dir, limits): (&RunDir, &ReplicationLimits), name: &str, (file, text): (&str, &str),
) -> Result<(DemoRun, RunDir), CommandFailure> {
    let input = load(file, text)?;
    let dir = dir.create_subdirectory(name)?;
    let finished = simulate::play(&input, limits, Some(&dir), (TraceFormat::Events, false))?;
    Ok((DemoRun { input, finished }, dir))
}

fn load(file: &str, text: &str) -> Result<RunInput, CommandFailure> {
    let source = SourceText { file: file.to_owned(), text: text.to_owned() };
    let named = |name: &str| {
        let known = NAMED.iter().find(|(file, _)| Path::new(name).ends_with(file));
        let text = known.map(|(_, text)| (*text).to_owned());
        text.ok_or_else(|| FileTextError::Loader { reason: format!("{name} is not a built-in file") })
    };
    let loaded = sim_inputs::parse_scenario(&source, &[], &named)?;
    let seed = loaded.scenario.seed;
    let inputs = copy_scenario(&loaded.inputs, &result_options((&[], &[]), (seed, None), None));
    Ok(RunInput::new(loaded, inputs, seed))
}

fn side_by_side<'a>(run: RunView<'a>, restart: &'a RestartMetrics) -> VariantSide<'a> {
    VariantSide { label: run.strategy(restart), run, restart }
}

fn titles(left: &VariantSide<'_>, right: &VariantSide<'_>) -> (String, String) {
    use sim_analysis::format;
    let jobsets = left.run.scenario.jobsets.iter();
    let pods = jobsets.map(|j| j.jobset.spec.pods()).sum();
    let pods = format::count(pods, "pod");
    let title = format!("One container fails in a JobSet of {pods}: time until all pods are ready again");
    let (l, r) = (left.restart.total(), right.restart.total());
    let subtitle = format!(
        "{}: {}, {}: {}, {:.1} times as fast; {}, seed {}",
        left.label,
        format::seconds(l),
        right.label,
        format::seconds(r),
        l.seconds() / r.seconds().max(1e-9),
        left.run.scenario.topology.name,
        left.run.seed,
    );
    (title, subtitle)
}

/// Returns `jobset-sim-demo` in the working directory, or the name with the first unused number.
fn free_name() -> PathBuf {
    let taken = |p: &PathBuf| std::fs::symlink_metadata(p).is_ok();
    let numbered = (2..).map(|n: u32| PathBuf::from(format!("jobset-sim-demo-{n}")));
    let mut names = std::iter::once(PathBuf::from("jobset-sim-demo")).chain(numbered);
    names.find(|p| !taken(p)).unwrap_or_default()
}

fn files(out: &Path) -> String {
    let charts = if cfg!(feature = "png") { "demo.svg and demo.png (chart)" } else { "demo.svg (chart)" };
    format!("Written to {}: {charts}, recreate and in-place (the two runs).\n", out.display())
}
