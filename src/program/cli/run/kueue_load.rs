//! `run` for a generator file of Kueue's performance tests: one run without random numbers.

use crate::cli::args::TableFormat;
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::output;
use crate::cli::run::args::{RunArgs, TraceFormat};
use sim_analysis::format::seconds;
use sim_analysis::kueue_load::{LoadOutcome, run_load_test};
use sim_base::Duration;
use sim_inputs::SourceText;
use sim_report::console::page::{Block, Page, Rank};
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::table::Table;

/// Returns the input if it is a generator file.
pub fn source(args: &RunArgs) -> Option<SourceText> {
    let source = sim_inputs::read_source(args.input.scenario.as_deref()?).ok()?;
    sim_inputs::is_kueue_load(&source).then_some(source)
}

pub fn cli(args: &RunArgs, source: &SourceText) -> Result<(), CommandFailure> {
    if let Some(option) = unused_option(args) {
        bail!("{option} has no effect on a performance test of Kueue; remove it");
    }
    let test = sim_inputs::parse_kueue_load(source, &args.input.sets)?;
    let outcome = run_load_test(&test);
    match args.format {
        TableFormat::Json => output::json(&outcome),
        TableFormat::Csv => output::bytes(&table(&outcome).csv()),
        TableFormat::Md => output::result(&table(&outcome).markdown()),
        TableFormat::Text => {
            let style = output::report_style(&args.display, args.verbosity);
            output::styled(&text(&test.name, &outcome, &style), &style)
        }
    }
}

fn unused_option(args: &RunArgs) -> Option<&'static str> {
    match args {
        a if a.seeds.is_some() => Some("--seeds"),
        a if a.input.seed.is_some() => Some("--seed"),
        a if a.check_level => Some("--check-level"),
        a if a.show_effective => Some("--show-effective"),
        a if a.out.is_some() => Some("--out"),
        a if !a.fail_if.is_empty() => Some("--fail-if"),
        a if a.paranoid => Some("--paranoid"),
        a if a.explain_placement => Some("--explain-placement"),
        a if a.trace != TraceFormat::Events => Some("--trace"),
        a if !a.input.fails.is_empty() => Some("--fail"),
        a if a.input.level.is_some() => Some("--level"),
        _ => None,
    }
}

fn table(outcome: &LoadOutcome) -> Table {
    let mut table = Table::new([
        "class", "workloads", "evictions", "mean_time_to_admission_s", "mean_time_to_observed_admission_s",
        "mean_time_to_finish_s",
    ]);
    for (class, row) in &outcome.workload_classes {
        let times = [row.mean_time_to_admission_s, row.mean_time_to_observed_admission_s, row.mean_time_to_finish_s];
        let counts = [class.clone(), row.count.to_string(), row.evictions.to_string()];
        table.push(counts.into_iter().chain(times.map(|seconds| format!("{seconds:.3}"))));
    }
    table
}

/// Maximum number of lines of the summary.
const LINES: usize = 45;

fn text(name: &str, outcome: &LoadOutcome, style: &WaterfallStyle) -> String {
    let time = |seconds_f64: f64| seconds(Duration::from_seconds_f64(seconds_f64));
    let mut page = Page::new(LINES, style);
    let title = format!("{name}: wall time {}, {} scheduling cycles", time(outcome.wall_s), outcome.cycles);
    page.push(Block::text(Rank::Answer, title));
    let quota = outcome.queue_classes.iter().map(|(class, row)| {
        format!("{} ClusterQueues {class}: {:.1} % of the quota in use", row.queues, row.usage_percent)
    });
    page.push(Block::new(Rank::Main, "").entries(quota).noun("class"));
    let head = format!(
        "{:<24} {:>9} {:>9}   mean time until\n{:<44}   {:>12} {:>12} {:>12}",
        "class of Workloads", "count", "evictions", "", "admission", "observed", "end"
    );
    let rows = outcome.workload_classes.iter().map(|(class, row)| {
        format!(
            "{class:<24} {:>9} {:>9}   {:>12} {:>12} {:>12}",
            row.count,
            row.evictions,
            time(row.mean_time_to_admission_s),
            time(row.mean_time_to_observed_admission_s),
            time(row.mean_time_to_finish_s),
        )
    });
    page.push(Block::new(Rank::Main, head).entries(rows).noun("class"));
    page.finish()
}
