//! Clusters of a scenario in code.

use serde_json::{Map, Value, json};

/// A cluster: pools of nodes.
///
/// ```
/// use jobset_sim::{JobSet, Pool, Scenario, Topology};
///
/// let tpus = Pool::new("tpu-{node}", 16)
///     .count(2)
///     .allocatable("google.com/tpu", "4")
///     .accelerator("google.com/tpu")
///     .label("cloud.google.com/gke-nodepool", "pool-{pool}");
/// let train = JobSet::new("train")
///     .replicated_job("workers", 2, 16)
///     .limit("google.com/tpu", "4")
///     .exclusive_topology("cloud.google.com/gke-nodepool");
/// let scenario = Scenario::builder("two-pools")
///     .topology(Topology::new("small").pool(tpus))
///     .jobset(train)
///     .build()?;
/// assert_eq!(scenario.nodes(), 32);
/// # Ok::<(), jobset_sim::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    pub(super) document: Value,
}

/// Equal nodes, `count` times a number of islands of them. In names and in values of labels `{pool}`, `{island}` and
/// `{node}` stand for running numbers.
#[derive(Clone, Debug)]
pub struct Pool(Map<String, Value>);

impl Topology {
    /// A cluster without nodes yet.
    pub fn new(name: &str) -> Topology {
        Topology {
            document: json!({
                "apiVersion": sim_inputs::API_VERSION,
                "kind": "Topology",
                "metadata": {"name": name},
                "pools": [],
            }),
        }
    }

    /// The format of topology files as a JSON Schema: every field with what it means.
    ///
    /// ```
    /// let schema = jobset_sim::Topology::schema();
    /// assert!(schema["properties"]["pools"].is_object());
    /// ```
    pub fn schema() -> Value {
        sim_inputs::json_schema("Topology").unwrap_or_default()
    }

    /// One more pool.
    pub fn pool(mut self, pool: Pool) -> Topology {
        if let Some(pools) = self.document["pools"].as_array_mut() {
            pools.push(Value::Object(pool.0));
        }
        self
    }

    /// What all prices are in; USD unless this says otherwise.
    pub fn currency(mut self, currency: &str) -> Topology {
        self.document["currency"] = currency.into();
        self
    }
}

impl Pool {
    /// A pool of one island of `nodes` nodes that take 110 pods each and have nothing else yet.
    pub fn new(name: &str, nodes: u32) -> Pool {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), name.into());
        fields.insert("nodesPerIsland".to_owned(), nodes.into());
        Pool(fields)
    }

    /// How many pools like this.
    pub fn count(self, n: u32) -> Pool {
        self.field("count", n)
    }

    /// How many islands one pool has: ICI slices, NVLink domains.
    pub fn islands(self, n: u32) -> Pool {
        self.field("islands", n)
    }

    /// What each node has of a resource, such as `("google.com/tpu", "4")`.
    pub fn allocatable(self, resource: &str, quantity: &str) -> Pool {
        self.entry("allocatable", resource, quantity)
    }

    /// The resource whose units are the accelerators of the ledger.
    pub fn accelerator(self, resource: &str) -> Pool {
        self.field("accelerator", resource)
    }

    /// What a node costs in an hour.
    pub fn price_per_node_hour(self, price: f64) -> Pool {
        self.field("pricePerNodeHour", price)
    }

    /// What one of its accelerators costs per hour, instead of a node.
    pub fn price_per_accelerator_hour(self, price: f64) -> Pool {
        self.field("pricePerAcceleratorHour", price)
    }

    /// A label of every node.
    pub fn label(self, key: &str, value: &str) -> Pool {
        self.entry("labels", key, value)
    }

    /// A declared feature of every node (`status.declaredFeatures`), such as `RestartAllContainersOnContainerExits`.
    pub fn feature(mut self, name: &str) -> Pool {
        let list = self.0.entry("features").or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(name.into());
        }
        self
    }

    /// Any other field of a pool as [`Topology::schema`] lists them.
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Pool {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn entry(mut self, map: &str, key: &str, value: &str) -> Pool {
        let map = self.0.entry(map).or_insert_with(|| json!({}));
        if let Some(map) = map.as_object_mut() {
            map.insert(key.to_owned(), value.into());
        }
        self
    }
}
