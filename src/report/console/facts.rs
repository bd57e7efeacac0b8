//! Descriptions of the inputs of a run and of its restarts, one sentence each.

use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::summary::LatencySummary;
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_api::spec::{ClientRate, JobSet};
use sim_base::Duration;

/// Returns the name and size of the cluster.
pub fn describe_cluster(run: &RunView<'_>) -> String {
    let topology = &run.scenario.topology;
    let accelerators = match run.outcome.ledger.accelerators {
        0 => String::new(),
        n => format!(", {}", count(n, "accelerator")),
    };
    let accelerators = match topology.accelerators() {
        (_, 0) => accelerators,
        (_, held) => format!("{accelerators}; other pods hold {} more", thousands(held)),
    };
    let nodes = count(topology.nodes(), "node");
    let composition = match topology.composition() {
        Some(text) => format!(" ({text})"),
        None => String::new(),
    };
    format!("{}: {nodes}{accelerators}{composition}", topology.name)
}

/// Returns the preset, version and client rates of the control plane.
pub fn describe_control_plane(run: &RunView<'_>) -> String {
    let cp = &run.scenario.control_plane;
    let rate = |r: &ClientRate| format!("{} requests/s", r.qps);
    format!(
        "{}: Kubernetes {}.{}; kube-controller-manager {} per controller, kube-scheduler {}, JobSet manager {}",
        cp.preset,
        cp.kubernetes.major,
        cp.kubernetes.minor,
        rate(&cp.kube_controller_manager),
        rate(&cp.kube_scheduler),
        rate(&cp.jobset_manager)
    )
}

/// Returns the seed and the digest.
pub fn describe_seed(run: &RunView<'_>) -> String {
    format!("{} (digest {})", run.seed, run.digest())
}

/// Returns the name, size and restart strategy of a JobSet.
pub fn describe_jobset(jobset: &JobSet) -> String {
    let jobs = jobset.spec.replicated_jobs.iter();
    let (jobs, pods) = (jobs.map(|rj| u64::from(rj.replicas)).sum(), jobset.spec.pods());
    let policy = match &jobset.spec.failure_policy {
        Some(p) => format!("{}, maxRestarts {}", p.restart_strategy.as_str(), p.max_restarts),
        None => "no failurePolicy".to_owned(),
    };
    format!("{}: {} with {}; {policy}", jobset.name, count(jobs, "Job"), count(pods, "pod"))
}

/// Returns the quantiles of the latency of restarts that ended with all pods ready; `None` if there are none.
pub fn latency_quantiles(all: &[RestartMetrics]) -> Option<String> {
    let latency = LatencySummary::from_durations(all.iter().filter_map(|r| r.latency()));
    let (p50, p95, max) = (latency.p50?, latency.p95?, latency.max?);
    let s = |v| seconds(Duration::from_seconds_f64(v));
    Some(format!(
        "{} (time until all pods are ready again): p50 {}, p95 {}, max {}",
        count(latency.count as u64, "restart"),
        s(p50),
        s(p95),
        s(max)
    ))
}
