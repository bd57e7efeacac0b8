//! `recording commands`: prints the kubectl commands that record a restart, for `recording import`. Does not contact
//! a cluster.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::output;
use serde_json::json;
use sim_analysis::format::wrap;
use sim_recordings::observe::commands;
use sim_recordings::observe::commands::{CommandSubject, RecordedCommand};
use std::fmt::Write;

#[derive(Debug, clap::Args)]
pub struct CommandsArgs {
    /// Manifests with the JobSet: a file, a directory, or - for standard input
    #[arg(short = 'f', value_name = "FILE|DIR|-", conflicts_with_all = ["jobset", "namespace"], required_unless_present = "jobset")]
    pub manifests: Option<String>,
    /// Name of the JobSet, instead of a manifest
    #[arg(long, value_name = "NAME")]
    pub jobset: Option<String>,
    #[arg(short = 'n', long, value_name = "NAMESPACE", default_value = "default")]
    pub namespace: String,
    /// Output format; script prints a script for `sh`
    #[arg(long, value_enum, default_value_t = CommandsFormat::Text)]
    pub format: CommandsFormat,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CommandsFormat {
    Text,
    Json,
    Script,
}

pub fn cli(args: &CommandsArgs) -> Result<(), CommandFailure> {
    let subject = subject(args)?;
    let (watches, once) = (commands::watch_commands(&subject), commands::snapshot_commands(&subject));
    match args.format {
        CommandsFormat::Text => output::text(&text(&subject, &watches, &once)),
        CommandsFormat::Script => output::result(&commands::shell_script(&subject)),
        CommandsFormat::Json => output::json(&json!({
            "schema": "jobset-sim/recording-commands/v1", "jobset": subject.jobset, "namespace": subject.namespace,
            "watches": watches, "once": once,
        })),
    }
}

fn subject(args: &CommandsArgs) -> Result<CommandSubject, CommandFailure> {
    let named =
        |jobset: &str, namespace: &str| CommandSubject { jobset: jobset.to_owned(), namespace: namespace.to_owned() };
    let Some(path) = &args.manifests else {
        let name = args.jobset.as_deref().unwrap_or("");
        for (what, name) in [("--jobset", name), ("-n", args.namespace.as_str())] {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
            if name.is_empty() || name.len() > 253 || !name.chars().all(plain) {
                bail!("{what} {name:?}: expected at most 253 letters, digits, - and .");
            }
        }
        return Ok(named(name, &args.namespace));
    };
    let (read, _) = sim_inputs::read_manifest_path(path)?;
    let result: Vec<CommandSubject> =
        read.jobsets.iter().map(|(jobset, _)| named(&jobset.name, &jobset.namespace)).collect();
    match result.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(CommandFailure::Invalid(format!("{path}: the file contains no JobSet"))),
        many => {
            let names: Vec<&str> = many.iter().map(|s| s.jobset.as_str()).collect();
            bail!("{path}: contains {} JobSets ({}); select one with --jobset", many.len(), names.join(", "))
        }
    }
}

fn text(subject: &CommandSubject, watches: &[RecordedCommand], once: &[RecordedCommand]) -> String {
    let mut out = format!(
        "Record a restart of JobSet {} in namespace {}. The commands only read from the cluster.\n\n\
         Start before the restart, each in a separate shell (or all together: --format script). Stop them when all pods are ready again:\n",
        subject.jobset, subject.namespace
    );
    lines(&mut out, watches);
    let (after, save): (Vec<&RecordedCommand>, Vec<&RecordedCommand>) =
        once.iter().partition(|l| l.file == "after.yaml");
    out.push_str("\nRun once, at any time:\n");
    lines(&mut out, save);
    out.push_str("\nIf the restart is over and was not watched:\n");
    lines(&mut out, after);
    out.push_str(
        "\nThen run:\n  jobset-sim recording import watch-*.json nodes.json --out incident.json\n  jobset-sim validate incident.json\n  \
         jobset-sim recording calibrate incident.json --metrics apiserver-metrics.txt --out my-cluster.yaml\n\n\
         Use `recording import --anonymize` to remove names, images, nodes and labels.\n",
    );
    out
}

fn lines<'l>(out: &mut String, lines: impl IntoIterator<Item = &'l RecordedCommand>) {
    for line in lines {
        for part in wrap(line.what, 96) {
            let _ = writeln!(out, "  # {part}");
        }
        // A backslash continues a shell command on the next line.
        let _ = writeln!(out, "  {}", wrap(&line.command, 92).join(" \\\n    "));
    }
}
