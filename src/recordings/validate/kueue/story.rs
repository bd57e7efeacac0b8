//! Plays the steps of a story.

use super::super::scheduling::Differences;
use super::compare::Comparison;
use super::objects::{NAMESPACE, read_nodes, read_objects, read_stop_policy};
use super::state::{Job, QueueHistory, QueueStatus, Rest, Workloads};
use serde_json::{Value, json};
use sim_api::admission::{self, AdmissionGates, CreateRequest};
use sim_api::objects::value_access::{list, text};
use sim_api::spec::kueue::{ClusterQueue, KueueObjects};
use sim_base::{Duration, SimTime};
use sim_kueue::control::{JobView, Manager, Patch, reconcile_job, reconcile_workload};
use sim_kueue::driver::{self, CycleSummary, Driver, InstantPorts, Pace, Ports, Rest as RestState, Sent};
use sim_kueue::topology::TopologySnapshot;
use sim_kueue::workload::jobset::{PriorityClasses, workload};
use sim_kueue::workload::webhook::refusal;
use sim_kueue::workload::{Workload, WorkloadKey};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Time between two steps. Recorded steps are further apart than Kueue's unit of creation times, and each story rests
/// before the next step.
const STEP: Duration = Duration::from_secs(60);
/// Reason in the message of a JobSet that succeeded.
const COMPLETED: &str = "jobset completed successfully";

/// Moments at which all queues are tried again for a reason outside of the story: each reconcile of a ResourceFlavor
/// with a topology does it (`pkg/controller/tas/resource_flavor.go`), and Kueue served other stories at the same time.
#[derive(Copy, Clone, Debug, Default)]
struct ForeignWakes {
    before_step: bool,
    after_step: bool,
}

/// How a step starts: after some cycles of queues that alternate between states, and with wakes from outside.
#[derive(Copy, Clone, Debug)]
struct StepStart {
    cycles_before: usize,
    foreign: ForeignWakes,
}

const FOREIGN_WAKES: [ForeignWakes; 4] = [
    ForeignWakes { before_step: false, after_step: false },
    ForeignWakes { before_step: false, after_step: true },
    ForeignWakes { before_step: true, after_step: false },
    ForeignWakes { before_step: true, after_step: true },
];

/// Changes of state without a new state after which the states recur. The scheduler tries one flavor per cycle.
const RECURRING_CHANGES: usize = 24;
/// Largest number of cycles until the story is compared.
const CYCLES_MAX: usize = 1000;

#[derive(Clone)]
struct Story {
    objects: KueueObjects,
    driver: Driver,
    /// JobSets by the key of their Workload.
    jobs: Vec<Job>,
    now: SimTime,
    /// Cycles that a Workload takes at most to try all flavors.
    cycles_per_workload: usize,
    /// States since the last rest.
    trace: StateTrace,
    /// Rests since the step.
    rests: Vec<Rest>,
    /// Number of states between which the queues alternate after the step, 1 if they rest.
    phases: usize,
    histories: Vec<QueueHistory>,
}

/// The states of the Workloads since a rest.
#[derive(Clone, Default)]
struct StateTrace {
    states: Vec<Workloads>,
    cycles: usize,
    /// Number of cycles since the last change.
    unchanged: usize,
    /// Number of changes since the last new state.
    recurred: usize,
    /// The recurring states.
    recurring: Vec<Workloads>,
}

impl StateTrace {
    /// Adds the state after a cycle. Returns true if the states only recur.
    fn note(&mut self, state: Workloads) -> bool {
        self.cycles += 1;
        if self.states.last() == Some(&state) {
            self.unchanged += 1;
            return false;
        }
        self.unchanged = 0;
        self.recurred = if self.states.contains(&state) { self.recurred + 1 } else { 0 };
        self.states.push(state);
        if self.recurred < RECURRING_CHANGES {
            return false;
        }
        for state in std::mem::take(&mut self.states).into_iter().rev().take(RECURRING_CHANGES) {
            if !self.recurring.contains(&state) {
                self.recurring.push(state);
            }
        }
        true
    }
}

/// Plays all steps and compares the state after each. A recording was made when Kueue seemed to rest, which may be
/// before inadmissible Workloads were tried again.
pub fn play(recording: &Value, found: &mut Differences) {
    let mut story = Story::new(recording);
    let mut comparison = Comparison::default();
    for (k, (step, result)) in list(recording, "steps").iter().zip(list(recording, "results")).enumerate() {
        let mut first = None;
        for start in story.possible_starts() {
            let mut played = story.clone();
            let mut differences = Differences::default();
            played.play_step(step, start, &result["answer"], k, &mut differences);
            let compared = comparison.compare_rests(&played.rests, &played.histories, result, k, differences);
            let is_equal = compared.1.0.is_empty();
            if is_equal || first.is_none() {
                first = Some((played, compared));
            }
            if is_equal {
                break;
            }
        }
        if let Some((played, (after, differences))) = first {
            (story, comparison) = (played, after);
            found.0.extend(differences.0);
        }
    }
}

impl Story {
    fn new(recording: &Value) -> Story {
        let objects = read_objects(recording);
        let topology = TopologySnapshot::new(&objects, &read_nodes(recording));
        let labels: BTreeMap<String, String> =
            [("kubernetes.io/metadata.name".to_owned(), NAMESPACE.to_owned())].into();
        let manager = Manager::new(&objects, topology, [(NAMESPACE.to_owned(), labels)].into());
        let cycles_per_workload = driver::attempts_per_workload(&objects, 1);
        let history = |queue: &ClusterQueue| QueueHistory { name: queue.name.clone(), states: Vec::new() };
        let histories = objects.cluster_queues.iter().map(history).collect();
        let mut story = Story {
            objects,
            driver: Driver::new(manager, Pace::AtOnce),
            jobs: Vec::new(),
            now: SimTime::ZERO,
            cycles_per_workload,
            trace: StateTrace::default(),
            rests: Vec::new(),
            phases: 1,
            histories,
        };
        story.note_statuses();
        story
    }

    /// Returns all ways in which the next step may start.
    fn possible_starts(&self) -> Vec<StepStart> {
        let starts = FOREIGN_WAKES.into_iter().flat_map(|foreign| {
            let start = move |cycles_before| StepStart { cycles_before, foreign };
            (0..self.phases).map(start)
        });
        starts.collect()
    }

    fn play_step(&mut self, step: &Value, start: StepStart, answer: &Value, k: usize, found: &mut Differences) {
        let StepStart { cycles_before, foreign } = start;
        for _ in 0..cycles_before {
            driver::run_cycle(self);
            self.reconcile();
        }
        let mut has_settled = !foreign.before_step || self.wake_all();
        self.now += STEP;
        self.rests.clear();
        for QueueHistory { states, .. } in &mut self.histories {
            states.drain(..states.len().saturating_sub(1));
        }
        let refusal = self.act(step).err().map_or(Value::Null, |message| json!(message));
        found.compare(&format!("{k}.answer"), answer.clone(), refusal);
        has_settled &= driver::settle(self);
        has_settled &= !foreign.after_step || self.wake_all();
        // A recording ends when Kueue seems to rest.
        found.compare(&format!("{k}.settled"), json!(true), json!(has_settled));
    }

    /// Tries all queues again. Returns whether they settle.
    fn wake_all(&mut self) -> bool {
        self.driver.manager.request_wake_of_all();
        driver::settle(self)
    }

    fn note_statuses(&mut self) {
        for (index, QueueHistory { states, .. }) in self.histories.iter_mut().enumerate() {
            let pending = self.driver.manager.pending[index].len();
            let status = QueueStatus { pending, usage: self.driver.manager.cache.usage(index) };
            if states.last() != Some(&status) {
                states.push(status);
            }
        }
    }

    /// Performs a step. Returns the answer of the API server if it refuses the step.
    fn act(&mut self, step: &Value) -> Result<(), String> {
        if step["create"].is_object() {
            return self.create(&step["create"]);
        }
        for key in ["finish", "delete", "deactivate"] {
            let Some(name) = step[key].as_str() else { continue };
            let index = match self.jobs.iter().position(|job| job.name == name && !job.view.is_deleted) {
                Some(index) => index,
                // The request is about the Workload, which does not exist either.
                None if key == "deactivate" => continue,
                None => return Err(format!("jobsets.jobset.x-k8s.io \"{name}\" not found")),
            };
            match key {
                "finish" => self.jobs[index].view.finished = Some((true, COMPLETED.to_owned())),
                "delete" => self.jobs[index].view.is_deleted = true,
                _ => {
                    if let Some(old) = self.driver.manager.workload(index).cloned() {
                        let mut new = (*old).clone();
                        new.active = false;
                        self.store(index, new);
                    }
                }
            }
        }
        let stop = &step["stopPolicy"];
        let queue = self.objects.cluster_queues.iter_mut().find(|q| q.name == text(stop, "clusterQueue"));
        if let Some(queue) = queue {
            queue.stop_policy = read_stop_policy(text(stop, "policy"));
            let changed = queue.clone();
            self.driver.manager.queue_changed(changed);
        }
        Ok(())
    }

    fn create(&mut self, object: &Value) -> Result<(), String> {
        let gates = AdmissionGates::default();
        let request = CreateRequest { object, namespace: NAMESPACE, gates, existing_claims: &[] };
        let stored = admission::create(&request).map_err(|refusal| refusal.message)?;
        let jobset = sim_inputs::stored_jobset(&stored).map_err(|error| error.to_string())?;
        if let Some(rejection) = refusal(&jobset, &self.objects) {
            return Err(rejection.message);
        }
        let key = self.jobs.len();
        let view = JobView { is_suspended: jobset.spec.suspend, ..JobView::default() };
        self.jobs.push(Job { name: jobset.name.clone(), view });
        // Without a Workload, the JobSet stays suspended.
        let of_workloads = &self.objects.priority_classes;
        let classes = PriorityClasses { of_workloads, of_pods: &[], requires_declared: false };
        if let Ok(mut new) = workload(&jobset, &classes, self.now) {
            new.uid = format!("uid-{key:04}");
            new.job_uid = format!("job-uid-{key:04}");
            self.store(key, new);
        }
        Ok(())
    }

    fn store(&mut self, key: WorkloadKey, workload: Workload) {
        self.driver.manager.workload_changed(key, Arc::new(workload), self.now);
    }

    /// Returns the number of cycles without a change after which the queues only repeat themselves: each cycle takes
    /// one Workload of a queue.
    fn rest_cycles(&self) -> usize {
        let longest = self.driver.manager.pending.iter().map(|queue| queue.len()).max().unwrap_or(0);
        self.cycles_per_workload * (longest + 1)
    }

    fn state(&self) -> Workloads {
        let workload = |key: WorkloadKey| Some((key, self.driver.manager.workload(key)?.clone()));
        (0..self.jobs.len()).filter_map(workload).collect()
    }

    /// Runs the reconcilers of JobSets and Workloads until none changes anything.
    fn reconcile(&mut self) {
        self.note_statuses();
        while (0..self.jobs.len()).any(|key| self.reconcile_one(key)) {
            self.note_statuses();
        }
    }

    fn reconcile_one(&mut self, key: WorkloadKey) -> bool {
        let Some(workload) = self.driver.manager.workload(key).cloned() else {
            return false;
        };
        let plan = reconcile_job(&workload, &self.jobs[key].view, true, self.now);
        if let Some(suspend) = plan.suspend {
            self.jobs[key].view.is_suspended = suspend;
        }
        let is_suspended = plan.suspend.is_some();
        if let Some(new) = plan.workload {
            self.store(key, new);
            return true;
        }
        let view = self.driver.manager.view(key, &workload);
        let result = reconcile_workload(&workload, &view, &self.driver.manager.configuration, self.now);
        match result.workload {
            Some(new) if new != *workload => {
                self.store(key, new);
                true
            }
            _ => is_suspended,
        }
    }
}

impl Ports for Story {
    fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    fn now(&self) -> SimTime {
        self.now
    }

    fn send(&mut self, patch: Patch) -> Sent {
        self.driver.store(&patch, self.now)
    }
}

/// Cycles run until the Workloads no longer change, or until their states recur.
impl InstantPorts for Story {
    fn advance(&mut self, delay: Duration) {
        self.now += delay;
    }

    fn cycles_begin(&mut self) {
        self.reconcile();
        self.trace = StateTrace { states: vec![self.state()], ..StateTrace::default() };
        self.phases = 1;
    }

    fn cycle_ended(&mut self, _summary: CycleSummary) -> ControlFlow<()> {
        self.reconcile();
        let state = self.state();
        if self.trace.note(state) {
            self.phases = self.trace.recurring.len();
            return ControlFlow::Break(());
        }
        let rests = self.trace.unchanged >= self.rest_cycles() || self.trace.cycles >= CYCLES_MAX;
        if rests { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn rested(&mut self) -> RestState {
        let alternatives = std::mem::take(&mut self.trace).recurring;
        self.rests.push(Rest { jobs: self.jobs.clone(), workloads: self.state(), alternatives });
        RestState::Unchanged
    }
}
