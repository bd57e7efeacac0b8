//! Times of collective operations on the links of an island and on the networks between islands, and the step time of
//! a placement, as pure functions of sizes and rates. A collective is a set of flows over the graph of the links; its
//! time is a latency plus the bytes that the slowest link carries, divided by the share of its rate. Rates are in bytes
//! per second in one direction, sizes in bytes, times in seconds.
//!
//! Formulas: "How to Scale Your Model", chapters on sharding and on GPUs (jax-ml.github.io/scaling-book), and the model
//! of NCCL (github.com/NVIDIA/nccl, src/graph/tuning.cc).

mod algorithms;
pub mod collective;
pub mod flows;
pub mod graph;
pub mod island;
pub mod map;
pub mod network;
pub mod step;
pub mod torus_hosts;
pub mod tree;

pub use collective::{Collective, Transfer};
pub use flows::{FabricLimit, FabricLoad, JobDemand, LinkDemand, shared_seconds};
pub use graph::{FabricGraph, FabricVertex};
pub use island::{IslandLinks, JobIsland, TorusAxis};
pub use map::{FabricMap, Uplink};
pub use network::NetworkGroup;
pub use step::{StepTime, TrafficTime, job_islands, step_time};
pub use tree::{FabricBranch, FabricTree, TreeVertex};
