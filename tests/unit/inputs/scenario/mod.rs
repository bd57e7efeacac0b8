//! Tests of `sim_inputs::scenario`.

mod objects;
