//! Level `nodes`: nodes, pod slots and Jobs have states, and Jobs, JobSets and nodes pass through them as at level
//! `pods`. Outcomes, waits and overlapping faults are simulated, timers of the control plane are computed, and only the
//! delays of whole restarts are measured (`profile`).
//!
//! Single requests, controllers and kubelets are not simulated. The decisions about Jobs and JobSets are those of
//! `sim_policy`, faults and training those of `sim_reliability`.

mod accounts;
mod containers;
mod create;
mod crowd;
mod event;
mod faults;
mod health;
mod in_place;
mod jobs;
mod links;
mod measure;
mod model;
mod order;
mod outcome;
mod places;
mod pods;
mod profile;
mod queue;
mod refuse;
mod rows;
mod run;
mod script;
mod silent;
mod slice_row;
mod slices;
mod trainer;

pub use measure::{MeasurementParameter, NotMeasured, measure, measurement_parameters, profile_key};
pub use model::NodesModel;
pub use outcome::{CountedRestart, JobSetResult, NodesOutcome, Recovery, RecoveryEnd};
pub use profile::JobSetProfile;
pub use refuse::{why_not, why_not_placed};
pub use run::NodesSimulator;
