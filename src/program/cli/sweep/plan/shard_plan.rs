//! The shards of a sweep and how they are started.

pub struct ShardPlan {
    /// Of Kubernetes objects and jobs.
    pub name: String,
    pub shards: u64,
    pub cpus: u16,
    /// What a shard is, behind the name of the program; relative to where it was asked for.
    pub words: Vec<String>,
    /// Where the result goes.
    pub out: String,
    pub image: String,
    pub claim: String,
    /// What is said of its size.
    pub size: String,
}
