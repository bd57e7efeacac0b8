//! `TrialRunner`: simulates inputs with different overrides, for `plan` and `sensitivity`.

use crate::cli::args::{FieldOverride, InputArgs, OutputArgs, TableFormat, Verbosity};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::node_level::{CHECK_TIME, CheckedReplications};
use crate::cli::inputs::{ExperimentInput, LoadedInput, PlannedInputs, dominant_assumptions, options};
use crate::cli::output::ProgressLine;
use crate::cli::{interrupt, output};
use sim_analysis::experiment::{ExperimentSubject, NodesExperiment, ReplicationLimits, ReplicationResult};
use sim_analysis::format::count;
use sim_analysis::planning::{SampleMetric, SampleRow};
use sim_base::{Duration, fnv};
use sim_report::assumptions::sensitivity;
use sim_report::console::check_level::LevelCheck;
use sim_report::files::rundir::RunDir;
use sim_report::planning::{PlanProvenance, PlanText};
use std::ops::Range;

/// Simulates the inputs with different overrides and records the digests of all replications.
pub struct TrialRunner<'a> {
    pub input: &'a InputArgs,
    pub given: ExperimentInput,
    /// Inputs without further overrides.
    pub loaded: LoadedInput,
    pub subject: ExperimentSubject,
    pub seed: u64,
    pub limits: ReplicationLimits,
    pub quiet: bool,
    verbosity: Verbosity,
    digests: Vec<u64>,
    /// Comparison of both levels for the recommended value.
    checked: Option<LevelCheck>,
}

/// Option to compare both levels of detail for the recommended value.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// With level nodes, also simulate N replications of the recommended value at level pods, and compare the levels;
    /// exit code 5 if they differ [default N: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20",
        value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub check: Option<u64>,
}

impl CheckArgs {
    /// Formats the option for the command that repeats the plan.
    pub fn repeated(&self) -> String {
        options("check", self.check)
    }
}

impl<'a> TrialRunner<'a> {
    pub fn new(input: &'a InputArgs, tell: &OutputArgs) -> Result<TrialRunner<'a>, CommandFailure> {
        let mut given = ExperimentInput::read(input)?;
        let loaded = given.load_for_planning(tell.quiet)?;
        let subject = loaded.subject()?;
        loaded.print_notices(tell.quiet);
        if !tell.quiet {
            loaded.contradictions().iter().for_each(|text| output::note(&format!("warning: {text}")));
        }
        Ok(TrialRunner {
            input,
            seed: input.seed.unwrap_or(subject.seed()),
            given,
            loaded,
            subject,
            limits: interrupt::limits(),
            quiet: tell.quiet,
            verbosity: Verbosity { verbose: true },
            digests: Vec::new(),
            checked: None,
        })
    }

    /// Returns an error if `--check` has nothing to compare.
    pub fn check_levels_differ(&self, check: &CheckArgs) -> Result<(), CommandFailure> {
        match self.subject {
            ExperimentSubject::Nodes(_) => Ok(()),
            _ if check.check.is_none() => Ok(()),
            _ => bail!(
                "--check compares level nodes with level pods; these inputs are simulated at level {} only",
                self.loaded.level_name()
            ),
        }
    }

    /// Returns to level `pods` if the program has chosen level `nodes` and this does not support one of the candidates.
    pub fn try_candidates(&mut self, all: &mut dyn Iterator<Item = PlannedInputs>) -> Result<(), CommandFailure> {
        if self.given.leaves_nodes(all, self.quiet) {
            self.loaded = self.given.load(&[])?;
            self.subject = self.loaded.subject()?;
        }
        Ok(())
    }

    /// With `--check`, simulates the inputs with these overrides, the recommended value, at both levels.
    pub fn check(&mut self, check: &CheckArgs, sets: Option<&[FieldOverride]>) -> Result<(), CommandFailure> {
        match sets.map(|sets| self.given.load(sets)?.subject()).transpose()? {
            Some(ExperimentSubject::Nodes(nodes)) => self.check_nodes(check, Some(&nodes)),
            _ => self.check_nodes(check, None),
        }
    }

    /// With `--check`, simulates the scenario with the recommended value at both levels; `None` if there is no value.
    pub fn check_nodes(&mut self, check: &CheckArgs, nodes: Option<&NodesExperiment>) -> Result<(), CommandFailure> {
        let Some(n) = check.check else { return Ok(()) };
        let Some(nodes) = nodes else {
            output::note("note: no value is recommended, so --check compares nothing");
            return Ok(());
        };
        let limit = CHECK_TIME.parse::<Duration>().map_err(|e| e.to_string())?;
        let which = CheckedReplications { seed: self.seed, n, threads: self.input.threads(), limit };
        self.checked = Some(which.check(nodes, self.quiet)?);
        Ok(())
    }

    /// Sets the amount of text of the report.
    pub fn with_verbosity(self, verbosity: Verbosity) -> TrialRunner<'a> {
        TrialRunner { verbosity, ..self }
    }

    /// Simulates replications of the inputs with more overrides. Returns fewer than requested after an interruption.
    pub fn replicate(
        &mut self, sets: &[FieldOverride], which: Range<u64>, what: &str,
    ) -> Result<(Vec<ReplicationResult>, Vec<String>), CommandFailure> {
        let subject = self.given.load(sets)?.subject()?;
        let (from, to) = (which.start, which.end);
        let text = |done| format!("{what}: {done}/{to} replications");
        let progress = ProgressLine::new(self.quiet, text);
        let on = (self.input.threads(), &self.limits);
        let reach = |done| progress.reach(from + done);
        let replication = subject.replicate((self.seed, which), on, &reach);
        drop(progress);
        let replication = replication?;
        self.note(replication.iter().map(|r| r.digest));
        Ok((replication, subject.jobsets()))
    }

    /// Simulates replications and returns one metric of each.
    pub fn sample(
        &mut self, sets: &[FieldOverride], which: Range<u64>, (metric, what): (&str, &str),
    ) -> Result<SampleMetric, CommandFailure> {
        let (replication, jobsets) = self.replicate(sets, which, what)?;
        rows(&replication, &jobsets, (metric, "--metric"), None)
    }

    /// Returns the requested metric, or the default: goodput, or `effective_training_ratio` for a Fleet.
    pub fn metric(&self, request: Option<&str>) -> String {
        let usual = match self.subject {
            ExperimentSubject::Pods { .. } | ExperimentSubject::Nodes(_) => "goodput",
            ExperimentSubject::Fleet(_) => "effective_training_ratio",
        };
        request.unwrap_or(usual).to_owned()
    }

    /// Records the digests of simulated replications.
    pub fn note(&mut self, digests: impl Iterator<Item = u64>) {
        self.digests.extend(digests);
    }

    /// Returns the first number with pods, and the second for level `nodes` and Fleets.
    pub fn by_level(&self, pods: u64, fleet: u64) -> u64 {
        match self.subject {
            ExperimentSubject::Pods { .. } => pods,
            ExperimentSubject::Nodes(_) | ExperimentSubject::Fleet(_) => fleet,
        }
    }

    pub fn provenance(&self, schema: &'static str) -> PlanProvenance {
        PlanProvenance {
            schema,
            version: env!("CARGO_PKG_VERSION"),
            scenario: self.subject.name().to_owned(),
            level: self.loaded.level_name(),
            seed: self.seed,
            replications_played: self.digests.len() as u64,
            digest: format!("{:016x}", fnv::fnv1a_words(self.digests.iter().copied())),
            interrupted: self.limits.flag.is_raised(),
            currency: self.subject.currency(),
            check: self.checked.clone(),
            assumption_lines: sensitivity::footer_lines(&[dominant_assumptions::of_input("", &self.loaded, self.seed)]),
        }
    }

    /// Prints the report and writes the output directory. `command` with the options in `more` repeats it.
    pub fn print_report(
        &self, report: &impl PlanText, tell: &OutputArgs, (command, seeds, more): (&str, u64, &str),
    ) -> Result<(), CommandFailure> {
        if let Some(out) = &tell.out {
            let dir = RunDir::create(out)?;
            dir.write_json("summary.json", report)?;
            dir.write("table.csv", &report.table().csv())?;
            for (name, scene) in report.figures() {
                dir.write_chart(&format!("charts/{name}"), &scene)?;
            }
            let inputs = self.given.copies(&self.loaded, (self.seed, Some(seeds)), more);
            let inputs = inputs.of_command(command);
            dir.write_inputs(&inputs.files, &inputs.command)?;
            dir.commit()?;
        }
        match tell.format {
            TableFormat::Json => output::json(report),
            TableFormat::Csv => output::bytes(&report.table().csv()),
            TableFormat::Md => output::result(&report.table().without_empty_columns().with_short_numbers().markdown()),
            TableFormat::Text => {
                let style = output::report_style(&tell.display, self.verbosity);
                let means = self.checked.as_ref().map(|checked| {
                    let n = count(checked.replications.len() as u64, "replication");
                    let title = style.bold(&format!("Check with the recommended value: {n} at levels pods and nodes"));
                    format!("\n{title}\n\n{}", checked.means(&style))
                });
                output::styled(&[report.text(&style), means.unwrap_or_default()].concat(), &style)
            }
        }
    }

    /// Returns an error if `--check` found that the levels differ.
    pub fn check_result(&self) -> Result<(), CommandFailure> {
        let failure = self.checked.as_ref().and_then(LevelCheck::failure);
        failure.map_or(Ok(()), |why| Err(CommandFailure::Gate(format!("{why} for the recommended value"))))
    }

    /// Returns an error after an interruption; `known` describes the results so far.
    pub fn interrupted(&self, known: &str) -> Result<(), CommandFailure> {
        if self.limits.flag.is_raised() { Err(interrupt::failure(known)) } else { Ok(()) }
    }
}

/// Returns one metric of replications. `option` is the option named in an error message.
pub fn rows(
    trials: &[ReplicationResult], jobsets: &[String], (metric, option): (&str, &str), price: Option<f64>,
) -> Result<SampleMetric, CommandFailure> {
    let row = |r| SampleRow::from_replications(r, jobsets, metric, price);
    let all: Result<SampleMetric, Vec<String>> = trials.iter().map(row).collect();
    all.map_err(|names| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        CommandFailure::unknown_name(option, "metric", metric, &names)
    })
}
