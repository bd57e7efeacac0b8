//! Faults and actions of users for a scenario in code.

use serde_json::{Map, Value, json};
use sim_base::Duration;

/// A scripted fault, or an action of a user.
///
/// It happens when all Jobs are ready for the first time, unless [`Fault::at`] or [`Fault::after_ready`] sets
/// another time. Pod names omit the random suffix: `train-workers-0-3`.
///
/// ```
/// use jobset_sim::{Duration, Fault, NodeRef};
///
/// let exit = Fault::container_exit("train-workers-0-3", 1).after_ready(Duration::from_secs(60));
/// let crash = Fault::crash_node(NodeRef::of_pod("train-workers-1-0").alias("lost"));
/// let back = Fault::return_node(NodeRef::known("lost")).at(Duration::from_secs(900));
/// # let _ = (exit, crash, back);
/// ```
#[derive(Clone, Debug)]
pub struct Fault(Map<String, Value>);

/// Reference to a node, by its name or by a pod on it.
#[derive(Clone, Debug)]
pub struct NodeRef(Value);

impl NodeRef {
    /// Refers to a node by its name.
    pub fn named(name: &str) -> NodeRef {
        NodeRef(json!({"node": name}))
    }

    /// Refers to the node on which a pod is when the fault happens.
    pub fn of_pod(pod: &str) -> NodeRef {
        NodeRef(json!({"ofPod": pod}))
    }

    /// Refers to a node that an earlier fault named with [`NodeRef::alias`].
    pub fn known(alias: &str) -> NodeRef {
        NodeRef(json!({"alias": alias}))
    }

    /// Names the node for later faults.
    pub fn alias(mut self, alias: &str) -> NodeRef {
        self.0["alias"] = alias.into();
        self
    }
}

impl Fault {
    /// Creates any action of a scenario file, such as `patch` or `create`, with its fields.
    /// [`Scenario::schema`](crate::Scenario::schema) lists them.
    ///
    /// ```
    /// let fault = jobset_sim::Fault::action(
    ///     "patch",
    ///     serde_json::json!({"kind": "JobSet", "name": "train", "merge": {"spec": {"suspend": true}}}),
    /// );
    /// # let _ = fault;
    /// ```
    pub fn action(name: &str, fields: Value) -> Fault {
        let mut line = Map::new();
        line.insert("afterReady".to_owned(), "0s".into());
        line.insert(name.to_owned(), fields);
        Fault(line)
    }

    /// Makes the containers of a pod exit with an exit code.
    pub fn container_exit(pod: &str, exit_code: u8) -> Fault {
        Fault::action("containerExit", json!({"pod": pod, "exitCode": exit_code}))
    }

    /// Deletes a pod, as a user would.
    pub fn delete_pod(pod: &str) -> Fault {
        Fault::action("deletePod", json!({"pod": pod}))
    }

    /// Evicts a pod, as a user would.
    pub fn evict_pod(pod: &str) -> Fault {
        Fault::action("evictPod", json!({"pod": pod}))
    }

    /// Crashes a machine: kubelet and containers stop.
    pub fn crash_node(node: NodeRef) -> Fault {
        Fault::action("crashNode", node.0)
    }

    /// Disconnects a machine from the API server. Its containers continue to run.
    pub fn partition_node(node: NodeRef) -> Fault {
        Fault::action("partitionNode", node.0)
    }

    /// Brings back a crashed or partitioned machine.
    pub fn return_node(node: NodeRef) -> Fault {
        Fault::action("returnNode", node.0)
    }

    /// Deletes the Node object, as a user would.
    pub fn delete_node(node: NodeRef) -> Fault {
        Fault::action("deleteNode", node.0)
    }

    /// Replaces the machine of a node with a new one of the same name.
    pub fn new_node(node: NodeRef) -> Fault {
        Fault::action("newNode", node.0)
    }

    /// Cordons a node, as a user would.
    pub fn cordon_node(node: NodeRef) -> Fault {
        Fault::action("cordonNode", node.0)
    }

    /// Uncordons a node, as a user would.
    pub fn uncordon_node(node: NodeRef) -> Fault {
        Fault::action("uncordonNode", node.0)
    }

    /// Drains a node: cordons it and evicts its pods.
    pub fn drain_node(node: NodeRef) -> Fault {
        Fault::action("drainNode", node.0)
    }

    /// Adds a taint to a node. The effect is `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub fn taint_node(mut node: NodeRef, key: &str, value: &str, effect: &str) -> Fault {
        for (field, text) in [("key", key), ("value", value), ("effect", effect)] {
            node.0[field] = text.into();
        }
        Fault::action("taintNode", node.0)
    }

    /// Suspends a JobSet, as a user would.
    pub fn suspend_jobset(name: &str) -> Fault {
        Fault::action("suspendJobSet", json!({"name": name}))
    }

    /// Resumes a suspended JobSet.
    pub fn resume_jobset(name: &str) -> Fault {
        Fault::action("resumeJobSet", json!({"name": name}))
    }

    /// Deletes a JobSet, as a user would.
    pub fn delete_jobset(name: &str) -> Fault {
        Fault::action("deleteJobSet", json!({"name": name}))
    }

    /// Sets the time of the fault, measured from the start of the run.
    pub fn at(self, at: impl Into<Duration>) -> Fault {
        self.time("at", at.into())
    }

    /// Sets the time of the fault, measured from the first time at which all Jobs are ready.
    pub fn after_ready(self, after: impl Into<Duration>) -> Fault {
        self.time("afterReady", after.into())
    }

    fn time(mut self, key: &str, time: Duration) -> Fault {
        self.0.remove("at");
        self.0.remove("afterReady");
        self.0.insert(key.to_owned(), time.to_string().into());
        self
    }

    pub(super) fn into_line(self) -> Value {
        Value::Object(self.0)
    }
}
