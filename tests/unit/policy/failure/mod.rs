//! Tests of `sim_policy::failure`.

mod re2;
