//! The command lines of what looks at inputs and plays nothing: `lint`, `schema`, `topology`, `explain`.

use super::{Format, Look};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct NewArgs {
    /// Manifests: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster: a file, or a name that `topology list` has [default: the smallest shipped one that fits,
    /// or one made for it]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Write the scenario and copies of what it names into this directory; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The formats of findings.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    Text,
    Json,
    Csv,
    Md,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

#[derive(Debug, Args)]
pub struct LintArgs {
    /// A file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-", required_unless_present_any = ["list", "explain"])]
    pub manifests: Vec<String>,
    /// Cluster for the traps that need one (labels, domains, room, features of nodes): a file, or a name that `topology
    /// list` has
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Manifests already applied; those of -f update them; repeatable
    #[arg(long, value_name = "FILE|DIR")]
    pub update: Vec<String>,
    /// Method of the update [default: apply]
    #[arg(long, value_enum, requires = "update")]
    pub method: Option<LintMethod>,
    #[arg(long, value_enum, default_value_t = LintFormat::Text)]
    pub format: LintFormat,
    /// Kubernetes version of the cluster [default: 1.36]
    #[arg(long, value_name = "VERSION")]
    pub kubernetes: Option<String>,
    /// JobSet version of the cluster: 0.12 or 0.13 [default: 0.13]
    #[arg(long, value_name = "VERSION")]
    pub jobset: Option<String>,
    /// JobSet's feature gates, e.g. InPlaceRestart=false,ElasticJobSet=true [default: those that the manifests use]
    #[arg(long, value_name = "NAME=BOOL")]
    pub feature_gates: Vec<String>,
    /// Exit with code 5 if there is any trap
    #[arg(long)]
    pub strict: bool,
    /// Exit with code 5 if this is true, e.g. 'lint.errors > 0'; repeatable
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// List all traps
    #[arg(long)]
    pub list: bool,
    /// Explain one trap
    #[arg(long, value_name = "TRAP")]
    pub explain: Option<String>,
    /// Print findings only
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum LintMethod {
    /// kubectl apply, client side
    #[default]
    Apply,
    /// kubectl replace
    Replace,
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[arg(value_enum)]
    pub kind: SchemaKind,
    /// Output format: JSON Schema or reference page
    #[arg(long, value_enum, default_value = "json")]
    pub format: SchemaFormat,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    Scenario,
    /// The Fleet format of the reduced model
    Fleet,
    Topology,
    /// `timing` of a scenario
    Timing,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    Json,
    Md,
}

#[derive(Debug, Args)]
pub struct TopologyArgs {
    #[command(subcommand)]
    pub command: TopologyCommand,
}

#[derive(Debug, Subcommand)]
pub enum TopologyCommand {
    /// Show the pools of a topology and their totals
    #[command(after_help = "Example: jobset-sim topology show topologies/tpu-5000.yaml")]
    Show {
        /// A file, or the name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Convert a list of Nodes into a topology file
    #[command(
        after_help = "Example: kubectl get nodes -o yaml | jobset-sim topology import - --name prod --out prod.yaml"
    )]
    Import {
        /// Output of `kubectl get nodes -o yaml` or `-o json`: a file, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// Name of the topology
        #[arg(long, default_value = "imported")]
        name: String,
        /// Write the topology here instead of to standard output; it must not exist yet
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Check a topology file and print its errors or its number of nodes
    #[command(after_help = "Example: jobset-sim topology check my-cluster.yaml")]
    Check {
        /// A file, or the name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// List the shipped topologies
    #[command(after_help = "Example: jobset-sim topology list")]
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ObjectFormat {
    Yaml,
    Json,
}
