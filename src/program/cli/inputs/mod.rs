//! What commands read: scenarios, manifests, run directories; and what output directories keep of it.

pub mod dominant_assumptions;
pub mod experiment_input;
pub mod fail;
pub mod fail_if;
pub mod feature_gates;
pub mod input_copies;
pub mod loaded_run;
pub mod reduced_model;
pub mod shell_words;
pub mod stored_run;
