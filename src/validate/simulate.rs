//! The only file of `validate` that knows the engine and the manifest reader.
//!
//! Must never compare: it reads the JobSet, plays the scenario and hands over what was observed.

use super::compare::{NoRun, Observed, Observer, compare};
use super::plays::{Play, plays};
use super::recording::Recording;
use super::result::FileResult;
use super::scenario::{Defaults, Overrides, scenario};
use super::surroundings;
use crate::admission::{self, Create, Gates};
use crate::base::{Duration, Time};
use crate::engine::Simulation;
use crate::manifest;
use crate::record::{Body, JobSetConditionType, Record, Sink, Texts};
use crate::spec::{BY_SCRIPT, FaultTime, JobSet, Scenario, StopWhen, SubmittedJobSet};
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

/// How much earlier than the recorded JobSet the others of its cluster are submitted.
const HEAD_START: Duration = Duration::from_secs(2);

/// All documents of a YAML text.
pub fn documents(file: &str, text: &str) -> Result<Vec<Value>, String> {
    let source = manifest::Source {
        file: file.to_owned(),
        text: text.to_owned(),
    };
    manifest::documents(&source).map_err(|e| e.to_string())
}

/// Simulates one recording and compares.
pub fn validate(
    file: &str,
    recording: &Recording,
    defaults: &Defaults,
    overrides: &Overrides,
) -> FileResult {
    let mut plain = None;
    for play in plays(recording) {
        let mut result = match observe(file, recording, defaults, overrides, play) {
            Ok(observed) => compare(file, recording, Ok(&observed)),
            Err(no_run) => compare(file, recording, Err(no_run)),
        };
        let differs = result.differences.as_ref().is_some_and(|d| !d.is_empty());
        if !differs {
            result.play = plain.is_some().then(|| play.to_string());
            return result;
        }
        plain.get_or_insert(result);
    }
    plain.unwrap_or_else(|| compare(file, recording, Err(NoRun::Refused(String::new()))))
}

fn observe(
    file: &str,
    recording: &Recording,
    defaults: &Defaults,
    overrides: &Overrides,
    play: Play,
) -> Result<Observed, NoRun> {
    let mut scenario = scenario(recording, defaults, overrides).map_err(NoRun::NotSimulated)?;
    scenario.decode = manifest::stored_jobset;
    if let Some(answer) = refusal(recording, &scenario) {
        return Err(answer);
    }
    let source = format!("{file} (jobSet)");
    let submit = |jobset, submit_at| SubmittedJobSet {
        jobset,
        submit_at,
        source: source.clone(),
    };
    let first = jobset(recording).map_err(NoRun::Refused)?;
    let others = surroundings::other_jobsets(recording);
    scenario.ties = play.ties;
    let mut start = play.clock_phase;
    if !others.is_empty() {
        start = start + HEAD_START;
    }
    scenario.jobsets.push(submit(first, start));
    for fault in &mut scenario.faults {
        if let FaultTime::At(at) = &mut fault.at {
            *at = *at + start;
        }
    }
    scenario.stop.at = scenario.stop.at + start;
    for created in created_jobsets(recording).map_err(NoRun::Refused)? {
        scenario.jobsets.push(submit(created, BY_SCRIPT));
    }
    for other in others {
        let other = manifest::stored_jobset(&other).map_err(NoRun::Refused)?;
        scenario.jobsets.push(submit(other, Duration::ZERO));
    }
    let refused = |errors: Vec<String>| NoRun::Refused(errors.join("; "));
    let mut simulation = Simulation::new(&scenario).map_err(refused)?;
    if let Some(margin) = recorded_margin(recording) {
        // The recorded audit log ends soon after the restart, with Events still unsent: so does the simulated one.
        let mut end = RestartEnd::default();
        simulation.run(play.seed, 0, &mut end);
        if end.0 > Time::ZERO {
            scenario.stop.at = end.0.since(Time::ZERO) + margin;
            scenario.stop.when = StopWhen::Time;
            simulation = Simulation::new(&scenario).map_err(refused)?;
        }
    }
    let mut sink = Observer::new(recording);
    let outcome = simulation.run(play.seed, 0, &mut sink);
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

/// The recorded JobSet as it was stored, in the namespace in which it was played.
fn jobset(recording: &Recording) -> Result<JobSet, String> {
    let mut object = recording.job_set.clone();
    if let Some(stored) = &recording.stored_spec {
        object["spec"] = stored.clone();
    }
    in_namespace(object, recording)
}

fn in_namespace(mut object: Value, recording: &Recording) -> Result<JobSet, String> {
    object["metadata"]["namespace"] = json!(recording.name);
    manifest::stored_jobset(&object)
}

/// JobSets that actions of the script create, in the order of the script.
fn created_jobsets(recording: &Recording) -> Result<Vec<JobSet>, String> {
    let actions = recording.script.actions.iter();
    let bodies = actions.filter(|a| a.what == "create").filter_map(|a| {
        let body: Value = serde_json::from_str(a.body.as_deref()?).ok()?;
        (body["kind"] == "JobSet").then_some(body)
    });
    bodies
        .map(|body| {
            let request = Create {
                object: &body,
                namespace: &recording.name,
                gates: Gates::default(),
                existing_claims: &[],
            };
            // What is refused is refused again when it is created.
            let stored = admission::create(&request).unwrap_or_else(|_| body.clone());
            in_namespace(stored, recording)
        })
        .collect()
}

/// What becomes of a recording whose JobSet one of the two API servers refused.
fn refusal(recording: &Recording, scenario: &Scenario) -> Option<NoRun> {
    let gates = scenario.control_plane.feature_gates;
    let request = Create {
        object: &recording.job_set,
        namespace: &recording.name,
        gates: Gates {
            in_place_restart: gates.in_place_restart,
            restart_job: gates.restart_job,
            elastic_job_set: gates.elastic_jobset,
        },
        existing_claims: &surroundings::existing_claims(recording),
    };
    let simulated = admission::create(&request).err().map(|r| r.message);
    match (recording.rejected(), simulated) {
        (None, None) => None,
        (None, Some(message)) => Some(NoRun::Refused(message)),
        (Some(recorded), simulated) => Some(NoRun::Rejected {
            recorded: recorded.to_owned(),
            simulated: simulated.unwrap_or_else(|| "accepted".to_owned()),
        }),
    }
}

/// YAML as the API server reads it: the object, and what a strict reader would say of keys written twice.
pub fn yaml(text: &str) -> Result<(Value, Vec<String>), String> {
    let source = manifest::Source {
        file: String::new(),
        text: text.to_owned(),
    };
    let (node, duplicate) = manifest::yaml::first_document(&source).map_err(|e| {
        let first = e.0.into_iter().next();
        format!("yaml: {}", first.map_or(String::new(), |d| d.message))
    })?;
    let strict = duplicate.map(|(line, key)| {
        format!("yaml: unmarshal errors:\n  line {line}: key {key:?} already set in map")
    });
    let object = node.map_or(Value::Null, |node| node.to_json());
    Ok((object, strict.into_iter().collect()))
}
