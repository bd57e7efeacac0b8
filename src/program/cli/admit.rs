//! `admit`: whether Kueue admits JobSets now, with which flavors, and what would have to change.

use crate::cli::args::{FieldOverride, InputArgs, OutputFormat, path_value};
use crate::cli::{failure::CommandFailure, inputs::ExperimentInput, output};
use sim_analysis::admission::{
    AdmissionReport, JobSetVerdict, PlacedDomain, PodSetPlacement, WaitEstimate, WaitRequest, WorkloadRow,
    admission_report,
};
use sim_analysis::format::{count, percent, seconds, thousands};
use sim_base::Duration;
use sim_inputs::EXISTING_WORKLOADS;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Maximum number of domains, Workloads and reasons in the text output. The JSON output contains all.
const MAX_LISTED: usize = 8;

#[derive(Debug, clap::Args)]
pub struct AdmitArgs {
    /// JobSets, the objects of Kueue and existing Workloads: a file, a directory, or - for standard input (repeatable)
    #[arg(short = 'f', value_name = "FILE|DIR|-", required = true)]
    pub manifests: Vec<String>,
    /// Nodes of the cluster: a topology file, the output of `kubectl get nodes,pods -A -o json`, or the name of a
    /// shipped topology [default: nodes are not examined]
    #[arg(short = 't', value_name = "TOPOLOGY")]
    pub topology: Option<PathBuf>,
    /// Override a field of the JobSets, e.g. spec.replicatedJobs[0].replicas=8 (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = path_value)]
    pub sets: Vec<FieldOverride>,
    /// Estimate the wait of a JobSet that is not admitted: run time of every Workload from its admission, e.g. 4h or
    /// '{logNormal: {median: 4h, sigma: 1}}'
    #[arg(long, value_name = "DISTRIBUTION")]
    pub run_time: Option<String>,
    /// Number of replications of the estimate
    #[arg(long, value_name = "N", default_value_t = 200, requires = "run_time",
        value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub seeds: u64,
    /// Seed of the run times
    #[arg(long, default_value_t = 1, requires = "run_time")]
    pub seed: u64,
    /// Longest wait that is simulated
    #[arg(long, value_name = "TIME", default_value = "30d", requires = "run_time")]
    pub horizon: Duration,
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
}

/// Exit code if a JobSet is not admitted.
const NOT_ADMITTED: u8 = 4;

pub fn cli(args: &AdmitArgs) -> Result<u8, CommandFailure> {
    let input = InputArgs {
        scenario: None,
        manifests: args.manifests.clone(),
        topology: args.topology.clone(),
        sets: args.sets.clone(),
        fails: Vec::new(),
        seed: None,
        threads: None,
        level: None,
    };
    let loaded = ExperimentInput::read(&input)?.pods(&[], "admit")?;
    if let Some(note) = skipped_note(&loaded.skipped) {
        output::note(&note);
    }
    let wait = args.run_time.as_deref().map(|text| wait_request(args, text)).transpose()?;
    let mut report = admission_report(&loaded.scenario, args.topology.is_some(), wait.as_ref())?;
    report.not_modelled = loaded.not_modelled();
    report.not_modelled.retain(|note| !note.starts_with(EXISTING_WORKLOADS));
    match args.format {
        OutputFormat::Json => output::json(&report)?,
        OutputFormat::Text => output::text(&text(&report))?,
    }
    Ok(if report.admitted { 0 } else { NOT_ADMITTED })
}

/// Names the first objects that have no influence, and counts the others.
fn skipped_note(skipped: &[String]) -> Option<String> {
    let shown = skipped[..skipped.len().min(MAX_LISTED)].join(", ");
    let more = skipped.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    (!skipped.is_empty()).then(|| format!("not examined: {shown}{more}"))
}

fn wait_request(args: &AdmitArgs, text: &str) -> Result<WaitRequest, CommandFailure> {
    let run_time = sim_inputs::parse_distribution("--run-time", text)?;
    Ok(WaitRequest { run_time, replications: args.seeds, seed: args.seed, horizon: args.horizon })
}

fn text(report: &AdmissionReport) -> String {
    let mut out = String::new();
    for (at, verdict) in report.job_sets.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        write_verdict(&mut out, verdict);
    }
    for (at, note) in report.notes.iter().enumerate() {
        let _ = writeln!(out, "{}Note: {note}", if at == 0 { "\n" } else { "" });
    }
    if !report.not_modelled.is_empty() {
        let _ = writeln!(out, "\nNot modelled: {}", report.not_modelled.join(", "));
    }
    out
}

fn headline(verdict: &JobSetVerdict) -> String {
    let JobSetVerdict { name, cluster_queue, local_queue, .. } = verdict;
    let queue = match (cluster_queue.as_str(), local_queue.as_str()) {
        ("", "") => String::new(),
        ("", local) => format!(" in LocalQueue {local}"),
        (cluster, local) => format!(" in ClusterQueue {cluster} (LocalQueue {local})"),
    };
    match (verdict.verdict, verdict.cause) {
        ("Unmanaged", None) => format!("JobSet {name} is not managed by Kueue in these inputs and starts immediately"),
        ("Unmanaged", Some("suspended")) => {
            format!("JobSet {name} is not managed by Kueue in these inputs and does not start")
        }
        ("Unmanaged", Some(_)) => {
            let fit = placements_that_fit(verdict);
            format!("JobSet {name} is not managed by Kueue in these inputs; its pods {fit} on the nodes")
        }
        ("Finished", _) => format!("JobSet {name} has finished"),
        ("AlreadyAdmitted", _) => format!("JobSet {name} has quota already{queue}"),
        ("Admitted", None) => format!("JobSet {name} is admitted{queue}"),
        ("Admitted", Some("topology")) => {
            format!("JobSet {name} is admitted{queue}, but some of its pods get no topology domain: topology")
        }
        ("Admitted", Some(_)) => {
            let fit = placements_that_fit(verdict);
            format!("JobSet {name} is admitted{queue}, but its pods {fit}: node")
        }
        ("Preempted", _) => format!("JobSet {name} is admitted{queue} and then preempted"),
        ("ChecksPending", _) => format!("JobSet {name} gets quota{queue}, but waits for admission checks"),
        (_, cause) => {
            let cause = cause.unwrap_or("queue");
            match &verdict.nodes {
                Some(nodes) => format!(
                    "JobSet {name} is admitted{queue} in only {} of {} placements of other pods: {cause}",
                    nodes.fitting_draws, nodes.draws
                ),
                None => format!("JobSet {name} is not admitted{queue}: {cause}"),
            }
        }
    }
}

/// Returns whether the pods fit, or the number of placements in which they do.
fn placements_that_fit(verdict: &JobSetVerdict) -> String {
    let some = verdict.nodes.as_ref().filter(|nodes| nodes.fitting_draws > 0);
    some.map_or("do not fit".to_owned(), |nodes| {
        format!("fit in only {} of {} placements", nodes.fitting_draws, nodes.draws)
    })
}

fn write_verdict(out: &mut String, verdict: &JobSetVerdict) {
    let _ = writeln!(out, "{}", headline(verdict));
    if !verdict.starts() && !verdict.message.is_empty() {
        let reason = if verdict.reason.is_empty() { String::new() } else { format!("{}: ", verdict.reason) };
        let _ = writeln!(out, "  {reason}{}", verdict.message);
    }
    for pod_set in &verdict.pod_sets {
        write_pod_set(out, pod_set);
    }
    for borrowed in &verdict.borrowed {
        let (amount, resource, flavor) = (&borrowed.amount, &borrowed.resource, &borrowed.flavor);
        let _ = writeln!(out, "  borrows {amount} {resource} in flavor {flavor} from its cohort");
    }
    write_workloads(out, "preempts", &verdict.preempted);
    write_workloads(out, "admitted before it:", &verdict.admitted_first);
    if !verdict.starts() {
        write_workloads(out, "ahead of it in the queue:", &verdict.ahead);
        write_attempts(out, verdict);
    }
    if let Some(nodes) = &verdict.nodes {
        if nodes.fits {
            let _ = writeln!(out, "  nodes: all pods fit");
        }
        let title = match (verdict.verdict, verdict.cause) {
            ("Admitted", Some("topology")) => "topology",
            _ if nodes.fitting_draws > 0 => "nodes, in one of the other placements",
            _ => "nodes",
        };
        for blocked in nodes.blocked.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "  {title}: {blocked}");
        }
    }
    write_changes(out, verdict);
    if let Some(wait) = &verdict.wait {
        write_wait(out, wait);
    }
}

fn write_wait(out: &mut String, wait: &WaitEstimate) {
    let time =
        |value: Option<f64>| value.map_or("beyond the horizon".to_owned(), |s| seconds(Duration::from_seconds_f64(s)));
    let [low, high] = wait.p50_ci95;
    let (p10, p50, p90) = (time(wait.p10), time(wait.p50), time(wait.p90));
    let replications = count(wait.replications, "replication");
    let _ = writeln!(
        out,
        "  Wait for quota: median {p50} (95 % CI {} to {}), p10 {p10}, p90 {p90}; {replications}",
        time(low),
        time(high)
    );
    let [low, high] = wait.admitted_ci95.map(|share| percent(share, 1));
    let (share, horizon) = (percent(wait.admitted, 1), seconds(Duration::from_seconds_f64(wait.horizon)));
    let _ = writeln!(out, "  Admitted within {horizon}: {share} (95 % CI {low} to {high})");
    if wait.did_not_settle > 0 {
        let replications = count(wait.did_not_settle, "replication");
        let _ = writeln!(out, "  The queues did not settle in {replications}: Workloads preempted each other");
    }
}

fn write_pod_set(out: &mut String, pod_set: &PodSetPlacement) {
    let flavors: BTreeSet<&String> = pod_set.flavors.values().collect();
    let flavors: Vec<String> = flavors.into_iter().map(|flavor| with_resources(flavor, pod_set)).collect();
    let pods = count(u64::from(pod_set.count), "pod");
    let _ = writeln!(out, "  replicatedJob {}: {pods} in {}", pod_set.name, flavors.join(", "));
    if let Some(domains) = domains(&pod_set.domains) {
        let level = pod_set.levels.join(", ");
        let _ = writeln!(out, "    {level}: {domains}");
    }
}

fn with_resources(flavor: &str, pod_set: &PodSetPlacement) -> String {
    let of_flavor = pod_set.flavors.iter().filter(|(_, own)| *own == flavor);
    let resources: Vec<&str> = of_flavor.map(|(resource, _)| resource.as_str()).collect();
    format!("flavor {flavor} ({})", resources.join(", "))
}

fn domains(domains: &[PlacedDomain]) -> Option<String> {
    let name = |domain: &PlacedDomain| format!("{} ({})", domain.values.join("/"), domain.count);
    let shown: Vec<String> = domains.iter().take(MAX_LISTED).map(name).collect();
    let more = domains.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

fn write_workloads(out: &mut String, title: &str, workloads: &[WorkloadRow]) {
    for workload in workloads.iter().take(MAX_LISTED) {
        let WorkloadRow { namespace, name, local_queue, priority, reason } = workload;
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let _ = writeln!(
            out,
            "  {title} Workload {namespace}/{name} (LocalQueue {local_queue}, priority {priority}){reason}"
        );
    }
    let more = workloads.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        let _ = writeln!(out, "  {title} {} more", count(more as u64, "Workload"));
    }
}

/// Writes the reasons of the flavors that the message does not contain.
fn write_attempts(out: &mut String, verdict: &JobSetVerdict) {
    let reasons = verdict
        .attempts
        .iter()
        .flat_map(|attempt| attempt.reasons.iter().map(move |reason| format!("  flavor {}: {reason}", attempt.flavor)));
    let new =
        reasons.filter(|line| !line.rsplit_once(": ").is_some_and(|(_, reason)| verdict.message.contains(reason)));
    let distinct: BTreeSet<String> = new.collect();
    for line in distinct.into_iter().take(MAX_LISTED) {
        let _ = writeln!(out, "{line}");
    }
}

fn write_changes(out: &mut String, verdict: &JobSetVerdict) {
    let is_unplaced = ["Admitted", "Unmanaged"].contains(&verdict.verdict) && verdict.cause.is_some();
    if !["Pending", "Preempted"].contains(&verdict.verdict) && !is_unplaced || verdict.cause == Some("suspended") {
        return;
    }
    let pods = if verdict.cause == Some("topology") { "all its pods get a domain and fit" } else { "its pods fit" };
    let title = match (verdict.smallest_changes.len(), is_unplaced) {
        (0, false) => "No single change that was tried admits it.".to_owned(),
        (0, true) => format!("With no single change that was tried, {pods}."),
        (1, false) => "This change admits it:".to_owned(),
        (1, true) => format!("With this change, {pods}:"),
        (_, false) => "Each of these changes admits it:".to_owned(),
        (_, true) => format!("With each of these changes, {pods}:"),
    };
    let _ = writeln!(out, "  {title}");
    for remedy in &verdict.smallest_changes {
        let _ = writeln!(out, "    - {}", remedy.sentence());
    }
}
