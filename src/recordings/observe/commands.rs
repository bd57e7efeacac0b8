//! Commands that record a restart on a real cluster: shell lines, each with its purpose.
//!
//! This module only generates text. It does not contact a cluster or run the commands.

use sim_api::spec::keys;

/// A shell command and its description.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    pub what: &'static str,
    pub command: String,
    /// The file that the command writes.
    pub file: &'static str,
    pub watches: bool,
}

/// The JobSet to record.
#[derive(Clone, Debug)]
pub struct Subject {
    pub jobset: String,
    pub namespace: String,
}

const RESOURCE: &str = "jobsets.jobset.x-k8s.io";

/// Returns the watches that run until the restart is complete, in the order in which they must be started.
pub fn watches(subject: &Subject) -> Vec<Line> {
    let ns = quoted(&subject.namespace);
    let label = quoted(&format!("{}={}", keys::JOBSET_NAME, subject.jobset));
    let name = quoted(&subject.jobset);
    let watch = |what, of: String, file: &'static str| Line {
        what,
        command: format!(
            "kubectl get {of} -n {ns} -w -o json --output-watch-events --show-managed-fields > {file}"
        ),
        file,
        watches: true,
    };
    vec![
        watch(
            "status.restarts and conditions: when the restart was counted, and when it was over",
            format!("{RESOURCE} {name}"),
            "watch-jobsets.json",
        ),
        watch(
            "each attempt's Jobs: when they failed, were deleted, were gone, and came again",
            format!("jobs -l {label}"),
            "watch-jobs.json",
        ),
        watch(
            "each pod's way: created, bound, ready, failed, deleted, gone; nothing else shows how long containers take to start \
             and to stop",
            format!("pods -l {label}"),
            "watch-pods.json",
        ),
        watch(
            "Events carry nanoseconds in their names, where objects have whole seconds only",
            "events".to_owned(),
            "watch-events.json",
        ),
        Line {
            what: "nodes that fall silent, are drained, tainted, deleted: such faults are played again; also labels and sizes",
            command: "kubectl get nodes -w -o json --output-watch-events > watch-nodes.json"
                .to_owned(),
            file: "watch-nodes.json",
            watches: true,
        },
    ]
}

/// Returns the commands that save a file once. They can be run at any time.
pub fn once(subject: &Subject) -> Vec<Line> {
    let ns = quoted(&subject.namespace);
    let one = |what, command: String, file: &'static str| Line {
        what,
        command,
        file,
        watches: false,
    };
    vec![
        one(
            "labels, taints and sizes of nodes, if they are not watched: where pods may go",
            "kubectl get nodes -o json > nodes.json".to_owned(),
            "nodes.json",
        ),
        one(
            "how long the API server takes for each kind of request (apiserver_request_duration_seconds), for `recording calibrate`; \
             before and after the restart is best",
            "kubectl get --raw /metrics > apiserver-metrics.txt".to_owned(),
            "apiserver-metrics.txt",
        ),
        one(
            "how long clients wait for their own rate limit (rest_client_rate_limiter_duration_seconds); needs access to the \
             controller's pod, and port 10257",
            "kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-controller-manager-NODE:10257/proxy/metrics \
             > kcm-metrics.txt"
                .to_owned(),
            "kcm-metrics.txt",
        ),
        one(
            "the same of the scheduler, port 10259",
            "kubectl get --raw /api/v1/namespaces/kube-system/pods/https:kube-scheduler-NODE:10259/proxy/metrics \
             > scheduler-metrics.txt"
                .to_owned(),
            "scheduler-metrics.txt",
        ),
        one(
            "after the fact, when nothing was watched: holds what still exists, and Events of the last hour",
            format!("kubectl get {RESOURCE},jobs,pods,events -n {ns} -o yaml > after.yaml"),
            "after.yaml",
        ),
    ]
}

/// Returns a script for `sh` that saves the nodes and runs the watches in the background until it is interrupted.
pub fn shell(subject: &Subject) -> String {
    let mut out = String::from(
        "#!/bin/sh\n# Writes what a restart shows into the directory that is named, or here. Reads only. End it with Ctrl-C.\n\
         set -eu\nmkdir -p \"${1:-.}\"\ncd \"${1:-.}\"\n",
    );
    for line in once(subject).iter().filter(|l| l.file == "nodes.json") {
        out.push_str(&format!("# {}\n{}\n", line.what, line.command));
    }
    for line in watches(subject) {
        out.push_str(&format!("# {}\n{} &\n", line.what, line.command));
    }
    out.push_str("trap 'kill $(jobs -p) 2>/dev/null' INT TERM EXIT\nwait\n");
    out
}

/// Quotes a word for the shell if necessary.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
