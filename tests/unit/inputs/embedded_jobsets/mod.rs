//! Tests of `sim_inputs::embedded_jobsets`.

mod patch;
