//! Extracts the steps of a recording of kind `nodes`. `run_steps` extracts those of a run in the same form.
//!
//! Matching and comparison are the task of `nodes`. Nodes are identified only by the alias in the script, because
//! the scheduler may use another node.

use super::recording::RecordedRun;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepObject {
    /// Action of the script, by its index.
    Action(usize),
    Node(String),
    Job(String),
    /// The nth pod object of this index in Jobs with this restart attempt.
    Pod {
        job: String,
        index: u32,
        attempt: u32,
        nth: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepAction {
    Applied,
    Ready(String),
    Tainted(String),
    Untainted(String),
    Created,
    Condition(String),
    /// The object was marked for deletion.
    Deleting,
    /// The pod reached a terminal phase.
    Finished,
    Gone,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedStep {
    pub object: StepObject,
    pub action: StepAction,
    pub at_s: f64,
}

impl fmt::Display for RecordedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.object {
            StepObject::Action(i) => write!(f, "action {i}")?,
            StepObject::Node(alias) => write!(f, "node {alias}")?,
            StepObject::Job(name) => write!(f, "Job {name}")?,
            StepObject::Pod { job, index, attempt, nth } => write!(f, "pod {job}-{index} attempt {attempt} try {nth}")?,
        }
        match &self.action {
            StepAction::Applied => f.write_str(" done"),
            StepAction::Ready(status) => write!(f, " Ready={status}"),
            StepAction::Tainted(key) => write!(f, " tainted {key}:NoExecute"),
            StepAction::Untainted(key) => write!(f, " untainted {key}:NoExecute"),
            StepAction::Created => f.write_str(" created"),
            StepAction::Condition(condition) => write!(f, " {condition}"),
            StepAction::Deleting => f.write_str(" marked for deletion"),
            StepAction::Finished => f.write_str(" finished"),
            StepAction::Gone => f.write_str(" gone"),
        }
    }
}

/// Readiness and NoExecute taints of one node. Converts their changes to steps.
#[derive(Default)]
pub struct NodeView {
    not_ready: bool,
    taints: BTreeMap<String, bool>,
}

impl NodeView {
    pub fn readiness_change(&mut self, status: &str) -> Option<StepAction> {
        let changed = self.not_ready == (status == "True");
        self.not_ready = status != "True";
        changed.then(|| StepAction::Ready(status.to_owned()))
    }

    pub fn taint_change(&mut self, key: &str, present: bool) -> Option<StepAction> {
        let there = self.taints.get(key).copied().unwrap_or(false);
        // While a node is not ready, its taints may be rewritten by the component that set them. Only their first
        // appearance, and their removal from a node that is ready again, are decisions of the control plane.
        if there == present || (!present && self.not_ready) {
            return None;
        }
        self.taints.insert(key.to_owned(), present);
        Some(if present { StepAction::Tainted(key.to_owned()) } else { StepAction::Untainted(key.to_owned()) })
    }
}

/// Returns the alias of each node, e.g. `node-00052`, derived from the responses to the actions.
pub fn node_aliases(recording: &RecordedRun) -> BTreeMap<String, String> {
    let answers = recording.responses();
    let actions = recording.script.actions.iter().zip(answers);
    // Actions on pods do not return a node.
    actions
        .filter_map(|(action, node)| Some((node?.to_owned(), action.name.clone()?)))
        .filter(|(node, _)| !node.is_empty())
        .collect()
}

/// Returns the object of each row of `pods`, in the same order.
pub fn pod_objects(recording: &RecordedRun) -> Vec<StepObject> {
    let jobset = recording.jobset_name();
    let rows = &recording.pods.0;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|i| rows[*i].created_ms);
    let mut tries: BTreeMap<(String, u32, u32), u32> = BTreeMap::new();
    let mut objects = vec![StepObject::Action(0); rows.len()];
    for i in order {
        let row = &rows[i];
        let job = format!("{jobset}-{}-{}", row.replicated_job, row.job_index);
        let key = (job.clone(), row.pod_index, row.restart_attempt);
        let nth = tries.entry(key).or_default();
        objects[i] = StepObject::Pod { job, index: row.pod_index, attempt: row.restart_attempt, nth: *nth };
        *nth += 1;
    }
    objects
}

/// Returns the recorded steps in order of time.
pub fn recorded_steps(recording: &RecordedRun) -> Vec<RecordedStep> {
    let mut steps = Vec::new();
    let mut add = |object: StepObject, what: StepAction, at_ms: u64| {
        let at_s = at_ms as f64 / 1e3;
        steps.push(RecordedStep { object, action: what, at_s });
    };
    for (i, action) in recording.script.actions.iter().enumerate() {
        add(StepObject::Action(i), StepAction::Applied, action.at_ms);
    }
    let aliases = node_aliases(recording);
    let mut nodes: BTreeMap<&str, NodeView> = BTreeMap::new();
    for e in &recording.log {
        let detail = e.detail.as_str().unwrap_or("");
        match (e.kind.as_str(), e.what.as_str()) {
            ("Node", "state") => {
                let Some(alias) = aliases.get(&e.name) else {
                    continue;
                };
                let node = nodes.entry(alias).or_default();
                for what in node_changes(node, detail) {
                    add(StepObject::Node(alias.clone()), what, e.at_ms);
                }
            }
            ("Job", what) => {
                let what = match what {
                    "created" => StepAction::Created,
                    "deleting" => StepAction::Deleting,
                    "gone" => StepAction::Gone,
                    "condition" if !detail.starts_with("Suspended") => {
                        StepAction::Condition(detail.split(' ').next().unwrap_or("").to_owned())
                    }
                    _ => continue,
                };
                add(StepObject::Job(e.name.clone()), what, e.at_ms);
            }
            _ => {}
        }
    }
    for (row, object) in recording.pods.0.iter().zip(pod_objects(recording)) {
        for (what, ms) in [
            (StepAction::Created, row.created_ms),
            (StepAction::Deleting, row.deleting_ms),
            (StepAction::Finished, row.finished_ms),
            (StepAction::Gone, row.gone_ms),
        ] {
            if let Some(ms) = ms {
                add(object.clone(), what, ms);
            }
        }
    }
    steps.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    steps
}

/// Returns the changes shown by a node state, `Ready=Unknown NodeStatusUnknown, key=value:NoExecute, …`. The
/// deletion of the Node is a user action, and a later Node with the same name starts from the initial state.
fn node_changes(node: &mut NodeView, detail: &str) -> Vec<StepAction> {
    if detail == "gone" {
        *node = NodeView::default();
    }
    let mut parts = detail.split(", ");
    let ready = parts.next().and_then(|p| p.strip_prefix("Ready="));
    let Some(ready) = ready else {
        return Vec::new();
    };
    let status = ready.split(' ').next().unwrap_or("");
    let present: Vec<&str> =
        parts.filter_map(|p| p.strip_suffix(":NoExecute")).map(|t| t.split('=').next().unwrap_or(t)).collect();
    let mut changes: Vec<StepAction> = node.readiness_change(status).into_iter().collect();
    let known: Vec<String> = node.taints.keys().cloned().collect();
    for key in known.iter().filter(|k| !present.contains(&k.as_str())) {
        changes.extend(node.taint_change(key, false));
    }
    for key in present {
        changes.extend(node.taint_change(key, true));
    }
    changes
}

#[cfg(test)]
#[path = "../../../tests/inside/recordings/validate/steps.rs"]
mod tests;
