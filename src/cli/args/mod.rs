//! The command line, as clap reads it. Every subcommand's help ends with an example.

mod explain;
mod inputs;
mod look;
mod planning;
mod run;
mod sweep;

pub use explain::*;
pub use inputs::*;
pub use look::*;
pub use planning::*;
pub use run::*;
pub use sweep::*;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Simulates Kubernetes JobSets on accelerator clusters: what happens, how long each restart takes, and why.
#[derive(Debug, Parser)]
#[command(
    name = "jobset-sim",
    version,
    arg_required_else_help = true,
    after_help = "Example: jobset-sim demo\n\nExit codes: 0 done; 1 internal error; 2 wrong usage or invalid input;\n3 nothing meets the target of a search; 4 cannot be placed;\n5 a --fail-if gate failed; 130 ended by a signal. A JobSet that fails in the simulation is a result: exit 0."
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
    /// Search the least that meets a target
    #[command(
        after_help = "Example: jobset-sim search spares fleet.yaml --target 'effective_training_ratio.p10 >= 0.9' --path spares.nodes"
    )]
    Search(SearchArgs),
    /// Say how long maxRestarts lasts, who uses it up, and what a rule that ignores maintenance buys
    #[command(
        after_help = "Examples:\n  jobset-sim budget scenarios/stories/restart-budget.yaml --seeds 50\n  jobset-sim budget fleet.yaml --until-day 30 --survive 0.999 --ignore planned --out budget\n\nRuns are played without a limit: what each would have used by any day tells of every limit at once."
    )]
    Budget(BudgetArgs),
    /// Play a scenario at many points of its fields, on all cores or in shards; an unfinished sweep goes on
    #[command(
        after_help = "Examples:\n  jobset-sim sweep scenario.yaml --grid 'parameters.spares=0,2,4,8' --grid 'parameters.interval=5m,10m,20m' --seeds 100 --out result\n  jobset-sim sweep scenario.yaml --lhs 64 --range 'parameters.interval=5m..2h:log' --until 'goodput ±1%'\n  jobset-sim sweep scenario.yaml --shard 2/8 --out shards/2\n  jobset-sim sweep merge shards/* --out result\n\nPaths are those of `run --set`. Axes may stand in the `experiment` of the file. All points have the same random\nnumbers."
    )]
    Sweep(Box<SweepArgs>),
    /// Say at which value of an unknown one choice overtakes another
    #[command(
        after_help = "Examples:\n  jobset-sim breakeven scenario.yaml --b 'in place: strategy=InPlaceRestart' --over 'training.checkpoint.every=2m..2h'\n  jobset-sim breakeven fleet.yaml --a 'none: spares.nodes=0' --b 'eight: spares.nodes=8' --over 'parameters.repair=1h..48h'\n\nThat one of them is better in the whole range is an answer, too."
    )]
    Breakeven(BreakEvenArgs),
    /// Say how often a run loses too much, or uses up its restarts, down to one in a million and less
    #[command(
        after_help = "Examples:\n  jobset-sim rare scenarios/published/bloom-176b.yaml --until-day 30 --restarts 20\n  jobset-sim rare fleet.yaml --lost 10d --seeds 60 --out rare\n  jobset-sim rare scenario.yaml --level collapsed --lost 5d\n\nRuns that have come part of the way are played on several times (splitting), so nothing has to happen by itself."
    )]
    Rare(RareArgs),
    /// Say which input moves an answer most, each over its published range
    #[command(
        after_help = "Examples:\n  jobset-sim tornado scenarios/published/llama3-405b.yaml --out tornado\n  jobset-sim tornado scenario.yaml --metric goodput --input 'training.checkpoint.every=5m..1h' --input 'faultProcesses[0].mtbf=5d..60d'\n\nWithout --input: the fields of the file that have a range with a source in the program."
    )]
    Tornado(TornadoArgs),
    /// Say why a restart took as long as it did, or why something never comes; and what would have helped
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|SCENARIO").help("A run directory that `run --out` wrote, or a scenario file")),
        after_help = "Examples:\n  jobset-sim why scenarios/restart-5000-recreate.yaml\n  jobset-sim why run-1 --restart 3\n  jobset-sim why -f jobset.yaml -t topologies/small-16.yaml --pod workers-0-1 --format json\n\nA run directory is played again from its inputs. Each what-if is a run of its own: `run` with the same --set\ngives the same seconds."
    )]
    Why(WhyArgs),
    /// Play a run record by record: breakpoints, and any object as kubectl describe would show it
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|SCENARIO").help("A run directory that `run --out` wrote, or a scenario file")),
        after_help = "Examples:\n  jobset-sim step -f jobset.yaml --fail workers-0-1:exit=1 --break jobset.condition=RestartingJobSet\n  printf 'continue\\ndescribe jobset train\\nwhy\\n' | jobset-sim step run-1 --break PodFinished\n\nCommands come from standard input, one a line; help lists them. Exit code 2 if one of a pipe is wrong."
    )]
    Step(StepArgs),
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
    /// Write a report of a run: one HTML page that needs no network, Markdown, a Perfetto trace, OpenMetrics
    #[command(
        mut_arg("scenario", |a| a.value_name("RUN|COMPARE|SCENARIO|BENCH.json").help("A directory that `run --out` or `compare --out` wrote, a scenario file, or a result of `bench ttr`")),
        after_help = "Examples:\n  jobset-sim report run-1 --html report.html\n  jobset-sim report scenarios/restart-5000-recreate.yaml --html report.html --md report.md\n  jobset-sim report run-1 --perfetto run.pftrace --openmetrics run.om --scrape 5s\n\nA run directory is played again from its inputs. The page opens from disk, is light or dark, and prints; the charts of\nthe Markdown go into a directory beside it, named like it with .charts at the end."
    )]
    Report(super::report::ReportArgs),
    /// Draw one chart of runs, comparisons or benchmarks, as SVG or PNG
    #[command(
        after_help = "Examples:\n  jobset-sim plot waterfall run-1 --out waterfall.svg\n  jobset-sim plot waterfall scenario.yaml --restart 2 --size 1280x720 --out restart-2.png\n  jobset-sim plot restarts recreate.yaml in-place.yaml --out both.svg\n  jobset-sim plot scaling reports/ttr-baseline.json --case drain --out drain.svg"
    )]
    Plot(super::plot::PlotArgs),
    /// Compare Recreate with InPlaceRestart on 5,000 pods: two runs, one picture
    #[command(after_help = "Example: jobset-sim demo --out my-demo")]
    Demo(DemoArgs),
    /// Compare simulated runs with recordings of a real control plane
    #[command(
        after_help = "Example: jobset-sim validate recordings/times/*.json --fail-if 'restart.error.p50 > 5%'"
    )]
    Validate(super::validate::ValidateArgs),
    /// Print the lines to run against a cluster, so that a restart can be read afterwards
    #[command(
        after_help = "Examples:\n  jobset-sim record -f jobset.yaml\n  jobset-sim record --jobset train -n research --format script > record.sh\n\nIt needs no cluster itself, and what it prints only reads. `import` reads what the lines write."
    )]
    Record(super::record::RecordArgs),
    /// Make a recording of what kubectl printed of a real restart
    #[command(
        after_help = "Examples:\n  jobset-sim import watch-*.json nodes.json --out incident.json\n  jobset-sim import after.yaml --anonymize --out incident.json\n\n`record` says what to save. Milestones that the files do not hold are named as unknown."
    )]
    Import(super::import::ImportArgs),
    /// Play an incident as it was and with a change: what if it had met another strategy
    #[command(
        after_help = "Examples:\n  jobset-sim replay incident.json --counterfactual strategy=BlockingRecreate\n  jobset-sim replay run-1 --counterfactual spec.failurePolicy.maxRestarts=9\n  jobset-sim replay incident.json --counterfactual controlPlane.kubeControllerManager.qps=200\n\nBoth meet the same faults and the same random numbers, so the difference is that of the change alone."
    )]
    Replay(super::counterfactual::ReplayArgs),
    /// Find client rates, latencies and start-up times in recordings and metrics, as a preset file
    #[command(
        after_help = "Examples:\n  jobset-sim calibrate incident.json --metrics apiserver-metrics.txt --out my-cluster.yaml\n  jobset-sim calibrate incident-*.json --format json\n\nEvery value has an interval. What the data cannot tell apart, and what they do not show, is said and not guessed."
    )]
    Calibrate(super::calibrate::CalibrateArgs),
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
    /// Write a commented scenario for a manifest, with a cluster that fits and a first fault; nothing is asked
    #[command(
        after_help = "Examples:\n  jobset-sim new -f jobset.yaml > scenario.yaml && jobset-sim run scenario.yaml\n  jobset-sim new -f jobset.yaml -t nodes.yaml > scenario.yaml\n  kubectl get jobset train -o yaml | jobset-sim new -f - --out train\n  jobset-sim new --out first-steps\n\nWithout -t it takes the smallest shipped topology that has the nodes that the pods name, or makes a cluster that is\njust large enough. Paths in the scenario are as they are given: keep it where it was made, or use --out."
    )]
    New(NewArgs),
    /// List every default that a run uses, with its source, and which of them the result hangs on
    #[command(
        mut_arg("scenario", |_| run_or_scenario()),
        after_help = "Examples:\n  jobset-sim assumptions scenarios/first-steps.yaml\n  jobset-sim assumptions run-1 --metric restartLatency_s.max --seeds 20\n  jobset-sim assumptions -f jobset.yaml -t topologies/small-16.yaml --values --format md\n\nEach value is played a little smaller and a little larger under the same random numbers. What is listed first\ndeserves to be measured first."
    )]
    Assumptions(AssumptionsArgs),
    /// Say what a word means that the program prints or reads; or what would be made of a manifest
    #[command(
        after_help = "Examples:\n  jobset-sim explain BackoffLimitExceeded\n  jobset-sim explain failurePolicy.rules.action\n  jobset-sim explain restarts.csv\n  jobset-sim explain --list --kind column\n  jobset-sim explain children -f jobset.yaml --format json\n\nNothing is looked up outside of the program."
    )]
    Explain(ExplainArgs),
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

    /// The pages that list commands, and nothing that was cut out of one.
    const PAGES: [&str; 2] = [
        include_str!("../../../README.md"),
        include_str!("../../../docs/stories-design-review.md"),
    ];

    #[test]
    fn commands_that_pages_list_can_be_typed() {
        let mut read = 0;
        for span in PAGES.iter().flat_map(|page| page.split('`')) {
            let command = span.rsplit("| ").next().unwrap_or(span);
            let command = command.split(" >").next().unwrap_or(command);
            if !command.starts_with("jobset-sim ") || command.contains(['\n', '…']) {
                continue;
            }
            let words = crate::cli::replay::words(command);
            if let Err(refused) = Cli::try_parse_from(&words) {
                panic!("{command}: {refused}");
            }
            read += 1;
        }
        assert!(read > 20, "{read}");
    }
}
