//! Tests of `sim_inputs::kube`.

mod stored;
