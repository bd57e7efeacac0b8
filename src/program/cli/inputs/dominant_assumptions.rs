//! Dominant assumptions of a comparison, a sweep or a plan: the first replication of a variant or point is simulated
//! again with its critical paths.

use crate::{cli::inputs::experiment_input::LoadedInput, cli::interrupt};
use sim_analysis::experiment::{LimitSink, simulate_replication};
use sim_analysis::metrics::MetricFolds;
use sim_api::spec::ModelLevel;
use sim_base::Duration;
use sim_engine::SimulationInput;
use sim_engine::record::EndReason;
use sim_inputs::LoadedScenario;
use sim_reliability::faults;
use sim_report::assumptions::dominant::{AssumedDefaults, DominantAssumption, KnownAssumption, SET_BY_SCENARIO};
use sim_report::assumptions::provenance;
use sim_report::assumptions::sensitivity::SensitiveResult;

/// Returns the dominant assumptions of an input; empty if it cannot be simulated or the run was interrupted.
pub fn of_input(name: &str, loaded: &LoadedInput, seed: u64) -> SensitiveResult {
    let mut dominant = match loaded {
        LoadedInput::Pods(loaded) if loaded.experiment.level == Some(ModelLevel::Nodes) => {
            let what = "as measured with the full engine";
            sensitive_result(name, vec![decider("restarts", what, ("docs/levels.md", "derived"))])
        }
        LoadedInput::Pods(loaded) => {
            let result = of_scenario(name, loaded, seed);
            result.map_or_else(|| sensitive_result(name, Vec::new()), |(dominant, _)| dominant)
        }
        LoadedInput::Fleet(_) => {
            let what = "as given in the Fleet";
            sensitive_result(name, vec![decider("all times and rates", what, SET_BY_SCENARIO)])
        }
    };
    if let LoadedInput::Pods(loaded) = loaded {
        // The rate of faults comes first among the assumptions without a share of the critical path.
        dominant.assumptions.splice(0..0, random_faults(loaded));
        dominant.preset = provenance::preset(&loaded.scenario.control_plane);
    }
    dominant
}

fn sensitive_result(name: &str, deciders: Vec<DominantAssumption>) -> SensitiveResult {
    SensitiveResult { name: name.to_owned(), preset: String::new(), assumptions: deciders, total: Duration::ZERO }
}

/// Returns the dominant assumptions of a scenario, and the digest of the run.
pub fn of_scenario(name: &str, loaded: &LoadedScenario, seed: u64) -> Option<(SensitiveResult, u64)> {
    let scenario = faults::draw_faults(&loaded.scenario, seed, 0);
    let mut simulation = SimulationInput::new(&scenario).ok()?;
    let (folds, limits) = (MetricFolds::new(&scenario, false), interrupt::limits());
    let limited = LimitSink::sink(&limits);
    let (replication, _) = simulate_replication(&mut simulation, (seed, 0), folds, limited);
    if replication.outcome.end_reason == EndReason::Stopped {
        return None;
    }
    let run = replication.view(seed, &[]);
    let all: Vec<_> = run.restarts().iter().collect();
    let assumptions = SensitiveResult::from_restarts(name, &run, &all, &model_defaults());
    Some((assumptions, replication.outcome.digest))
}

fn decider(name: &'static str, value: &str, (source, confidence): (&str, &str)) -> DominantAssumption {
    DominantAssumption {
        name,
        value: value.to_owned(),
        id: String::new(),
        source: source.to_owned(),
        confidence: confidence.to_owned(),
        time: Duration::ZERO,
        text_if_zero: "affects how often restarts occur, not how long they take",
        is_delay: false,
    }
}

/// Returns the random fault rates as assumptions: goodput depends on them as much as on restart times.
fn random_faults(loaded: &LoadedScenario) -> Vec<DominantAssumption> {
    const NAME: &str = "random faults";
    if loaded.scenario.fault_processes.is_empty() {
        return Vec::new();
    }
    let used = sim_inputs::effective_defaults_of(loaded).into_iter();
    let rates = used.filter(|u| u.id.ends_with(".per1000NodeDays"));
    let of_presets: Vec<DominantAssumption> = rates
        .map(|u| DominantAssumption {
            id: u.id.clone(),
            ..decider(NAME, &format!("{} {}", u.value, u.unit()), (&u.source, &u.confidence))
        })
        .collect();
    if !of_presets.is_empty() {
        return of_presets;
    }
    let mut causes: Vec<&str> = Vec::new();
    for process in &loaded.scenario.fault_processes {
        if !causes.contains(&process.cause.as_str()) {
            causes.push(&process.cause);
        }
    }
    let value = format!("{}, as given", causes.join(", "));
    vec![DominantAssumption { id: "faultProcesses".to_owned(), ..decider(NAME, &value, SET_BY_SCENARIO) }]
}

/// Returns the defaults of the model with their sources, for reports.
pub fn model_defaults() -> AssumedDefaults {
    let known = sim_inputs::assumptions().into_iter().map(|a| KnownAssumption {
        id: a.id,
        value: a.value,
        source: a.source,
        confidence: a.confidence,
    });
    AssumedDefaults { declared: known.collect(), timing: sim_inputs::timing() }
}
