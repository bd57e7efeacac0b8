//! Tests of single modules through the public items of their crates, in one binary.

mod analysis;
mod api;
mod base;
#[path = "../inside/cases.rs"]
mod cases;
mod engine;
mod inputs;
mod lint;
mod policy;
mod recordings;
mod reliability;
mod report;
