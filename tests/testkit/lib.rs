//! Test support shared by several crates. It is not part of any shipped program.

pub mod allocation;
pub mod golden;
pub mod lines;
pub mod records;
pub mod run;
