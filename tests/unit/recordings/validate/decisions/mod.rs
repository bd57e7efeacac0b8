//! Tests of `sim_recordings::validate::decisions`.

mod mask;
