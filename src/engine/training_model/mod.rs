//! The arithmetic of training jobs: what a stretch of steps is worth, what is saved of it, where the time of a job
//! went.
//!
//! Pure: must never know who interrupts a job, or when. The engine and the collapsed level both compute with it.

mod books;
mod kept;
pub mod pace;
pub mod plan;
pub mod stretch;

pub use books::{Booked, Books, End};
pub use kept::Kept;
pub use pace::{ONE, Pace, Reason};
pub use plan::{Start, plan, plan_of, restores};
pub use stretch::{Kind, Plan, Saving, Spent};
