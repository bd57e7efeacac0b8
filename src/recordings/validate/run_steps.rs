//! Converts the records of a run to steps as defined in `steps`.
//!
//! Matching and comparison are the task of `nodes`.

use super::recording::RecordedRun;
use super::steps::{NodeView, RecordedStep, StepAction, StepObject};
use sim_api::spec::TaintEffect;
use sim_base::{JobId, NodeId, PodId};
use sim_engine::record::{Body, JobConditionType, NodeReady, RecordNames, RecordSink, SimulationRecord};
use std::collections::BTreeMap;

/// The object of a step, identified by ids of the run.
#[derive(Copy, Clone, PartialEq, Eq)]
enum StepSubject {
    Action(u32),
    Node(NodeId),
    Job(JobId),
    Pod(PodId, u32),
}

/// A sink that collects the steps of a run.
#[derive(Default)]
pub struct RunSteps {
    steps: Vec<(StepSubject, StepAction, f64)>,
    nodes: BTreeMap<NodeId, NodeView>,
    /// Node on which each action acted, by action index.
    acted_on: BTreeMap<u32, NodeId>,
    pods: BTreeMap<(PodId, u32), (JobId, u32, u32, u32)>,
    /// Number of pod objects so far by Job name, index and attempt. The key is the name because every object of a
    /// Job has its own id.
    pod_object_counts: BTreeMap<(String, u32, u32), u32>,
}

impl RunSteps {
    /// Returns the steps with object names, in order of time.
    pub fn recorded_steps(&self, recording: &RecordedRun, names: &RecordNames) -> Vec<RecordedStep> {
        let mut aliases: BTreeMap<NodeId, String> = BTreeMap::new();
        for (index, node) in &self.acted_on {
            let action = recording.script.actions.get(*index as usize);
            if let Some(alias) = action.and_then(|a| a.name.clone()) {
                aliases.insert(*node, alias);
            }
        }
        let object = |subject: StepSubject| match subject {
            StepSubject::Action(i) => Some(StepObject::Action(i as usize)),
            StepSubject::Node(node) => aliases.get(&node).cloned().map(StepObject::Node),
            StepSubject::Job(job) => Some(StepObject::Job(names.job(job).to_owned())),
            StepSubject::Pod(pod, incarnation) => {
                let (job, index, attempt, nth) = *self.pods.get(&(pod, incarnation))?;
                Some(StepObject::Pod { job: names.job(job).to_owned(), index, attempt, nth })
            }
        };
        let named = |(subject, what, at_s): &(StepSubject, StepAction, f64)| {
            Some(RecordedStep { object: object(*subject)?, action: what.clone(), at_s: *at_s })
        };
        self.steps.iter().filter_map(named).collect()
    }

    fn pod_created(&mut self, pod: (PodId, u32), (job, name): (JobId, &str), index: u32, attempt: u32) {
        let key = (name.to_owned(), index, attempt);
        let nth = self.pod_object_counts.entry(key).or_default();
        self.pods.insert(pod, (job, index, attempt, *nth));
        *nth += 1;
    }
}

impl RunSteps {
    fn node_step(&mut self, body: &Body, names: &RecordNames) -> Option<(StepSubject, StepAction)> {
        let (node, what) = match *body {
            Body::NodeState { node, ready } => {
                let status = match ready {
                    NodeReady::True => "True",
                    NodeReady::False => "False",
                    NodeReady::Unknown => "Unknown",
                };
                (node, self.nodes.entry(node).or_default().readiness_change(status))
            }
            Body::NodeTaint { node, key, effect, added } if effect == TaintEffect::NoExecute as u8 => {
                let view = self.nodes.entry(node).or_default();
                (node, view.taint_change(names.text(key), added))
            }
            Body::NodeGone { node } => {
                self.nodes.remove(&node);
                return None;
            }
            _ => return None,
        };
        Some((StepSubject::Node(node), what?))
    }

    fn job_step(body: &Body) -> Option<(StepSubject, StepAction)> {
        let (job, what) = match *body {
            Body::JobCreated { job, .. } => (job, StepAction::Created),
            Body::JobDeleting { job } => (job, StepAction::Deleting),
            Body::JobGone { job } => (job, StepAction::Gone),
            Body::JobCondition { job, kind, .. } if kind != JobConditionType::Suspended => {
                (job, StepAction::Condition(format!("{}=True", kind.as_str())))
            }
            _ => return None,
        };
        Some((StepSubject::Job(job), what))
    }

    fn pod_step(&mut self, body: &Body, names: &RecordNames) -> Option<(StepSubject, StepAction)> {
        let (pod, incarnation, what) = match *body {
            Body::PodCreated { pod, incarnation, job, index, attempt } => {
                let job = (job, names.job(job));
                self.pod_created((pod, incarnation), job, index, attempt);
                (pod, incarnation, StepAction::Created)
            }
            Body::PodDeleting { pod, incarnation, .. } => (pod, incarnation, StepAction::Deleting),
            Body::PodFinished { pod, incarnation, .. } => (pod, incarnation, StepAction::Finished),
            Body::PodGone { pod, incarnation } => (pod, incarnation, StepAction::Gone),
            _ => return None,
        };
        Some((StepSubject::Pod(pod, incarnation), what))
    }
}

impl RecordSink for RunSteps {
    fn record(&mut self, record: &SimulationRecord, names: &RecordNames) {
        if let Body::Fault { index, node, .. } = record.body {
            if node.is_some() {
                self.acted_on.insert(index, node);
            }
            let step = (StepSubject::Action(index), StepAction::Applied, record.at.seconds());
            self.steps.push(step);
            return;
        }
        let step = self
            .node_step(&record.body, names)
            .or_else(|| Self::job_step(&record.body))
            .or_else(|| self.pod_step(&record.body, names));
        if let Some((subject, what)) = step {
            self.steps.push((subject, what, record.at.seconds()));
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/run_steps.rs"]
mod tests;
