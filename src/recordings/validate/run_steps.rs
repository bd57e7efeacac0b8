//! Converts the records of a run to steps as defined in `steps`.
//!
//! Matching and comparison are the task of `nodes`.

use super::recording::Recording;
use super::steps::{NodeView, Object, Step, What};
use sim_api::spec::TaintEffect;
use sim_base::{JobId, NodeId, PodId};
use sim_engine::record::*;
use std::collections::BTreeMap;

/// The object of a step, identified by ids of the run.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Subject {
    Action(u32),
    Node(NodeId),
    Job(JobId),
    Pod(PodId, u32),
}

/// A sink that collects the steps of a run.
#[derive(Default)]
pub struct RunSteps {
    steps: Vec<(Subject, What, f64)>,
    nodes: BTreeMap<NodeId, NodeView>,
    /// Node on which each action acted, by action index.
    acted_on: BTreeMap<u32, NodeId>,
    pods: BTreeMap<(PodId, u32), (JobId, u32, u32, u32)>,
    /// Number of pod objects so far by Job name, index and attempt. The key is the name because every object of a
    /// Job has its own id.
    tries: BTreeMap<(String, u32, u32), u32>,
}

impl RunSteps {
    /// Returns the steps with object names, in order of time.
    pub fn named(&self, recording: &Recording, names: &Names) -> Vec<Step> {
        let mut aliases: BTreeMap<NodeId, String> = BTreeMap::new();
        for (index, node) in &self.acted_on {
            let action = recording.script.actions.get(*index as usize);
            if let Some(alias) = action.and_then(|a| a.name.clone()) {
                aliases.insert(*node, alias);
            }
        }
        let object = |subject: Subject| match subject {
            Subject::Action(i) => Some(Object::Action(i as usize)),
            Subject::Node(node) => aliases.get(&node).cloned().map(Object::Node),
            Subject::Job(job) => Some(Object::Job(names.job(job).to_owned())),
            Subject::Pod(pod, incarnation) => {
                let (job, index, attempt, nth) = *self.pods.get(&(pod, incarnation))?;
                Some(Object::Pod {
                    job: names.job(job).to_owned(),
                    index,
                    attempt,
                    nth,
                })
            }
        };
        let named = |(subject, what, at_s): &(Subject, What, f64)| {
            Some(Step {
                object: object(*subject)?,
                what: what.clone(),
                at_s: *at_s,
            })
        };
        self.steps.iter().filter_map(named).collect()
    }

    fn pod_created(
        &mut self,
        pod: (PodId, u32),
        (job, name): (JobId, &str),
        index: u32,
        attempt: u32,
    ) {
        let key = (name.to_owned(), index, attempt);
        let nth = self.tries.entry(key).or_default();
        self.pods.insert(pod, (job, index, attempt, *nth));
        *nth += 1;
    }
}

impl RunSteps {
    fn node_step(&mut self, body: &Body, names: &Names) -> Option<(Subject, What)> {
        let (node, what) = match *body {
            Body::NodeState { node, ready } => {
                let status = match ready {
                    NodeReady::True => "True",
                    NodeReady::False => "False",
                    NodeReady::Unknown => "Unknown",
                };
                (node, self.nodes.entry(node).or_default().ready(status))
            }
            Body::NodeTaint {
                node,
                key,
                effect,
                added,
            } if effect == TaintEffect::NoExecute as u8 => {
                let view = self.nodes.entry(node).or_default();
                (node, view.taint(names.text(key), added))
            }
            Body::NodeGone { node } => {
                self.nodes.remove(&node);
                return None;
            }
            _ => return None,
        };
        Some((Subject::Node(node), what?))
    }

    fn job_step(body: &Body) -> Option<(Subject, What)> {
        let (job, what) = match *body {
            Body::JobCreated { job, .. } => (job, What::Created),
            Body::JobDeleting { job } => (job, What::Deleting),
            Body::JobGone { job } => (job, What::Gone),
            Body::JobCondition { job, kind, .. } if kind != JobConditionType::Suspended => {
                (job, What::Condition(format!("{}=True", kind.as_str())))
            }
            _ => return None,
        };
        Some((Subject::Job(job), what))
    }

    fn pod_step(&mut self, body: &Body, names: &Names) -> Option<(Subject, What)> {
        let (pod, incarnation, what) = match *body {
            Body::PodCreated {
                pod,
                incarnation,
                job,
                index,
                attempt,
            } => {
                let job = (job, names.job(job));
                self.pod_created((pod, incarnation), job, index, attempt);
                (pod, incarnation, What::Created)
            }
            Body::PodDeleting {
                pod, incarnation, ..
            } => (pod, incarnation, What::Deleting),
            Body::PodFinished {
                pod, incarnation, ..
            } => (pod, incarnation, What::Finished),
            Body::PodGone { pod, incarnation } => (pod, incarnation, What::Gone),
            _ => return None,
        };
        Some((Subject::Pod(pod, incarnation), what))
    }
}

impl Sink for RunSteps {
    fn record(&mut self, record: &Record, names: &Names) {
        if let Body::Fault { index, node, .. } = record.body {
            if node.is_some() {
                self.acted_on.insert(index, node);
            }
            let step = (Subject::Action(index), What::Acted, record.at.seconds());
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
