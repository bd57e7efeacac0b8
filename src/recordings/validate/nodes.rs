//! Compares recorded and simulated times of the steps around a node failure.
//!
//! A step that follows another step directly is compared by its distance from that step, so that an early or late phase
//! is reported once and not for every later step. The tolerances are not smaller than the randomness of the phases.

use super::recording::RecordedRun;
use super::result::{ComparedMoment, MilestoneResult, RecordedDifference};
use super::run_steps::RunSteps;
use super::steps::{self, RecordedStep, StepAction, StepObject};
use serde_json::json;
use sim_engine::record::RecordNames;
use std::collections::BTreeMap;

/// Tolerance in seconds of steps that depend on the phase of heartbeats (10 s) and of the node monitor (5 s).
const HEARTBEAT_TOLERANCE_S: f64 = 15.0;
/// Tolerance in seconds of steps that depend on the 20 s period of pod garbage collection.
const POD_GC_TOLERANCE_S: f64 = 20.0;
/// Tolerance in seconds of steps that follow another step directly.
const DIRECT_TOLERANCE_S: f64 = 1.5;

/// Rule by which a recorded step is compared.
#[derive(Copy, Clone, Debug, PartialEq)]
enum NodeRule {
    /// Compares the time in the run, with this tolerance in seconds.
    Absolute(f64),
    /// Compares the distance from the step at this position.
    Relative(usize),
}

/// Returns the differences, and every recorded step as a milestone.
pub fn compare(
    recording: &RecordedRun, run: &RunSteps, names: &RecordNames, created_s: f64,
) -> (Vec<RecordedDifference>, Vec<MilestoneResult>) {
    differences_and_milestones(&compared_moments(recording, run, names, created_s))
}

/// Returns every compared step with its times after the creation and whether it differs. Steps that occur only in
/// the run come last.
pub fn compared_moments(
    recording: &RecordedRun, run: &RunSteps, names: &RecordNames, created_s: f64,
) -> Vec<ComparedMoment> {
    let mut simulated = run.recorded_steps(recording, names);
    for step in &mut simulated {
        step.at_s -= created_s;
    }
    compare_steps(recording, &steps::recorded_steps(recording), &simulated)
}

fn differences_and_milestones(moments: &[ComparedMoment]) -> (Vec<RecordedDifference>, Vec<MilestoneResult>) {
    let rounded = |s: f64| (s * 1e3).round() / 1e3;
    let differs = moments.iter().filter(|m| m.differs);
    let difference = |m: &ComparedMoment| {
        let (r, s) = (m.recorded_s.map(rounded), m.simulated_s.map(rounded));
        RecordedDifference::new(format!("times: {}", m.what), json!(r), json!(s))
    };
    let recorded = moments.iter().filter(|m| m.recorded_s.is_some());
    let milestone = |m: &ComparedMoment| MilestoneResult {
        name: m.what.clone(),
        recorded_s: m.recorded_s,
        simulated_s: m.simulated_s,
    };
    (differs.map(difference).collect(), recorded.map(milestone).collect())
}

fn compare_steps(
    recording: &RecordedRun, recorded: &[RecordedStep], simulated: &[RecordedStep],
) -> Vec<ComparedMoment> {
    let matched = match_steps(recorded, simulated);
    let context = NodeContext::new(recording, recorded);
    let mut moments = Vec::new();
    for (i, step) in recorded.iter().enumerate() {
        if !is_compared(step) {
            continue;
        }
        let mut moment = ComparedMoment::new(step.to_string(), Some(step.at_s), matched[i]);
        moment.differs = match matched[i] {
            None => true,
            Some(at_s) => {
                let (off_s, tolerance_s) = match context.comparison_rule(recorded, i, &matched) {
                    NodeRule::Absolute(tolerance_s) => (at_s - step.at_s, tolerance_s),
                    NodeRule::Relative(j) => {
                        let before_s = matched[j].unwrap_or(recorded[j].at_s);
                        let off_s = (at_s - before_s) - (step.at_s - recorded[j].at_s);
                        (off_s, DIRECT_TOLERANCE_S)
                    }
                };
                off_s.abs() > tolerance_s
            }
        };
        moments.push(moment);
    }
    for step in steps_only_in_run(recorded, simulated) {
        let mut moment = ComparedMoment::new(step.to_string(), None, Some(step.at_s));
        moment.differs = true;
        moments.push(moment);
    }
    moments
}

/// Returns whether a step is compared. Other steps, such as the end of a pod and its first creation, only serve as a
/// reference for later steps.
fn is_compared(step: &RecordedStep) -> bool {
    match (&step.object, &step.action) {
        (StepObject::Action(_), _) | (_, StepAction::Finished) => false,
        (StepObject::Pod { attempt, nth, .. }, StepAction::Created) => *attempt > 0 || *nth > 0,
        _ => true,
    }
}

type NodeKey<'a> = (&'a StepObject, &'a StepAction);

fn times_by_step(steps: &[RecordedStep]) -> BTreeMap<NodeKey<'_>, Vec<f64>> {
    let mut times: BTreeMap<NodeKey<'_>, Vec<f64>> = BTreeMap::new();
    for step in steps {
        times.entry((&step.object, &step.action)).or_default().push(step.at_s);
    }
    times
}

/// Returns, for each recorded step, the time of the matching simulated step: the nth step of an object and kind
/// matches the nth.
fn match_steps(recorded: &[RecordedStep], simulated: &[RecordedStep]) -> Vec<Option<f64>> {
    let times = times_by_step(simulated);
    let mut used: BTreeMap<NodeKey<'_>, usize> = BTreeMap::new();
    let matched = recorded.iter().map(|step| {
        let key = (&step.object, &step.action);
        let n = used.entry(key).or_default();
        *n += 1;
        times.get(&key)?.get(*n - 1).copied()
    });
    matched.collect()
}

/// Returns the steps that occur more often in the run than in the recording.
fn steps_only_in_run<'a>(recorded: &[RecordedStep], simulated: &'a [RecordedStep]) -> Vec<&'a RecordedStep> {
    let recorded = times_by_step(recorded);
    let mut seen: BTreeMap<NodeKey<'a>, usize> = BTreeMap::new();
    let mut extra = Vec::new();
    for step in simulated {
        let key = (&step.object, &step.action);
        let n = seen.entry(key).or_default();
        *n += 1;
        if is_compared(step) && recorded.get(&key).map_or(0, Vec::len) < *n {
            extra.push(step);
        }
    }
    extra
}

/// Information from the script that the rules need.
struct NodeContext {
    /// Alias of the node of each pod.
    pod_node: BTreeMap<StepObject, String>,
    /// Alias of each node whose pods are left to pod garbage collection, and the time from which this holds.
    left_to_pod_gc: Vec<(String, f64)>,
    /// Alias of the node that each action affects.
    action_node: Vec<Option<String>>,
    /// Whether each action can cause the control plane to mark a pod for deletion immediately. Loss of contact and
    /// changes of the Node object alone do not.
    marks_pods: Vec<bool>,
}

/// Actions that do not mark the pods of the node for deletion at once: a timer marks them later, or they are never
/// marked.
const DELAYED_MARK_ACTIONS: [&str; 4] = ["crashNode", "partitionNode", "deleteNode", "newNode"];

impl NodeContext {
    fn new(recording: &RecordedRun, recorded: &[RecordedStep]) -> NodeContext {
        let aliases = steps::node_aliases(recording);
        let rows = recording.pods.0.iter();
        let node_of = steps::pod_objects(recording)
            .into_iter()
            .zip(rows)
            .filter_map(|(object, row)| Some((object, aliases.get(&row.node)?.clone())))
            .collect();
        let actions = &recording.script.actions;
        let deleted = actions.iter().filter(|a| a.what == "deleteNode");
        let mut abandoned: Vec<(String, f64)> =
            deleted.filter_map(|a| Some((a.name.clone()?, a.at_ms as f64 / 1e3))).collect();
        for step in recorded {
            if let (StepObject::Node(alias), StepAction::Tainted(key)) = (&step.object, &step.action)
                && key == "node.kubernetes.io/out-of-service"
            {
                abandoned.push((alias.clone(), step.at_s));
            }
        }
        NodeContext {
            pod_node: node_of,
            left_to_pod_gc: abandoned,
            action_node: actions.iter().map(|a| a.name.clone()).collect(),
            marks_pods: actions.iter().map(|a| !DELAYED_MARK_ACTIONS.contains(&a.what.as_str())).collect(),
        }
    }

    fn comparison_rule(&self, recorded: &[RecordedStep], i: usize, matched: &[Option<f64>]) -> NodeRule {
        let step = &recorded[i];
        let by_pod_gc = matches!(step.object, StepObject::Pod { .. })
            && step.action == StepAction::Gone
            && self.pod_node.get(&step.object).is_some_and(|node| {
                let left = |(alias, at_s): &(String, f64)| alias == node && *at_s <= step.at_s;
                self.left_to_pod_gc.iter().any(left)
            });
        if by_pod_gc {
            return NodeRule::Absolute(POD_GC_TOLERANCE_S);
        }
        let before = (0..i).rev().find(|j| {
            let there = matched[*j].is_some() || recorded[*j].action == StepAction::Applied;
            there && self.can_cause(&recorded[*j], step)
        });
        match (&step.object, before) {
            (StepObject::Node(_), Some(j)) if recorded[i].at_s - recorded[j].at_s < DIRECT_TOLERANCE_S => {
                // The step follows the action immediately. Both sides are compared relative to the action.
                NodeRule::Relative(j)
            }
            (StepObject::Node(_), _) => NodeRule::Absolute(HEARTBEAT_TOLERANCE_S),
            (_, Some(j)) => NodeRule::Relative(j),
            (_, None) => NodeRule::Absolute(DIRECT_TOLERANCE_S),
        }
    }

    /// Returns whether a step like `a` can cause `b` directly.
    fn can_cause(&self, a: &RecordedStep, b: &RecordedStep) -> bool {
        match (&b.object, &b.action) {
            (StepObject::Action(_), _) => false,
            (StepObject::Node(node), _) => match a.object {
                StepObject::Action(i) => self.action_node[i].as_ref() == Some(node),
                _ => false,
            },
            (StepObject::Pod { job, .. }, StepAction::Deleting) => match &a.object {
                StepObject::Action(i) => self.marks_pods[*i] && self.acts_on(a, b),
                StepObject::Node(_) => matches!(a.action, StepAction::Tainted(_)) && self.acts_on(a, b),
                StepObject::Job(other) => other == job && a.action != StepAction::Created,
                StepObject::Pod { job: other, .. } => other == job && a.action != StepAction::Created,
            },
            (StepObject::Pod { job, index, .. }, StepAction::Created) => match &a.object {
                StepObject::Job(other) => other == job && a.action == StepAction::Created,
                StepObject::Pod { job: other, index: i, .. } => {
                    other == job && i == index && a.action != StepAction::Created
                }
                _ => false,
            },
            (StepObject::Pod { .. }, _) => a.object == b.object || self.acts_on(a, b),
            (StepObject::Job(job), what) => match (&a.object, &a.action) {
                (StepObject::Pod { job: other, .. }, StepAction::Created) => other == job && *what == StepAction::Gone,
                (StepObject::Pod { job: other, .. }, _) => other == job && *what != StepAction::Created,
                (StepObject::Job(other), StepAction::Condition(_)) if *what == StepAction::Deleting => {
                    // A single failed Job makes the JobSet delete all Jobs.
                    !other.is_empty()
                }
                (StepObject::Job(_), StepAction::Gone) if *what == StepAction::Created => a.object == b.object,
                (StepObject::Job(other), _) => other == job && *what != StepAction::Created,
                _ => false,
            },
        }
    }

    /// Returns whether the action or node step `a` affects the node of the pod step `b`.
    fn acts_on(&self, a: &RecordedStep, b: &RecordedStep) -> bool {
        let node = self.pod_node.get(&b.object);
        match &a.object {
            StepObject::Action(i) => node.is_some() && self.action_node[*i].as_ref() == node,
            StepObject::Node(alias) => Some(alias) == node,
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/nodes.rs"]
mod tests;
