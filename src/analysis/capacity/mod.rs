//! The capacity of a cluster for the JobSets of manifests: how many copies fit, the quality of their placement, and the
//! effect of the loss of a failure domain. All placements and restarts are simulated by the engine.

#![deny(missing_docs)]

pub mod blast;
pub mod copies;
pub mod fit;
pub mod fragmentation;
pub mod groups;
pub mod placed;

pub use blast::{BlastEffect, BlastRow, HitJobSet, blast_radius};
pub use copies::CopySet;
pub use fit::{FitResult, PlacementDraws, fit, placements};
pub use fragmentation::{CountedGroups, FragmentationRow, fragmentation};
pub use groups::NodeGroups;
pub use placed::{GroupUse, JobUse, PlacementReport, PlacementSink, report};
