//! `plan`: runs candidates and prints answers. `Lab` is shared with `sensitivity`.

mod breakeven;
mod budget;
mod formula;
mod interval;
mod rare;
mod spares;

use super::args::{PlanArgs, PlanCommand, PlayArgs, TableFormat, TellArgs};
use super::inputs::hangs;
use super::inputs::subject::{Given, Loaded, Sets};
use super::output::Progress;
use super::{Failure, interrupt, output};
use sim_analysis::experiment::{Limits, NoRuns, Replication, Subject};
use sim_analysis::planning::{Row, Sample};
use sim_base::fnv;
use sim_inputs::strategy;
use sim_report::assumptions::hanging;
use sim_report::files::csv;
use sim_report::files::rundir::RunDir;
use sim_report::planning::{Provenance, Told};
use std::ops::Range;

pub fn cli(args: &PlanArgs) -> Result<(), Failure> {
    match &args.command {
        PlanCommand::Spares(args) => spares::cli(args),
        PlanCommand::Interval(args) => interval::cli(args),
        PlanCommand::Budget(args) => budget::cli(args),
        PlanCommand::Breakeven(args) => breakeven::cli(args),
        PlanCommand::Rare(args) => rare::cli(args),
    }
}

/// Plays the inputs with other overrides, and counts what it plays.
pub struct Lab<'a> {
    pub play: &'a PlayArgs,
    pub given: Given,
    /// Without further overrides.
    pub loaded: Loaded,
    pub subject: Subject,
    pub seed: u64,
    pub limits: Limits,
    pub quiet: bool,
    digests: Vec<u64>,
}

impl<'a> Lab<'a> {
    pub fn new(play: &'a PlayArgs, tell: &TellArgs) -> Result<Lab<'a>, Failure> {
        let given = Given::read(play)?;
        let loaded = given.load(&[])?;
        let subject = loaded.subject()?;
        if !tell.quiet && !loaded.skipped().is_empty() {
            output::notice(&format!("not simulated: {}", loaded.skipped().join(", ")));
        }
        Ok(Lab {
            play,
            seed: play.seed.unwrap_or(subject.seed()),
            given,
            loaded,
            subject,
            limits: interrupt::limits(),
            quiet: tell.quiet,
            digests: Vec::new(),
        })
    }

    /// Replications of the inputs with more overrides; fewer than asked for where somebody has interrupted it.
    pub fn replicate(
        &mut self,
        sets: &Sets,
        which: Range<u64>,
        what: &str,
    ) -> Result<(Vec<Replication>, Vec<String>), Failure> {
        let subject = self.given.load(sets)?.subject()?;
        let (from, to) = (which.start, which.end);
        let told = {
            let what = what.to_owned();
            self.upwards(move |done| format!("{what}: {}/{to} replications", from + done))
        };
        let on = (self.play.threads(), &self.limits);
        let played = subject.replicate((self.seed, which), on, &told);
        self.progress("");
        let played = played.map_err(no_runs)?;
        self.note(played.iter().map(|r| r.digest));
        Ok((played, subject.jobsets()))
    }

    /// With all that belongs to a restart strategy, if one is set.
    pub fn with_companions(&self, sets: &Sets) -> Result<Sets, Failure> {
        let Loaded::Pods(loaded) = &self.loaded else {
            return Ok(sets.clone());
        };
        let changes = strategy::with_companions(sets, &loaded.scenario.jobsets);
        let changes = changes.map_err(Failure::Invalid)?;
        Ok(changes.into_iter().map(|c| (c.path, c.value)).collect())
    }

    /// One metric of such replications.
    pub fn sample(
        &mut self,
        sets: &Sets,
        which: Range<u64>,
        (metric, what): (&str, &str),
    ) -> Result<Sample, Failure> {
        let (played, jobsets) = self.replicate(sets, which, what)?;
        rows(&played, &jobsets, (metric, "--metric"), None)
    }

    /// What is asked for, or what training jobs are usually judged by.
    pub fn metric(&self, asked: Option<&str>) -> String {
        let usual = match self.subject {
            Subject::Pods { .. } | Subject::Collapsed(_) => "goodput",
            Subject::Fleet(_) => "effective_training_ratio",
        };
        asked.unwrap_or(usual).to_owned()
    }

    /// Progress told by several threads in any order: it never counts down.
    pub fn upwards<L: Fn(u64) -> String + Sync>(&self, line: L) -> impl Fn(u64) + Sync + use<L> {
        let (highest, quiet) = (Progress::default(), self.quiet);
        move |done| {
            if !quiet {
                highest.reach(done, |done| output::progress(&line(done)));
            }
        }
    }

    pub fn progress(&self, text: &str) {
        if !self.quiet {
            output::progress(text);
        }
    }

    /// These were played.
    pub fn note(&mut self, digests: impl Iterator<Item = u64>) {
        self.digests.extend(digests);
    }

    /// As many as one or the other has, unless it is said.
    pub fn by_level(&self, pods: u64, fleet: u64) -> u64 {
        match self.subject {
            Subject::Pods { .. } => pods,
            Subject::Collapsed(_) | Subject::Fleet(_) => fleet,
        }
    }

    pub fn provenance(&self, schema: &'static str) -> Provenance {
        Provenance {
            schema,
            version: env!("CARGO_PKG_VERSION"),
            scenario: self.subject.name().to_owned(),
            level: match self.subject {
                Subject::Pods { .. } => "pods",
                Subject::Collapsed(_) => "collapsed",
                Subject::Fleet(_) => "fleet",
            },
            seed: self.seed,
            replications_played: self.digests.len() as u64,
            digest: format!("{:016x}", fnv::of_words(self.digests.iter().copied())),
            interrupted: self.limits.flag.is_raised(),
            hangs: hanging::foot(&[hangs::of("", &self.loaded, self.seed)]),
        }
    }

    /// Prints the answer, and writes the directory; `command` with `more` options repeats it.
    pub fn tell(
        &self,
        told: &impl Told,
        tell: &TellArgs,
        (command, seeds, more): (&str, u64, &str),
    ) -> Result<(), Failure> {
        if let Some(out) = &tell.out {
            let dir = RunDir::create(out)?;
            dir.write_json("summary.json", told)?;
            dir.write("table.csv", &told.csv()?)?;
            for (name, scene) in told.figures() {
                dir.write_chart(&format!("charts/{name}"), &scene)?;
            }
            let inputs = self.given.inputs(&self.loaded, (self.seed, seeds), more);
            let inputs = inputs.of_command(command);
            dir.write_inputs(&inputs.files, &inputs.command)?;
            dir.commit()?;
        }
        match tell.format {
            TableFormat::Json => output::json(told),
            TableFormat::Csv => output::bytes(&told.csv()?),
            TableFormat::Md => output::result(&csv::markdown(&told.csv()?)?),
            TableFormat::Text => {
                let style = output::style(&tell.look);
                output::styled(&told.text(&style), &style)
            }
        }
    }

    /// The failure that says what is known so far, if somebody has interrupted it.
    pub fn interrupted(&self, known: &str) -> Result<(), Failure> {
        match self.limits.flag.is_raised() {
            true => Err(interrupt::failure(known)),
            false => Ok(()),
        }
    }
}

/// One metric of replications; `option` has asked for it.
pub fn rows(
    played: &[Replication],
    jobsets: &[String],
    (metric, option): (&str, &str),
    price: Option<f64>,
) -> Result<Sample, Failure> {
    let row = |r| Row::of(r, jobsets, metric, price);
    let all: Result<Sample, Vec<String>> = played.iter().map(row).collect();
    all.map_err(|names| unknown(option, "metric", metric, &names))
}

pub fn no_runs(why: NoRuns) -> Failure {
    match why {
        NoRuns::Threads(_) => Failure::Invalid(why.to_string()),
        NoRuns::Scenario(_) => Failure::CannotBePlaced(why.to_string()),
    }
}

/// That there is no such name, which there are, and which may have been meant.
pub fn unknown(option: &str, what: &str, name: &str, known: &[String]) -> Failure {
    let mut text = format!(
        "{option}: there is no {what} {name:?}; there are {}",
        known.join(", ")
    );
    if let Some(near) = sim_inputs::nearest(name, known.iter().map(String::as_str)) {
        text.push_str(&format!("\n  did you mean {near}?"));
    }
    Failure::Invalid(text)
}
