//! Tests of `sim_policy::job`.

mod backoff;
mod per_index;
mod pod_failure;
