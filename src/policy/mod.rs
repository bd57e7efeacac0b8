//! What the controllers decide: pure functions, a view in and a plan out.
//!
//! Must never see a clock, randomness, a queue or `&mut World`.

pub mod plan;
pub mod view;

pub use plan::*;
pub use view::*;
