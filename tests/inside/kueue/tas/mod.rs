//! Tests of topology-aware scheduling.

mod encoding;
mod node_failure;
mod random;
mod recorded;
mod situation;
mod snapshot;
mod ungating;
