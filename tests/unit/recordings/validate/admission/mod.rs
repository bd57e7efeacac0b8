//! Tests of `sim_recordings::validate::admission`.

mod compare;
