//! What goes wrong in a scenario in code, and what users do.

use serde_json::{Map, Value, json};
use sim_base::Duration;

/// One line of the script: something fails, or somebody does something.
///
/// It happens when all Jobs are ready for the first time, unless [`Fault::at`] or [`Fault::after_ready`] says
/// otherwise. Pods are named without their random suffix: `train-workers-0-3`.
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

/// A node, by its name or by a pod on it.
#[derive(Clone, Debug)]
pub struct NodeRef(Value);

impl NodeRef {
    /// By name.
    pub fn named(name: &str) -> NodeRef {
        NodeRef(json!({"node": name}))
    }

    /// The node that a pod is on when it happens.
    pub fn of_pod(pod: &str) -> NodeRef {
        NodeRef(json!({"ofPod": pod}))
    }

    /// A node to which an earlier fault gave this name with [`NodeRef::alias`].
    pub fn known(alias: &str) -> NodeRef {
        NodeRef(json!({"alias": alias}))
    }

    /// Gives the node a name for later faults.
    pub fn alias(mut self, alias: &str) -> NodeRef {
        self.0["alias"] = alias.into();
        self
    }
}

impl Fault {
    /// Any action of a scenario file, such as `patch` or `create`, with its fields;
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

    /// The containers of a pod exit with this code.
    pub fn container_exit(pod: &str, exit_code: u8) -> Fault {
        Fault::action("containerExit", json!({"pod": pod, "exitCode": exit_code}))
    }

    /// Somebody deletes a pod.
    pub fn delete_pod(pod: &str) -> Fault {
        Fault::action("deletePod", json!({"pod": pod}))
    }

    /// Somebody evicts a pod.
    pub fn evict_pod(pod: &str) -> Fault {
        Fault::action("evictPod", json!({"pod": pod}))
    }

    /// A machine dies: kubelet and containers stop.
    pub fn crash_node(node: NodeRef) -> Fault {
        Fault::action("crashNode", node.0)
    }

    /// A machine loses its contact with the API server; its containers go on.
    pub fn partition_node(node: NodeRef) -> Fault {
        Fault::action("partitionNode", node.0)
    }

    /// A crashed or partitioned machine is there again.
    pub fn return_node(node: NodeRef) -> Fault {
        Fault::action("returnNode", node.0)
    }

    /// Somebody deletes the Node object.
    pub fn delete_node(node: NodeRef) -> Fault {
        Fault::action("deleteNode", node.0)
    }

    /// A new machine takes the place of a node, under its name: repair by replacement.
    pub fn new_node(node: NodeRef) -> Fault {
        Fault::action("newNode", node.0)
    }

    /// Somebody cordons a node.
    pub fn cordon_node(node: NodeRef) -> Fault {
        Fault::action("cordonNode", node.0)
    }

    /// Somebody uncordons a node.
    pub fn uncordon_node(node: NodeRef) -> Fault {
        Fault::action("uncordonNode", node.0)
    }

    /// Somebody drains a node: cordons it and evicts its pods.
    pub fn drain_node(node: NodeRef) -> Fault {
        Fault::action("drainNode", node.0)
    }

    /// Somebody taints a node; the effect is `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub fn taint_node(mut node: NodeRef, key: &str, value: &str, effect: &str) -> Fault {
        for (field, text) in [("key", key), ("value", value), ("effect", effect)] {
            node.0[field] = text.into();
        }
        Fault::action("taintNode", node.0)
    }

    /// Somebody suspends a JobSet.
    pub fn suspend_jobset(name: &str) -> Fault {
        Fault::action("suspendJobSet", json!({"name": name}))
    }

    /// Somebody resumes a JobSet.
    pub fn resume_jobset(name: &str) -> Fault {
        Fault::action("resumeJobSet", json!({"name": name}))
    }

    /// Somebody deletes a JobSet.
    pub fn delete_jobset(name: &str) -> Fault {
        Fault::action("deleteJobSet", json!({"name": name}))
    }

    /// At this time of the run.
    pub fn at(self, at: impl Into<Duration>) -> Fault {
        self.time("at", at.into())
    }

    /// This long after all Jobs were ready for the first time.
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
