//! Snapshots of objects after a record, taken from a second run of the same scenario that stops there.

use serde_json::Value;
use sim_api::spec::NodeObject;
use sim_engine::Simulation;
use sim_engine::record::{Names, Record, Sink};
use sim_policy::topology::Cluster;

pub struct Snapshots {
    simulation: Simulation,
    seed: u64,
    /// The last snapshot and its record; `None` stands for the end of the run.
    taken: Option<(Option<u32>, Vec<Value>)>,
}

impl Snapshots {
    pub fn new(simulation: Simulation, seed: u64) -> Snapshots {
        Snapshots {
            simulation,
            seed,
            taken: None,
        }
    }

    /// Returns JobSets, Jobs, pods, Services and claims after the event that wrote the record; for `None`, at the
    /// end of the run.
    pub fn at(&mut self, seq: Option<u32>) -> &[Value] {
        if self.taken.as_ref().is_none_or(|(of, _)| *of != seq) {
            let mut sink = Until {
                seq,
                reached: false,
                objects: Vec::new(),
            };
            self.simulation.run(self.seed, 0, &mut sink);
            self.taken = Some((seq, sink.objects));
        }
        self.taken
            .as_ref()
            .map_or(&[], |(_, objects)| objects.as_slice())
    }

    fn cluster(&self) -> Cluster {
        Cluster::build(&self.simulation.scenario().topology, &["pods".to_owned()])
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

struct Until {
    seq: Option<u32>,
    reached: bool,
    objects: Vec<Value>,
}

impl Sink for Until {
    fn record(&mut self, record: &Record, _: &Names) {
        self.reached |= self.seq.is_some_and(|seq| record.seq >= seq);
    }

    fn wants_objects(&self) -> bool {
        true
    }

    fn objects(&mut self, objects: &[Value]) {
        self.objects = objects.to_vec();
    }

    fn looks_after(&self, _: u64) -> u64 {
        1
    }

    fn stops(&mut self, _: u64) -> bool {
        self.reached
    }
}
