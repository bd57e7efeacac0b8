//! Tests of `sim_inputs::schema`.

mod check;
