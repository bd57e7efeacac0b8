//! The only file of `validate` that knows the engine and the manifest reader.
//!
//! Must never compare: it reads the JobSet, plays the scenario and hands over what was observed.

use super::compare::{NoRun, Observed, Observer, compare};
use super::recording::Recording;
use super::result::FileResult;
use super::scenario::{Defaults, Overrides, SEED, scenario};
use crate::base::{Duration, Time};
use crate::engine::Simulation;
use crate::manifest;
use crate::record::{Body, JobSetConditionType, Record, Sink, Texts};
use crate::spec::{JobSet, StopWhen, SubmittedJobSet};
use serde_json::{Value, json};

/// Where worker counts come from; the recordings were made with upstream's.
const PRESET: &str = "stock";

/// What a recording does not say.
pub fn defaults() -> Result<Defaults, String> {
    Ok(Defaults {
        control_plane: manifest::control_plane(PRESET)
            .ok_or_else(|| format!("no control-plane preset {PRESET:?}"))?,
        timing: manifest::timing(),
    })
}

/// Simulates one recording and compares.
pub fn validate(
    file: &str,
    recording: &Recording,
    defaults: &Defaults,
    overrides: &Overrides,
) -> FileResult {
    match observe(file, recording, defaults, overrides) {
        Ok(observed) => compare(file, recording, Ok(&observed)),
        Err(no_run) => compare(file, recording, Err(no_run)),
    }
}

fn observe(
    file: &str,
    recording: &Recording,
    defaults: &Defaults,
    overrides: &Overrides,
) -> Result<Observed, NoRun> {
    let mut scenario = scenario(recording, defaults, overrides).map_err(NoRun::NotSimulated)?;
    scenario.jobsets.push(SubmittedJobSet {
        jobset: jobset(file, recording).map_err(NoRun::Refused)?,
        submit_at: Duration::ZERO,
        source: format!("{file} (jobSet)"),
    });
    let refused = |errors: Vec<String>| NoRun::Refused(errors.join("; "));
    let mut simulation = Simulation::new(&scenario).map_err(refused)?;
    if let Some(margin) = recorded_margin(recording) {
        // The recorded audit log ends soon after the restart, with Events still unsent: so does the simulated one.
        let mut end = RestartEnd::default();
        simulation.run(SEED, 0, &mut end);
        if end.0 > Time::ZERO {
            scenario.stop.at = end.0.since(Time::ZERO) + margin;
            scenario.stop.when = StopWhen::Time;
            simulation = Simulation::new(&scenario).map_err(refused)?;
        }
    }
    let mut sink = Observer::new(recording);
    let outcome = simulation.run(SEED, 0, &mut sink);
    Ok(Observed {
        outcome,
        names: simulation.names().clone(),
        sink,
    })
}

/// How long requests were still recorded after the restart's last milestone.
fn recorded_margin(recording: &Recording) -> Option<Duration> {
    let requests = recording.requests.as_ref()?;
    let last_request = requests
        .restart
        .iter()
        .map(|r| r.8)
        .fold(f64::NAN, f64::max);
    let milestones = recording.milestones.as_ref()?;
    let last = milestones
        .milestones_s
        .values()
        .fold(f64::NAN, |a, b| a.max(*b));
    let margin = last_request - last;
    margin
        .is_finite()
        .then(|| Duration::from_seconds_f64(margin.max(0.0)))
}

/// When all was ready for the last time, in the JobSet's own words where it has any.
#[derive(Default)]
struct RestartEnd(Time);

impl Sink for RestartEnd {
    fn record(&mut self, record: &Record, _: &Texts) {
        use JobSetConditionType::RestartingJobSet;
        match record.body {
            Body::AllReady { ready: true, .. }
            | Body::JobSetCondition {
                kind: RestartingJobSet,
                status: false,
                ..
            } => self.0 = record.at,
            _ => {}
        }
    }
}

/// The recorded manifest, in the namespace in which it was played.
fn jobset(file: &str, recording: &Recording) -> Result<JobSet, String> {
    let mut manifest = recording.job_set.clone();
    if let Some(metadata) = manifest.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), json!(recording.name));
    }
    let source = manifest::Source {
        file: format!("{file} (jobSet)"),
        text: manifest.to_string(),
    };
    let manifests = manifest::read_manifests(&source).map_err(|e| e.to_string())?;
    let first = manifests.jobsets.into_iter().next();
    first
        .map(|(jobset, _)| jobset)
        .ok_or_else(|| "no JobSet".to_owned())
}
