//! The inputs of a command: a scenario, or manifests on a cluster, and overrides.

use crate::cli::args::typed_values::{Override, path_value};
use crate::cli::inputs::fail;
use crate::cli::inputs::fail::Fail;
use crate::cli::inputs::shell_words::quoted;
use clap::{Args, ValueEnum};
use sim_api::spec::Level;
use std::path::PathBuf;

/// What is played: a scenario, or manifests on a cluster; and what is changed in it.
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// Scenario file; it names its topology and manifests
    #[arg(required_unless_present_any = ["manifests", "topology"], conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests instead of a scenario: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests: a file, or a name that `topology list` has [default: one that is just large enough]
    #[arg(short = 't', value_name = "TOPOLOGY", requires = "manifests")]
    pub topology: Option<PathBuf>,
    /// Override any field: of the scenario, e.g. faults.0.afterReady=60s, or of its JobSets, e.g.
    /// spec.failurePolicy.maxRestarts=5; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<Override>,
    /// One failure on top of the scenario: POD:exit=CODE, POD:delete or POD:evict, then @TIME: 10m after the start, or
    /// ready+10m, after every pod was ready [default: ready]; repeatable
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = fail::parse)]
    pub fails: Vec<Fail>,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Number of worker threads (does not affect results) [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Level of detail of replications: every pod, or the reduced model of one JobSet with measured restart times
    /// (docs/collapsed.md) [default: that of the experiment, else pods]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub level: Option<LevelArg>,
}

impl InputArgs {
    /// How much detail is asked for, if it is said.
    pub fn level(&self) -> Option<Level> {
        self.level.map(|level| match level {
            LevelArg::Pods => Level::Pods,
            LevelArg::Collapsed => Level::Collapsed,
        })
    }

    /// The inputs as words of a command line.
    pub fn words(&self) -> String {
        let path = |path: &PathBuf| quoted(&path.to_string_lossy());
        let scenario = self.scenario.iter().map(|p| format!(" {}", path(p)));
        let manifests = self.manifests.iter().map(|p| format!(" -f {}", quoted(p)));
        let topology = self.topology.iter().map(|p| format!(" -t {}", path(p)));
        scenario.chain(manifests).chain(topology).collect()
    }

    /// As many threads, or 0 for one per core.
    pub fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }
}

/// How much detail replications have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// Every pod
    Pods,
    /// The reduced model
    Collapsed,
}
