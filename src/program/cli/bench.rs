//! `bench ttr`: the standard restart-latency suite and its comparison with a baseline.

use crate::bench::against::changed_inputs;
use crate::bench::play::{self, BenchEntry};
use crate::bench::suite::{BenchSuite, RowFilter};
use crate::bench::{BaselineReport, BenchRow, conditions, junit, print, scene};
use crate::cli::args::{DisplayStyle, FieldOverride, TableFormat, path_value};
use crate::cli::failure::{CommandFailure, GATE_FAILED, bail};
use crate::cli::inputs::{dominant_assumptions, fail_if};
use crate::cli::{interrupt, output};
use crate::{bench::conditions::BaselineComparison, bench::selection::RowSelection, cli::output::ProgressLine};
use sim_analysis::format::count;
use sim_base::condition::FieldCondition;
use sim_inputs::strategy;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::atomic_write;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub command: BenchCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum BenchCommand {
    /// Measure the time to recover by fault, cluster size, strategy and control plane
    #[command(
        after_help = "Examples:\n  jobset-sim bench ttr --format json > baseline.json\n  jobset-sim bench ttr --against baseline.json --fail-if 'ttr > +2%' --fail-if 'rows.stuck > 0'\n  jobset-sim bench ttr --seeds 20 --against baseline.json --gates gates.yaml --junit ttr.xml\n  jobset-sim bench ttr --case drain,node-loss --nodes 100,1000 --set timing.plegPeriod=100ms\n  jobset-sim bench ttr scenarios/first-steps.yaml --format md\n\nNames for --fail-if and --gates: ttr, restarts and each phase, checked in every row. With .min, .p50, .p95, .max or\n.mean: the statistic over the replications (--seeds) of every row; with .all behind it, over those of all rows, e.g.\nttr.p95.all. rows.stuck, rows.changed, rows.slower, rows.faster, rows.new, rows.missing: numbers of rows. ROW:NAME\nlimits a name to the rows whose first parts are ROW, e.g. drain/5000:ttr.\nWith --against, `rows.missing > 0` is a gate unless another condition names rows.missing."
    )]
    Ttr(TtrArgs),
}

#[derive(Debug, clap::Args)]
pub struct TtrArgs {
    /// Scenarios to measure instead of the suite, or with --case in addition to it
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<PathBuf>,
    /// Cases of the suite to measure, e.g. drain,node-loss [default: all]
    #[arg(long = "case", value_name = "NAMES", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Cluster sizes in nodes, for the suite only [default: those of the suite]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub nodes: Vec<u32>,
    /// Restart strategies to measure [default: all; of a scenario: its own]
    #[arg(long = "strategy", value_name = "NAMES", value_delimiter = ',')]
    pub strategies: Vec<String>,
    /// Control-plane presets to measure [default: all; of a scenario: its own]
    #[arg(long = "preset", value_name = "NAMES", value_delimiter = ',')]
    pub presets: Vec<String>,
    /// Number of replications of each row
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    /// Override a field in every row, as with `run --set` (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<FieldOverride>,
    /// Baseline to compare with: a result of --format json
    #[arg(long, value_name = "BASELINE.json")]
    pub against: Option<PathBuf>,
    /// Exit with code 5 if this condition is true, e.g. 'ttr > +2%' (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// File with further conditions: YAML with the list `gates`
    #[arg(long, value_name = "FILE")]
    pub gates: Option<PathBuf>,
    /// Write a JUnit XML report to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the JSON result to this file, for use as a baseline
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Number of worker threads (does not affect results) [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Do not print progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub display: DisplayStyle,
}

/// Maximum size of a baseline file in bytes, because the file is read into memory. Results are smaller.
const BASELINE_MAX: u64 = 64 << 20;

pub fn cli(args: &BenchArgs) -> Result<u8, CommandFailure> {
    match &args.command {
        BenchCommand::Ttr(args) => ttr(args),
    }
}

fn ttr(args: &TtrArgs) -> Result<u8, CommandFailure> {
    let mut conditions = fail_if::read(&args.fail_if)?;
    if let Some(path) = &args.gates {
        let known = |condition: &FieldCondition| conditions::known(condition, args.against.is_some());
        conditions.extend(sim_inputs::read_gates(path, &known)?);
    }
    conditions::add_default(&mut conditions, args.against.is_some());
    for condition in &conditions {
        conditions::known(condition, args.against.is_some())?;
    }
    let before = args.against.as_deref().map(baseline).transpose()?;
    let suite = BenchSuite::shipped();
    let entries = entries(args, &suite)?;
    let keys: Vec<_> = entries.iter().map(play::key).collect();
    if let Some(before) = &before {
        conditions.iter().try_for_each(|c| conditions::comparable(c, before, (&keys, args.seeds)))?;
    }
    notice_replications(before.as_ref(), args.seeds);
    let limits = interrupt::limits();
    let n = entries.len();
    let total = n as u64 * args.seeds;
    let unit = if args.seeds > 1 { "replications" } else { "rows" };
    let progress = ProgressLine::new(args.quiet, |done| format!("{done}/{total} {unit}"));
    let threads = args.threads.map_or(0, usize::from);
    let reach = |done| progress.reach(done);
    let rows = play::all(&entries, (&args.sets, args.seeds), (threads, &limits), &reach);
    drop(progress);
    let rows = rows?;
    if rows.is_empty() {
        return Err(interrupt::failure("no row was finished"));
    }
    let finished = rows.len();
    let not_run = if args.scenarios.is_empty() { suite.not_run } else { Vec::new() };
    let mut report = BaselineReport::new(rows, not_run);
    report.inputs = play::input_fields(&entries, &args.sets);
    report.not_modelled = play::not_modelled(&entries);
    let missing = before.as_ref().map(|before| selection(args).missing(&report, before));
    let reports = BaselineComparison { now: &report, before: before.as_ref(), missing: missing.unwrap_or_default() };
    let check = |c: &FieldCondition| conditions::check(c, &reports);
    let checked: Vec<_> = conditions.iter().map(check).collect::<Result<_, _>>()?;
    if let Some(path) = &args.junit {
        write(path, &junit::xml(&reports, &checked))?;
    }
    if let Some(path) = &args.out {
        write(path, &report.json().map_err(CommandFailure::Internal)?)?;
    }
    print_result(args, &reports, &checked)?;
    if finished < n {
        let kept = format!("{finished} of {n} rows were finished and are reported");
        return Err(interrupt::failure(&kept));
    }
    let failed = checked.iter().filter(|c| c.failed);
    if args.format != TableFormat::Text {
        failed.clone().for_each(|c| output::notice(&print::verdict(c)));
        worst(&report, before.as_ref(), failed.clone().count() > 0);
        let inputs = before.iter().flat_map(|before| changed_inputs(&report, before));
        inputs.for_each(|inputs| output::notice(&inputs.text()));
    }
    Ok(if failed.count() > 0 { GATE_FAILED } else { 0 })
}

/// Prints the three largest changes, so that a CI log that contains JSON also shows the cause.
fn worst(report: &BaselineReport, before: Option<&BaselineReport>, failed: bool) {
    let Some(before) = before.filter(|_| failed) else {
        return;
    };
    for m in crate::bench::against::moved(report, before).iter().take(3) {
        output::notice(&print::change(m));
    }
}

/// Returns the rate and burst of kube-controller-manager in a preset.
pub fn rates(preset: &str) -> Option<(f64, f64)> {
    let rate = sim_inputs::control_plane(preset)?.kube_controller_manager;
    Some((rate.qps, f64::from(rate.burst)))
}

/// Returns the dominant assumptions of rows of the report: one row per restart strategy, the one with the most nodes
/// (up to 1000) for the case and the preset. Each row is simulated again. Rows whose digest differs in this version,
/// and rows that are not part of the suite, are omitted.
pub fn decided(report: &BaselineReport, case: &str, preset: &str) -> Vec<SensitiveResult> {
    const NODES: u64 = 1000;
    let own = report
        .rows
        .iter()
        .filter(|r| r.key.case == case && r.key.preset == preset && r.ttr_ns.is_some() && r.key.nodes <= NODES);
    let own: Vec<&BenchRow> = own.collect();
    let Some(most) = own.iter().map(|r| r.key.nodes).max() else {
        return Vec::new();
    };
    let version = own.first().map(|r| &r.key.kubernetes);
    let same = |r: &&&BenchRow| r.key.nodes == most && Some(&r.key.kubernetes) == version;
    let all = own.iter().filter(same);
    all.filter_map(|row| decided_row(row)).collect()
}

fn decided_row(row: &BenchRow) -> Option<SensitiveResult> {
    let all = BenchSuite::shipped().combinations(&RowFilter {
        cases: vec![row.key.case.clone()],
        nodes: vec![u32::try_from(row.key.nodes).ok()?],
        strategies: vec![row.key.strategy.clone()],
        presets: vec![row.key.preset.clone()],
    });
    let mut all = all.ok()?.into_iter();
    let one = all.find(|c| c.plane.kubernetes == row.key.kubernetes)?;
    if scene::refused(one.nodes).is_some() {
        return None;
    }
    let loaded = scene::load(&one, &[]).ok()?;
    let seed = loaded.scenario.seed;
    let (assumptions, digest) = dominant_assumptions::of_scenario(&row.key.text(), &loaded, seed)?;
    (format!("{digest:016x}") == row.digest).then_some(assumptions)
}

pub fn baseline(path: &Path) -> Result<BaselineReport, CommandFailure> {
    let display_path = path.display();
    let failed = |why: String| CommandFailure::Invalid(format!("{display_path}: {why}"));
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(BASELINE_MAX + 1).read_to_string(&mut text));
    read.map_err(|e| failed(e.to_string()))?;
    if text.len() as u64 > BASELINE_MAX {
        return Err(failed("larger than 64 MiB, the maximum size of a baseline".to_owned()));
    }
    BaselineReport::read(&text).map_err(|why| failed(format!("not a result of `bench ttr --format json`: {why}")))
}

/// Prints a notice if the baseline has another number of replications, because quantiles are then not comparable.
fn notice_replications(before: Option<&BaselineReport>, seeds: u64) {
    let numbers = before.iter().flat_map(|b| b.rows.iter().map(|r| r.samples().len() as u64));
    if let Some(other) = numbers.max().filter(|n| *n != seeds) {
        output::notice(&format!(
            "the baseline has {} per row, and this run has {seeds}: quantiles are not comparable; use --seeds {other}",
            count(other, "replication")
        ));
    }
}

fn selection(args: &TtrArgs) -> RowSelection {
    RowSelection {
        filter: RowFilter {
            cases: args.cases.clone(),
            nodes: args.nodes.clone(),
            strategies: args.strategies.clone(),
            presets: args.presets.clone(),
        },
        // Given scenarios replace the suite, unless `--case` selects rows of it as well.
        suite: args.scenarios.is_empty() || !args.cases.is_empty(),
        own: !args.scenarios.is_empty(),
    }
}

fn entries(args: &TtrArgs, suite: &BenchSuite) -> Result<Vec<BenchEntry>, CommandFailure> {
    let selection = selection(args);
    if let Some(why) = args.nodes.iter().find_map(|n| scene::refused(*n)) {
        return Err(CommandFailure::Invalid(why));
    }
    if let (Some(path), false) = (args.scenarios.first(), args.nodes.is_empty()) {
        bail!(
            "--nodes: cannot change the cluster of {}, whose size is part of the scenario\n  change it there or with --set, for example --set topology.pools[0].count=8",
            path.display()
        );
    }
    let mut entries = Vec::new();
    for path in &args.scenarios {
        own_rows(path, args, &mut entries)?;
    }
    if selection.suite {
        let rows = suite.combinations(&selection.filter)?;
        entries.extend(rows.into_iter().map(BenchEntry::OfSuite));
    }
    let mut keys: Vec<String> = entries.iter().map(|e| play::key(e).text()).collect();
    keys.sort();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => bail!("two rows are named {}: change metadata.name of a scenario", pair[0]),
        None => Ok(entries),
    }
}

/// Adds the rows of a scenario: one for each strategy and preset of the command line, or its own.
fn own_rows(path: &Path, args: &TtrArgs, entries: &mut Vec<BenchEntry>) -> Result<(), CommandFailure> {
    let plain = sim_inputs::read_scenario(path, &args.sets)?;
    let choices = |given: &[String]| match given {
        [] => vec![None],
        given => given.iter().cloned().map(Some).collect(),
    };
    for preset in choices(&args.presets) {
        for name in choices(&args.strategies) {
            let mut sets: Vec<FieldOverride> = Vec::new();
            sets.extend(preset.iter().map(|p| ("controlPlane.preset".to_owned(), p.clone())));
            if let Some(name) = name {
                let overrides = [("strategy".to_owned(), name)];
                let changes = strategy::with_companions(&overrides, &plain.scenario.jobsets);
                let changes = changes.map_err(|e| CommandFailure::Invalid(format!("--strategy: {e}")))?;
                sets.extend(changes.into_iter().map(|c| (c.path, c.value)));
            }
            sets.extend(args.sets.iter().cloned());
            let loaded = sim_inputs::read_scenario(path, &sets)?;
            entries.push(BenchEntry::Own(Box::new(loaded)));
        }
    }
    Ok(())
}

pub fn write(path: &Path, text: &str) -> Result<(), CommandFailure> {
    atomic_write::write(path, text.as_bytes())
        .map_err(|e| CommandFailure::Invalid(format!("cannot write {}: {e}", path.display())))
}

fn print_result(
    args: &TtrArgs, reports: &BaselineComparison<'_>, checked: &[conditions::CheckedConditions],
) -> Result<(), CommandFailure> {
    match args.format {
        TableFormat::Json => output::result(&reports.now.json().map_err(CommandFailure::Internal)?),
        TableFormat::Csv => output::bytes(&print::csv(reports.now)),
        TableFormat::Md => output::result(&print::markdown(reports, checked)),
        TableFormat::Text => {
            let style = output::style(&args.display);
            output::styled(&print::text(reports, checked, &style), &style)
        }
    }
}
