//! Inputs of commands: scenarios, manifests, run directories, and the copies of inputs in output directories.

pub mod dominant_assumptions;
pub mod experiment_input;
pub mod fail;
pub mod fail_if;
pub mod feature_gates;
pub mod fitting_topology;
mod input_copies;
mod loaded_run;
mod nearest_topology;
pub mod node_level;
pub mod shell_words;
pub mod shipped_clusters;
pub mod stored_run;

pub use dominant_assumptions::model_defaults;
pub use experiment_input::{ExperimentInput, LoadedInput, PlannedInputs, note_not_modelled};
pub use input_copies::{InputCopies, copy_scenario, result_options};
pub use loaded_run::{DEFAULT_SCRAPE, LoadedRun};
pub use shell_words::{options, quoted, words};
pub use stored_run::StoredRun;
