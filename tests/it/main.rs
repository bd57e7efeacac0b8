//! All integration tests, in one binary: one link, one run.

mod admission;
mod allocation;
mod checker;
mod corpus;
mod coverage;
mod decisions;
mod determinism;
mod enumerate;
mod golden;
mod growth;
mod headline;
mod lint;
mod moments;
mod objects;
mod paranoid;
mod policy;
mod recordings;
mod regressions;
mod rooms;
mod scale;
mod support;
mod swarm;
mod tickets;
mod tidy;
mod upstream;
mod validate;
