//! Console output.

pub mod admission;
mod brief;
pub mod check_level;
pub mod compare;
pub mod facts;
pub mod fleets;
pub mod main_events;
pub mod page;
pub mod placement;
pub mod replications;
pub mod side_by_side;
pub mod style;
pub mod sweep;
pub mod text;
pub mod training;
pub mod waterfall;
pub mod why;
