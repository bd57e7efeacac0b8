//! `sensitivity`: the parameters in effect with their sources, elasticities, and one-at-a-time ranges.

pub mod args;
mod ranges;

use crate::cli::args::{InputArgs, TableFormat};
use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::{ExperimentInput, LoadedInput, stored_run};
use crate::cli::{interrupt, output};
use crate::glossary::assumptions::{self, AssumptionEffect, AssumptionRow, SimulatedEffect};
use crate::{cli::planning::trial_runner::TrialRunner, cli::sensitivity::args::SensitivityArgs};
use sim_analysis::experiment::{DerivativeSide, OutcomeCounts, ReplicationResult, derivative, headline};
use sim_api::spec::ModelLevel;
use sim_inputs::{EffectiveDefault, PresetAssumption};
use sim_surrogate::nodes::{MeasurementParameter, measurement_parameters};

/// Default number of replications per value.
const REPLICATIONS: u64 = 5;

pub fn cli(args: &SensitivityArgs) -> Result<(), CommandFailure> {
    let has_inputs = args.input.scenario.is_some() || !args.input.manifests.is_empty();
    let is_one_at_a_time = args.ranges || !args.inputs.is_empty();
    if !has_inputs && is_one_at_a_time {
        bail!("--ranges and --input need a scenario, a run directory or manifests (-f)");
    }
    if !has_inputs {
        return print(args, "", &defaults(), None);
    }
    let input = stored_run::resolved(&args.input)?;
    if is_one_at_a_time {
        return ranges::cli(&input, args);
    }
    if args.parameters_only {
        let loaded = ExperimentInput::read(&input)?.load_for_planning(args.output.quiet)?;
        let rows =
            in_effect(&loaded).into_iter().map(|used| AssumptionRow { used, effect: AssumptionEffect::NotPlayed });
        return print(args, loaded.name(), &rows.collect::<Vec<_>>(), None);
    }
    elasticities(&input, args)
}

/// Returns the parameters that a run of these inputs uses.
fn in_effect(loaded: &LoadedInput) -> Vec<EffectiveDefault> {
    match loaded {
        LoadedInput::Pods(pods) => {
            let mut used = sim_inputs::effective_defaults_of(pods);
            if pods.experiment.level == Some(ModelLevel::Nodes) {
                used.extend(measurement_parameters().into_iter().map(from_measurement).map(EffectiveDefault::listed));
            }
            used
        }
        LoadedInput::Fleet(fleet) => sim_inputs::effective_fleet_defaults(fleet),
    }
}

/// Returns a parameter of the measurements for level `nodes` as an assumption.
fn from_measurement(parameter: MeasurementParameter) -> PresetAssumption {
    PresetAssumption {
        id: parameter.id.to_owned(),
        value: parameter.value,
        source: format!("measurement for level nodes: {}", parameter.why),
        confidence: "derived".to_owned(),
    }
}

/// Returns all defaults of the model.
fn defaults() -> Vec<AssumptionRow> {
    let rows = sim_inputs::assumptions().into_iter();
    let rows = rows.chain(sim_inputs::presets::faults::assumptions());
    let rows = rows.chain(measurement_parameters().into_iter().map(from_measurement));
    let row = |a| AssumptionRow { used: EffectiveDefault::listed(a), effect: AssumptionEffect::NotPlayed };
    rows.map(row).collect()
}

fn elasticities(input: &InputArgs, args: &SensitivityArgs) -> Result<(), CommandFailure> {
    let mut runner = TrialRunner::new(input, &args.output)?;
    let used = in_effect(&runner.loaded);
    let n = args.seeds.unwrap_or(REPLICATIONS);
    let (base, names) = runner.replicate(&[], 0..n, "unchanged")?;
    let metric = match &args.metric {
        Some(metric) => known(metric, &base, &names)?,
        None => headline(&base, &names).unwrap_or_default(),
    };
    let mut rows = Vec::new();
    let count = used.len();
    for (i, used) in used.into_iter().enumerate() {
        let what = format!("{}/{count} {}", i + 1, used.id);
        let job = ElasticityRow {
            base: &base,
            names: &names,
            metric: &metric,
            step: f64::from(args.step) / 100.0,
            what: &what,
        };
        let effect = job.effect(&mut runner, &used)?;
        rows.push(AssumptionRow { used, effect });
        if runner.limits.flag.is_raised() {
            return Err(interrupt::failure("no results were kept"));
        }
    }
    let value = |r| sim_analysis::experiment::derivative::value(r, &names, &metric);
    let values: Vec<f64> = base.iter().filter_map(value).collect();
    let simulated_effect = SimulatedEffect {
        base: sim_base::stats::StudentMean::from_values(&values).map(|mean| mean.mean),
        values: values.len(),
        outcomes: OutcomeCounts::new(base.iter().map(ReplicationResult::outcome)),
        metric,
        level: runner.loaded.level_name(),
        replications: n,
        step: args.step,
    };
    let name = runner.loaded.name().to_owned();
    print(args, &name, &assumptions::sorted(rows), Some(&simulated_effect))
}

/// The elasticity of a metric with respect to one parameter.
struct ElasticityRow<'a> {
    base: &'a [ReplicationResult],
    names: &'a [String],
    metric: &'a str,
    /// Change of the value, as a fraction.
    step: f64,
    /// Label of the progress line.
    what: &'a str,
}

impl ElasticityRow<'_> {
    /// Stops after the first replication if its records are the same for both changed values.
    fn effect(
        &self, runner: &mut TrialRunner<'_>, used: &EffectiveDefault,
    ) -> Result<AssumptionEffect, CommandFailure> {
        let (smaller, larger) = (used.times(1.0 - self.step), used.times(1.0 + self.step));
        let (Some(smaller), Some(larger)) = (smaller, larger) else {
            let why = "no field sets this value, or it cannot be smaller";
            return Ok(AssumptionEffect::NotTried(why.to_owned()));
        };
        let (mut down, mut up) = (Vec::new(), Vec::new());
        for (set, simulated_effect) in [(&smaller.set, &mut down), (&larger.set, &mut up)] {
            match runner.replicate(std::slice::from_ref(set), 0..1, self.what) {
                Ok((first, _)) => simulated_effect.extend(first),
                Err(CommandFailure::Invalid(why) | CommandFailure::CannotBePlaced(why)) => {
                    let why = why.lines().next().unwrap_or_default().to_owned();
                    return Ok(AssumptionEffect::NotTried(why));
                }
                Err(other) => return Err(other),
            }
        }
        let digest = |r: &[ReplicationResult]| r.first().map(|r| r.digest);
        if [&down, &up].iter().all(|r| digest(r) == digest(self.base)) {
            return Ok(AssumptionEffect::None);
        }
        let n = self.base.len() as u64;
        for (set, simulated_effect) in [(&smaller.set, &mut down), (&larger.set, &mut up)] {
            simulated_effect.extend(runner.replicate(std::slice::from_ref(set), 1..n.max(1), self.what)?.0);
        }
        let side = |share, replications| DerivativeSide { share, replications };
        let (down, up) = (side(smaller.share, &down[..]), side(larger.share, &up[..]));
        let result = derivative(self.base, (&down, &up), (self.names, self.metric));
        Ok(match result {
            Some(d) if d.per_percent == 0.0 && d.ci95 == [0.0; 2] => AssumptionEffect::None,
            Some(d) => AssumptionEffect::Of(d),
            None => AssumptionEffect::NotTried(format!("{} is undefined in all replications", self.metric)),
        })
    }
}

fn known(metric: &str, base: &[ReplicationResult], names: &[String]) -> Result<String, CommandFailure> {
    let all = base.iter().flat_map(|r| sim_analysis::experiment::metrics(r, names));
    let known: Vec<String> = all.map(|(name, _)| name).collect();
    if known.iter().any(|name| name == metric) {
        return Ok(metric.to_owned());
    }
    let near = sim_inputs::nearest(metric, known.iter().map(String::as_str));
    let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
    Err(CommandFailure::Invalid(format!("unknown metric {metric:?}{hint}")))
}

fn print(
    args: &SensitivityArgs, name: &str, rows: &[AssumptionRow], effect: Option<&SimulatedEffect>,
) -> Result<(), CommandFailure> {
    match args.output.format {
        TableFormat::Json => output::json(&assumptions::as_json(name, rows, effect)),
        TableFormat::Csv => output::bytes(&assumptions::csv(rows)),
        TableFormat::Md => output::result(&assumptions::markdown(rows, effect)),
        TableFormat::Text => {
            let style = output::style(&args.output.display);
            output::styled(&assumptions::text(name, rows, effect, &style), &style)
        }
    }
}
