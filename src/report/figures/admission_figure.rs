//! Charts of the admission by Kueue: usage of quotas over time, and Workloads by state.

use super::timeline_figure::legend_line;
use crate::draw::colors::occupancy_color;
use crate::draw::heading::{MARGIN, draw_footer, footer_height, heading, shorten, shorten_name};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor};
use crate::draw::time_axis::{round_times, time_label};
use sim_analysis::format::seconds;
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::admission::history::quantity_text;
use sim_analysis::metrics::admission::{JobSetAdmission, QuotaChange, QuotaReservation};
use sim_analysis::metrics::occupancy::OccupancyState;
use sim_base::SimTime;
use sim_engine::local_queue_text;
use std::collections::{BTreeMap, BTreeSet};

const LABEL_WIDTH: i32 = 430;
/// Smallest and largest height of a row in pixels.
const ROW: (i32, i32) = (52, 420);
/// Font size and width of the labels of the vertical axes.
const TICK_SIZE: i32 = 18;
const TICK_WIDTH: i32 = 100;
const OWN_QUOTA: Rgb = PALETTE[2];
const BORROWED_QUOTA: Rgb = PALETTE[7];

/// A time window, from and to.
pub type FigureWindow = (SimTime, SimTime);

/// A colored piece of a lane: from, to, lower and upper end of its height as shares of the lane.
struct LanePiece {
    from: SimTime,
    to: SimTime,
    height: (f64, f64),
    color: Rgb,
}

impl LanePiece {
    fn is_seen(&self, color: &Rgb, window: FigureWindow) -> bool {
        let in_window = self.from < self.to && self.from < window.1 && self.to > window.0;
        self.color == *color && in_window && self.height.0 < self.height.1
    }
}

struct FigureLane {
    label: String,
    note: String,
    pieces: Vec<LanePiece>,
    /// Height of a horizontal line as a share of the lane.
    line: Option<f64>,
    /// Labels of the vertical axis with their heights as shares of the lane, from bottom to top.
    ticks: Vec<(f64, String)>,
}

/// Returns the usage of each quota over time, for the resources of which some quota was used; quotas that nothing used
/// are drawn empty. `None` if no quota was used.
pub fn quota(run: &RunView<'_>, window: Option<FigureWindow>, below: &[String], size: (u32, u32)) -> Option<DrawScene> {
    let window = window.unwrap_or((SimTime::ZERO, run.outcome.end));
    let mut by_key: BTreeMap<&(String, String, String), Vec<&QuotaChange>> = BTreeMap::new();
    for change in &run.folded.admission.quota {
        by_key.entry(&change.key).or_default().push(change);
    }
    let resources: BTreeSet<&str> = by_key.keys().map(|(_, _, resource)| resource.as_str()).collect();
    for key in run.folded.admission.nominal.keys().filter(|(_, _, resource)| resources.contains(resource.as_str())) {
        by_key.entry(key).or_default();
    }
    let lanes: Vec<FigureLane> = by_key.iter().map(|(key, changes)| quota_lane(run, key, changes)).collect();
    let legend = [(OWN_QUOTA, "nominal quota in use"), (BORROWED_QUOTA, "borrowed"), (TEXT_COLOR, "nominal quota")];
    let text = ("Usage of quota by ClusterQueue and flavor", legend.as_slice());
    (!lanes.is_empty()).then(|| chart(run, text, &lanes, window, below, size))
}

fn quota_lane(run: &RunView<'_>, key: &(String, String, String), changes: &[&QuotaChange]) -> FigureLane {
    let (queue, flavor, resource) = key;
    let nominal = run.folded.admission.nominal.nominal(key);
    let most = changes.iter().map(|change| change.used).max().unwrap_or(0).max(nominal).max(1);
    let share = |amount: i64| amount as f64 / most as f64;
    let mut pieces = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let (from, to) = (change.at, changes.get(at + 1).map_or(run.outcome.end, |next| next.at));
        let own = change.used.min(nominal);
        pieces.push(LanePiece { from, to, height: (0.0, share(own)), color: OWN_QUOTA });
        pieces.push(LanePiece { from, to, height: (share(own), share(change.used)), color: BORROWED_QUOTA });
    }
    FigureLane {
        label: format!("{queue}, flavor {flavor}"),
        note: format!("nominal {} {resource}", quantity_text(resource, nominal)),
        pieces,
        line: (nominal > 0).then(|| share(nominal)),
        ticks: [0, nominal, most].map(|amount| (share(amount), quantity_text(resource, amount))).to_vec(),
    }
}

/// Returns the state of each Workload over time. `None` without a JobSet that Kueue manages.
pub fn workloads(
    run: &RunView<'_>, window: Option<FigureWindow>, below: &[String], size: (u32, u32),
) -> Option<DrawScene> {
    let window = window.unwrap_or((SimTime::ZERO, run.outcome.end));
    let lanes: Vec<FigureLane> = run.folded.admission.job_sets.iter().map(|own| workload_lane(run, own)).collect();
    let state = occupancy_color;
    let legend = [
        (state(OccupancyState::Pending), "without quota"),
        (state(OccupancyState::Starting), "quota reserved, not ready"),
        (state(OccupancyState::Ready), "running"),
        (state(OccupancyState::Ending), "evicted, pods stopping"),
    ];
    let text = ("Workloads by state", legend.as_slice());
    (!lanes.is_empty()).then(|| chart(run, text, &lanes, window, below, size))
}

fn workload_lane(run: &RunView<'_>, own: &JobSetAdmission) -> FigureLane {
    let end = run.outcome.end;
    let last = own.finished.unwrap_or(end);
    let piece = |from: SimTime, to: SimTime, state: OccupancyState| LanePiece {
        from,
        to,
        height: (0.0, 1.0),
        color: occupancy_color(state),
    };
    let mut pieces: Vec<LanePiece> =
        own.waits.iter().map(|wait| piece(wait.from, wait.until.unwrap_or(last), OccupancyState::Pending)).collect();
    for reservation in &own.reservations {
        let QuotaReservation { from, ready, evicted, until, .. } = reservation;
        let until = until.unwrap_or(end);
        let stop = evicted.unwrap_or(until);
        let ready = ready.unwrap_or(stop).min(stop);
        pieces.push(piece(*from, ready, OccupancyState::Starting));
        pieces.push(piece(ready, stop, OccupancyState::Ready));
        pieces.push(piece(stop, until, OccupancyState::Ending));
    }
    let evictions = match own.evictions.len() {
        0 => String::new(),
        n => format!(", evicted {}", sim_analysis::format::count(n as u64, "time")),
    };
    FigureLane {
        label: format!(
            "{} ({})",
            run.names.jobset(own.jobset),
            local_queue_text(&own.local_queue, "LocalQueue ").trim_start()
        ),
        note: format!("waited {}{evictions}", seconds(own.total_wait(end))),
        pieces,
        line: None,
        ticks: Vec::new(),
    }
}

fn chart(
    run: &RunView<'_>, (title, legend): (&str, &[(Rgb, &str)]), lanes: &[FigureLane], window: FigureWindow,
    below: &[String], size: (u32, u32),
) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let subtitle = run.with_failures(&run.scenario.name);
    let top = heading(&mut scene, title, &subtitle) + 74;
    let is_drawn = |color: &Rgb| match *color {
        TEXT_COLOR => lanes.iter().any(|lane| lane.line.is_some()),
        color => lanes.iter().flat_map(|lane| &lane.pieces).any(|piece| piece.is_seen(&color, window)),
    };
    let legend: Vec<(Rgb, &str)> = legend.iter().filter(|(color, _)| is_drawn(color)).copied().collect();
    let top = legend_line(&mut scene, &legend, top) + 34;
    let under = 76 + footer_height(below, size.0 as i32);
    let row = ((size.1 as i32 - top - under) / lanes.len().max(1) as i32).clamp(ROW.0, ROW.1);
    let bottom = top + lanes.len() as i32 * row;
    scene.height = (bottom + under) as u32;
    let has_axis = lanes.iter().any(|lane| !lane.ticks.is_empty());
    let axis_width = if has_axis { TICK_WIDTH } else { 0 };
    let (left, right) = (MARGIN + LABEL_WIDTH + axis_width, size.0 as i32 - MARGIN);
    let (from, to) = (window.0.seconds(), window.1.seconds());
    let place = |s: f64| left + (((s - from) / (to - from).max(1e-9)).clamp(0.0, 1.0) * f64::from(right - left)) as i32;
    let (unit, ticks) = round_times(from, to, 7);
    for tick in ticks {
        let x = place(tick);
        scene.line(vec![(x, top), (x, bottom)], 2, GRID);
        let label = format!("{} {}", time_label(tick, unit), unit.symbol());
        scene.text((x, bottom + 22), 22, TextAnchor::Middle, MUTED_COLOR, &label);
    }
    for (at, lane) in lanes.iter().enumerate() {
        draw_lane(&mut scene, lane, (top + at as i32 * row, row), (left, right), &place);
    }
    scene.line(vec![(left, bottom), (right, bottom)], 2, MUTED_COLOR);
    let middle = (left + right) / 2;
    scene.text((middle, bottom + 48), 22, TextAnchor::Middle, MUTED_COLOR, "time since the start of the run");
    draw_footer(&mut scene, below);
    scene
}

fn draw_lane(
    scene: &mut DrawScene, lane: &FigureLane, (top, row): (i32, i32), (left, right): (i32, i32),
    place: &impl Fn(f64) -> i32,
) {
    let (middle, width) = (top + row / 2, LABEL_WIDTH - 20);
    let words = |size: i32, text: &str| shorten_name(text, size, width);
    scene.text((MARGIN, middle - 12), 20, TextAnchor::Left, TEXT_COLOR, &words(20, &lane.label));
    scene.text((MARGIN, middle + 12), 18, TextAnchor::Left, MUTED_COLOR, &words(18, &lane.note));
    let (base, high) = (top + row - 4, f64::from(row - 10));
    let y = |share: f64| base - (share * high) as i32;
    //  Labels that would overlap the previous one are omitted; the highest one is always drawn.
    let highest = lane.ticks.last().map_or(0, |(share, _)| y(*share) + TICK_SIZE / 2);
    let mut free = i32::MAX;
    for (at, (share, label)) in lane.ticks.iter().enumerate() {
        let is_last = at + 1 == lane.ticks.len();
        let middle = y(*share).clamp(top + TICK_SIZE / 2, base - TICK_SIZE / 2);
        let has_room = middle + TICK_SIZE / 2 <= free && (is_last || middle - TICK_SIZE / 2 > highest);
        if has_room {
            let label = shorten(label, TICK_SIZE, TICK_WIDTH - 10);
            scene.text((left - 8, middle), TICK_SIZE, TextAnchor::Right, MUTED_COLOR, &label);
            free = middle - TICK_SIZE / 2;
        }
    }
    for piece in &lane.pieces {
        let (from, to) = (place(piece.from.seconds()), place(piece.to.seconds()));
        let (low, up) = (y(piece.height.0), y(piece.height.1));
        if to > from && low > up {
            scene.rect(from, up, to - from, low - up, piece.color);
        }
    }
    if let Some(line) = lane.line {
        scene.line(vec![(left, y(line)), (right, y(line))], 3, TEXT_COLOR);
    }
    scene.line(vec![(left, base), (right, base)], 1, GRID);
}
