//! The arithmetic of training jobs: the progress of a segment, its checkpoints, and the time ledger of a job.
//!
//! Pure functions. Must never know what interrupts a job or when. Used by the engine and by the reduced model.

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
