//! Measurements of what faults do, made with the engine, on which the reduced model is built.

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
