//! Closed forms of metrics at the points of a sweep, for comparison with its results.

use crate::{cli::inputs::LoadedInput, cli::sweep::request::SweepRequest};
use sim_api::spec::{RestartStrategy, ScenarioSpec, TrainingJob};
use sim_policy::fabric::{FabricLoad, FabricMap, job_islands, step_time};
use sim_policy::topology::ClusterBuilder;
use sim_report::figures::scaling_figure::token_bucket;
use sim_report::figures::sweep_figure::{ClosedFormCurve, ClosedFormMetric};
use std::collections::BTreeSet;

/// The values of the closed forms at a point.
#[derive(Default)]
struct PointValues {
    recreation: Option<f64>,
    /// Name of the metric and its value, by training job.
    steps: Vec<(String, Option<f64>)>,
}

/// Returns the closed forms with a value at any point.
pub fn curves(sweep: &SweepRequest) -> Vec<ClosedFormCurve> {
    let at = |point: usize| match sweep.loaded(point) {
        Ok(LoadedInput::Pods(loaded)) => PointValues::new(&loaded.scenario),
        _ => PointValues::default(),
    };
    let points: Vec<PointValues> = (0..sweep.points.count()).map(at).collect();
    let mut curves = vec![ClosedFormCurve {
        metric: ClosedFormMetric::RestartLatency,
        name: "tokens".to_owned(),
        formula: "closed form: (pods - burst) / rate s, one request of the Job controller per pod (calibration.md 6.6)"
            .to_owned(),
        values: points.iter().map(|point| point.recreation).collect(),
    }];
    let names: BTreeSet<&String> = points.iter().flat_map(|point| &point.steps).map(|(name, _)| name).collect();
    curves.extend(names.into_iter().map(|name| {
        ClosedFormCurve {
            metric: ClosedFormMetric::Named(name.clone()),
            name: "consecutive nodes".to_owned(),
            formula:
                "closed form: step time with one pod per node on consecutive nodes, block after block, and all links \
                  at full rate (docs/training.md)"
                    .to_owned(),
            values: points.iter().map(|point| point.steps.iter().find(|(own, _)| own == name)?.1).collect(),
        }
    }));
    curves.retain(|curve| curve.values.iter().any(Option::is_some));
    curves
}

impl PointValues {
    fn new(scenario: &ScenarioSpec) -> PointValues {
        let step = |job: &TrainingJob| {
            let jobset = &scenario.jobsets[job.jobset].jobset.name;
            let prefix = if scenario.jobsets.len() > 1 { format!("{jobset}.") } else { String::new() };
            (format!("{prefix}stepTime_s"), contiguous_step(scenario, job))
        };
        PointValues {
            recreation: recreation(scenario).filter(|v| v.is_finite()),
            steps: scenario.training.iter().map(step).collect(),
        }
    }
}

/// Returns the time for one request of the Job controller per pod of the first JobSet; `None` if the strategy does not
/// recreate the pods.
fn recreation(scenario: &ScenarioSpec) -> Option<f64> {
    let spec = &scenario.jobsets.first()?.jobset.spec;
    let rate = scenario.control_plane.kube_controller_manager;
    let recreates = spec.strategy() != RestartStrategy::InPlaceRestart;
    recreates.then(|| token_bucket(spec.pods() as f64, rate.qps, f64::from(rate.burst)))
}

/// Returns the step time of a training job on consecutive nodes; `None` if it does not communicate or the cluster has
/// too few nodes.
fn contiguous_step(scenario: &ScenarioSpec, job: &TrainingJob) -> Option<f64> {
    let (communication, step) = job.communication.as_ref().zip(job.step)?;
    let pods = scenario.jobsets[job.jobset].jobset.spec.pods() as usize;
    let cluster = ClusterBuilder::build(&scenario.topology, &["pods".to_owned()]);
    let map = FabricMap::build(&scenario.topology, &cluster);
    let nodes = map.contiguous_nodes(pods);
    let islands = job_islands(&map, nodes.iter().copied());
    let time = step_time(&map, &FabricLoad::default(), &islands, communication, step.seconds());
    (nodes.len() == pods).then_some(time.seconds)
}
