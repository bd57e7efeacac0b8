//! The shards of a sweep and how they are started.

pub struct ShardPlan {
    /// Name of the Kubernetes objects and jobs.
    pub name: String,
    pub shards: u64,
    pub cpus: u16,
    /// Arguments of a shard; paths are relative to the current directory of `sweep plan`.
    pub words: Vec<String>,
    /// Directory of the merged result.
    pub out: String,
    pub image: String,
    pub claim: String,
    /// Description of the size of the sweep.
    pub size: String,
}
