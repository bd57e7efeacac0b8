//! Tests of `sim_engine::store`.

mod pod_list;
