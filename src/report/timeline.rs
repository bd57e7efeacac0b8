//! The timeline of a run: lanes of stacked counts over time, for the interactive page and for static charts.
//!
//! The counts come from `metrics::occupancy` and `metrics::queued`.

use super::console::story;
use super::draw::scene::*;
use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::occupancy::{Counts, Occupancy, PodState};
use sim_analysis::metrics::queued::Queued;
use sim_analysis::metrics::restarts::{gate, restart};
use sim_analysis::metrics::{Restart, RunView};
use sim_base::*;
use sim_engine::record::{Resource, ResourceUsage};

/// Number of sampled instants for the whole run, and for each highlighted restart.
const WHOLE: u64 = 500;
const CLOSE: u64 = 500;
/// Maximum number of highlighted restarts.
pub const CLOSELY: usize = 3;
/// Maximum number of lanes. With more Jobs, consecutive Jobs share a lane.
const LANES: usize = 24;

/// Lanes on a common time axis.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub moments: Vec<Time>,
    /// Selectable time windows; the first one is shown initially.
    pub windows: Vec<Window>,
    pub marks: Vec<Mark>,
    pub groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub name: String,
    pub from: Time,
    pub to: Time,
}

#[derive(Clone, Debug)]
pub struct Mark {
    pub at: Time,
    pub what: &'static str,
}

#[derive(Clone, Debug)]
pub struct Group {
    /// Name of the chart.
    pub name: &'static str,
    pub title: &'static str,
    pub legend: Vec<(Color, &'static str)>,
    pub lanes: Vec<Lane>,
}

#[derive(Clone, Debug)]
pub struct Lane {
    pub label: String,
    /// Meaning of the full height of the lane.
    pub note: String,
    pub full: u32,
    /// Layers from bottom to top: a color, and (index of the instant, value) pairs at each change.
    pub layers: Vec<(Color, Vec<(u32, u32)>)>,
}

/// Returns the color of a pod state, which is the same in all charts.
pub fn color_of(state: PodState) -> Color {
    match state {
        PodState::Ready => PALETTE[4],
        PodState::Starting => PALETTE[3],
        PodState::Pending => PALETTE[5],
        PodState::Down => PALETTE[7],
        PodState::Ending => PALETTE[1],
    }
}

/// Pod states in stacking order from bottom to top.
const STACK: [PodState; PodState::COUNT] = [
    PodState::Ready,
    PodState::Starting,
    PodState::Pending,
    PodState::Down,
    PodState::Ending,
];

/// Returns the longest restarts in chronological order, with their indices.
pub fn closely<'r>(run: &RunView<'r>) -> Vec<(usize, &'r Restart)> {
    let mut all: Vec<(usize, &Restart)> = run.restarts().iter().enumerate().collect();
    all.sort_by_key(|(_, r)| std::cmp::Reverse(r.total()));
    all.truncate(CLOSELY);
    all.sort_by_key(|(i, _)| *i);
    all
}

/// Returns the time window of a restart with a margin of 1/12 of its duration, at least 0.5 s.
fn around(run: &RunView<'_>, r: &Restart) -> (Time, Time) {
    let air = Duration((r.total().0 / 12).max(500_000_000));
    let from = Time(r.start.0.saturating_sub(air.0));
    (from, (r.end + air).min(run.outcome.end))
}

/// Returns the sampled instants, with additional ones around the highlighted restarts.
pub fn moments(run: &RunView<'_>) -> Vec<Time> {
    let mut all = Vec::new();
    let mut add =
        |from: Time, to: Time, n: u64| {
            let span = to.since(from).0;
            all.extend((0..=n).map(|i| {
                from + Duration((u128::from(span) * u128::from(i) / u128::from(n)) as u64)
            }));
        };
    add(Time::ZERO, run.outcome.end, WHOLE);
    for (_, r) in closely(run) {
        let (from, to) = around(run, r);
        add(from, to, CLOSE);
    }
    all.sort();
    all.dedup();
    all
}

pub fn timeline(run: &RunView<'_>, pods: &Occupancy, queued: &Queued) -> Timeline {
    let whole = Window {
        name: "whole run".to_owned(),
        from: Time::ZERO,
        to: run.outcome.end,
    };
    let close = closely(run).into_iter().map(|(i, r)| {
        let (from, to) = around(run, r);
        let name = format!("restart {}", i + 1);
        Window { name, from, to }
    });
    let mut windows: Vec<Window> = close.collect();
    let first = restart::longest(run.restarts()).map(|i| format!("restart {}", i + 1));
    if let Some(at) = windows.iter().position(|w| Some(&w.name) == first.as_ref()) {
        let first = windows.remove(at);
        windows.insert(0, first);
    }
    windows.push(whole);
    let moments = moments(run);
    let groups = [
        of_pods(run, pods),
        of_queues(run, queued),
        of_busy(run, &moments),
    ];
    Timeline {
        moments,
        windows,
        marks: marks(run),
        groups: groups.into_iter().filter(|g| !g.lanes.is_empty()).collect(),
    }
}

/// Maximum number of marks.
const MARKS: usize = 60;

fn marks(run: &RunView<'_>) -> Vec<Mark> {
    let faults = story::faults(run)
        .into_iter()
        .map(|at| Mark { at, what: "fault" });
    let ready = run.restarts().iter().filter(|r| r.latency().is_some());
    let ready = ready.map(|r| Mark {
        at: r.end,
        what: "all ready",
    });
    let mut all: Vec<Mark> = faults.chain(ready).collect();
    all.sort_by_key(|m| m.at);
    all.truncate(MARKS);
    all
}

fn of_pods(run: &RunView<'_>, pods: &Occupancy) -> Group {
    let jobs: Vec<JobId> = (0..run.names.jobs.len() as u32).map(JobId).collect();
    let jobs: Vec<JobId> = jobs
        .into_iter()
        .filter(|j| !pods.of(*j).is_empty())
        .collect();
    let size = jobs.len().div_ceil(LANES).max(1);
    let lane = |jobs: &[JobId]| {
        let changes = added(jobs.iter().map(|j| pods.of(*j)));
        let full = changes.iter().map(|(_, c)| c.iter().sum::<u32>()).max();
        let layers = STACK.iter().map(|state| {
            let own = changes.iter().map(|(at, c)| (*at, c[*state as usize]));
            (color_of(*state), own.collect::<Vec<_>>())
        });
        let (first, last) = (run.names.job(jobs[0]), run.names.job(jobs[jobs.len() - 1]));
        Lane {
            label: match jobs.len() {
                1 => first.to_owned(),
                n => format!("{first} to {last} ({n} Jobs)"),
            },
            note: count(u64::from(full.unwrap_or(0)), "pod"),
            full: full.unwrap_or(1).max(1),
            layers: layers.collect(),
        }
    };
    Group {
        name: "gantt",
        title: "Pods of each Job, by state",
        legend: STACK.map(|s| (color_of(s), s.as_str())).to_vec(),
        lanes: jobs.chunks(size).map(lane).collect(),
    }
}

/// Adds up the counts of several Jobs.
fn added<'a>(lanes: impl Iterator<Item = &'a [(u32, Counts)]>) -> Vec<(u32, Counts)> {
    let lanes: Vec<&[(u32, Counts)]> = lanes.collect();
    if let [one] = lanes.as_slice() {
        return one.to_vec();
    }
    let mut steps: Vec<(u32, [i64; PodState::COUNT])> = Vec::new();
    for lane in lanes {
        let mut before = [0; PodState::COUNT];
        for (at, counts) in lane {
            let step = std::array::from_fn(|i| i64::from(counts[i]) - i64::from(before[i]));
            steps.push((*at, step));
            before = *counts;
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    let mut all: Vec<(u32, Counts)> = Vec::new();
    let mut now = [0i64; PodState::COUNT];
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

fn of_queues(run: &RunView<'_>, queued: &Queued) -> Group {
    let gating = gate::bottlenecks(run.restarts());
    let lane = |u: &ResourceUsage| {
        let waiting = queued.of(u.resource);
        let full = waiting.iter().map(|(_, n)| *n).max().unwrap_or(0);
        (full > 0).then(|| Lane {
            label: u.resource.as_str().to_owned(),
            note: format!("{} waiting at most", thousands(u64::from(full))),
            full,
            layers: vec![(color_of_resource(&gating, u.resource), waiting)],
        })
    };
    let all = run.outcome.resources.iter();
    Group {
        name: "queues",
        title: "Control plane: how many wait",
        legend: vec![(PALETTE[1], "gates a restart"), (PALETTE[2], "gates none")],
        lanes: all.filter_map(lane).collect(),
    }
}

/// Returns the lanes of the share of time with a non-empty queue, in percent, between consecutive instants.
fn of_busy(run: &RunView<'_>, moments: &[Time]) -> Group {
    let gating = gate::bottlenecks(run.restarts());
    let lane = |u: &ResourceUsage| {
        let mut shares: Vec<(u32, u32)> = Vec::new();
        for (at, part) in moments.windows(2).enumerate() {
            let whole = part[1].since(part[0]).0.max(1);
            let busy = u.busy_within(part[0], part[1]).0;
            let share = (busy * 100).div_ceil(whole) as u32;
            if shares.last().map_or(0, |(_, last)| *last) != share {
                shares.push((at as u32, share));
            }
        }
        (!shares.is_empty()).then(|| Lane {
            label: u.resource.as_str().to_owned(),
            note: u.capacity.clone(),
            full: 100,
            layers: vec![(color_of_resource(&gating, u.resource), shares)],
        })
    };
    let all = run.outcome.resources.iter().filter(|u| u.requests > 0);
    Group {
        name: "utilization",
        title: "Control plane: share of the time in which somebody waits (full height: 100 %)",
        legend: LEGEND.to_vec(),
        lanes: all.filter_map(lane).collect(),
    }
}

const LEGEND: [(Color, &str); 2] = [(PALETTE[1], "gates a restart"), (PALETTE[2], "gates none")];

fn color_of_resource(gating: &[Resource], resource: Resource) -> Color {
    match gating.contains(&resource) {
        true => LEGEND[0].0,
        false => LEGEND[1].0,
    }
}

/// Returns the alternative text of the timeline.
pub fn alt(timeline: &Timeline) -> String {
    let lanes: usize = timeline.groups.iter().map(|g| g.lanes.len()).sum();
    let window = &timeline.windows[0];
    format!(
        "{} over time, {} from {} on: {}",
        count(lanes as u64, "lane"),
        seconds(window.to.since(window.from)),
        window.from,
        window.name
    )
}
