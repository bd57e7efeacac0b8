//! Options for the inputs of a command: a scenario, or manifests on a cluster, and overrides.

use crate::cli::args::typed_values::{FieldOverride, path_value};
use crate::{cli::inputs::fail, cli::inputs::fail::FailFlags, cli::inputs::shell_words::quoted};
use clap::{Args, ValueEnum};
use sim_api::spec::ModelLevel;
use std::path::PathBuf;

/// Inputs to simulate: a scenario, or manifests on a cluster, with overrides and extra faults.
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// Scenario file; refers to its topology and manifests
    #[arg(required_unless_present_any = ["manifests", "topology"], conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests to simulate instead of a scenario: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests: a file, or a name printed by `topology list` [default: the smallest cluster that
    /// fits]
    #[arg(short = 't', value_name = "TOPOLOGY", requires = "manifests")]
    pub topology: Option<PathBuf>,
    /// Override a field of the scenario, e.g. faults.0.afterReady=60s, or of its JobSets, e.g.
    /// spec.failurePolicy.maxRestarts=5, or of one JobSet, e.g. jobSet.NAME.spec.suspend=true (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<FieldOverride>,
    /// Add one failure to the scenario: POD:exit=CODE, POD:delete or POD:evict, followed by @TIME; TIME is 10m
    /// (after the start) or ready+10m (after all pods were ready) [default: ready] (repeatable)
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = fail::parse)]
    pub fails: Vec<FailFlags>,
    /// Seed of all random numbers [default: the seed of the scenario]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of worker threads (does not affect results) [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Level of detail: pods simulates every pod and request; nodes simulates nodes, Jobs and JobSets with measured
    /// delays of restarts (docs/levels.md) [default: level of the experiment, else nodes in plan, sweep and sensitivity
    /// if it supports the inputs, else pods]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Option<LevelArg>,
}

impl InputArgs {
    /// Returns the requested level of detail; `None` if `--level` is not set.
    pub fn level(&self) -> Option<ModelLevel> {
        self.level.map(|level| match level {
            LevelArg::Pods => ModelLevel::Pods,
            LevelArg::Nodes => ModelLevel::Nodes,
        })
    }

    /// Formats the scenario, `-f` and `-t` arguments for a command line, each with a leading space.
    pub fn words(&self) -> String {
        let path = |path: &PathBuf| quoted(&path.to_string_lossy());
        let scenario = self.scenario.iter().map(|p| format!(" {}", path(p)));
        let manifests = self.manifests.iter().map(|p| format!(" -f {}", quoted(p)));
        let topology = self.topology.iter().map(|p| format!(" -t {}", path(p)));
        scenario.chain(manifests).chain(topology).collect()
    }

    /// Returns the number of worker threads; 0 means one per core.
    pub fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }
}

/// Level of detail of replications.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// Simulate every pod and request
    Pods,
    /// Simulate nodes, Jobs and JobSets
    Nodes,
}
