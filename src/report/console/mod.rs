//! Console output.

pub mod check_collapsed;
pub mod compare;
pub mod fleets;
pub mod replications;
pub mod side_by_side;
pub mod story;
pub mod sweep;
pub mod text;
pub mod training;
pub mod waterfall;
pub mod why;
