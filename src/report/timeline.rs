//! The timeline of a run: lanes of stacked counts over time, for the interactive page and for static charts.
//!
//! The counts come from `metrics::occupancy` and `metrics::queued`.

use super::console::main_events;
use super::draw::colors::occupancy_color;
use super::draw::scene::{BACKGROUND_COLOR, PALETTE, Rgb};
use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::occupancy::{NodeOccupancy, OccupancyCounts, OccupancyState};
use sim_analysis::metrics::queue_lengths::QueuedWork;
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_analysis::metrics::restarts::{bottleneck, restart};
use sim_analysis::metrics::{RestartMetrics, RunView};
use sim_api::spec::FaultAction;
use sim_base::{Duration, JobId, SimTime};
use sim_engine::record::{LedgerResource, ResourceUsage};
use std::collections::BTreeSet;

/// Number of sampled instants for the whole run, and for each highlighted restart.
const RUN_INSTANTS: u64 = 500;
const RESTART_INSTANTS: u64 = 500;
/// Maximum number of highlighted restarts.
pub const MAX_HIGHLIGHTED: usize = 3;
/// Maximum number of lanes. With more Jobs, consecutive Jobs share a lane.
const LANES: usize = 24;

/// Lanes on a common time axis.
#[derive(Clone, Debug)]
pub struct TimelineChart {
    pub moments: Vec<SimTime>,
    /// Selectable time windows; the first one is shown initially.
    pub windows: Vec<ViewWindow>,
    pub marks: Vec<TimelineMark>,
    pub groups: Vec<LaneGroup>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ViewWindow {
    pub name: String,
    pub from: SimTime,
    pub to: SimTime,
}

#[derive(Clone, Debug)]
pub struct TimelineMark {
    pub at: SimTime,
    pub kind: MarkKind,
}

/// Kind of a mark, which determines how its line is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    Fault,
    /// A node returns, is created again or is uncordoned.
    NodeReturn,
    /// A user suspends, resumes, changes or deletes an object, or cordons a node.
    UserAction,
    /// The end of a restart.
    Ready,
}

impl MarkKind {
    pub const ALL: [MarkKind; 4] = [Self::Fault, Self::NodeReturn, Self::UserAction, Self::Ready];

    /// Returns the name of one mark.
    pub fn as_str(self) -> &'static str {
        match self {
            MarkKind::Fault => "fault",
            MarkKind::NodeReturn => "node returns",
            MarkKind::UserAction => "user action",
            MarkKind::Ready => "all ready",
        }
    }

    /// Returns the kind of a scripted or random action.
    fn of_action(action: &FaultAction) -> MarkKind {
        use FaultAction::{
            CordonNode, DeleteJobSet, NewNode, Request, ResumeJobSet, ReturnNode, SuspendJobSet, UncordonNode,
        };
        match action {
            ReturnNode(_) | NewNode(_) | UncordonNode(_) => MarkKind::NodeReturn,
            SuspendJobSet(_) | ResumeJobSet(_) | DeleteJobSet(_) | CordonNode(_) | Request(_) => MarkKind::UserAction,
            _ => MarkKind::Fault,
        }
    }
}

#[derive(Clone, Debug)]
pub struct LaneGroup {
    pub name: &'static str,
    pub title: &'static str,
    pub legend: Vec<(Rgb, &'static str)>,
    pub lanes: Vec<TimelineLane>,
}

#[derive(Clone, Debug)]
pub struct TimelineLane {
    pub label: String,
    /// Meaning of the full height of the lane.
    pub note: String,
    /// The time on the critical path; empty if there is none.
    pub critical: String,
    pub full_height: u32,
    /// Unit of the heights, after a space; empty for numbers.
    pub unit: &'static str,
    /// Layers from bottom to top: a color, and (index of the instant, value) pairs at each change.
    pub layers: Vec<(Rgb, Vec<(u32, u32)>)>,
}

impl LaneGroup {
    /// Returns the legend entries with a color in the chart, as `is_drawn` finds. Entries in white have no color.
    pub(crate) fn legend_of(&self, is_drawn: impl Fn(&[(u32, u32)]) -> bool) -> Vec<(Rgb, &'static str)> {
        let is_used = |color: Rgb| {
            let mut layers = self.lanes.iter().flat_map(|lane| &lane.layers).filter(|(own, _)| *own == color);
            color == BACKGROUND_COLOR || layers.any(|(_, changes)| is_drawn(changes))
        };
        self.legend.iter().filter(|(color, _)| is_used(*color)).copied().collect()
    }
}

/// Pod states in stacking order from bottom to top.
const STACKING_ORDER: [OccupancyState; OccupancyState::COUNT] = [
    OccupancyState::Ready,
    OccupancyState::Starting,
    OccupancyState::Pending,
    OccupancyState::Down,
    OccupancyState::Ending,
    OccupancyState::Failed,
    OccupancyState::Succeeded,
];

/// Returns the longest restarts in chronological order, with their indices.
pub fn highlighted_restarts<'r>(run: &RunView<'r>) -> Vec<(usize, &'r RestartMetrics)> {
    let mut all: Vec<(usize, &RestartMetrics)> = run.restarts().iter().enumerate().collect();
    all.sort_by_key(|(_, r)| std::cmp::Reverse(r.total()));
    all.truncate(MAX_HIGHLIGHTED);
    all.sort_by_key(|(i, _)| *i);
    all
}

/// Returns the time window of a restart with a margin of 1/12 of its duration, at least 0.5 s.
fn restart_window(run: &RunView<'_>, r: &RestartMetrics) -> (SimTime, SimTime) {
    let air = Duration((r.total().0 / 12).max(500_000_000));
    let from = SimTime(r.start.0.saturating_sub(air.0));
    (from, (r.end + air).min(run.outcome.end))
}

/// Returns the sampled instants, with additional ones around the highlighted restarts and in the window.
pub fn moments(run: &RunView<'_>, window: Option<(SimTime, SimTime)>) -> Vec<SimTime> {
    let mut all = Vec::new();
    let mut add = |from: SimTime, to: SimTime, n: u64| {
        let span = to.since(from).0;
        all.extend((0..=n).map(|i| from + Duration((u128::from(span) * u128::from(i) / u128::from(n)) as u64)));
    };
    add(SimTime::ZERO, run.outcome.end, RUN_INSTANTS);
    let restarts = highlighted_restarts(run).into_iter().map(|(_, r)| restart_window(run, r));
    for (from, to) in restarts.chain(window) {
        add(from, to, RESTART_INSTANTS);
    }
    all.sort();
    all.dedup();
    all
}

pub fn timeline(
    run: &RunView<'_>, pods: &NodeOccupancy, queued: &QueuedWork, window: Option<(SimTime, SimTime)>,
) -> TimelineChart {
    let complete = ViewWindow { name: "whole run".to_owned(), from: SimTime::ZERO, to: run.outcome.end };
    let close = highlighted_restarts(run).into_iter().map(|(i, r)| {
        let (from, to) = restart_window(run, r);
        let name = format!("restart {}", i + 1);
        ViewWindow { name, from, to }
    });
    let mut windows: Vec<ViewWindow> = close.collect();
    let first = restart::longest(run.restarts()).map(|i| format!("restart {}", i + 1));
    if let Some(at) = windows.iter().position(|w| Some(&w.name) == first.as_ref()) {
        let first = windows.remove(at);
        windows.insert(0, first);
    }
    windows.push(complete);
    if let Some((from, to)) = window {
        windows.insert(0, ViewWindow { name: window_name(from, to), from, to });
    }
    let moments = moments(run, window);
    let groups = [pod_lanes(run, pods), queue_lanes(run, queued), busy_share_lanes(run, &moments)];
    TimelineChart {
        moments,
        windows,
        marks: marks(run, window),
        groups: groups.into_iter().filter(|g| !g.lanes.is_empty()).collect(),
    }
}

/// In each view, marks of one kind are drawn once per this fraction of its time.
const MARKS: u128 = 120;

/// Returns the marks of the run or of a window, as densely as a view of it and of the highlighted restarts can show.
pub(crate) fn marks(run: &RunView<'_>, window: Option<(SimTime, SimTime)>) -> Vec<TimelineMark> {
    let kind = |index: u32| {
        run.scenario.faults.get(index as usize).map_or(MarkKind::Fault, |fault| MarkKind::of_action(&fault.action))
    };
    let faults = main_events::faults(run).into_iter().map(|(at, index)| TimelineMark { at, kind: kind(index) });
    let mut faults: Vec<TimelineMark> = faults.collect();
    // A long run keeps its first records only; the faults behind its restarts are known.
    let known: BTreeSet<SimTime> = faults.iter().map(|mark| mark.at).collect();
    let later = run.restarts().iter().map(|r| r.start).filter(|at| !known.contains(at));
    faults.extend(later.map(|at| TimelineMark { at, kind: MarkKind::Fault }));
    let ready = run.restarts().iter().filter(|r| r.latency().is_some());
    let ready = ready.map(|r| TimelineMark { at: r.end, kind: MarkKind::Ready });
    let mut all: Vec<TimelineMark> = faults.into_iter().chain(ready).collect();
    all.retain(|mark| window.is_none_or(|(from, to)| (from..=to).contains(&mark.at)));
    all.sort_by_key(|m| m.at);
    let views: Vec<(SimTime, SimTime)> = std::iter::once(window.unwrap_or((SimTime::ZERO, run.outcome.end)))
        .chain(highlighted_restarts(run).into_iter().map(|(_, r)| restart_window(run, r)))
        .collect();
    let mut drawn = BTreeSet::new();
    all.retain(|mark| {
        let mut is_new = false;
        for (view, (from, to)) in views.iter().enumerate().filter(|(_, (from, to))| (*from..=*to).contains(&mark.at)) {
            let place = u128::from(mark.at.since(*from).0) * MARKS / u128::from(to.since(*from).0.max(1));
            is_new |= drawn.insert((view, mark.kind, place));
        }
        is_new
    });
    all
}

fn pod_lanes(run: &RunView<'_>, pods: &NodeOccupancy) -> LaneGroup {
    let jobs: Vec<JobId> = (0..run.names.jobs.len() as u32).map(JobId).collect();
    let mut jobs: Vec<JobId> = jobs.into_iter().filter(|j| !pods.job_counts(*j).is_empty()).collect();
    // The Jobs of a lane are named by the first and the last one.
    jobs.sort_by_cached_key(|job| natural(run.names.job(*job)));
    let size = jobs.len().div_ceil(LANES).max(1);
    let lane = |jobs: &[JobId]| {
        let changes = added(jobs.iter().map(|j| pods.job_counts(*j)));
        let full = changes.iter().map(|(_, c)| c.iter().sum::<u32>()).max();
        let layers = STACKING_ORDER.iter().map(|state| {
            let own = changes.iter().map(|(at, c)| (*at, c[*state as usize]));
            (occupancy_color(*state), own.collect::<Vec<_>>())
        });
        let (first, last) = (run.names.job(jobs[0]), run.names.job(jobs[jobs.len() - 1]));
        let pods = count(u64::from(full.unwrap_or(0)), "pod");
        TimelineLane {
            label: match jobs.len() {
                1 => first.to_owned(),
                _ => name_range(first, last),
            },
            note: match jobs.len() {
                1 => pods,
                n => format!("{}, {pods}", count(n as u64, "Job")),
            },
            critical: String::new(),
            full_height: full.unwrap_or(1).max(1),
            unit: "",
            layers: layers.collect(),
        }
    };
    let is_seen = |state: &OccupancyState| {
        let mut changes = jobs.iter().flat_map(|job| pods.job_counts(*job));
        changes.any(|(_, counts)| counts[*state as usize] > 0)
    };
    let mut legend: Vec<(Rgb, &'static str)> =
        STACKING_ORDER.into_iter().filter(is_seen).map(|s| (occupancy_color(s), s.as_str())).collect();
    legend.push((BACKGROUND_COLOR, "white: no pod exists"));
    LaneGroup { name: "gantt", title: "Pods per Job by state", legend, lanes: jobs.chunks(size).map(lane).collect() }
}

/// Returns a key that orders names with numbers: each number counts by its value.
fn natural(name: &str) -> Vec<(String, u64)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
        let (digits, after) = after.split_at(after.find(|c| !is_digit(c)).unwrap_or(after.len()));
        parts.push((word.to_owned(), digits.parse().unwrap_or(0)));
        rest = after;
    }
    parts
}

/// Returns the name of a time window.
pub(crate) fn window_name(from: SimTime, to: SimTime) -> String {
    let time = |at: SimTime| match at.since(SimTime::ZERO) {
        Duration::ZERO => "0 s".to_owned(),
        at => seconds(at),
    };
    format!("{} to {}", time(from), time(to))
}

/// Returns the names of the first and the last of several objects: `train-workers-0 to 10`. Elements that both names
/// share are not repeated.
pub(crate) fn name_range(first: &str, last: &str) -> String {
    let shared = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let own = last.as_bytes()[..shared].iter().rposition(|byte| *byte == b'-').map_or(0, |at| at + 1);
    format!("{first} to {}", &last[own..])
}

/// Adds up the counts of several Jobs.
fn added<'a>(lanes: impl Iterator<Item = &'a [(u32, OccupancyCounts)]>) -> Vec<(u32, OccupancyCounts)> {
    let lanes: Vec<&[(u32, OccupancyCounts)]> = lanes.collect();
    if let [one] = lanes.as_slice() {
        return one.to_vec();
    }
    let mut steps: Vec<(u32, [i64; OccupancyState::COUNT])> = Vec::new();
    for lane in lanes {
        let mut before = [0; OccupancyState::COUNT];
        for (at, counts) in lane {
            let step = std::array::from_fn(|i| i64::from(counts[i]) - i64::from(before[i]));
            steps.push((*at, step));
            before = *counts;
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    let mut all: Vec<(u32, OccupancyCounts)> = Vec::new();
    let mut now = [0i64; OccupancyState::COUNT];
    for (at, step) in steps {
        now = std::array::from_fn(|i| now[i] + step[i]);
        let counts = now.map(|n| u32::try_from(n).unwrap_or(0));
        match all.last_mut() {
            Some((last, kept)) if *last == at => *kept = counts,
            _ => all.push((at, counts)),
        }
    }
    all
}

fn queue_lanes(run: &RunView<'_>, queued: &QueuedWork) -> LaneGroup {
    let critical = critical_waits(run);
    let lane = |u: &ResourceUsage| {
        let waiting = queued.queue_lengths(u.resource);
        let full = waiting.iter().map(|(_, n)| *n).max().unwrap_or(0);
        (full > 0).then(|| TimelineLane {
            label: u.resource.as_str().to_owned(),
            note: format!("at most {} queued", thousands(u64::from(full))),
            critical: critical_text(&critical, u.resource),
            full_height: full,
            unit: "",
            layers: vec![(resource_color(&critical, u.resource), waiting)],
        })
    };
    let all = run.outcome.resources.iter();
    LaneGroup {
        name: "queues",
        title: "Control plane: queue length",
        legend: LEGEND.to_vec(),
        lanes: all.filter_map(lane).collect(),
    }
}

/// Returns the lanes of the share of time with a non-empty queue, in percent, between consecutive instants.
fn busy_share_lanes(run: &RunView<'_>, moments: &[SimTime]) -> LaneGroup {
    let critical = critical_waits(run);
    let lane = |u: &ResourceUsage| {
        let mut shares: Vec<(u32, u32)> = Vec::new();
        for (at, part) in moments.windows(2).enumerate() {
            let complete = part[1].since(part[0]).0.max(1);
            let busy = u.busy_within(part[0], part[1]).0;
            let share = (busy * 100).div_ceil(complete) as u32;
            if shares.last().map_or(0, |(_, last)| *last) != share {
                shares.push((at as u32, share));
            }
        }
        (!shares.is_empty()).then(|| TimelineLane {
            label: u.resource.as_str().to_owned(),
            note: u.capacity.clone(),
            critical: critical_text(&critical, u.resource),
            full_height: 100,
            unit: " %",
            layers: vec![(resource_color(&critical, u.resource), shares)],
        })
    };
    let all = run.outcome.resources.iter().filter(|u| u.requests > 0);
    LaneGroup {
        name: "utilization",
        title: "Control plane: share of time with a non-empty queue",
        legend: LEGEND.to_vec(),
        lanes: all.filter_map(lane).collect(),
    }
}

const LEGEND: [(Rgb, &str); 2] =
    [(PALETTE[1], "on the critical path"), (PALETTE[2], "off the critical path, or less than 50 ms on it")];

/// Shorter waits on a critical path are not marked, as in a waterfall.
const SHORTEST_CRITICAL: Duration = Duration::from_millis(50);

/// A shared resource and its longest time on the critical path of one restart.
type CriticalWait = (LedgerResource, Duration);

/// Returns the resources on the critical path of any restart.
fn critical_waits(run: &RunView<'_>) -> Vec<CriticalWait> {
    let mut waits: Vec<CriticalWait> = Vec::new();
    for restart in run.restarts() {
        for (what, time) in bottleneck::sums(&restart.path, restart.start, restart.end) {
            let WaitKind::Shared(resource) = what else { continue };
            if time < SHORTEST_CRITICAL {
                continue;
            }
            match waits.iter_mut().find(|(known, _)| *known == resource) {
                Some((_, longest)) => *longest = time.max(*longest),
                None => waits.push((resource, time)),
            }
        }
    }
    waits
}

fn critical_wait(waits: &[CriticalWait], resource: LedgerResource) -> Option<Duration> {
    waits.iter().find(|(known, _)| *known == resource).map(|(_, time)| *time)
}

fn resource_color(waits: &[CriticalWait], resource: LedgerResource) -> Rgb {
    if critical_wait(waits, resource).is_some() { LEGEND[0].0 } else { LEGEND[1].0 }
}

/// Describes the time on the critical path; empty if there is none.
fn critical_text(waits: &[CriticalWait], resource: LedgerResource) -> String {
    critical_wait(waits, resource).map_or(String::new(), |time| format!("{} on the critical path", seconds(time)))
}

pub fn alternative_text(timeline: &TimelineChart) -> String {
    let lanes: usize = timeline.groups.iter().map(|g| g.lanes.len()).sum();
    let window = &timeline.windows[0];
    format!(
        "{} over time; {} starting at {}: {}",
        count(lanes as u64, "lane"),
        seconds(window.to.since(window.from)),
        window.from,
        window.name
    )
}
