//! Critical path as text: for each step the activity, what it waited for, and the governing rule.
//!
//! Only adds text: all times are those of the path.

use super::blockers::RestartBlocker;
use super::bottleneck;
use super::path::{CriticalPath, PathPart, PathStep};
use super::restart::RestartMetrics;
use super::spans::RestartSpan;
use super::waits::{self, WaitKind};
use crate::{format, metrics::admission, metrics::view::RunView};
use sim_api::spec::{FaultAction, ScriptedFault};
use sim_base::{Duration, SimTime};
use sim_engine::record::{LedgerResource, RUN_ENDED, TicketSubject, TicketWait};

/// One step of a critical path, or the part of it within one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalSpan {
    pub step: PathStep,
    /// Phase of the restart that contains the step; empty if the path does not belong to a restart.
    pub phase: &'static str,
    /// Activity during the step.
    pub what: String,
    /// What the step waited for: a token of a rate limiter, a queue, a period or a node.
    pub waited_for: String,
    /// Id of the rule behind the wait; empty if there is none.
    pub rule: &'static str,
}

/// Describes the steps of a path. `restart` is the restart that the path belongs to, if any; its steps are divided
/// where the phase changes, so that the times per phase equal those of [`RestartMetrics::phases`].
pub fn spans(
    run: &RunView<'_>, witness: &RestartBlocker, path: &CriticalPath, restart: Option<&RestartMetrics>,
) -> Vec<CriticalSpan> {
    let phases = restart.map(RestartMetrics::spans).unwrap_or_default();
    let pods = restart.map_or(1, |r| r.pods);
    let mut spans = Vec::with_capacity(path.steps.len());
    for whole in &path.steps {
        let what = describe_step(run, witness, whole);
        let waited_for = waited_for(run, witness, whole, pods);
        let part = |(step, phase)| CriticalSpan {
            step,
            phase,
            what: what.clone(),
            waited_for: waited_for.clone(),
            rule: waits::rule_of(whole),
        };
        spans.extend(divide(whole, &phases).into_iter().map(part));
    }
    spans
}

/// Divides a step at the times when the phase changes.
fn divide(step: &PathStep, phases: &[RestartSpan]) -> Vec<(PathStep, &'static str)> {
    let mut parts: Vec<(PathStep, &'static str)> = Vec::new();
    for span in phases {
        let (from, to) = (step.from.max(span.from), step.to.min(span.to));
        let phase = span.phase().as_str();
        match parts.last_mut() {
            _ if from >= to => {}
            Some((part, known)) if *known == phase => part.to = to,
            _ => parts.push((PathStep { from, to, ..*step }, phase)),
        }
    }
    if parts.is_empty() { vec![(*step, "")] } else { parts }
}

/// Returns the object that a step is about, with its kind and name.
fn subject(run: &RunView<'_>, witness: &RestartBlocker, step: &PathStep) -> String {
    let names = run.names;
    match step.about {
        TicketSubject::Nothing => "no specific object".to_owned(),
        TicketSubject::JobSet(jobset) => format!("JobSet {}", names.jobset(jobset)),
        TicketSubject::Job(job) => format!("Job {}", names.job(job)),
        TicketSubject::Node(node) => format!("node {}", names.node(node)),
        TicketSubject::Pod(pod) => match witness.pod_at(pod, step.from) {
            Some((job, index)) => format!("pod {}", names.pod_base_name(job, index)),
            None => "a pod".to_owned(),
        },
    }
}

fn describe_step(run: &RunView<'_>, witness: &RestartBlocker, step: &PathStep) -> String {
    let of = subject(run, witness, step);
    match (step.part, step.waited) {
        (PathPart::Open, _) => format!("no further event for {of}"),
        (PathPart::FailedIndexes, _) => format!("a failed index of {of} is not replaced"),
        (PathPart::Admission(_), _) => format!("{of} is suspended"),
        (_, TicketWait::SilentNode) if matches!(step.about, TicketSubject::Node(_)) => format!("{of} is unresponsive"),
        (_, TicketWait::Request(call)) => format!("{}, {of}", call.text()),
        (_, waited) => waits::doing(waited).replace("{of}", &of),
    }
}

fn waited_for(run: &RunView<'_>, witness: &RestartBlocker, step: &PathStep, pods: u32) -> String {
    match WaitKind::from_step(step) {
        WaitKind::Shared(resource) => describe_shared_wait(run, step, resource),
        WaitKind::ApiServer => "the API server's response".to_owned(),
        WaitKind::Admission(cause) => match step.about {
            TicketSubject::JobSet(jobset) => admission::awaited(run, jobset, (step.from, step.to), cause),
            _ => "admission".to_owned(),
        },
        WaitKind::FailedIndexes => waits::FAILED_INDEXES.to_owned(),
        WaitKind::DeadEnd => match step.about {
            TicketSubject::JobSet(jobset) => {
                let name = run.names.jobset(jobset);
                run.outcome.blocked_reason(name).unwrap_or(RUN_ENDED).to_owned()
            }
            _ => RUN_ENDED.to_owned(),
        },
        WaitKind::Mechanism(TicketWait::NodeMonitor) => {
            let grace = run.scenario.control_plane.node_monitor_grace_period_s;
            format!("node monitor grace period of {grace} s, checked every 5 s")
        }
        WaitKind::Mechanism(TicketWait::JobBatch) => {
            let period = run.scenario.timing.job_sync_batch_period;
            format!("the Job controller's batch period of {period}")
        }
        WaitKind::Mechanism(TicketWait::Unschedulable) => describe_capacity_wait(run, witness, step),
        WaitKind::Mechanism(TicketWait::ImagePull) => {
            bottleneck::unpulled_image(run, witness.jobset_of(step.about, step.from, run.names))
        }
        WaitKind::Mechanism(waited) => waits::with_pods(waits::plain(waited, pods), pods),
    }
}

/// Describes the wait for capacity: the nodes that were not ready meanwhile, and the action that ended the wait.
fn describe_capacity_wait(run: &RunView<'_>, witness: &RestartBlocker, step: &PathStep) -> String {
    const MAX_NODES: usize = 3;
    let mut text = waits::plain(TicketWait::Unschedulable, 1).to_owned();
    // Those in the middle of the wait: others were lost shortly before its end.
    let nodes = witness.absent_at(step.from + Duration(step.duration().0 / 2));
    if !nodes.is_empty() {
        let names: Vec<&str> = nodes.iter().take(MAX_NODES).map(|node| run.names.node(*node)).collect();
        text.push_str(&format!("; not ready meanwhile: {}", names.join(", ")));
        if nodes.len() > MAX_NODES {
            text.push_str(&format!(" and {} more", nodes.len() - MAX_NODES));
        }
    }
    let within = |(_, at): &&(u32, SimTime)| step.from < *at && *at <= step.to;
    let fired = || witness.fired.iter().rev().filter(within);
    let fault = |(index, at): &(u32, SimTime)| Some((run.scenario.faults.get(*index as usize)?, *at));
    let own = witness.jobset_of(step.about, step.from, run.names);
    let releasing = witness.releasing_jobset(step.to, own).or_else(|| witness.releasing_jobset(step.to, None));
    let releasing = releasing.map(|jobset| run.names.jobset(jobset));
    let helps = |(fault, _): &(&ScriptedFault, SimTime)| {
        gives_capacity(&fault.action) && releasing.is_none_or(|jobset| ends_pods_of(&fault.action, jobset))
    };
    // Without an action that gives capacity, another fault that restarts the JobSet has ended the wait.
    let ended = || fired().filter_map(fault).find(|(_, at)| *at == step.to);
    if let Some((fault, _)) = fired().filter_map(fault).find(helps) {
        text.push_str(&format!("; until {}", format::scripted(fault)));
    } else if let Some(jobset) = releasing {
        text.push_str(&format!("; until pods of JobSet {jobset} release their nodes"));
    } else if let Some((fault, _)) = ended() {
        text.push_str(&format!("; until another fault restarts the JobSet ({})", format::scripted(fault)));
    }
    text
}

/// Whether an action may let a node fit: it returns a node, makes it schedulable, or removes pods that hold one.
fn gives_capacity(action: &FaultAction) -> bool {
    use FaultAction::*;
    matches!(
        action,
        ReturnNode(_)
            | NewNode(_)
            | UncordonNode(_)
            | DeletePod { .. }
            | EvictPod { .. }
            | ContainerExit { .. }
            | SuspendJobSet(_)
            | DeleteJobSet(_)
            | Request(_)
    )
}

/// Whether an action on a JobSet or on one of its pods may end pods of the JobSet. Actions on nodes may as well.
fn ends_pods_of(action: &FaultAction, jobset: &str) -> bool {
    use FaultAction::*;
    let is_own = |name: &str| {
        let rest = name.strip_prefix(jobset);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    match action {
        DeletePod { pod, .. } | EvictPod { pod } | ContainerExit { pod, .. } => is_own(pod),
        SuspendJobSet(name) | DeleteJobSet(name) => is_own(name),
        Request(request) => is_own(&request.object.name),
        _ => false,
    }
}

/// Describes the wait for a shared resource: by the position of the token at rate limiters, by the capacity otherwise.
fn describe_shared_wait(run: &RunView<'_>, step: &PathStep, resource: LedgerResource) -> String {
    let name = resource.as_str();
    let capacity = bottleneck::capacity(run, resource).unwrap_or_default();
    let rate = capacity.strip_suffix(" requests/s");
    let rate = rate.and_then(|rate| rate.parse::<f64>().ok());
    match (step.part, rate) {
        (PathPart::Token, Some(rate)) => {
            // Tokens arrive at a constant rate, so the duration gives the number of tokens up to this request.
            let place = (step.duration().seconds() * rate).ceil().max(1.0) as u64;
            let place = waits::thousands(place);
            format!("token {place} in the queue of the {name} ({capacity})")
        }
        _ if capacity.is_empty() => name.to_owned(),
        _ => format!("a free slot: {name} ({capacity})"),
    }
}

/// Spans that are printed as one entry.
pub struct RequestGroup<'w> {
    pub spans: Vec<&'w CriticalSpan>,
    /// Longest of the long spans; `None` if all spans are short.
    pub long: Option<&'w CriticalSpan>,
}

impl<'w> RequestGroup<'w> {
    fn new(spans: Vec<&'w CriticalSpan>) -> RequestGroup<'w> {
        RequestGroup { spans, long: None }
    }

    /// Whether a span belongs to the group: it has the phase of its longest span and waits for the same thing.
    fn accepts(&self, span: &CriticalSpan) -> bool {
        let same = |long: &CriticalSpan| {
            long.phase == span.phase && WaitKind::from_step(&long.step) == WaitKind::from_step(&span.step)
        };
        self.long.is_some_and(same)
    }

    pub fn time(&self) -> Duration {
        Duration(self.spans.iter().map(|s| s.step.duration().0).sum())
    }
}

/// Groups spans of one phase: a long span with following ones of the same wait, including short spans in between; other
/// short spans form separate groups.
pub fn groups(spans: &[CriticalSpan], total: Duration) -> Vec<RequestGroup<'_>> {
    let (mut all, mut short): (Vec<RequestGroup<'_>>, Vec<&CriticalSpan>) = (Vec::new(), Vec::new());
    for span in spans {
        if short.last().is_some_and(|s| s.phase != span.phase) {
            all.push(RequestGroup::new(std::mem::take(&mut short)));
        }
        if !counts(span.step.duration(), total) {
            short.push(span);
            continue;
        }
        if !all.last().is_some_and(|g| g.accepts(span)) {
            all.push(RequestGroup::new(std::mem::take(&mut short)));
            all.push(RequestGroup::new(Vec::new()));
        }
        if let Some(group) = all.last_mut() {
            group.spans.append(&mut short);
            group.spans.push(span);
            let longer = |long: &CriticalSpan| long.step.duration() < span.step.duration();
            if group.long.is_none_or(longer) {
                group.long = Some(span);
            }
        }
    }
    all.push(RequestGroup::new(short));
    all.retain(|group| !group.spans.is_empty());
    all
}

/// Whether a span is long enough for a separate entry: at least 5 % of the total, or 50 ms and 0.5 % of it.
pub fn counts(time: Duration, total: Duration) -> bool {
    let long = time >= Duration::from_millis(50) && time.0.saturating_mul(200) >= total.0;
    long || time.0.saturating_mul(20) >= total.0
}
