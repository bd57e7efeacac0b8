//! Lifetimes of entities that age only at times, such as while a job uses them.

mod lifetimes;
mod remaining_life;

pub use lifetimes::{AgingClocks, DueFailure, EntityLifetimes};
pub use remaining_life::{NEVER, RemainingLife, remaining_lifetime};
