//! Tests of `sim_inputs::schema`.

mod check;
mod json_schema;
