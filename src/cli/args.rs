//! The command line, as clap reads it. Every subcommand's help ends with an example.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Simulates Kubernetes JobSets on accelerator clusters: what happens, how long each restart takes, and why.
#[derive(Debug, Parser)]
#[command(
    name = "jobset-sim",
    version,
    arg_required_else_help = true,
    after_help = "Example: jobset-sim demo\n\nExit codes: 0 done; 1 internal error; 2 wrong usage or invalid input; 4 cannot be placed;\n5 a --fail-if gate failed; 130 ended by a signal. A JobSet that fails in the simulation is a result: exit 0."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario, or manifests, and tell what happened
    #[command(
        after_help = "Examples:\n  jobset-sim run scenarios/restart-5000-recreate.yaml\n  jobset-sim run -f jobset.yaml -t topologies/small-16.yaml --out run-1\n  jobset-sim run scenario.yaml --set controlPlane.preset=stock --seeds 100 --format json\n  jobset-sim run -f jobset.yaml --set 'containers=[{replicatedJob: workers, runFor: 1h}]'\n\nWhat will my failure policy do if worker 1 of Job 0 exits with code 42, ten minutes after all pods were ready?\n  jobset-sim run -f jobset.yaml --fail workers-0-1:exit=42@ready+10m --trace decisions"
    )]
    Run(RunArgs),
    /// Compare variants under the same random numbers: differences with intervals, and no rank without them
    #[command(
        after_help = "Examples:\n  jobset-sim compare -f jobset.yaml --strategies all --fail workers-0-1:exit=1 --seeds 100\n  jobset-sim compare scenario.yaml --variant 'patient: spec.failurePolicy.maxRestarts=50, controlPlane.preset=stock'\n  jobset-sim compare scenario.yaml --until 'restartLatency_s.p50 ±1%' --format json\n\nPaths are those of `run --set`.\n`strategy` sets a restart strategy with all that belongs to it, such as the agent of InPlaceRestart."
    )]
    Compare(CompareArgs),
    /// Say why a restart took as long as it did, or why something never comes; and what would have helped
    #[command(
        after_help = "Examples:\n  jobset-sim why scenarios/restart-5000-recreate.yaml\n  jobset-sim why run-1 --restart 3\n  jobset-sim why -f jobset.yaml -t topologies/small-16.yaml --pod workers-0-1 --format json\n\nA run directory is played again from its inputs. Each what-if is a run of its own: `run` with the same --set\ngives the same seconds."
    )]
    Why(WhyArgs),
    /// Say in what two runs, or a run and a recording, differ: inputs, the first record, metrics
    #[command(
        after_help = "Examples:\n  jobset-sim diff run-1 run-2\n  jobset-sim diff before after --format json --fail-if 'diff.records > 0'\n  jobset-sim diff run-1 recordings/corner/c-02-two-fail-together-restart-jobset.json\n\nThe exit code is 0 whether they differ or not; --fail-if makes it 5. Its names: diff.inputs and diff.metrics, how many\ndiffer; diff.records, 1 if the records do."
    )]
    Diff(super::diff::DiffArgs),
    /// The standard restart-latency suite, in virtual seconds: exact, and held against a baseline
    #[command(
        after_help = "Example: jobset-sim bench ttr --against reports/ttr-baseline.json --fail-if 'ttr > +2%' --junit ttr.xml"
    )]
    Bench(super::bench::BenchArgs),
    /// Compare Recreate with InPlaceRestart on 5,000 pods: two runs, one picture
    #[command(after_help = "Example: jobset-sim demo --out my-demo")]
    Demo(DemoArgs),
    /// Compare simulated runs with recordings of a real control plane
    #[command(
        after_help = "Example: jobset-sim validate recordings/times/*.json --fail-if 'restart.error.p50 > 5%'"
    )]
    Validate(super::validate::ValidateArgs),
    /// Say what the API server would refuse in manifests, and what it accepts and hurts later
    #[command(
        after_help = "Examples:\n  jobset-sim lint -f jobset.yaml -t topologies/small-16.yaml\n  jobset-sim lint -f manifests/ --fail-if 'lint.errors > 0' --format json\n  jobset-sim lint --update applied.yaml -f jobset.yaml\n\nExit codes: 0 accepted, with warnings or without; 2 rejected, or a trap that is an error; 4 the cluster of -t\ncannot take it; 5 --strict or --fail-if."
    )]
    Lint(LintArgs),
    /// Print the JSON Schema of a file format, or its reference page
    #[command(after_help = "Example: jobset-sim schema scenario > scenario.schema.json")]
    Schema(SchemaArgs),
    /// Look at clusters
    #[command(after_help = "Example: jobset-sim topology show topologies/tpu-5000.yaml")]
    Topology(TopologyArgs),
    /// Print what completes this program's command line in a shell
    #[command(
        after_help = "Examples:\n  jobset-sim completions bash > /etc/bash_completion.d/jobset-sim\n  jobset-sim completions zsh > ~/.zfunc/_jobset-sim\n  jobset-sim completions fish > ~/.config/fish/completions/jobset-sim.fish"
    )]
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands
    #[command(after_help = "Examples:\n  jobset-sim man | man -l -\n  jobset-sim man --out man1")]
    Man {
        /// Write one page for each command into this directory; it must not exist yet
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Explain what would be made of a manifest
    #[command(after_help = "Example: jobset-sim explain children -f jobset.yaml --format json")]
    Explain(ExplainArgs),
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario file; it names its topology and manifests
    #[arg(required_unless_present = "manifests", conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests instead of a scenario: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests: a file, or a name that `topology list` has [default: one that is just large enough]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Override any field: of the scenario, e.g. faults.0.afterReady=60s, or of its JobSets, e.g.
    /// spec.failurePolicy.maxRestarts=5; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<(String, String)>,
    /// One failure on top of the scenario: POD:exit=CODE, POD:delete or POD:evict, then @TIME: 10m after the start, or
    /// ready+10m, after every pod was ready [default: ready]; repeatable
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = super::fail::parse)]
    pub fails: Vec<super::fail::Fail>,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Run N replications and report quantiles and intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub seeds: Option<u64>,
    /// Threads for --seeds [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print the JobSets as the API server would store them, all defaults filled in, and do not run
    #[arg(long)]
    pub show_effective: bool,
    /// Write the run directory here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// csv and md tell restarts; with --seeds, of replications: csv a row of each, md the estimates
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no notices, no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
    /// Exit with code 5 if this is true, e.g. 'restartLatency_s.max > 2m'; repeatable (docs/fail-if.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Run twice, compare the digests, and check that the ledger closes
    #[arg(long)]
    pub paranoid: bool,
    /// What is told of the records and decisions
    #[arg(long, value_enum, default_value_t = Trace::Events)]
    pub trace: Trace,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Scenario file; it is the baseline, and its `experiment` may have variants
    #[arg(required_unless_present = "manifests", conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests instead of a scenario: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests [default: for each variant one that is just large enough]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// One more variant; repeatable
    #[arg(long = "variant", value_name = "NAME: PATH=VALUE, ...", value_parser = super::variants::parse_variant)]
    pub variants: Vec<super::variants::VariantArg>,
    /// One variant for each of these restart strategies: all, or e.g. Recreate,InPlaceRestart
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub strategies: Vec<String>,
    /// Override any field in all variants, e.g. faults.0.afterReady=60s; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<(String, String)>,
    /// One failure on top, in all variants, as `run --fail` takes it; repeatable
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = super::fail::parse)]
    pub fails: Vec<super::fail::Fail>,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Replications of each variant [default: the experiment's, or 20]; with --until the most of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub seeds: Option<u64>,
    /// Play until the 95 % interval of a metric's mean is so narrow in every variant, e.g. 'restartLatency_s.p50 ±1%'
    #[arg(long, value_name = "METRIC ±SHARE%", value_parser = super::variants::parse_until)]
    pub until: Option<super::variants::Until>,
    /// Exit with code 5 if this is true, e.g. 'restartLatency_s.p50 > +5%'; repeatable (docs/fail-if.md)
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<String>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write summary.json, replications.csv and the inputs here; it must not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Print results only: no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub look: Look,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// A run directory that `run --out` wrote, or a scenario file
    #[arg(value_name = "RUN|SCENARIO", required_unless_present = "manifests", conflicts_with_all = ["manifests", "topology"])]
    pub scenario: Option<PathBuf>,
    /// Manifests instead of a scenario: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-")]
    pub manifests: Vec<String>,
    /// Cluster for the manifests [default: one that is just large enough]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Override any field, as `run --set` does; repeatable
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<(String, String)>,
    /// One failure on top, as `run --fail` takes it; repeatable
    #[arg(long = "fail", value_name = "POD:exit=CODE@TIME", value_parser = super::fail::parse)]
    pub fails: Vec<super::fail::Fail>,
    /// Which restart, as `run` numbers them [default: the one that never ended, or the longest]
    #[arg(long, value_name = "N", conflicts_with = "pod")]
    pub restart: Option<usize>,
    /// A pod by its name without the random suffix: why it is not ready, or what its way took
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// Only the path, without what-ifs
    #[arg(long)]
    pub path_only: bool,
    /// Seed of every random number [default: the scenario's]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads for the what-ifs [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
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
    /// What is applied already; the manifests of -f replace it; repeatable
    #[arg(long, value_name = "FILE|DIR")]
    pub update: Vec<String>,
    /// How the update is sent [default: apply]
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

/// The formats of results that are tables.
pub type TableFormat = LintFormat;

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    Text,
    Json,
    Csv,
    Md,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Directory for the charts and both runs [default: jobset-sim-demo, or the next free jobset-sim-demo-2, -3 ...]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// json: the summaries of both runs
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    #[command(flatten)]
    pub look: Look,
}

/// How text looks.
#[derive(Debug, Args)]
pub struct Look {
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[arg(value_enum)]
    pub kind: SchemaKind,
    /// JSON Schema, or the reference page
    #[arg(long, value_enum, default_value = "json")]
    pub format: SchemaFormat,
}

#[derive(Debug, Args)]
pub struct TopologyArgs {
    #[command(subcommand)]
    pub command: TopologyCommand,
}

#[derive(Debug, Subcommand)]
pub enum TopologyCommand {
    /// Show the pools of a topology file and what they add up to
    #[command(after_help = "Example: jobset-sim topology show topologies/tpu-5000.yaml")]
    Show {
        /// A file, or the name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Turn a list of Nodes into a topology file
    #[command(
        after_help = "Example: kubectl get nodes -o yaml | jobset-sim topology import - --name prod --out prod.yaml"
    )]
    Import {
        /// What `kubectl get nodes -o yaml` or `-o json` prints: a file, or - for standard input
        #[arg(value_name = "FILE|-")]
        file: String,
        /// Name of the topology
        #[arg(long, default_value = "imported")]
        name: String,
        /// Write it here instead of to standard output; it must not exist yet
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Say what is wrong with a topology file, or how many nodes it has
    #[command(after_help = "Example: jobset-sim topology check my-cluster.yaml")]
    Check {
        /// A file, or the name of a shipped topology
        #[arg(value_name = "TOPOLOGY")]
        file: PathBuf,
    },
    /// List the topologies that come with the program
    #[command(after_help = "Example: jobset-sim topology list")]
    List {
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(subcommand)]
    pub command: ExplainCommand,
}

#[derive(Debug, Subcommand)]
pub enum ExplainCommand {
    /// Print the Jobs, Services, claims and pods that would be created
    #[command(after_help = "Example: jobset-sim explain children -f jobset.yaml")]
    Children(ExplainChildrenArgs),
}

#[derive(Debug, Args)]
pub struct ExplainChildrenArgs {
    /// Manifests: a file, a directory, or - for standard input; repeatable
    #[arg(short = 'f', value_name = "FILE|DIR|-", required = true)]
    pub manifests: Vec<String>,
    #[arg(long, value_enum, default_value_t = ObjectFormat::Yaml)]
    pub format: ObjectFormat,
    /// JobSet's feature gates, e.g. RestartJob=false,ElasticJobSet=true [default: those that the manifests use]
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',')]
    pub feature_gates: Vec<String>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ObjectFormat {
    Yaml,
    Json,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trace {
    /// No events.ndjson
    None,
    /// Every record, in events.ndjson
    Events,
    /// Also what each controller saw, tried and did, printed instead of the report and in decisions.log
    Decisions,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    Scenario,
    /// The collapsed model
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

pub fn path_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.is_empty() => Ok((path.to_owned(), value.to_owned())),
        _ => Err("write PATH=VALUE, e.g. controlPlane.preset=stock".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_help_has_an_example() {
        Cli::command().debug_assert();
        for sub in Cli::command().get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string);
            assert!(
                help.is_some_and(|h| h.contains("Example")),
                "{}",
                sub.get_name()
            );
        }
    }

    #[test]
    fn a_scenario_excludes_manifests_and_one_of_them_is_needed() {
        for (line, ok) in [
            ("run a.yaml", true),
            ("run -f a.yaml -f - -t t.yaml", true),
            ("run a.yaml -f b.yaml", false),
            ("run", false),
            ("run a.yaml --seeds 0", false),
            ("run a.yaml --set x", false),
            ("run a.yaml --set x=", true),
        ] {
            let words = std::iter::once("jobset-sim").chain(line.split(' '));
            assert_eq!(Cli::try_parse_from(words).is_ok(), ok, "{line}");
        }
    }
}
