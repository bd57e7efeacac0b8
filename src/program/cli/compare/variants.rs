//! Variants of `compare`: from the scenario, `--variant` and `--strategies`. Every file is read once.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, InputCopies, LoadedInput, experiment_input};
use crate::{cli::args::FieldOverride, cli::compare::args::CompareArgs, cli::inputs::options};
use sim_analysis::experiment::ExperimentSubject;
use sim_api::spec::{BASELINE, FieldChange, RestartStrategy};
use sim_inputs::strategy;

/// A variant that is ready to simulate.
pub struct CompareVariant {
    pub name: String,
    pub changes: Vec<FieldChange>,
    pub subject: ExperimentSubject,
    /// Loaded inputs of the variant.
    pub loaded: LoadedInput,
}

/// The inputs before the changes of variants.
pub struct VariantSource {
    given: ExperimentInput,
    pub baseline: LoadedInput,
}

impl VariantSource {
    pub fn read(args: &CompareArgs) -> Result<VariantSource, CommandFailure> {
        let given = ExperimentInput::read(&args.input)?;
        let baseline = given.load(&[])?;
        if matches!(baseline, LoadedInput::Fleet(_)) && !args.strategies.is_empty() {
            return Err(experiment_input::needs_pods("--strategies"));
        }
        Ok(VariantSource { given, baseline })
    }

    /// Returns the baseline, then the variants of the scenario, then those of the command line. The second value
    /// names the strategies of `--strategies all` that the JobSets do not permit, with the reason.
    pub fn variants(&self, args: &CompareArgs) -> Result<(Vec<CompareVariant>, Vec<String>), CommandFailure> {
        let mut first = BASELINE.to_owned();
        let own = self.baseline.experiment().variants.iter().cloned();
        let mut all: Vec<(String, Vec<FieldOverride>)> = own.map(|v| (v.name, v.sets)).collect();
        let more = args.variants.iter();
        all.extend(more.map(|v| (v.name.clone(), v.sets.clone())));
        let given = all.len();
        for strategy in strategies(&args.strategies)? {
            if self.has_strategy(strategy) {
                // The baseline already has this strategy and is named after it.
                first = strategy.as_str().to_owned();
                continue;
            }
            let name = strategy.as_str().to_owned();
            all.push((name.clone(), vec![("strategy".to_owned(), name)]));
        }
        if all.is_empty() {
            return Err(CommandFailure::Invalid(self.nothing().to_owned()));
        }
        all.insert(0, (first, Vec::new()));
        for (i, (name, _)) in all.iter().enumerate() {
            if all[..i].iter().any(|(known, _)| known == name) {
                bail!("variant name {name:?} is used twice");
            }
        }
        let may_be_left_out = |i: usize| i > given && args.strategies.iter().any(|word| word == "all");
        let (mut variants, mut left_out) = (Vec::new(), Vec::new());
        for (i, (name, sets)) in all.into_iter().enumerate() {
            match self.variant(&name, sets) {
                Ok(variant) => variants.push(variant),
                Err(CommandFailure::Invalid(why) | CommandFailure::CannotBePlaced(why)) if may_be_left_out(i) => {
                    let reason = why.lines().next().unwrap_or_default();
                    left_out.push(format!("{name} is left out: {}", reason.trim_start_matches("error: ")));
                }
                Err(why) => return Err(why.in_variant(&name)),
            }
        }
        if variants.len() == 1 {
            bail!("nothing to compare: {}", left_out.join("; "));
        }
        Ok((variants, left_out))
    }

    fn nothing(&self) -> &'static str {
        match self.baseline {
            LoadedInput::Fleet(_) => {
                "nothing to compare: add --variant 'NAME: PATH=VALUE', e.g. --variant 'more: parameters.spares=80'"
            }
            LoadedInput::Pods(_) => {
                "nothing to compare: add --variant 'NAME: PATH=VALUE', --strategies all, or an `experiment` in the scenario"
            }
        }
    }

    fn has_strategy(&self, strategy: RestartStrategy) -> bool {
        let mut jobsets = self.baseline.jobsets().iter();
        jobsets.all(|s| s.jobset.spec.strategy() == strategy)
    }

    fn variant(&self, name: &str, sets: Vec<FieldOverride>) -> Result<CompareVariant, CommandFailure> {
        let changes = strategy::with_companions(&sets, self.baseline.jobsets())?;
        let more = changes.iter().map(|c| (c.path.clone(), c.value.clone()));
        let loaded = self.given.load(&more.collect::<Vec<FieldOverride>>())?;
        let subject = loaded.subject()?;
        subject.player()?;
        Ok(CompareVariant { subject, name: name.to_owned(), changes, loaded })
    }

    /// Returns copies of the inputs and the command that repeats the comparison from them.
    pub fn inputs(&self, args: &CompareArgs, seed: u64, replications: u64) -> InputCopies {
        let mut more = options("variant", args.variants.iter().map(|v| &v.text));
        if !args.strategies.is_empty() {
            more.push_str(&format!(" --strategies {}", args.strategies.join(",")));
        }
        if !args.metrics.is_empty() {
            more.push_str(&options("metric", [args.metrics.join(",")]));
        }
        let seeds = (seed, Some(replications));
        let copies = self.given.copies(&self.baseline, seeds, &more);
        copies.of_command("compare")
    }
}

/// Parses restart strategies: `all`, or a list of names.
fn strategies(words: &[String]) -> Result<Vec<RestartStrategy>, CommandFailure> {
    let one = |word: &String| {
        let matching = RestartStrategy::ALL.into_iter().find(|s| s.as_str() == word);
        matching.ok_or_else(|| {
            let legal: Vec<&str> =
                ["all"].into_iter().chain(RestartStrategy::ALL.map(RestartStrategy::as_str)).collect();
            CommandFailure::unknown_name("--strategies", "strategy", word, &legal)
        })
    };
    let named: Vec<RestartStrategy> = words.iter().filter(|word| *word != "all").map(one).collect::<Result<_, _>>()?;
    let is_all = words.iter().any(|word| word == "all");
    Ok(if is_all { RestartStrategy::ALL.to_vec() } else { named })
}
