//! Bottleneck of a restart and of each of its spans: the wait with the largest share of the critical path.

use super::path::CriticalPath;
use super::restart::RestartMetrics;
use super::spans::RestartSpan;
use super::waits::{self, WaitKind};
use crate::metrics::admission::{self, WaitCause};
use crate::metrics::view::RunView;
use sim_api::spec::FaultAction;
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{LedgerResource, RUN_ENDED, TicketWait};
use std::collections::BTreeSet;

/// Minimum duration of a second bottleneck, in percent of the first one, to be reported as well.
const AS_LONG: u64 = 90;

/// Dominant wait of a span or a restart.
#[derive(Clone, Debug, PartialEq)]
pub struct RestartBottleneck {
    pub what: WaitKind,
    /// Description of the wait; shared resources with their capacity.
    pub name: String,
    /// Time spent on this wait along the path.
    pub time: Duration,
    /// `time` as a fraction of the whole span.
    pub share: f64,
}

impl RestartBottleneck {
    pub fn resource(&self) -> Option<LedgerResource> {
        match self.what {
            WaitKind::Shared(resource) => Some(resource),
            _ => None,
        }
    }

    /// Whether more speed or capacity would have helped; false for intended delays such as periods and grace times.
    pub fn is_bottleneck(&self) -> bool {
        matches!(self.what, WaitKind::Shared(_) | WaitKind::ApiServer)
    }

    /// Returns a one-line description, with the share of the phase unless it is 100 %.
    pub fn text(&self) -> String {
        let percent = (self.share * 100.0).round();
        if percent >= 100.0 {
            return self.name.clone();
        }
        match self.name.strip_suffix(')') {
            Some(name) => format!("{name}, {percent:.0} % of the phase)"),
            None => format!("{} ({percent:.0} % of the phase)", self.name),
        }
    }
}

/// A span with its bottleneck; `None` if no tickets were stored or the span took no time.
#[derive(Clone, Debug, PartialEq)]
pub struct BottleneckShare {
    pub span: RestartSpan,
    pub gate: Option<RestartBottleneck>,
}

pub fn span_bottlenecks(run: &RunView<'_>, restart: &RestartMetrics) -> Vec<BottleneckShare> {
    let gate = |span: RestartSpan| BottleneckShare {
        gate: sums(&restart.path, span.from, span.to)
            .first()
            .map(|sum| named(run, &PathOwner::new(restart, span.from, span.to), sum, span.duration())),
        span,
    };
    restart.spans().into_iter().map(gate).collect()
}

/// Returns the longest wait of a restart, and the second longest if it took at least 90 % as long.
pub fn restart_bottlenecks(run: &RunView<'_>, restart: &RestartMetrics) -> Vec<RestartBottleneck> {
    let sums = sums(&restart.path, restart.start, restart.end);
    let Some((_, most)) = sums.first() else {
        return Vec::new();
    };
    let long = |(_, time): &&(WaitKind, Duration)| time.0 >= most.0 / 100 * AS_LONG;
    let longest = sums.iter().take(2).filter(long);
    let owner = PathOwner::new(restart, restart.start, restart.end);
    longest.map(|sum| named(run, &owner, sum, restart.total())).collect()
}

/// Returns the time on the path between two instants by subject of the wait, longest first; ties by first occurrence.
pub fn sums(path: &CriticalPath, from: SimTime, to: SimTime) -> Vec<(WaitKind, Duration)> {
    let mut sums: Vec<(WaitKind, Duration)> = Vec::new();
    for step in &path.steps {
        let (what, time) = (WaitKind::from_step(step), step.clipped(from, to));
        match sums.iter_mut().find(|(known, _)| *known == what) {
            _ if time == Duration::ZERO => {}
            Some((_, sum)) => *sum = *sum + time,
            None => sums.push((what, time)),
        }
    }
    sums.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    sums
}

/// Returns the time on the path of a restart by description of the wait, without capacities, longest first.
pub fn waits(restart: &RestartMetrics) -> Vec<(String, Duration)> {
    let sums = sums(&restart.path, restart.start, restart.end);
    let name = |what: WaitKind| match what {
        WaitKind::Shared(resource) => resource.as_str().to_owned(),
        WaitKind::ApiServer => "API server latency".to_owned(),
        WaitKind::Mechanism(waited) => waits::with_pods(waits::plain(waited, 1), 1),
        WaitKind::Admission(Some(WaitCause::AdmissionChecks)) => "AdmissionChecks of the JobSet".to_owned(),
        WaitKind::Admission(Some(WaitCause::BackOff)) => "back-off of the JobSet after an eviction".to_owned(),
        WaitKind::Admission(Some(WaitCause::Deactivated)) => "deactivated Workload of the JobSet".to_owned(),
        WaitKind::Admission(Some(WaitCause::Quota)) => "admission of the JobSet".to_owned(),
        WaitKind::Admission(None) => "resumption of the JobSet".to_owned(),
        WaitKind::FailedIndexes => waits::FAILED_INDEXES.to_owned(),
        WaitKind::DeadEnd => "an event that never occurs".to_owned(),
    };
    sums.into_iter().map(|(what, time)| (name(what), time)).collect()
}

/// Returns the longest wait of any path, or `None` if the path is empty. `pods` is the number of pods that the path
/// starts.
pub fn longest(run: &RunView<'_>, path: &CriticalPath, jobset: JobSetId, pods: u32) -> Option<RestartBottleneck> {
    let (from, to) = (path.steps.first()?.from, path.steps.last()?.to);
    let sums = sums(path, from, to);
    Some(named(run, &PathOwner { jobset, pods, from, to }, sums.first()?, path.total()))
}

/// The JobSet and the time of a part of a path.
struct PathOwner {
    jobset: JobSetId,
    pods: u32,
    from: SimTime,
    to: SimTime,
}

impl PathOwner {
    fn new(restart: &RestartMetrics, from: SimTime, to: SimTime) -> PathOwner {
        PathOwner { jobset: restart.jobset, pods: restart.pods, from, to }
    }
}

fn named(
    run: &RunView<'_>, owner: &PathOwner, &(what, time): &(WaitKind, Duration), complete: Duration,
) -> RestartBottleneck {
    RestartBottleneck { what, name: name(run, owner, what), time, share: time.0 as f64 / (complete.0 as f64).max(1.0) }
}

fn name(run: &RunView<'_>, owner: &PathOwner, what: WaitKind) -> String {
    let pods = owner.pods;
    match what {
        WaitKind::Shared(resource) => match capacity(run, resource).filter(|c| !c.is_empty()) {
            Some(capacity) => format!("{} at {capacity}", resource.as_str()),
            None => resource.as_str().to_owned(),
        },
        WaitKind::ApiServer => "API server latency".to_owned(),
        WaitKind::Mechanism(TicketWait::ImagePull) => unpulled_image(run, Some(owner.jobset)),
        WaitKind::Mechanism(waited) => waits::with_pods(&waits::mechanism_text(waited, pods), pods),
        WaitKind::Admission(cause) => admission::awaited(run, owner.jobset, (owner.from, owner.to), cause),
        WaitKind::FailedIndexes => waits::FAILED_INDEXES.to_owned(),
        WaitKind::DeadEnd => {
            let jobset = run.names.jobset(owner.jobset);
            run.outcome.blocked_reason(jobset).unwrap_or(RUN_ENDED).to_owned()
        }
    }
}

/// Describes the wait for an image that cannot be pulled, with its name if only one image of the JobSet is affected.
pub(crate) fn unpulled_image(run: &RunView<'_>, jobset: Option<JobSetId>) -> String {
    let failures = run.scenario.faults.iter().filter_map(|fault| match &fault.action {
        FaultAction::FailImagePulls(failure) => Some(failure),
        _ => None,
    });
    let failures: Vec<_> = failures.collect();
    let jobset = jobset.and_then(|jobset| run.scenario.jobsets.get(jobset.ix()));
    let templates = jobset.into_iter().flat_map(|js| &js.jobset.spec.replicated_jobs).map(|rj| &rj.template.template);
    let containers = templates.flat_map(|pod| pod.spec.init_containers.iter().chain(&pod.spec.containers));
    let affected = containers.filter(|container| failures.iter().any(|failure| failure.affects(container)));
    let images: BTreeSet<&str> = affected.map(|container| container.image.as_str()).collect();
    let images: Vec<&str> = images.into_iter().collect();
    match images[..] {
        [image] => format!("image {image} cannot be pulled (ErrImagePull, ImagePullBackOff)"),
        _ => waits::plain(TicketWait::ImagePull, 1).to_owned(),
    }
}

/// Returns the capacity of a resource as text without its burst, such as `20 requests/s`.
pub(crate) fn capacity<'r>(run: &'r RunView<'_>, resource: LedgerResource) -> Option<&'r str> {
    let mut usages = run.outcome.resources.iter();
    let usage = usages.find(|u| u.resource == resource);
    usage.and_then(|u| u.capacity.split(',').next())
}

/// Returns the resources whose wait took at least a tenth of some restart, on its critical path.
pub fn bottlenecks(restarts: &[RestartMetrics]) -> Vec<LedgerResource> {
    let mut result = Vec::new();
    for restart in restarts {
        for (what, time) in sums(&restart.path, restart.start, restart.end) {
            if let WaitKind::Shared(resource) = what
                && time.0 >= restart.total().0 / 10
                && !result.contains(&resource)
            {
                result.push(resource);
            }
        }
    }
    result
}
