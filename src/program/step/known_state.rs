//! State of objects that the API would show, collected from records: Events, readiness, exit codes, nodes.

use sim_base::SimTime;
use sim_engine::record::TicketSubject;
use sim_engine::record::{Body, NodeReady, RecordNames, SimulationRecord};
use sim_report::files::event_objects::EventObjects;
use std::collections::BTreeMap;

/// Maximum number of stored Events; the oldest are dropped first.
const EVENTS_MAX: usize = 100_000;

/// A Kubernetes Event.
pub struct ReportedState {
    pub at: SimTime,
    pub warning: bool,
    /// Object of the Event, such as `pod/default/train-workers-0-1-x2m4q`.
    pub object: String,
    pub reason: String,
    pub message: String,
}

/// State of a pod in addition to its phase.
#[derive(Clone, Debug, Default)]
pub struct OfPod {
    pub created: SimTime,
    pub running: Option<SimTime>,
    pub ready: bool,
    pub restarts: u32,
    pub exit_code: Option<i32>,
    pub deleting: Option<SimTime>,
    pub attempt: Option<u32>,
}

/// State of a Node in addition to its topology.
#[derive(Clone, Debug, Default)]
pub struct KnownNode {
    pub ready: Option<(NodeReady, SimTime)>,
    pub taints: Vec<(String, String)>,
    pub gone: bool,
}

#[derive(Default)]
pub struct KnownState {
    pub events: Vec<ReportedState>,
    pub pods: BTreeMap<String, OfPod>,
    pub nodes: BTreeMap<String, KnownNode>,
}

impl KnownState {
    pub fn learn(&mut self, record: &SimulationRecord, objects: &EventObjects, names: &RecordNames) {
        let head = record.body.head();
        let object = String::from_utf8_lossy(objects.escaped_name(head.subject)).into_owned();
        if let Body::KubeEvent { warning, reason, message, .. } = record.body {
            if self.events.len() == EVENTS_MAX {
                self.events.remove(0);
            }
            let text = |id| names.text(id).to_owned();
            let (reason, message) = (text(reason), text(message));
            self.events.push(ReportedState { at: record.at, warning, object, reason, message });
            return;
        }
        match head.subject {
            TicketSubject::Pod(_) => self.pod(record, object),
            TicketSubject::Node(_) => self.node(record, object, names),
            _ => {}
        }
    }

    fn pod(&mut self, record: &SimulationRecord, object: String) {
        let at = record.at;
        match record.body {
            Body::PodCreated { .. } => {
                let pod = OfPod { created: at, ..OfPod::default() };
                self.pods.insert(object, pod);
                return;
            }
            Body::PodGone { .. } => {
                self.pods.remove(&object);
                return;
            }
            _ => {}
        }
        let Some(pod) = self.pods.get_mut(&object) else {
            return;
        };
        match record.body {
            Body::PodRunning { .. } => pod.running = Some(at),
            Body::PodReady { .. } => pod.ready = true,
            Body::PodNotReady { .. } => pod.ready = false,
            Body::ContainersRestarting { restarts, .. } => pod.restarts = restarts,
            Body::PodFinished { exit_code, .. } => {
                (pod.ready, pod.exit_code) = (false, exit_code);
            }
            Body::PodDeleting { .. } => pod.deleting = Some(at),
            Body::AttemptWritten { attempt, .. } => pod.attempt = Some(attempt),
            _ => {}
        }
    }

    fn node(&mut self, record: &SimulationRecord, object: String, names: &RecordNames) {
        let node = self.nodes.entry(object).or_default();
        match record.body {
            Body::NodeState { ready, .. } => node.ready = Some((ready, record.at)),
            Body::NodeTaint { key, effect, added, .. } => {
                let effect = sim_engine::record::TAINT_EFFECTS[usize::from(effect)];
                let taint = (names.text(key).to_owned(), effect.to_owned());
                node.taints.retain(|known| *known != taint);
                if added {
                    node.taints.push(taint);
                }
            }
            Body::NodeGone { .. } => *node = KnownNode { gone: true, ..KnownNode::default() },
            Body::NodeCreated { .. } => *node = KnownNode::default(),
            _ => {}
        }
    }
}
