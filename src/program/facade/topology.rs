//! Clusters for a scenario in code.

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
/// # Ok::<(), jobset_sim::SimulationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    pub(super) document: Value,
}

/// A pool of equal nodes: `count` copies of a number of islands. In names and label values, `{pool}`, `{island}` and
/// `{node}` are replaced with running numbers.
#[derive(Clone, Debug)]
pub struct Pool(Map<String, Value>);

impl Topology {
    /// Creates a cluster without nodes.
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

    /// Returns the JSON Schema of topology files, which describes every field.
    ///
    /// ```
    /// let schema = jobset_sim::Topology::schema();
    /// assert!(schema["properties"]["pools"].is_object());
    /// ```
    pub fn schema() -> Value {
        sim_inputs::json_schema("Topology").unwrap_or_default()
    }

    /// Adds a pool of nodes.
    pub fn pool(mut self, pool: Pool) -> Topology {
        if let Some(pools) = self.document["pools"].as_array_mut() {
            pools.push(Value::Object(pool.0));
        }
        self
    }

    /// Sets the currency of all prices. The default is USD.
    pub fn currency(mut self, currency: &str) -> Topology {
        self.document["currency"] = currency.into();
        self
    }
}

impl Pool {
    /// Creates a pool with one island of `nodes` nodes. Each node has room for 110 pods and no other resources.
    pub fn new(name: &str, nodes: u32) -> Pool {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), name.into());
        fields.insert("nodesPerIsland".to_owned(), nodes.into());
        Pool(fields)
    }

    /// Sets the number of copies of this pool.
    pub fn count(self, n: u32) -> Pool {
        self.field("count", n)
    }

    /// Sets the number of islands per pool, such as ICI slices or NVLink domains.
    pub fn islands(self, n: u32) -> Pool {
        self.field("islands", n)
    }

    /// Sets the allocatable amount of a resource per node, such as `("google.com/tpu", "4")`.
    pub fn allocatable(self, resource: &str, quantity: &str) -> Pool {
        self.entry("allocatable", resource, quantity)
    }

    /// Sets the resource whose units count as accelerators in the ledger.
    pub fn accelerator(self, resource: &str) -> Pool {
        self.field("accelerator", resource)
    }

    /// Sets the price of a node per hour.
    pub fn price_per_node_hour(self, price: f64) -> Pool {
        self.field("pricePerNodeHour", price)
    }

    /// Sets the price of one accelerator per hour, instead of the price of a node.
    pub fn price_per_accelerator_hour(self, price: f64) -> Pool {
        self.field("pricePerAcceleratorHour", price)
    }

    /// Adds a label to every node.
    pub fn label(self, key: &str, value: &str) -> Pool {
        self.entry("labels", key, value)
    }

    /// Adds a declared feature (`status.declaredFeatures`) to every node, such as
    /// `RestartAllContainersOnContainerExits`.
    pub fn feature(mut self, name: &str) -> Pool {
        let list = self.0.entry("features").or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(name.into());
        }
        self
    }

    /// Sets any other field of a pool that [`Topology::schema`] lists.
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
