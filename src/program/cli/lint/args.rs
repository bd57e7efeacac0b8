//! Command line of `lint`.

use crate::cli::args::DisplayStyle;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct LintArgs {
    /// Manifests to check: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-", required_unless_present_any = ["list", "explain", "files"])]
    pub manifests: Vec<String>,
    /// Manifests to check, as with -f
    #[arg(value_name = "FILE|DIR|-")]
    pub files: Vec<String>,
    /// Cluster for the traps that need one (labels, domains, capacity, node features): a file, or a name printed by
    /// `topology list`
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Manifests that are already applied; those of -f are checked as updates of them (repeatable)
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
    /// JobSet feature gates, e.g. InPlaceRestart=false,ElasticJobSet=true [default: those that the manifests use]
    #[arg(long, value_name = "NAME=BOOL")]
    pub feature_gates: Vec<String>,
    /// Exit with code 5 if there are any traps
    #[arg(long)]
    pub strict: bool,
    /// Exit with code 5 if this condition is true, e.g. 'lint.errors > 0' (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// List all traps
    #[arg(long)]
    pub list: bool,
    /// Explain one trap
    #[arg(long, value_name = "TRAP")]
    pub explain: Option<String>,
    /// Print findings only, without notices
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub display: DisplayStyle,
}

/// Output formats of findings.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    Text,
    Json,
    Csv,
    Md,
    /// SARIF 2.1.0 for code hosts and editors
    Sarif,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum LintMethod {
    /// kubectl apply, client-side
    #[default]
    Apply,
    /// Update with `kubectl replace`
    Replace,
}
