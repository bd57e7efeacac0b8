//! The command line of `lint`.

use crate::cli::args::Look;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum LintMethod {
    /// kubectl apply, client side
    #[default]
    Apply,
    /// kubectl replace
    Replace,
}
