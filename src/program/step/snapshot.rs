//! Snapshots of objects after a record, taken from a second run of the same scenario that stops there.

use serde_json::Value;
use sim_api::spec::NodeObject;
use sim_engine::SimulationInput;
use sim_engine::record::{RecordNames, RecordSink, SimulationRecord};
use sim_policy::topology::ClusterBuilder;

pub struct SnapshotStore {
    simulation: SimulationInput,
    seed: u64,
    /// The last snapshot and its record; `None` stands for the end of the run.
    taken: Option<(Option<u32>, Vec<Value>)>,
}

impl SnapshotStore {
    pub fn new(simulation: SimulationInput, seed: u64) -> SnapshotStore {
        SnapshotStore { simulation, seed, taken: None }
    }

    /// Returns JobSets, Jobs, pods, Services and claims after the event that wrote the record; for `None`, at the
    /// end of the run.
    pub fn at(&mut self, seq: Option<u32>) -> &[Value] {
        if self.taken.as_ref().is_none_or(|(of, _)| *of != seq) {
            let mut sink = StepLimit { seq, reached: false, objects: Vec::new() };
            self.simulation.run(self.seed, 0, &mut sink);
            self.taken = Some((seq, sink.objects));
        }
        self.taken.as_ref().map_or(&[], |(_, objects)| objects.as_slice())
    }

    fn cluster(&self) -> ClusterBuilder {
        ClusterBuilder::build(&self.simulation.scenario().topology, &["pods".to_owned()])
    }

    /// Returns the names of all Nodes of the topology.
    pub fn nodes(&self) -> Vec<String> {
        self.cluster().names
    }

    /// Returns a Node as defined by the topology.
    pub fn node(&self, name: &str) -> Option<NodeObject> {
        let cluster = self.cluster();
        Some(cluster.object(cluster.named(name)?))
    }
}

struct StepLimit {
    seq: Option<u32>,
    reached: bool,
    objects: Vec<Value>,
}

impl RecordSink for StepLimit {
    fn record(&mut self, record: &SimulationRecord, _: &RecordNames) {
        self.reached |= self.seq.is_some_and(|seq| record.seq >= seq);
    }

    fn receives_objects(&self) -> bool {
        true
    }

    fn objects(&mut self, objects: &[Value]) {
        self.objects = objects.to_vec();
    }

    fn events_until_stop_check(&self, _: u64) -> u64 {
        1
    }

    fn should_stop(&mut self, _: u64) -> bool {
        self.reached
    }
}
