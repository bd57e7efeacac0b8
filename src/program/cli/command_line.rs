//! Definition of the command line for clap. Commands are grouped by task in `before_help`, because clap has no
//! groups for subcommands. The help of every subcommand ends with an example.

use crate::cli::admit::AdmitArgs;
use crate::cli::sensitivity::args::{SensitivityArgs, run_or_scenario};
use crate::{cli::bench::BenchArgs, cli::compare::args::CompareArgs, cli::demo::DemoArgs, cli::diff::args::DiffArgs};
use crate::{cli::explain::args::ExplainArgs, cli::lint::args::LintArgs, cli::new::NewArgs, cli::planning::PlanArgs};
use crate::{cli::plot::args::PlotArgs, cli::recording::RecordingArgs, cli::report::ReportArgs};
use crate::{cli::run::args::RunArgs, cli::schema::SchemaArgs, cli::step::StepArgs, cli::sweep::args::SweepArgs};
use crate::{cli::topology::TopologyArgs, cli::validate::ValidateArgs, cli::why::WhyArgs};
use clap::{Parser, Subcommand};
use std::fmt::Write;
use std::path::PathBuf;

/// Command groups in the order of `--help`.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Simulate", &["run", "step", "demo"]),
    ("Compare and plan", &["compare", "sweep", "plan", "sensitivity", "bench", "diff"]),
    ("Explain", &["why", "admit", "lint", "explain"]),
    ("Reports and charts", &["report", "plot"]),
    ("Clusters and recordings", &["topology", "recording", "validate"]),
    ("Reference and set-up", &["new", "schema", "completions", "man"]),
];

/// clap's default template without the list of subcommands, which `before_help` contains.
const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// Lists the commands by group, one line each with its help text.
fn list() -> String {
    let all = TopLevelCommand::augment_subcommands(clap::Command::new("jobset-sim"));
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{group}:");
        for name in names {
            let about = all.find_subcommand(name).and_then(|c| c.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Simulate Kubernetes JobSets on a modelled accelerator cluster: what happens when something fails, how long each
/// restart takes, and why
#[derive(Debug, Parser)]
#[command(
    name = "jobset-sim",
    version,
    arg_required_else_help = true,
    help_template = HELP_TEMPLATE,
    before_help = list(),
    after_help = "Example: jobset-sim demo\n\nExit codes: 0 success; 1 internal error; 2 invalid usage or invalid input;\n3 no value satisfies the target of a search; 4 not admitted, or the cluster cannot hold the pods;\n5 a --fail-if gate failed; 130 interrupted by a signal. A JobSet that fails in the simulation is a result: exit 0."
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: TopLevelCommand,
}

#[derive(Debug, Subcommand)]
pub enum TopLevelCommand {
    /// Simulate a scenario or manifests and report what happens
    #[command(
        after_help = "Examples:\n  jobset-sim run scenarios/restart-5000-recreate.yaml\n  jobset-sim run -f jobset.yaml -t topologies/small-16.yaml --out run-1\n  jobset-sim run scenario.yaml --set controlPlane.preset=stock --seeds 100 --format json\n  jobset-sim run -f jobset.yaml --set 'containers=[{replicatedJob: workers, runFor: 1h}]'\n\nWhat does the failure policy do if worker 1 of Job 0 exits with code 42, ten minutes after all pods were ready?\n  jobset-sim run -f jobset.yaml --fail workers-0-1:exit=42@ready+10m --trace decisions"
    )]
    Run(RunArgs),
    /// Compare variants with common random numbers (paired differences with 95 % intervals)
    #[command(
        after_help = "Examples:\n  jobset-sim compare -f jobset.yaml --strategies all --fail workers-0-1:exit=1 --seeds 100\n  jobset-sim compare scenario.yaml --variant 'patient: spec.failurePolicy.maxRestarts=50, controlPlane.preset=stock'\n  jobset-sim compare scenario.yaml --until 'restartLatency_s.p50 ±1%' --format json\n\nPaths are the same as for `run --set`.\nThe path `strategy` sets a restart strategy and the fields it requires, such as the agent of InPlaceRestart."
    )]
    Compare(CompareArgs),
    /// Run a parameter sweep, in parallel or in shards; interrupted sweeps resume
    #[command(
        after_help = "Examples:\n  jobset-sim sweep scenario.yaml --grid 'parameters.spares=0,2,4,8' --grid 'parameters.interval=5m,10m,20m' --seeds 100 --out result\n  jobset-sim sweep scenario.yaml --lhs 64 --range 'parameters.interval=5m..2h:log' --until 'goodput ±1%'\n  jobset-sim sweep scenario.yaml --shard 2/8 --out shards/2\n  jobset-sim sweep merge shards/* --out result\n\nPaths are the same as for `run --set`. Axes may also be set in `experiment` of the scenario. All points use the\nsame random numbers."
    )]
    Sweep(Box<SweepArgs>),
    /// Plan spares, checkpoint interval, restart budget; break-even and rare events
    #[command(
        after_help = "Examples:\n  jobset-sim plan spares fleet.yaml --target 'effective_training_ratio.p10 >= 0.9' --path spares.nodes\n  jobset-sim plan interval scenarios/published/llama3-405b.yaml\n  jobset-sim plan budget fleet.yaml --horizon 30d --probability 0.999"
    )]
    Plan(PlanArgs),
    /// Print the parameters in effect with sources, and how much a metric depends on them
    #[command(
        mut_arg("scenario", |_| run_or_scenario()),
        group = clap::ArgGroup::new("one_at_a_time").args(["ranges", "inputs"]).multiple(true),
        mut_arg("out", |a| a.requires("one_at_a_time").help(
            "Write summary.json, a table, charts and the inputs of --ranges or --input to this new directory"
        )),
        after_help = "Examples:\n  jobset-sim sensitivity scenarios/first-steps.yaml\n  jobset-sim sensitivity run-1 --metric restartLatency_s.max --seeds 20\n  jobset-sim sensitivity -f jobset.yaml -t topologies/small-16.yaml --parameters-only --format md\n  jobset-sim sensitivity scenarios/published/llama3-405b.yaml --ranges --out tornado\n  jobset-sim sensitivity scenario.yaml --input 'training.checkpoint.every=5m..1h' --input 'faultProcesses[0].mtbf=5d..60d'\n\nElasticities: each parameter is decreased and increased by a small factor, with common random numbers. --ranges and\n--input vary one input at a time over its whole range."
    )]
    Sensitivity(SensitivityArgs),
    /// Show the critical path of a restart, its bottlenecks, and what would have helped
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|SCENARIO").help("Run directory written by `run --out`, or scenario file")),
        after_help = "Examples:\n  jobset-sim why scenarios/restart-5000-recreate.yaml\n  jobset-sim why run-1 --restart 3\n  jobset-sim why -f jobset.yaml -t topologies/small-16.yaml --pod workers-0-1 --format json\n\nA run directory is simulated again from its inputs. Each what-if is a separate run: `run` with the same --set\ngives the same times."
    )]
    Why(WhyArgs),
    /// Report whether Kueue admits a JobSet now, or the smallest change that admits it
    #[command(
        after_help = "Examples:\n  jobset-sim admit -f queues.yaml -f jobset.yaml -t nodes.json\n  kubectl get clusterqueues,localqueues,resourceflavors,cohorts,topologies,workloads,workloadpriorityclasses -A -o yaml > kueue.yaml\n  kubectl get nodes,pods -A -o json > nodes.json\n  jobset-sim admit -f kueue.yaml -f jobset.yaml -t nodes.json --format json\n\nThe JobSets are submitted one after the other. Each change that is printed was tried and admits the JobSet.\n\nExit codes: 0 all JobSets are admitted and their pods fit; 2 invalid input; 4 a JobSet is not admitted or does not fit."
    )]
    Admit(AdmitArgs),
    /// Run the standard restart-latency suite and compare it with a baseline
    #[command(
        after_help = "Example: jobset-sim bench ttr --against reports/ttr-baseline.json --fail-if 'ttr > +2%' --junit ttr.xml"
    )]
    Bench(BenchArgs),
    /// Compare two runs, or a run and a recording: inputs, first diverging record, metrics
    #[command(
        after_help = "Examples:\n  jobset-sim diff run-1 run-2\n  jobset-sim diff before after --format json --fail-if 'diff.records > 0'\n  jobset-sim diff run-1 recordings/corner/c-02-two-fail-together-restart-jobset.json\n\nThe exit code is 0 whether or not the runs differ; a failed --fail-if sets it to 5. Names for --fail-if: diff.inputs and\ndiff.metrics (number of differences), diff.records (1 if the records differ)."
    )]
    Diff(DiffArgs),
    /// Write a report: self-contained HTML page, Markdown, Perfetto trace, OpenMetrics
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|COMPARE|SCENARIO|BENCH.json").help("Directory written by `run --out` or `compare --out`, scenario file, or result of `bench ttr`")),
        after_help = "Examples:\n  jobset-sim report run-1 --html report.html\n  jobset-sim report scenarios/restart-5000-recreate.yaml --html report.html --md report.md\n  jobset-sim report run-1 --perfetto run.pftrace --openmetrics run.om --scrape 5s\n\nA run directory is simulated again from its inputs. The HTML page needs no server and supports dark mode and printing.\nThe charts of the Markdown report are written to a directory next to it, named like the file plus .charts."
    )]
    Report(ReportArgs),
    /// Draw a chart of runs, comparisons or benchmarks as SVG or PNG
    #[command(
        after_help = "Examples:\n  jobset-sim plot waterfall run-1 --out waterfall.svg\n  jobset-sim plot waterfall scenario.yaml --restart 2 --size 1280x720 --out restart-2.png\n  jobset-sim plot restarts recreate.yaml in-place.yaml --out both.svg\n  jobset-sim plot scaling reports/ttr-baseline.json --case drain --out drain.svg"
    )]
    Plot(PlotArgs),
    /// Simulate record by record, with breakpoints and kubectl-style object descriptions
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|SCENARIO").help("Run directory written by `run --out`, or scenario file")),
        after_help = "Examples:\n  jobset-sim step -f jobset.yaml --fail workers-0-1:exit=1 --break jobset.condition=RestartingJobSet\n  printf 'continue\\ndescribe jobset train\\nwhy\\n' | jobset-sim step run-1 --break PodFinished\n\nCommands are read from standard input, one per line; `help` lists them. The exit code is 2 if standard input is not a\nterminal and a command is invalid."
    )]
    Step(StepArgs),
    /// Check manifests for errors the API server rejects and problems it accepts
    #[command(
        after_help = "Examples:\n  jobset-sim lint -f jobset.yaml -t topologies/small-16.yaml\n  jobset-sim lint -f manifests/ --fail-if 'lint.errors > 0' --format json\n  jobset-sim lint --update applied.yaml -f jobset.yaml\n\nExit codes: 0 accepted, with or without warnings; 2 rejected by the API server, or a finding of severity error;\n4 the cluster of -t cannot hold the pods; 5 --strict or --fail-if failed."
    )]
    Lint(LintArgs),
    /// Explain a term of the output or the inputs, or list the children of a manifest
    #[command(
        after_help = "Examples:\n  jobset-sim explain BackoffLimitExceeded\n  jobset-sim explain failurePolicy.rules.action\n  jobset-sim explain restarts.csv\n  jobset-sim explain --list --kind column\n  jobset-sim explain children -f jobset.yaml --format json\n\nAll explanations are built in; no network access is needed."
    )]
    Explain(ExplainArgs),
    /// List, show, check and import cluster topologies
    #[command(after_help = "Example: jobset-sim topology show topologies/tpu-5000.yaml")]
    Topology(TopologyArgs),
    /// Record a restart of a real cluster, import it, calibrate a preset, replay it
    #[command(
        after_help = "Examples:\n  jobset-sim recording commands -f jobset.yaml\n  jobset-sim recording import watch-*.json nodes.json --out incident.json\n  jobset-sim recording calibrate incident.json --metrics apiserver-metrics.txt --out my-cluster.yaml\n  jobset-sim recording replay incident.json --counterfactual strategy=BlockingRecreate"
    )]
    Recording(RecordingArgs),
    /// Compare simulated runs with recordings of a real control plane
    #[command(after_help = "Example: jobset-sim validate recordings/times/*.json --fail-if 'restart.error.p50 > 5%'")]
    Validate(ValidateArgs),
    /// Write a commented scenario for a manifest, with a matching cluster and a first fault
    #[command(
        after_help = "Examples:\n  jobset-sim new -f jobset.yaml > scenario.yaml && jobset-sim run scenario.yaml\n  jobset-sim new -f jobset.yaml -t nodes.yaml > scenario.yaml\n  kubectl get jobset train -o yaml | jobset-sim new -f - --out train\n  jobset-sim new --out first-steps\n\nWithout -t, the smallest shipped topology with the node types that the pods request is used, or the smallest cluster\nthat fits. Paths in the scenario are written as given: keep the file where it was created, or use --out."
    )]
    New(NewArgs),
    /// Compare Recreate with InPlaceRestart on 5,000 pods: two runs, one chart
    #[command(after_help = "Example: jobset-sim demo --out my-demo")]
    Demo(DemoArgs),
    /// Print the JSON Schema of a file format, or its reference page
    #[command(after_help = "Example: jobset-sim schema scenario > scenario.schema.json")]
    Schema(SchemaArgs),
    /// Print the completion script for a shell
    #[command(
        after_help = "Examples:\n  jobset-sim completions bash > /etc/bash_completion.d/jobset-sim\n  jobset-sim completions zsh > ~/.zfunc/_jobset-sim\n  jobset-sim completions fish > ~/.config/fish/completions/jobset-sim.fish"
    )]
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the manual pages of all commands
    #[command(after_help = "Examples:\n  jobset-sim man | man -l -\n  jobset-sim man --out man1")]
    Man {
        /// Write one page for each command to this new directory
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[cfg(test)]
#[path = "../../../tests/inside/program/cli/command_line.rs"]
mod tests;
