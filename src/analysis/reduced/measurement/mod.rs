//! Measurement of the effects of faults with the engine, on which the reduced model is based.

pub(crate) mod bench;
pub(crate) mod curve;
pub(crate) mod curves;
pub(crate) mod effect;
pub(crate) mod fewer;
pub(crate) mod forks;
pub(crate) mod lab;
pub(crate) mod measure;
pub(crate) mod pairs;
pub(crate) mod search;
pub(crate) mod trials;
pub(crate) mod tried;
