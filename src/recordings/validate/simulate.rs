//! Simulates recordings. This is the only module of `validate` that depends on the engine and the manifest reader.
//!
//! It reads the JobSet, runs the scenario and returns the observations. It does not compare them.

mod kueue_objects;
pub mod replay_error;
mod request_loads;

use super::admission::children_case;
use super::compare::{NoRun, ObservedRun, RunObserver, compare};
use super::recording::{RecordedRun, RecordingKind};
use super::result::{FileResult, ValidationVerdict};
use super::scenario::environment;
use super::scenario::unsimulated_fields::unsimulated_fields;
use super::scenario::{RecordingDefaults, SEED, ScenarioOverrides, UnmodelledAction, UnmodelledPart, replay_scenario};
use super::unobserved_inputs::{UnobservedInputs, candidates};
use replay_error::ReplayError;
use request_loads::measure_loads;
use sim_api::admission;
use sim_api::admission::CreateRequest;
use sim_base::{Duration, SimTime};
use sim_engine::{CannotRun, SimulationInput};
use sim_inputs::Diagnostics;

use serde_json::Value;
use sim_analysis::metrics::RestartFold;
use sim_api::spec::{
    BY_SCRIPT, ControlPlane, FaultAction, FaultTime, FeatureGates, KubeVersion, KubeletTiming, ObjectKind, RequestVerb,
    ScenarioSpec, StopSpec, StopWhen, SubmittedJobSet, TieBreak, UserRequest,
};
use sim_engine::record::{Body, DiscardSink, JobSetConditionType, RecordNames, RecordSink, SimulationRecord};

/// Preset for the number of workers. The recordings were made with upstream's defaults.
const PRESET: &str = "stock";

/// Returns the values that a recording does not contain.
pub fn defaults() -> Result<RecordingDefaults, ReplayError> {
    Ok(RecordingDefaults {
        control_plane: sim_inputs::control_plane(PRESET).ok_or(ReplayError::MissingPreset { name: PRESET })?,
        timing: sim_inputs::timing(),
        preset_overrides_recording: false,
    })
}

/// Time for which `objects` exist before the JobSet is submitted. Recordings do not contain it; the recorder waited
/// until the pods among the objects were running.
const HEAD_START: Duration = Duration::from_secs(1);

/// Returns all documents of a YAML text.
pub fn documents(file: &str, text: &str) -> Result<Vec<Value>, Diagnostics> {
    let source = sim_inputs::SourceText { file: file.to_owned(), text: text.to_owned() };
    sim_inputs::documents(&source)
}

/// Simulates one recording and compares the result.
pub fn validate(
    file: &str, recording: &RecordedRun, defaults: &RecordingDefaults, overrides: &ScenarioOverrides,
) -> FileResult {
    let observed = |play| match observe(file, recording, defaults, overrides, play) {
        Ok(observed) => compare(file, recording, Ok(&observed)),
        Err(no_run) => compare(file, recording, Err(no_run)),
    };
    let mut plays = candidates(recording).into_iter();
    let mut first = observed(plays.next().unwrap_or(UnobservedInputs::DEFAULT));
    if first.verdict() == Some(ValidationVerdict::Different) {
        let equal = |play: UnobservedInputs| {
            let result = observed(play);
            (result.verdict() == Some(ValidationVerdict::Equal)).then_some((play, result))
        };
        let Some((play, result)) = plays.find_map(equal) else { return first };
        if recording.kind == RecordingKind::Cluster {
            return result;
        }
        first.equal_replay = Some(play.to_string());
    }
    first
}

/// Returns the scenario of the first replay of a recording, for other uses.
pub fn default_replay_scenario(file: &str, recording: &RecordedRun) -> Result<ScenarioSpec, ReplayError> {
    let scenario =
        prepare_scenario(file, recording, &defaults()?, (&ScenarioOverrides::default(), UnobservedInputs::DEFAULT))?;
    Ok(scenario)
}

fn prepare_scenario(
    file: &str, recording: &RecordedRun, defaults: &RecordingDefaults,
    (overrides, play): (&ScenarioOverrides, UnobservedInputs),
) -> Result<ScenarioSpec, NoRun> {
    let mut scenario = replay_scenario(recording, defaults, overrides).map_err(NoRun::NotSimulated)?;
    scenario.decoders = sim_inputs::DECODERS;
    if recording.kind != RecordingKind::Times {
        // Decisions that do not depend on a race are simulated without random latencies.
        scenario.timing = scenario.timing.with_median_api_latency();
    }
    scenario.ties = play.ties;
    scenario.kueue = kueue_objects::kueue_objects(recording).map_err(NoRun::NotSimulated)?;
    check_supported(&scenario).map_err(NoRun::NotSimulated)?;
    let fields = unsimulated_fields(recording, sim_inputs::unmodelled_fields);
    if recording.kind.has_decisions() && !fields.is_empty() {
        return Err(NoRun::NotSimulated(UnmodelledAction::sorted(fields)));
    }
    let stored = admit_recorded_jobset(recording, &scenario)?;
    let submit = |jobset, submit_at| SubmittedJobSet { jobset, submit_at, source: format!("{file} (jobSet)") };
    let read = |object: &Value| sim_inputs::stored_jobset(object).map_err(|e| NoRun::Refused(e.to_string()));
    let mut start = play.clock_phase + play.heartbeat_shift;
    if !scenario.objects.is_empty() {
        start = start + HEAD_START;
    }
    scenario.jobsets.push(submit(read(&stored)?, start));
    for created in created_jobsets(&scenario) {
        scenario.jobsets.push(submit(read(&created)?, BY_SCRIPT));
    }
    shift_start(start, &mut scenario);
    measure_loads(&mut scenario).map_err(refused)?;
    Ok(scenario)
}

fn refused(why: CannotRun) -> NoRun {
    NoRun::Refused(why.to_string().replace('\n', "; "))
}

fn observe(
    file: &str, recording: &RecordedRun, defaults: &RecordingDefaults, overrides: &ScenarioOverrides,
    play: UnobservedInputs,
) -> Result<ObservedRun, NoRun> {
    let mut scenario = prepare_scenario(file, recording, defaults, (overrides, play))?;
    let mut simulation = SimulationInput::new(&scenario).map_err(refused)?;
    if let Some(margin) = recorded_margin(recording) {
        // The recorded audit log ends soon after the restart, with Events still unsent. The simulated one ends after
        // the same margin.
        let mut end = RestartEnd::default();
        simulation.run(SEED, 0, &mut end);
        if end.0 > SimTime::ZERO {
            scenario.stop.at = end.0.since(SimTime::ZERO) + margin;
            scenario.stop.when = StopWhen::Time;
            simulation = SimulationInput::new(&scenario).map_err(refused)?;
        }
    }
    let seed = SEED + play.victim_draw;
    let (observed, DiscardSink) = run_observed(recording, &mut simulation, seed, DiscardSink);
    Ok(observed)
}

/// Runs a prepared simulation and collects the observations for a comparison with the recording. The sink `more`
/// also receives the records and is returned.
pub fn run_observed<S: RecordSink>(
    recording: &RecordedRun, simulation: &mut SimulationInput, seed: u64, more: S,
) -> (ObservedRun, S) {
    let mut sinks = (RunObserver::new(recording, simulation.scenario()), more);
    let outcome = simulation.run(seed, 0, &mut sinks);
    let (mut sink, more) = sinks;
    let names = simulation.names().clone();
    let no_more = RestartFold::from_parts(Vec::new());
    let restarts = std::mem::replace(&mut sink.restarts, no_more).finish(&outcome, &names);
    let observed = ObservedRun { outcome, names, sink, restart: restarts.into_iter().nth(recording.nth_restart()) };
    (observed, more)
}

/// Returns a recorded JobSet as stored, for a comparison with another one. Returns `None` if the recorded or the
/// simulated API server rejected it.
pub fn stored_jobset(recording: &RecordedRun) -> Option<Value> {
    let defaults = defaults().ok()?;
    let scenario = replay_scenario(recording, &defaults, &ScenarioOverrides::default()).ok()?;
    admit_recorded_jobset(recording, &scenario).ok()
}

/// Shifts all times, which count from the creation of the recorded JobSet, by `start`.
fn shift_start(start: Duration, scenario: &mut ScenarioSpec) {
    for fault in &mut scenario.faults {
        if let FaultTime::At(at) = &mut fault.at {
            *at = *at + start;
        }
    }
    scenario.stop.at = scenario.stop.at + start;
}

/// Checks that the model supports every object that exists or is created.
fn check_supported(scenario: &ScenarioSpec) -> Result<(), UnmodelledAction> {
    let created = scenario.faults.iter().filter_map(|f| match &f.action {
        FaultAction::Request(UserRequest { verb: RequestVerb::Create { object, .. }, .. }) => Some(object),
        _ => None,
    });
    let problem = |object: &Value| {
        let kind = object["kind"].as_str().unwrap_or("");
        let read = match ObjectKind::from_kind(kind) {
            ObjectKind::Job => sim_inputs::stored_job(object).map(drop),
            ObjectKind::Pod => sim_inputs::stored_pod(object).map(drop),
            ObjectKind::Node => sim_inputs::stored_node(object).map(drop),
            _ => Ok(()),
        };
        let name = object["metadata"]["name"].as_str().unwrap_or("");
        read.err().map(|e| UnmodelledPart::RejectedObject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            reason: e.to_string(),
        })
    };
    let problems: Vec<UnmodelledPart> = scenario.objects.iter().chain(created).filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(UnmodelledAction(problems)) }
}

/// Returns the time from the last milestone of the restart to the last recorded request.
fn recorded_margin(recording: &RecordedRun) -> Option<Duration> {
    let requests = recording.requests.as_ref()?;
    let last_request = requests.restart.iter().map(|r| r.8).fold(f64::NAN, f64::max);
    let milestones = recording.milestones.as_ref()?;
    let last = milestones.milestones_s.values().fold(f64::NAN, |a, b| a.max(*b));
    let margin = last_request - last;
    margin.is_finite().then(|| Duration::from_seconds_f64(margin.max(0.0)))
}

/// Time at which all pods became ready for the last time. The JobSet's own condition is used if there is one.
#[derive(Default)]
struct RestartEnd(SimTime);

impl RecordSink for RestartEnd {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        use JobSetConditionType::RestartingJobSet;
        match record.body {
            Body::AllReady { ready: true, .. }
            | Body::JobSetCondition { kind: RestartingJobSet, status: false, .. } => self.0 = record.at,
            _ => {}
        }
    }
}

/// Returns the request that posts an object to the namespace of the recording.
fn create_request<'r>(object: &'r Value, scenario: &'r ScenarioSpec, claims: &'r [Value]) -> CreateRequest<'r> {
    CreateRequest {
        object,
        namespace: &scenario.name,
        gates: environment::admission_gates(scenario.control_plane.feature_gates),
        existing_claims: claims,
    }
}

/// Returns the JobSets that are created by actions of the script, in order.
fn created_jobsets(scenario: &ScenarioSpec) -> Vec<Value> {
    let bodies = scenario.faults.iter().filter_map(|f| match &f.action {
        FaultAction::Request(UserRequest { verb: RequestVerb::Create { object, jobset: Some(_) }, .. }) => Some(object),
        _ => None,
    });
    // A rejected JobSet is kept unchanged, because it is rejected again when it is created.
    let stored = bodies.map(|body| {
        let stored = admission::create(&create_request(body, scenario, &[]));
        stored.unwrap_or_else(|_| body.clone())
    });
    stored.collect()
}

/// Returns the recorded JobSet as stored, or the outcome if the recorded or the simulated API server rejected it.
fn admit_recorded_jobset(recording: &RecordedRun, scenario: &ScenarioSpec) -> Result<Value, NoRun> {
    let claims = environment::claims(&scenario.objects);
    let object = environment::in_namespace(&recording.job_set, &recording.name);
    let simulated = admission::create(&create_request(&object, scenario, &claims));
    match (recording.rejection_message(), simulated) {
        (None, Ok(stored)) => Ok(stored),
        (None, Err(refusal)) => Err(NoRun::Refused(refusal.message)),
        (Some(recorded), simulated) => Err(NoRun::Rejected {
            recorded: recorded.to_owned(),
            simulated: match simulated {
                Ok(_) => "accepted".to_owned(),
                Err(refusal) => refusal.message,
            },
        }),
    }
}

/// Parses YAML like the API server. Returns the object, and the errors of a strict reader for duplicate keys.
pub fn yaml(text: &str) -> Result<(Value, Vec<String>), Diagnostics> {
    let source = sim_inputs::SourceText { file: String::new(), text: text.to_owned() };
    let (node, duplicate) = sim_inputs::text::yaml::first_document(&source)?;
    let strict =
        duplicate.map(|(line, key)| format!("yaml: unmarshal errors:\n  line {line}: key {key:?} already set in map"));
    let object = node.map_or(Value::Null, |node| node.to_json());
    Ok((object, strict.into_iter().collect()))
}

/// Time for which child objects were observed.
const OBSERVATION_TIME: Duration = Duration::from_secs(4);
/// Longer than the observation of any case, so that no container starts.
const BEYOND_OBSERVATION: Duration = Duration::from_secs(3600);

/// Returns the objects that exist a few seconds after the JobSets of a case were created.
pub fn child_objects(case: &children_case::ChildrenCase) -> Result<Vec<Value>, ReplayError> {
    let defaults = defaults()?;
    let mut timing = defaults.timing.with_median_api_latency();
    timing.kubelet = KubeletTiming::Scripted {
        start: BEYOND_OBSERVATION,
        stop: Duration::ZERO,
        stop_exit_code: 0,
        restart: Duration::ZERO,
        has_agents: false,
    };
    let gates = FeatureGates {
        in_place_restart: case.gates.in_place_restart,
        restart_job: case.gates.restart_job,
        elastic_jobset: case.gates.elastic_job_set,
        ..FeatureGates::default()
    };
    let submitted = |jobset: &Value| {
        Ok(SubmittedJobSet {
            jobset: sim_inputs::stored_jobset(jobset)
                .map_err(|e| ReplayError::UnsupportedJobSet { reason: e.to_string() })?,
            submit_at: Duration::ZERO,
            source: "children".to_owned(),
        })
    };
    let scenario = ScenarioSpec {
        name: case.namespace.clone(),
        description: String::new(),
        topology: children_case::topology(),
        control_plane: ControlPlane {
            kubernetes: KubeVersion::new(36),
            feature_gates: gates,
            ..defaults.control_plane
        },
        timing,
        jobsets: case.jobsets.iter().map(submitted).collect::<Result<_, ReplayError>>()?,
        objects: case.objects.clone(),
        containers: Vec::new(),
        training: Vec::new(),
        faults: Vec::new(),
        admit_unplaceable: true,
        fault_processes: Vec::new(),
        process_entries: Vec::new(),
        node_repair: None,
        node_spares: None,
        slice_formation: None,
        clocks: Vec::new(),
        has_repairs_after_end: false,
        has_random_faults: false,
        drawn_contradictions: Vec::new(),
        claim_controller: sim_api::spec::ClaimController::Absent,
        requires_listed_classes: true,
        service_accounts: Vec::new(),
        scheduler: Default::default(),
        kueue: None,
        ties: TieBreak::default(),
        decoders: sim_inputs::DECODERS,
        stop: StopSpec { at: OBSERVATION_TIME, when: StopWhen::Time },
        seed: SEED,
    };
    let mut simulation = SimulationInput::new(&scenario)?;
    let mut sink = SimulatedObjects::default();
    simulation.run(SEED, 0, &mut sink);
    Ok(sink.0)
}

/// A sink that keeps the objects that exist at the end.
#[derive(Default)]
struct SimulatedObjects(Vec<Value>);

impl RecordSink for SimulatedObjects {
    fn record(&mut self, _: &SimulationRecord, _: &RecordNames) {}

    fn receives_objects(&self) -> bool {
        true
    }

    fn objects(&mut self, all: &[Value]) {
        self.0 = all.to_vec();
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/simulate.rs"]
mod tests;
