//! Report on the sensitivity of a metric to its inputs: the conclusion, a table and the tornado chart.

use super::columns::columns;
use super::number::{change, short};
use super::plane::{Labels, Plane, Scale, WIDTH, provenance};
use super::{Provenance, Told, sentences, table};
use crate::console::waterfall::Style;
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::*;
use crate::figures::compare_panel::{SIZE, legend};
use crate::table::Table;
use serde::Serialize;
use sim_analysis::planning::tornado::Bar;
use sim_base::stats::{Estimate, Paired};

/// A sensitivity result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TornadoReport {
    #[serde(flatten)]
    pub of: Provenance,
    /// The metric.
    pub metric: String,
    /// Estimate of the metric with unchanged inputs.
    pub base: Option<Estimate>,
    /// The inputs in descending order of their effect.
    pub bars: Vec<Bar>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl TornadoReport {
    pub fn new(
        of: Provenance,
        metric: &str,
        base: Option<Estimate>,
        bars: Vec<Bar>,
    ) -> TornadoReport {
        let mut report = TornadoReport {
            of,
            metric: metric.to_owned(),
            base,
            bars,
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }
}

fn conclusion(r: &TornadoReport) -> Vec<String> {
    let mut all = Vec::new();
    let moving: Vec<&Bar> = r.bars.iter().filter(|b| b.matters()).collect();
    let Some(first) = moving.first() else {
        return vec![format!(
            "No input moves {} by more than these replications can tell.",
            r.metric
        )];
    };
    let base = r.base.map_or(String::new(), |b| {
        format!(
            " (with the inputs as they are: {}, 95 % interval {} to {})",
            short(b.mean),
            short(b.ci95[0]),
            short(b.ci95[1])
        )
    });
    let swing = first.swing.map_or(String::new(), |s| {
        format!(
            ": from {} to {} it changes by {}",
            first.shown[0],
            first.shown[1],
            change(s.mean, s.ci95)
        )
    });
    all.push(format!(
        "{} moves {} most{swing}{base}.",
        first.path, r.metric
    ));
    let none: Vec<&str> = r
        .bars
        .iter()
        .filter(|b| !b.matters())
        .map(|b| b.path.as_str())
        .collect();
    if !none.is_empty() {
        all.push(format!(
            "Of {} these replications cannot tell that it moves it at all.",
            none.join(", ")
        ));
    }
    all
}

impl Told for TornadoReport {
    fn text(&self, style: &Style) -> String {
        let what = format!("what moves {} most", self.metric);
        let mut out = self.of.title(&what, style);
        out.push('\n');
        sentences(&mut out, &self.conclusion, style);
        out.push('\n');
        let head = [
            "input",
            "range",
            "at the lower end",
            "at the upper end",
            "from end to end",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let told = |p: Option<Paired>| p.map_or("-".to_owned(), |p| change(p.mean, p.ci95));
        for b in &self.bars {
            rows.push(vec![
                b.path.clone(),
                format!("{} to {}", b.shown[0], b.shown[1]),
                told(b.at_low),
                told(b.at_high),
                told(b.swing),
            ]);
        }
        columns(&mut out, &rows, |_| false, style);
        out.push('\n');
        let mut notes = vec![format!(
            "Changes of the mean of {} against the inputs as they are, paired, with 95 % intervals; one input at a time.",
            self.metric
        )];
        notes.extend(
            self.bars
                .iter()
                .map(|b| format!("{}: range {}.", b.path, b.source)),
        );
        let cut = |b: &&Bar| b.left_out > 0;
        notes.extend(self.bars.iter().filter(cut).map(|b| {
            format!(
                "ATTENTION: {}: {} runs got stuck or were cut at its ends; they are in no change.",
                b.path, b.left_out
            )
        }));
        sentences(&mut out, &notes, style);
        out
    }

    fn table(&self) -> Table {
        let head = [
            "input",
            "low",
            "high",
            "at_low",
            "at_low_low",
            "at_low_high",
            "at_high",
            "at_high_low",
            "at_high_high",
            "swing",
            "swing_low",
            "swing_high",
            "left_out",
            "source",
        ];
        let of = |p: Option<Paired>| match p {
            Some(p) => [p.mean, p.ci95[0], p.ci95[1]].map(|v| v.to_string()),
            None => ["", "", ""].map(str::to_owned),
        };
        let row = |b: &Bar| {
            let mut row = vec![b.path.clone(), b.low.clone(), b.high.clone()];
            row.extend([b.at_low, b.at_high, b.swing].into_iter().flat_map(of));
            row.extend([b.left_out.to_string(), b.source.clone()]);
            row
        };
        table(&head, self.bars.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, Scene)> {
        match self.bars.is_empty() {
            true => Vec::new(),
            false => vec![("tornado", chart(self))],
        }
    }
}

const ROW: i32 = 64;
const LOWER: Color = PALETTE[2];
const UPPER: Color = PALETTE[1];

fn chart(r: &TornadoReport) -> Scene {
    let rows = r.bars.len() as i32;
    let mut scene = Scene::new((WIDTH as u32, 900));
    let title = format!("{}: what moves {} most", r.of.scenario, r.metric);
    let subtitle = match r.base {
        Some(b) => format!(
            "change against {} with the inputs as they are, one input at a time, with 95 % intervals of the paired differences",
            short(b.mean)
        ),
        None => String::new(),
    };
    let below = heading(&mut scene, &title, &subtitle);
    let widest = r
        .bars
        .iter()
        .map(|b| text_width(&b.path, SIZE))
        .max()
        .unwrap_or(0);
    let ends = r.bars.iter().flat_map(|b| {
        [
            text_width(&b.shown[0], SIZE - 2),
            text_width(&b.shown[1], SIZE - 2),
        ]
    });
    let ends = ends.max().unwrap_or(0).min(260) + 24;
    let left = MARGIN + widest.min(WIDTH / 3) + 24 + ends;
    let bounds = r
        .bars
        .iter()
        .flat_map(|b| [b.at_low, b.at_high])
        .flatten()
        .flat_map(|p| p.ci95);
    let x = Scale::over(bounds.chain([0.0]));
    let top = below + 6 * SIZE;
    let plane = Plane {
        x,
        y: Scale::new(0.0, 1.0),
        left,
        right: WIDTH - MARGIN - ends,
        top,
        bottom: top + rows * ROW,
    };
    scene.height = (plane.bottom + 4 * SIZE + MARGIN) as u32;
    let name = format!("change of {}", r.metric);
    let x_labels = Labels {
        name: &name,
        ticks: x.ticks(8),
        label: &short,
    };
    let none = Labels {
        name: "",
        ticks: Vec::new(),
        label: &short,
    };
    plane.draw(&mut scene, &x_labels, &none);
    let zero = plane.at(0.0, 0.0).0;
    for (i, bar) in r.bars.iter().enumerate() {
        let y = top + i as i32 * ROW + ROW / 2;
        let size = SIZE.min(SIZE * (WIDTH / 3) / text_width(&bar.path, SIZE).max(1));
        scene.text((MARGIN, y), size, Anchor::Left, INK, &bar.path);
        half(
            &mut scene,
            &plane,
            (y, zero),
            (bar.at_low, &bar.shown[0]),
            LOWER,
        );
        half(
            &mut scene,
            &plane,
            (y, zero),
            (bar.at_high, &bar.shown[1]),
            UPPER,
        );
    }
    scene.line(vec![(zero, top), (zero, plane.bottom)], 3, INK);
    let entries = [
        (LOWER, "at the lower end of its range"),
        (UPPER, "at the upper end"),
    ];
    legend(
        &mut scene,
        below + 3 * SIZE,
        entries.into_iter().map(|(c, t)| (c, t.to_owned())),
    );
    provenance(&mut scene, &r.of);
    scene
}

/// Draws one end of an input: a bar from 0, its interval and the value next to it. The upper end is drawn below the
/// lower end.
fn half(
    scene: &mut Scene,
    plane: &Plane,
    (y, zero): (i32, i32),
    (at, text): (Option<Paired>, &str),
    color: Color,
) {
    let Some(p) = at else { return };
    let lower = color == LOWER;
    let y = if lower { y - ROW / 5 } else { y + ROW / 5 };
    let end = plane.at(p.mean, 0.0).0;
    let thick = ROW / 3;
    scene.rect(
        zero.min(end),
        y - thick / 2,
        (end - zero).abs().max(2),
        thick,
        color,
    );
    let [low, high] = p.ci95.map(|v| plane.at(v, 0.0).0);
    scene.line(vec![(low, y), (high, y)], 3, INK);
    let right = p.mean >= 0.0;
    let (x, anchor) = match right {
        true => (end.max(high) + 10, Anchor::Left),
        false => (end.min(low) - 10, Anchor::Right),
    };
    scene.text((x, y), SIZE - 3, anchor, FAINT, text);
}
