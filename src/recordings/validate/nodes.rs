//! Compares recorded and simulated times of the steps around a node failure.
//!
//! A step that follows another step directly is compared by its distance from that step, so that an early or late
//! phase is reported once and not for every later step. The tolerances are not smaller than the randomness of the
//! phases.

use super::recording::Recording;
use super::result::{Difference, Milestone, Moment};
use super::run_steps::RunSteps;
use super::steps::{self, Object, Step, What};
use serde_json::json;
use sim_engine::record::Names;
use std::collections::BTreeMap;

/// Tolerance in seconds of steps that depend on the phase of heartbeats (10 s) and of the node monitor (5 s).
const PHASE_S: f64 = 15.0;
/// Tolerance in seconds of steps that depend on the 20 s period of pod garbage collection.
const POD_GC_S: f64 = 20.0;
/// Tolerance in seconds of steps that follow another step directly.
const DIRECT_S: f64 = 1.5;

/// Rule by which a recorded step is compared.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Rule {
    /// Compares the time in the run, with this tolerance in seconds.
    Absolute(f64),
    /// Compares the distance from the step at this position.
    After(usize),
}

/// Returns the differences, and every recorded step as a milestone.
pub fn compare(
    recording: &Recording,
    run: &RunSteps,
    names: &Names,
) -> (Vec<Difference>, Vec<Milestone>) {
    let simulated = run.named(recording, names);
    told(&compare_steps(
        recording,
        &steps::recorded(recording),
        &simulated,
    ))
}

/// Returns every compared step with its times after the creation and whether it differs. Steps that occur only in
/// the run come last.
pub fn moments(
    recording: &Recording,
    run: &RunSteps,
    names: &Names,
    created_s: f64,
) -> Vec<Moment> {
    let mut simulated = run.named(recording, names);
    for step in &mut simulated {
        step.at_s -= created_s;
    }
    compare_steps(recording, &steps::recorded(recording), &simulated)
}

fn told(moments: &[Moment]) -> (Vec<Difference>, Vec<Milestone>) {
    let rounded = |s: f64| (s * 1e3).round() / 1e3;
    let differs = moments.iter().filter(|m| m.differs);
    let difference = |m: &Moment| {
        let (r, s) = (m.recorded_s.map(rounded), m.simulated_s.map(rounded));
        Difference::new(format!("times: {}", m.what), json!(r), json!(s))
    };
    let recorded = moments.iter().filter(|m| m.recorded_s.is_some());
    let milestone = |m: &Moment| Milestone {
        name: m.what.clone(),
        recorded_s: m.recorded_s,
        simulated_s: m.simulated_s,
    };
    (
        differs.map(difference).collect(),
        recorded.map(milestone).collect(),
    )
}

fn compare_steps(recording: &Recording, recorded: &[Step], simulated: &[Step]) -> Vec<Moment> {
    let matched = match_steps(recorded, simulated);
    let context = Context::new(recording, recorded);
    let mut moments = Vec::new();
    for (i, step) in recorded.iter().enumerate() {
        if !is_compared(step) {
            continue;
        }
        let mut moment = Moment::new(step.to_string(), Some(step.at_s), matched[i]);
        moment.differs = match matched[i] {
            None => true,
            Some(at_s) => {
                let (off_s, tolerance_s) = match context.rule(recorded, i, &matched) {
                    Rule::Absolute(tolerance_s) => (at_s - step.at_s, tolerance_s),
                    Rule::After(j) => {
                        let before_s = matched[j].unwrap_or(recorded[j].at_s);
                        let off_s = (at_s - before_s) - (step.at_s - recorded[j].at_s);
                        (off_s, DIRECT_S)
                    }
                };
                off_s.abs() > tolerance_s
            }
        };
        moments.push(moment);
    }
    for step in extra(recorded, simulated) {
        let mut moment = Moment::new(step.to_string(), None, Some(step.at_s));
        moment.differs = true;
        moments.push(moment);
    }
    moments
}

/// Returns whether a step is compared. Other steps, such as the end of a pod and its first creation, only serve as a
/// reference for later steps.
fn is_compared(step: &Step) -> bool {
    match (&step.object, &step.what) {
        (Object::Action(_), _) | (_, What::Finished) => false,
        (Object::Pod { attempt, nth, .. }, What::Created) => *attempt > 0 || *nth > 0,
        _ => true,
    }
}

type Key<'a> = (&'a Object, &'a What);

fn times(steps: &[Step]) -> BTreeMap<Key<'_>, Vec<f64>> {
    let mut times: BTreeMap<Key<'_>, Vec<f64>> = BTreeMap::new();
    for step in steps {
        times
            .entry((&step.object, &step.what))
            .or_default()
            .push(step.at_s);
    }
    times
}

/// Returns, for each recorded step, the time of the matching simulated step: the nth step of an object and kind
/// matches the nth.
fn match_steps(recorded: &[Step], simulated: &[Step]) -> Vec<Option<f64>> {
    let times = times(simulated);
    let mut used: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let matched = recorded.iter().map(|step| {
        let key = (&step.object, &step.what);
        let n = used.entry(key).or_default();
        *n += 1;
        times.get(&key)?.get(*n - 1).copied()
    });
    matched.collect()
}

/// Returns the steps that occur more often in the run than in the recording.
fn extra<'a>(recorded: &[Step], simulated: &'a [Step]) -> Vec<&'a Step> {
    let recorded = times(recorded);
    let mut seen: BTreeMap<Key<'a>, usize> = BTreeMap::new();
    let mut extra = Vec::new();
    for step in simulated {
        let key = (&step.object, &step.what);
        let n = seen.entry(key).or_default();
        *n += 1;
        if is_compared(step) && recorded.get(&key).map_or(0, Vec::len) < *n {
            extra.push(step);
        }
    }
    extra
}

/// Information from the script that the rules need.
struct Context {
    /// Alias of the node of each pod.
    node_of: BTreeMap<Object, String>,
    /// Alias of each node whose pods are left to pod garbage collection, and the time from which this holds.
    abandoned: Vec<(String, f64)>,
    /// Alias of the node that each action affects.
    action_node: Vec<Option<String>>,
    /// Whether each action can cause the control plane to mark a pod for deletion immediately. Loss of contact and
    /// changes of the Node object alone do not.
    marks_pods: Vec<bool>,
}

/// Actions after which a pod on the node is marked for deletion later, by a timer, or not at all.
const MARK_NO_POD: [&str; 4] = ["crashNode", "partitionNode", "deleteNode", "newNode"];

impl Context {
    fn new(recording: &Recording, recorded: &[Step]) -> Context {
        let aliases = steps::aliases(recording);
        let rows = recording.pods.0.iter();
        let node_of = steps::pod_objects(recording)
            .into_iter()
            .zip(rows)
            .filter_map(|(object, row)| Some((object, aliases.get(&row.node)?.clone())))
            .collect();
        let actions = &recording.script.actions;
        let deleted = actions.iter().filter(|a| a.what == "deleteNode");
        let mut abandoned: Vec<(String, f64)> = deleted
            .filter_map(|a| Some((a.name.clone()?, a.at_ms as f64 / 1e3)))
            .collect();
        for step in recorded {
            if let (Object::Node(alias), What::Tainted(key)) = (&step.object, &step.what)
                && key == "node.kubernetes.io/out-of-service"
            {
                abandoned.push((alias.clone(), step.at_s));
            }
        }
        Context {
            node_of,
            abandoned,
            action_node: actions.iter().map(|a| a.name.clone()).collect(),
            marks_pods: actions
                .iter()
                .map(|a| !MARK_NO_POD.contains(&a.what.as_str()))
                .collect(),
        }
    }

    fn rule(&self, recorded: &[Step], i: usize, matched: &[Option<f64>]) -> Rule {
        let step = &recorded[i];
        let by_pod_gc = matches!(step.object, Object::Pod { .. })
            && step.what == What::Gone
            && self.node_of.get(&step.object).is_some_and(|node| {
                let left = |(alias, at_s): &(String, f64)| alias == node && *at_s <= step.at_s;
                self.abandoned.iter().any(left)
            });
        if by_pod_gc {
            return Rule::Absolute(POD_GC_S);
        }
        let before = (0..i).rev().find(|j| {
            let there = matched[*j].is_some() || recorded[*j].what == What::Acted;
            there && self.brings_about(&recorded[*j], step)
        });
        match (&step.object, before) {
            (Object::Node(_), Some(j)) if recorded[i].at_s - recorded[j].at_s < DIRECT_S => {
                // The step follows the action immediately. Both sides are compared relative to the action.
                Rule::After(j)
            }
            (Object::Node(_), _) => Rule::Absolute(PHASE_S),
            (_, Some(j)) => Rule::After(j),
            (_, None) => Rule::Absolute(DIRECT_S),
        }
    }

    /// Returns whether a step like `a` can cause `b` directly.
    fn brings_about(&self, a: &Step, b: &Step) -> bool {
        match (&b.object, &b.what) {
            (Object::Action(_), _) => false,
            (Object::Node(node), _) => match a.object {
                Object::Action(i) => self.action_node[i].as_ref() == Some(node),
                _ => false,
            },
            (Object::Pod { job, .. }, What::Deleting) => match &a.object {
                Object::Action(i) => self.marks_pods[*i] && self.acts_on(a, b),
                Object::Node(_) => matches!(a.what, What::Tainted(_)) && self.acts_on(a, b),
                Object::Job(other) => other == job && a.what != What::Created,
                Object::Pod { job: other, .. } => other == job && a.what != What::Created,
            },
            (Object::Pod { job, index, .. }, What::Created) => match &a.object {
                Object::Job(other) => other == job && a.what == What::Created,
                Object::Pod {
                    job: other,
                    index: i,
                    ..
                } => other == job && i == index && a.what != What::Created,
                _ => false,
            },
            (Object::Pod { .. }, _) => a.object == b.object || self.acts_on(a, b),
            (Object::Job(job), what) => match (&a.object, &a.what) {
                (Object::Pod { job: other, .. }, What::Created) => {
                    other == job && *what == What::Gone
                }
                (Object::Pod { job: other, .. }, _) => other == job && *what != What::Created,
                (Object::Job(other), What::Condition(_)) if *what == What::Deleting => {
                    // A single failed Job makes the JobSet delete all Jobs.
                    !other.is_empty()
                }
                (Object::Job(_), What::Gone) if *what == What::Created => a.object == b.object,
                (Object::Job(other), _) => other == job && *what != What::Created,
                _ => false,
            },
        }
    }

    /// Returns whether the action or node step `a` affects the node of the pod step `b`.
    fn acts_on(&self, a: &Step, b: &Step) -> bool {
        let node = self.node_of.get(&b.object);
        match &a.object {
            Object::Action(i) => node.is_some() && self.action_node[*i].as_ref() == node,
            Object::Node(alias) => Some(alias) == node,
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/nodes.rs"]
mod tests;
