//! Tests of single modules through what their crates export: one binary, one link.

mod analysis;
mod api;
mod base;
mod engine;
mod inputs;
mod lint;
mod policy;
mod recordings;
mod report;
