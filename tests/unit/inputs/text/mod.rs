//! Tests of `sim_inputs::text`.

mod locate;
mod path;
mod print;
mod suggest;
