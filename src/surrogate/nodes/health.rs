//! When the control plane notices the state of a machine: the timers of kubelets, the node monitor, taints and pod
//! garbage collection, computed with the random phases that the engine draws.

use super::model::NodesModel;
use sim_base::random::{DrawSequence, StreamKey, StreamPurpose, UniformDraw};
use sim_base::{Duration, NodeId, SimTime};
use sim_engine::{MONITOR_PERIOD, POD_GC_PERIOD, POD_GC_QUARANTINE, ZoneLimiters};
use sim_reliability::faults::SPARE;

/// State of one node.
#[derive(Copy, Clone, Debug)]
pub struct NodeRow {
    /// Whether its machine runs.
    pub is_up: bool,
    /// Whether its kubelet reaches the control plane.
    pub is_connected: bool,
    /// Whether the Node object exists.
    pub exists: bool,
    /// Whether the node monitor has noticed that the machine is silent.
    pub is_unknown: bool,
    /// Whether it has the taint that evicts pods.
    pub evicts: bool,
    pub is_cordoned: bool,
    /// The fault that made it silent, and its time.
    pub silent_by: (u32, SimTime),
    /// Identifies valid events; increases with each change of the machine or object.
    pub epoch: u32,
    /// Increases with each deletion and creation of the Node object.
    pub object_epoch: u32,
}

impl NodeRow {
    /// Whether its accelerators cannot be used.
    pub fn is_unhealthy(&self) -> bool {
        !self.is_up || !self.exists || self.is_unknown
    }

    /// Whether the scheduler may use it.
    pub fn is_usable(&self) -> bool {
        self.exists && !self.is_unknown && !self.evicts && !self.is_cordoned
    }
}

/// States of all nodes, and the timers.
pub struct NodeHealth<'m> {
    model: &'m NodesModel,
    pub rows: Vec<NodeRow>,
    /// Nodes whose kubelets do not reach the control plane.
    pub silent: Vec<NodeId>,
    pub limiters: ZoneLimiters,
    monitor_phase: Duration,
    gc_phase: Duration,
}

impl<'m> NodeHealth<'m> {
    pub fn new(model: &'m NodesModel, draws: &mut DrawSequence) -> NodeHealth<'m> {
        let row = NodeRow {
            is_up: true,
            is_connected: true,
            exists: true,
            is_unknown: false,
            evicts: false,
            is_cordoned: false,
            silent_by: (SPARE, SimTime::ZERO),
            epoch: 0,
            object_epoch: 0,
        };
        let mut limiters = ZoneLimiters::default();
        limiters.resize(model.cluster.zone_sizes.len());
        NodeHealth {
            rows: vec![row; model.cluster.len()],
            limiters,
            silent: Vec::new(),
            monitor_phase: phase(draws, StreamPurpose::MonitorPhase, StreamKey::default(), MONITOR_PERIOD),
            gc_phase: phase(draws, StreamPurpose::PodGcPhase, StreamKey::default(), POD_GC_PERIOD),
            model,
        }
    }

    /// Time at which the monitor notices a machine that became silent at `now`.
    pub fn unknown_at(&self, now: SimTime, node: NodeId, draws: &mut DrawSequence) -> SimTime {
        let plane = &self.model.scenario.control_plane;
        let period = Duration::from_secs(plane.heartbeat_s);
        let key = StreamKey::from_text(&self.model.cluster.names[node.ix()]);
        let heartbeat = phase(draws, StreamPurpose::HeartbeatPhase, key, period);
        let last = sim_engine::last_heartbeat(now, heartbeat, period);
        let seen = last.next_tick(self.monitor_phase, MONITOR_PERIOD);
        let due = seen + Duration::from_secs(plane.node_monitor_grace_period_s);
        due.max(now + Duration(1)).next_tick(self.monitor_phase, MONITOR_PERIOD)
    }

    /// The monitor noticed that the machine is silent.
    pub fn becomes_unknown(&mut self, node: NodeId) {
        self.rows[node.ix()].is_unknown = true;
        let zone = self.model.cluster.zone[node.ix()];
        self.limiters.count(zone, 1, 0);
        self.limiters.push(zone, node);
    }

    /// Adapts the rates of taints to the shares of silent nodes. If no node is ready any more, returns the nodes that
    /// lose their taints; all silent nodes then wait again.
    pub fn adapt_limiters(&mut self, now: SimTime) -> Vec<NodeId> {
        if !self.limiters.adapt(now, &self.model.cluster.zone_sizes) {
            return Vec::new();
        }
        let nodes = || (0..self.rows.len() as u32).map(NodeId);
        for node in nodes().filter(|node| self.rows[node.ix()].is_unknown) {
            self.limiters.push(self.model.cluster.zone[node.ix()], node);
        }
        nodes().filter(|node| self.rows[node.ix()].evicts).collect()
    }

    /// The next run of the monitor.
    pub fn next_monitor(&self, now: SimTime) -> SimTime {
        (now + Duration(1)).next_tick(self.monitor_phase, MONITOR_PERIOD)
    }

    /// The kubelet reaches the control plane, or does not because of this fault.
    pub fn set_connected(&mut self, node: NodeId, is_connected: bool, cause: (u32, SimTime)) {
        if !is_connected {
            self.rows[node.ix()].silent_by = cause;
        }
        if !std::mem::replace(&mut self.rows[node.ix()].is_connected, is_connected) {
            self.silent.retain(|other| *other != node);
        }
        if !is_connected {
            self.silent.push(node);
        }
    }

    /// The node is no longer silent, or its object is gone.
    pub fn is_known(&mut self, node: NodeId) {
        let row = &mut self.rows[node.ix()];
        if std::mem::take(&mut row.is_unknown) {
            self.limiters.count(self.model.cluster.zone[node.ix()], -1, 0);
            self.limiters.remove(node);
        }
    }

    /// Sets whether the Node object exists.
    pub fn set_exists(&mut self, node: NodeId, exists: bool) {
        let row = &mut self.rows[node.ix()];
        if row.exists != exists {
            (row.exists, row.object_epoch) = (exists, row.object_epoch + 1);
            self.limiters.count(self.model.cluster.zone[node.ix()], 0, if exists { -1 } else { 1 });
        }
    }

    /// Time at which the pods of a Node that was deleted at `now` are removed.
    pub fn swept_at(&self, now: SimTime) -> SimTime {
        let noticed = (now + Duration(1)).next_tick(self.gc_phase, POD_GC_PERIOD);
        (noticed + POD_GC_QUARANTINE).next_tick(self.gc_phase, POD_GC_PERIOD)
    }
}

fn phase(draws: &mut DrawSequence, purpose: StreamPurpose, entity: StreamKey, period: Duration) -> Duration {
    let draw = UniformDraw { purpose, entity, occurrence: 0, substream: 0 };
    Duration((draws.uniform(draw) * period.0 as f64) as u64)
}
