//! Test support that several crates share; not part of any shipped program.

pub mod golden;
pub mod lines;
pub mod records;
pub mod run;
