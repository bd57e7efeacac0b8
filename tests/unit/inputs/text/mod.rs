//! Tests of `sim_inputs::text`.

mod json_stream;
mod locate;
mod path;
mod print;
