//! Tests of topology-aware scheduling.

mod encoding;
mod random;
mod recorded;
mod situation;
mod snapshot;
