//! Measurement of the effects of faults with the engine, on which the reduced model is based.

pub(crate) mod curve;
pub(crate) mod curves;
pub(crate) mod effect;
pub(crate) mod effect_measurement;
pub(crate) mod fault_pairs;
pub(crate) mod measure;
pub(crate) mod reduced_cluster;
pub(crate) mod search;
pub(crate) mod snapshots;
pub(crate) mod trial_result;
pub(crate) mod trial_runner;
pub(crate) mod trials;
