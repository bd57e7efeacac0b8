//! Generates a first scenario for given JobSets, with a comment for each part.
//!
//! The generated file can be run immediately. This module must not access files.

use super::scenario::pod_names::places;
use super::text::print::yaml;
use super::topology::written;
use sim_api::spec::{JobSet, ReplicatedJob, ScenarioSpec};
use sim_base::Duration;
use std::fmt::Write;

/// Input of the generated scenario.
pub struct ScenarioDraft<'d> {
    /// The JobSets on their cluster, as simulated by `run -f`.
    pub scenario: &'d ScenarioSpec,
    /// Paths of the manifests as written in the scenario.
    pub manifests: &'d [String],
    /// Name or path of the topology. If `None`, the topology is written into the scenario.
    pub topology: Option<&'d str>,
    /// Explanation of the choice of topology.
    pub because: &'d str,
    /// The container exit that the scenario injects.
    pub exit: Option<&'d ExampleExit>,
}

/// A container exit as an example of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleExit {
    /// Index of the JobSet in the scenario.
    pub jobset: usize,
    pub pod: String,
    pub exit_code: i32,
}

/// Exit codes in the order in which they are tried: an error of the program, killed for lack of memory, terminated
/// (as on preemption), and the code that xpk's examples use for retries.
const EXIT_CODES: [i32; 4] = [1, 137, 143, 42];

/// Returns container exits that may lead to a restart: with each code, the last pod of the first Job of each
/// replicatedJob.
pub fn example_exits(scenario: &ScenarioSpec) -> Vec<ExampleExit> {
    let mut all = Vec::new();
    for exit_code in EXIT_CODES {
        for (jobset, submitted) in scenario.jobsets.iter().enumerate() {
            let rjs = submitted.jobset.spec.replicated_jobs.iter().filter(|rj| runs(rj));
            all.extend(rjs.map(|rj| ExampleExit { jobset, pod: last_pod(&submitted.jobset, rj), exit_code }));
        }
    }
    all
}

/// Returns the text of the scenario file.
pub fn scenario(draft: &ScenarioDraft<'_>) -> String {
    let mut out = head(draft);
    cluster(&mut out, draft);
    out.push_str(CONTROL_PLANE);
    jobsets(&mut out, draft);
    containers(&mut out, draft);
    faults(&mut out, draft);
    out.push_str(TAIL);
    out
}

fn head(draft: &ScenarioDraft<'_>) -> String {
    format!(
        "# A first scenario. It runs unchanged; adapt the values that differ from your cluster.
#
#   jobset-sim run scenario.yaml            simulate: what happens, and how long the restart takes
#   jobset-sim why scenario.yaml            explain what each restart waited for, and what would shorten it
#   jobset-sim sensitivity scenario.yaml    rank the values that the result depends on: measure those first
#   jobset-sim compare scenario.yaml --strategies all
#
# `jobset-sim schema scenario --format md` lists every field, `jobset-sim explain controlPlane.preset` explains one.
apiVersion: jobset-sim/v1alpha1
kind: Scenario
metadata:
  name: {}
",
        quoted(&draft.scenario.name)
    )
}

fn cluster(out: &mut String, draft: &ScenarioDraft<'_>) {
    let _ = writeln!(
        out,
        "\n# The cluster: {}.
# `jobset-sim topology list` lists others. You can also use the output of `kubectl get nodes -o yaml` from your cluster.",
        draft.because
    );
    match draft.topology {
        Some(name) => {
            let _ = writeln!(out, "topology: {}", quoted(name));
        }
        None => {
            out.push_str("topology:\n");
            for line in yaml(&written(&draft.scenario.topology)).lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
}

const CONTROL_PLANE: &str = "
# The control plane preset: stock has the Kubernetes defaults, scale-test the rates of upstream's 5,000-node tests, kops
# those of the kOps release tests. Set the rates of a managed control plane with kubeControllerManager: {qps: 50}.
controlPlane:
  preset: scale-test
  kubernetes: \"1.36\"
";

fn jobsets(out: &mut String, draft: &ScenarioDraft<'_>) {
    out.push_str("\n# The submitted JobSets: unmodified manifests, as passed to kubectl apply.\njobSets:\n");
    for manifest in draft.manifests {
        let _ = writeln!(out, "  - manifest: {}", quoted(manifest));
    }
}

fn containers(out: &mut String, draft: &ScenarioDraft<'_>) {
    let read = draft.scenario.containers.iter();
    let from_command = read.filter(|rule| rule.from_command.is_some()).count();
    out.push_str(
        "\n# Container behavior; the first rule that matches applies. For a training job, describe the training instead:
# training: {work: 20h, step: 6s, checkpoint: {every: 15m, blocking: 10s, restore: 2m}}
",
    );
    if from_command > 0 {
        out.push_str("# Containers whose command only sleeps need no rule: they run for the duration of the sleep.\n");
    }
    let mut rules = String::new();
    let several = draft.scenario.jobsets.len() > 1;
    for submitted in &draft.scenario.jobsets {
        let jobset = &submitted.jobset;
        for rj in jobset.spec.replicated_jobs.iter().filter(|rj| runs(rj)) {
            let mut all = draft.scenario.containers.iter();
            if all.any(|rule| rule.from_command.is_some() && rule.may_apply_to(jobset, rj)) {
                continue;
            }
            let of = if several { format!("jobSet: {}, ", quoted(&jobset.name)) } else { String::new() };
            let _ = writeln!(rules, "  - {{{of}replicatedJob: {}, runFor: 1h}}", quoted(&rj.name));
        }
    }
    if rules.is_empty() {
        out.push_str("containers: []\n")
    } else {
        let _ = write!(out, "containers:\n{rules}");
    }
}

fn runs(rj: &ReplicatedJob) -> bool {
    rj.replicas > 0 && rj.template.pods() > 0
}

fn faults(out: &mut String, draft: &ScenarioDraft<'_>) {
    out.push_str("\n# Scripted faults. To fail a host instead of a program, use crashNode: {ofPod: POD}; see the schema for other faults.\n");
    let jobsets = draft.scenario.jobsets.iter().map(|s| &s.jobset);
    let mut all = String::new();
    for jobset in jobsets.clone().filter(|j| j.spec.suspend) {
        let name = quoted(&jobset.name);
        let _ = writeln!(
            all,
            "  # The JobSet is submitted suspended, as for Kueue. Kueue is not simulated, so this action resumes the JobSet.
  - at: 1s\n    resumeJobSet: {{name: {name}}}"
        );
    }
    let jobset = draft.exit.and_then(|exit| jobsets.clone().nth(exit.jobset));
    if let Some((exit, jobset)) = draft.exit.zip(jobset) {
        if jobset.spec.failure_policy.is_none() {
            let _ = writeln!(
                all,
                "  # {} has no failurePolicy: one failed Job fails the JobSet. Try --set 'spec.failurePolicy={{maxRestarts: 3}}'",
                jobset.name
            );
        }
        let _ = writeln!(
            all,
            "  - afterReady: {}\n    containerExit: {{pod: {}, exitCode: {}}}",
            while_it_runs(draft.scenario),
            quoted(&exit.pod),
            exit.exit_code
        );
    }
    if all.is_empty() {
        out.push_str("faults: []\n")
    } else {
        let _ = write!(out, "faults:\n{all}");
    }
    out.push_str(
        "# Random faults at published rates: faultProcesses: [{preset: llama3-405b}]
# (`jobset-sim explain llama3-405b`); then `run --seeds 100`.
",
    );
}

/// Returns the time of the example fault after readiness: 10 minutes, or half the shortest container run time if
/// that is less.
fn while_it_runs(scenario: &ScenarioSpec) -> Duration {
    let runs = scenario.containers.iter().filter_map(|rule| rule.run_for);
    let half = runs.min().map(|shortest| Duration(shortest.0 / 2));
    half.unwrap_or(AFTER_READY).min(AFTER_READY)
}

const AFTER_READY: Duration = Duration::from_secs(600);

/// Returns the last pod of the first Job of a replicatedJob.
fn last_pod(jobset: &JobSet, rj: &ReplicatedJob) -> String {
    let last = places(&rj.template).max(1) - 1;
    format!("{}-{}-0-{last}", jobset.name, rj.name)
}

const TAIL: &str = "
# The run ends when every JobSet has finished, and after 24 h at the latest.
stop:
  at: 24h
  when: AllJobSetsFinished

# The same seed gives a byte-identical run.
seed: 1
";

/// Formats a text as a YAML scalar, with quotes if it could be read as another type.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let letter = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.' || c == '/');
    let word = !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text);
    if letter && word && text.chars().all(plain) && text.parse::<f64>().is_err() {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}
