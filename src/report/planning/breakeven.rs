//! Report of a break-even search: the conclusion, the simulated points and the chart of the difference.

use super::columns::columns;
use super::number::{change, exact, of_unit, short};
use super::plane::{HEIGHT, Labels, Plane, Scale, WIDTH, provenance};
use super::{Provenance, Told, sentences, table};
use crate::console::waterfall::Style;
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::*;
use crate::figures::compare_panel::{SIZE, legend};
use crate::table::Table;
use serde::Serialize;
use sim_analysis::planning::breakeven::{BreakEven, Crossing, Played, Side};
use sim_analysis::planning::{Range, Unit};

/// A break-even result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakEvenReport {
    #[serde(flatten)]
    pub of: Provenance,
    /// Name of the first variant.
    pub a: String,
    /// Name of the second variant.
    pub b: String,
    /// The metric that is compared.
    pub metric: String,
    /// The varied field with its range.
    pub over: Range,
    #[serde(flatten)]
    pub crossing: Crossing,
    /// All simulated points.
    pub points: Vec<Played>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl BreakEvenReport {
    pub fn new(
        of: Provenance,
        (a, b): (&str, &str),
        (over, metric): (&Range, &str),
        found: BreakEven,
    ) -> BreakEvenReport {
        let mut report = BreakEvenReport {
            of,
            a: a.to_owned(),
            b: b.to_owned(),
            metric: metric.to_owned(),
            over: over.clone(),
            crossing: found.crossing,
            points: found.points,
            conclusion: Vec::new(),
        };
        report.conclusion = vec![conclusion(&report)];
        report
    }

    fn name(&self, side: Side) -> &str {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
            Side::NotSeparated => "neither",
        }
    }

    fn shown(&self, value: f64) -> String {
        of_unit(value, self.over.unit)
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::A => Side::B,
        Side::B => Side::A,
        Side::NotSeparated => Side::NotSeparated,
    }
}

fn conclusion(r: &BreakEvenReport) -> String {
    let (metric, path) = (&r.metric, &r.over.path);
    let range = format!("{} to {}", r.shown(r.over.low), r.shown(r.over.high));
    match r.crossing {
        Crossing::Everywhere { side } => format!(
            "{} is better in {metric} everywhere in the range: {path} from {range}.",
            r.name(side)
        ),
        Crossing::At {
            below,
            estimate,
            low,
            high,
        } => format!(
            "{} overtakes {} in {metric} at {path} = {}; it is surely better from {} on, and {} is up to {}.",
            r.name(other(below)),
            r.name(below),
            r.shown(estimate),
            r.shown(high),
            r.name(below),
            r.shown(low)
        ),
        Crossing::OneEnd { side, lower, until } => format!(
            "{} is better in {metric} {} {path} = {}; beyond that the replications cannot tell.",
            r.name(side),
            if lower { "up to" } else { "from" },
            r.shown(until)
        ),
        Crossing::NotTold => format!(
            "Nobody is better in {metric} for {path} from {range} as far as these replications tell."
        ),
        Crossing::SeveralTimes => format!(
            "{} and {} change places more than once for {path} from {range}; the table says where.",
            r.a, r.b
        ),
    }
}

impl Told for BreakEvenReport {
    fn text(&self, style: &Style) -> String {
        let what = format!("{} against {} over {}", self.a, self.b, self.over.text);
        let mut out = self.of.title(&what, style);
        out.push('\n');
        sentences(&mut out, &self.conclusion, style);
        out.push('\n');
        let difference = format!("{} of {} less {}", self.metric, self.b, self.a);
        let head = [&self.over.path, difference.as_str(), "pairs", "better"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for p in &self.points {
            let difference = p
                .difference
                .map_or("-".to_owned(), |d| change(d.mean, d.ci95));
            let better = match p.side {
                Side::NotSeparated => "not separated",
                side => self.name(side),
            };
            rows.push(vec![
                self.shown(p.value),
                difference,
                p.replications.to_string(),
                better.to_owned(),
            ]);
        }
        columns(&mut out, &rows, |_| false, style);
        out
    }

    fn table(&self) -> Table {
        let head = ["value", "difference", "low", "high", "pairs", "better"];
        let row = |p: &Played| {
            let d = p.difference;
            let better = match p.side {
                Side::A => "a",
                Side::B => "b",
                Side::NotSeparated => "notSeparated",
            };
            vec![
                p.value.to_string(),
                exact(d.map(|d| d.mean)),
                exact(d.map(|d| d.ci95[0])),
                exact(d.map(|d| d.ci95[1])),
                p.replications.to_string(),
                better.to_owned(),
            ]
        };
        table(&head, self.points.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, Scene)> {
        match self.points.len() {
            0 | 1 => Vec::new(),
            _ => vec![("breakeven", chart(self))],
        }
    }
}

fn chart(r: &BreakEvenReport) -> Scene {
    let mut scene = Scene::new((WIDTH as u32, HEIGHT as u32));
    let title = format!("{}: {} against {}", r.of.scenario, r.b, r.a);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let x = match r.over.is_log() {
        true => Scale::log(r.over.low, r.over.high),
        false => Scale::new(r.over.low, r.over.high),
    };
    let bounds = || {
        r.points
            .iter()
            .filter_map(|p| p.difference)
            .flat_map(|d| d.ci95)
    };
    let y = Scale::over(bounds().chain([0.0]));
    let name = format!("{} of {} less that of {}", r.metric, r.b, r.a);
    let y_labels = Labels {
        name: &name,
        ticks: y.ticks(6),
        label: &short,
    };
    let x_labels = Labels {
        name: &r.over.path,
        ticks: match r.over.unit {
            Unit::Seconds if x.log => x.times(),
            Unit::Seconds => x.round_times(8),
            _ => x.ticks(8),
        },
        label: &|v| of_unit(v, r.over.unit),
    };
    let plane = Plane {
        right: WIDTH - MARGIN - 30,
        ..Plane::alone(below, (x, y), &y_labels)
    };
    if let Crossing::At { low, high, .. } = r.crossing {
        plane.between(&mut scene, [low, high], PALETTE[0]);
    }
    plane.draw(&mut scene, &x_labels, &y_labels);
    plane.level(&mut scene, 0.0, 3, INK);
    let means: Vec<_> = r
        .points
        .iter()
        .filter_map(|p| Some((p.value, p.difference?.mean)))
        .collect();
    plane.curve(&mut scene, &means, 3, PALETTE[3]);
    let color = |side: Side| match side {
        Side::A => PALETTE[1],
        Side::B => PALETTE[4],
        Side::NotSeparated => PALETTE[0],
    };
    for p in &r.points {
        if let Some(d) = p.difference {
            plane.mark(
                &mut scene,
                p.value,
                (d.ci95[0], d.mean, d.ci95[1]),
                color(p.side),
            );
        }
    }
    let mut entries = vec![
        (color(Side::A), format!("{} is better", r.a)),
        (color(Side::B), format!("{} is better", r.b)),
        (color(Side::NotSeparated), "not separated".to_owned()),
    ];
    if let Crossing::At { estimate, .. } = r.crossing {
        plane.upright(&mut scene, estimate, 4, PALETTE[2]);
        entries.push((PALETTE[2], format!("break-even {}", r.shown(estimate))));
    }
    legend(&mut scene, below + 3 * SIZE, entries.into_iter());
    provenance(&mut scene, &r.of);
    scene
}
