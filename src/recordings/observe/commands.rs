//! Commands that record a restart on a real cluster: shell lines, each with its purpose.
//!
//! This module only generates text. It does not contact a cluster or run the commands.

use sim_api::spec::keys;

/// A shell command and its description.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RecordedCommand {
    pub what: &'static str,
    pub command: String,
    pub file: &'static str,
    pub watches: bool,
}

#[derive(Clone, Debug)]
pub struct CommandSubject {
    pub jobset: String,
    pub namespace: String,
}

const RESOURCE: &str = "jobsets.jobset.x-k8s.io";

/// Returns the watches that run until the restart is complete, in the order in which they must be started.
pub fn watch_commands(subject: &CommandSubject) -> Vec<RecordedCommand> {
    let ns = quote_for_shell(&subject.namespace);
    let label = quote_for_shell(&format!("{}={}", keys::JOBSET_NAME, subject.jobset));
    let name = quote_for_shell(&subject.jobset);
    let watch = |what, of: String, file: &'static str| RecordedCommand {
        what,
        command: format!("kubectl get {of} -n {ns} -w -o json --output-watch-events --show-managed-fields > {file}"),
        file,
        watches: true,
    };
    vec![
        watch(
            "status.restarts and conditions: when the restart was counted and when it completed",
            format!("{RESOURCE} {name}"),
            "watch-jobsets.json",
        ),
        watch(
            "Jobs of each attempt: when they failed, were marked for deletion, were removed and were recreated",
            format!("jobs -l {label}"),
            "watch-jobs.json",
        ),
        watch(
            "lifecycle of each pod: created, bound, ready, failed, deleted, removed; the only source of container start \
             and stop times",
            format!("pods -l {label}"),
            "watch-pods.json",
        ),
        watch(
            "Events: their names contain timestamps in nanoseconds, while objects have only whole seconds",
            "events".to_owned(),
            "watch-events.json",
        ),
        RecordedCommand {
            what: "nodes: labels and capacities, and faults (unreachable, drained, tainted, deleted), which are replayed",
            command: "kubectl get nodes -w -o json --output-watch-events > watch-nodes.json".to_owned(),
            file: "watch-nodes.json",
            watches: true,
        },
    ]
}

/// Returns the commands that save a file once. They can be run at any time.
pub fn snapshot_commands(subject: &CommandSubject) -> Vec<RecordedCommand> {
    let ns = quote_for_shell(&subject.namespace);
    let one = |what, command: String, file: &'static str| RecordedCommand { what, command, file, watches: false };
    vec![
        one(
            "labels, taints and capacities of nodes, which determine placement; needed only if nodes are not watched",
            "kubectl get nodes -o json > nodes.json".to_owned(),
            "nodes.json",
        ),
        one(
            "latency of the API server by kind of request (apiserver_request_duration_seconds), for `recording calibrate`; \
             best saved both before and after the restart",
            "kubectl get --raw /metrics > apiserver-metrics.txt".to_owned(),
            "apiserver-metrics.txt",
        ),
        one(
            "time that requests wait for the client's rate limit (rest_client_rate_limiter_duration_seconds); requires access to the \
             controller's pod and port 10257",
            "kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-controller-manager-NODE:10257/proxy/metrics \
             > kcm-metrics.txt"
                .to_owned(),
            "kcm-metrics.txt",
        ),
        one(
            "the same for the scheduler, port 10259",
            "kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-scheduler-NODE:10259/proxy/metrics \
             > scheduler-metrics.txt"
                .to_owned(),
            "scheduler-metrics.txt",
        ),
        one(
            "if nothing was watched, after the restart: the objects that still exist, and Events of the last hour",
            format!("kubectl get {RESOURCE},jobs,pods,events -n {ns} -o yaml > after.yaml"),
            "after.yaml",
        ),
    ]
}

/// Returns a script for `sh` that saves the nodes and runs the watches in the background until it is interrupted.
pub fn shell_script(subject: &CommandSubject) -> String {
    let mut out = String::from(
        "#!/bin/sh\n# Records a JobSet restart in the directory given as the first argument (default: current directory). Read-only. Stop it with Ctrl-C.\n\
         set -eu\nmkdir -p \"${1:-.}\"\ncd \"${1:-.}\"\n",
    );
    for line in snapshot_commands(subject).iter().filter(|l| l.file == "nodes.json") {
        out.push_str(&format!("# {}\n{}\n", line.what, line.command));
    }
    for line in watch_commands(subject) {
        out.push_str(&format!("# {}\n{} &\n", line.what, line.command));
    }
    out.push_str("trap 'kill $(jobs -p) 2>/dev/null' INT TERM EXIT\nwait\n");
    out
}

/// Quotes a word for the shell if necessary.
fn quote_for_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
