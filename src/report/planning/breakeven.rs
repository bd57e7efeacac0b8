//! Report of a break-even search: the conclusion, the simulated points and the chart of the difference.

use super::number::{exact_value, value_with_unit};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::{PlanPage, PlanProvenance, PlanText, table};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::{DrawScene, PALETTE, TEXT_COLOR};
use crate::figures::compare_panel::{SIZE, mark_legend};
use crate::metric_label::{MetricLabel, parameter_name, parameter_tick};
use crate::{console::waterfall::WaterfallStyle, table::Table};
use serde::Serialize;
use sim_analysis::planning::breakeven::{BreakEven, BreakEvenCrossing, BreakEvenSide, SimulatedPoint};
use sim_analysis::planning::{ParameterRange, RangeUnit};
use sim_base::Duration;

/// A break-even result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakEvenReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    /// Name of the first variant.
    pub a: String,
    /// Name of the second variant.
    pub b: String,
    pub metric: String,
    pub over: ParameterRange,
    #[serde(flatten)]
    pub crossing: BreakEvenCrossing,
    pub points: Vec<SimulatedPoint>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl BreakEvenReport {
    pub fn new(
        of: PlanProvenance, (a, b): (&str, &str), (over, metric): (&ParameterRange, &str), result: BreakEven,
    ) -> BreakEvenReport {
        let mut report = BreakEvenReport {
            provenance: of,
            a: a.to_owned(),
            b: b.to_owned(),
            metric: metric.to_owned(),
            over: over.clone(),
            crossing: result.crossing,
            points: result.points,
            conclusion: Vec::new(),
        };
        report.conclusion = vec![conclusion(&report)];
        report.conclusion.extend(report.failures());
        report
    }

    /// Returns a sentence on the replications without completed work; `None` if there are none.
    fn failures(&self) -> Option<String> {
        let runs: usize = self.points.iter().map(|p| p.replications).sum();
        let completed = [0, 1].map(|side| self.points.iter().map(|p| p.completed[side]).sum::<usize>());
        let [a, b] = completed.map(|completed| runs - completed.min(runs));
        (a + b > 0).then(|| {
            format!(
                "{a} of {runs} replications of {} and {b} of {runs} of {} do not complete their work. A choice that completes more replications is better; the differences exclude the others.",
                self.a, self.b
            )
        })
    }

    fn name(&self, side: BreakEvenSide) -> &str {
        match side {
            BreakEvenSide::A => &self.a,
            BreakEvenSide::B => &self.b,
            BreakEvenSide::Inconclusive => "neither",
        }
    }

    /// Returns the values of the points as texts that differ where the values differ.
    fn format_values(&self) -> Vec<String> {
        let values: Vec<f64> = self.points.iter().map(|p| p.value).collect();
        let texts: Vec<String> = values.iter().map(|value| self.format_value(*value)).collect();
        let is_shared = |i: usize| (0..values.len()).any(|j| texts[i] == texts[j] && values[i] != values[j]);
        let exact = |value: f64| match self.over.unit {
            RangeUnit::Seconds => Duration::from_millis((value * 1e3).round() as u64).to_string(),
            RangeUnit::Whole | RangeUnit::Number => value.to_string(),
        };
        let text = |i: usize| if is_shared(i) { exact(values[i]) } else { texts[i].clone() };
        (0..values.len()).map(text).collect()
    }

    fn format_value(&self, value: f64) -> String {
        value_with_unit(value, self.over.unit)
    }
}

fn other_side(side: BreakEvenSide) -> BreakEvenSide {
    match side {
        BreakEvenSide::A => BreakEvenSide::B,
        BreakEvenSide::B => BreakEvenSide::A,
        BreakEvenSide::Inconclusive => BreakEvenSide::Inconclusive,
    }
}

fn conclusion(r: &BreakEvenReport) -> String {
    let (metric, path) = (&r.metric, &r.over.path);
    let range = format!("{} to {}", r.format_value(r.over.low), r.format_value(r.over.high));
    match r.crossing {
        BreakEvenCrossing::Everywhere { side } => {
            format!("{} is better in {metric} over the whole range: {path} from {range}.", r.name(side))
        }
        BreakEvenCrossing::At { below, estimate, low, high } => format!(
            "{} becomes better than {} in {metric} at {path} = {}. It is significantly better from {}, and {} is significantly better up to {}.",
            r.name(other_side(below)),
            r.name(below),
            r.format_value(estimate),
            r.format_value(high),
            r.name(below),
            r.format_value(low)
        ),
        BreakEvenCrossing::OneEnd { side, lower, until } => format!(
            "{} is better in {metric} {} {path} = {}; the comparison is inconclusive {} that.",
            r.name(side),
            if lower { "up to" } else { "from" },
            r.format_value(until),
            if lower { "above" } else { "below" }
        ),
        BreakEvenCrossing::Inside { side, low, high } => format!(
            "{} is better in {metric} from {path} = {} to {}; the comparison is inconclusive outside of that.",
            r.name(side),
            r.format_value(low),
            r.format_value(high)
        ),
        BreakEvenCrossing::NotTold => {
            format!("Inconclusive: no significant difference in {metric} for {path} from {range}.")
        }
        BreakEvenCrossing::SeveralTimes => {
            format!("{} and {} alternate as the better variant for {path} from {range}; see the table.", r.a, r.b)
        }
    }
}

impl PlanText for BreakEvenReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("{} against {} over {}", self.a, self.b, self.over.text);
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let difference = format!("{}: {} − {}", self.metric, self.b, self.a);
        let mut head = vec![&self.over.path, difference.as_str(), "pairs", "better"];
        let has_failures = self.failures().is_some();
        if has_failures {
            head.insert(3, "completed");
        }
        let mut rows = vec![head.into_iter().map(str::to_owned).collect()];
        let label = MetricLabel::new(&self.metric, &self.provenance.currency);
        for (p, value) in self.points.iter().zip(self.format_values()) {
            let difference = p.difference.map_or("-".to_owned(), |d| label.plain_change(d.mean, d.ci95));
            let better = match p.side {
                BreakEvenSide::Inconclusive => "inconclusive",
                side => self.name(side),
            };
            let mut row = vec![value, difference, p.replications.to_string(), better.to_owned()];
            if has_failures {
                row.insert(3, format!("{} and {}", p.completed[0], p.completed[1]));
            }
            rows.push(row);
        }
        page.table(&rows, |_| false).finish(&[])
    }

    fn table(&self) -> Table {
        let head = ["value", "difference", "low", "high", "pairs", "completed_a", "completed_b", "better"];
        let row = |p: &SimulatedPoint| {
            let d = p.difference;
            let better = match p.side {
                BreakEvenSide::A => "a",
                BreakEvenSide::B => "b",
                BreakEvenSide::Inconclusive => "inconclusive",
            };
            vec![
                p.value.to_string(),
                exact_value(d.map(|d| d.mean)),
                exact_value(d.map(|d| d.ci95[0])),
                exact_value(d.map(|d| d.ci95[1])),
                p.replications.to_string(),
                p.completed[0].to_string(),
                p.completed[1].to_string(),
                better.to_owned(),
            ]
        };
        table(&head, self.points.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        match self.points.len() {
            0 | 1 => Vec::new(),
            _ => vec![("breakeven", chart(self))],
        }
    }
}

fn chart(r: &BreakEvenReport) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32));
    let title = format!("{}: {} against {}", r.provenance.scenario, r.b, r.a);
    let below = heading(&mut scene, &title, &r.conclusion.join(" "));
    let x = if r.over.is_log() {
        PlaneScale::logarithmic(r.over.low, r.over.high)
    } else {
        PlaneScale::new(r.over.low, r.over.high)
    };
    let bounds = || r.points.iter().filter_map(|p| p.difference).flat_map(|d| d.ci95);
    let metric = MetricLabel::new(&r.metric, &r.provenance.currency);
    let y = PlaneScale::around_zero(bounds(), &metric);
    let name = format!("{}: {} minus {}", metric.difference_axis(), r.b, r.a);
    let tick = |v: f64| metric.tick(v);
    let y_labels = PlaneLabels { name: &name, ticks: y.ticks_in(6, metric.tick_unit(y.to - y.from)), label: &tick };
    let x_labels = PlaneLabels {
        name: &parameter_name(&r.over.path),
        ticks: match r.over.unit {
            RangeUnit::Seconds if x.log => x.time_ticks(14),
            RangeUnit::Seconds => x.round_times(8),
            _ => x.ticks(8),
        },
        label: &|v| parameter_tick(v, r.over.unit),
    };
    let plane = ParameterPlane { right: WIDTH - MARGIN - 30, ..ParameterPlane::single(below, (x, y), &y_labels) };
    if let BreakEvenCrossing::At { low, high, .. } = r.crossing {
        plane.fill_between_x(&mut scene, [low, high], PALETTE[0]);
    }
    plane.draw(&mut scene, &x_labels, &y_labels);
    plane.horizontal_line(&mut scene, 0.0, 3, TEXT_COLOR);
    let means: Vec<_> = r.points.iter().filter_map(|p| Some((p.value, p.difference?.mean))).collect();
    plane.curve(&mut scene, &means, 3, PALETTE[3]);
    let color = |side: BreakEvenSide| match side {
        BreakEvenSide::A => PALETTE[1],
        BreakEvenSide::B => PALETTE[4],
        BreakEvenSide::Inconclusive => PALETTE[0],
    };
    for p in &r.points {
        if let Some(d) = p.difference {
            let is_hollow = p.side == BreakEvenSide::Inconclusive;
            plane.mark_shaped(&mut scene, p.value, (d.ci95[0], d.mean, d.ci95[1]), (color(p.side), is_hollow));
        }
    }
    let mut entries = vec![
        (color(BreakEvenSide::A), format!("{} is better", r.a), false),
        (color(BreakEvenSide::B), format!("{} is better", r.b), false),
        (color(BreakEvenSide::Inconclusive), "inconclusive".to_owned(), true),
    ];
    let is_drawn = |side: BreakEvenSide| r.points.iter().any(|p| p.side == side && p.difference.is_some());
    let sides = [BreakEvenSide::A, BreakEvenSide::B, BreakEvenSide::Inconclusive];
    let mut drawn = sides.map(is_drawn).into_iter();
    entries.retain(|_| drawn.next() == Some(true));
    if let BreakEvenCrossing::At { estimate, .. } = r.crossing {
        plane.vertical_line(&mut scene, estimate, 4, PALETTE[2]);
        entries.push((PALETTE[2], format!("break-even {}", r.format_value(estimate)), false));
    }
    mark_legend(&mut scene, below + 3 * SIZE, entries.into_iter());
    draw_provenance(&mut scene, &r.provenance);
    scene
}
