//! Times of collective operations on the links of an island and on the networks between islands, and the step time of
//! a placement, as pure functions of sizes and rates. All times are first-order: a latency plus the bytes that the
//! slowest link carries, divided by its rate. Rates are in bytes per second in one direction, sizes in bytes, times in
//! seconds.
//!
//! Formulas: "How to Scale Your Model", chapters on sharding and on GPUs (jax-ml.github.io/scaling-book).

pub mod collective;
pub mod graph;
pub mod island;
pub mod map;
pub mod network;
pub mod step;
pub mod torus_hosts;
pub mod tree;

pub use collective::{Collective, Transfer};
pub use graph::{FabricGraph, FabricVertex};
pub use island::{IslandLinks, TorusAxis};
pub use map::{FabricLoad, FabricMap, Uplink};
pub use network::{NetworkGroup, network_time};
pub use step::{FabricLimit, JobIsland, StepTime, TrafficTime, job_islands, step_time};
pub use tree::{FabricBranch, FabricTree, TreeVertex};
