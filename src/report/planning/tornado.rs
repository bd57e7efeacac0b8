//! Report on the sensitivity of a metric to its inputs: the conclusion, a table and the tornado chart.

use super::plane::{ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::{PlanPage, PlanProvenance, PlanText, table};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::{DrawScene, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_width};
use crate::figures::compare_panel::{SIZE, draw_name, legend};
use crate::metric_label::{MetricLabel, parameter_names};
use crate::{console::waterfall::WaterfallStyle, table::Table};
use serde::Serialize;
use sim_analysis::experiment::OutcomeCounts;
use sim_analysis::format::count;
use sim_analysis::planning::tornado::TornadoBar;
use sim_base::Duration;
use sim_base::stats::{MeanEstimate, PairedDifference};

/// A sensitivity result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TornadoReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    pub metric: String,
    /// Estimate of the metric with unchanged inputs, over the replications that completed their work.
    pub base: Option<MeanEstimate>,
    /// Number of replications with unchanged inputs by outcome.
    pub base_outcomes: OutcomeCounts,
    /// Number of replications with unchanged inputs that `base` and all differences exclude.
    pub base_excluded: usize,
    /// The uncertainties, then the decisions, each in descending order of their effect.
    pub bars: Vec<TornadoBar>,
    /// Inputs that were not varied.
    pub not_varied: Vec<String>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl TornadoReport {
    pub fn new(
        of: PlanProvenance, metric: &str,
        (base, base_outcomes, base_excluded): (Option<MeanEstimate>, OutcomeCounts, usize), mut bars: Vec<TornadoBar>,
    ) -> TornadoReport {
        // One notation for all durations: 1047s and 30m are 17m27s and 30m.
        let is_time = |end: &&mut String| end.ends_with(['s', 'm', 'h']);
        for end in bars.iter_mut().flat_map(|bar| &mut bar.shown).filter(is_time) {
            *end = end.parse::<Duration>().map_or(end.clone(), |duration| duration.to_string());
        }
        let mut report = TornadoReport {
            provenance: of,
            metric: metric.to_owned(),
            base,
            base_outcomes,
            base_excluded,
            bars,
            not_varied: Vec::new(),
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }

    /// Names the inputs that were not varied in the conclusion.
    pub fn set_not_varied(&mut self, paths: Vec<String>) {
        if !paths.is_empty() {
            let names = paths.join(", ");
            let hint = "To vary an input without a published range, use --input 'PATH=LOW..HIGH'.";
            self.conclusion.push(format!("Not varied: {names}. {hint}"));
        }
        self.not_varied = paths;
    }
}

fn conclusion(r: &TornadoReport) -> Vec<String> {
    let mut all = Vec::new();
    let label = MetricLabel::new(&r.metric, &r.provenance.currency);
    let effect = |b: &TornadoBar| {
        b.swing.map_or("no replication has both values".to_owned(), |s| {
            format!("from {} to {} it changes by {}", b.shown[0], b.shown[1], label.plain_change(s.mean, s.ci95))
        })
    };
    let (decisions, uncertain): (Vec<&TornadoBar>, Vec<&TornadoBar>) = r.bars.iter().partition(|b| b.is_decision);
    if r.base_excluded > 0 {
        all.push(format!(
            "With unchanged inputs, {} of {} have no completed work and are excluded from estimates and differences ({}).",
            r.base_excluded,
            count(r.base_outcomes.total() as u64, "replication"),
            r.base_outcomes
        ));
    }
    let base = r.base.map_or(String::new(), |b| {
        let [mean, low, high] = [b.mean, b.ci95[0], b.ci95[1]].map(|v| label.plain(v));
        match b.n {
            1 => format!(" (baseline {mean} in one replication, no interval)"),
            _ => format!(" (baseline {mean}, 95 % interval {low} to {high})"),
        }
    });
    let none = |bars: &[&TornadoBar]| -> Vec<String> {
        bars.iter().filter(|b| !b.is_significant()).map(|b| b.path.clone()).collect()
    };
    match uncertain.iter().find(|b| b.is_significant()) {
        Some(first) => {
            all.push(format!("{} has the largest effect on {}: {}{base}.", first.path, r.metric, effect(first)));
            let none = none(&uncertain);
            if !none.is_empty() {
                all.push(format!("No significant effect: {}.", none.join(", ")));
            }
        }
        None if uncertain.is_empty() => all.push(format!("No uncertainty was varied{base}.")),
        None => all.push(format!(
            "No uncertainty has a significant effect on {} with this number of replications{base}.",
            r.metric
        )),
    }
    if !decisions.is_empty() {
        let each: Vec<String> = decisions.iter().map(|b| format!("{}: {}", b.path, effect(b))).collect();
        all.push(format!("Decisions, which are not ranked with the uncertainties: {}.", each.join("; ")));
    }
    all
}

impl PlanText for TornadoReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("sensitivity of {}", self.metric);
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let head = ["input", "range", "at the lower end", "at the upper end", "over the full range"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let label = MetricLabel::new(&self.metric, &self.provenance.currency);
        let difference = |p: Option<PairedDifference>| p.map_or("-".to_owned(), |p| label.plain_change(p.mean, p.ci95));
        for b in &self.bars {
            rows.push(vec![
                if b.is_decision { format!("{} (decision)", b.path) } else { b.path.clone() },
                format!("{} to {}", b.shown[0], b.shown[1]),
                difference(b.at_low),
                difference(b.at_high),
                difference(b.swing),
            ]);
        }
        let mut notes = vec![format!(
            "Paired changes of the mean of {} from the baseline with 95 % intervals; one input is varied at a time.",
            self.metric
        )];
        notes.extend(self.bars.iter().map(|b| format!("{}: range {}.", b.path, b.source)));
        let has_excluded = |b: &&TornadoBar| b.excluded > 0;
        notes.extend(self.bars.iter().filter(has_excluded).map(|b| {
            format!(
                "ATTENTION: {}: {} replications at the ends of its range failed, are blocked or are unfinished; they are excluded.",
                b.path, b.excluded
            )
        }));
        page.table(&rows, |_| false).finish(&notes)
    }

    fn table(&self) -> Table {
        let head = "input low high at_low at_low_low at_low_high at_high at_high_low at_high_high swing swing_low \
            swing_high excluded source decision";
        let of = |p: Option<PairedDifference>| match p {
            Some(p) => [p.mean, p.ci95[0], p.ci95[1]].map(|v| v.to_string()),
            None => ["", "", ""].map(str::to_owned),
        };
        let row = |b: &TornadoBar| {
            let mut row = vec![b.path.clone(), b.low.clone(), b.high.clone()];
            row.extend([b.at_low, b.at_high, b.swing].into_iter().flat_map(of));
            row.extend([b.excluded.to_string(), b.source.clone(), b.is_decision.to_string()]);
            row
        };
        table(&head.split(' ').collect::<Vec<_>>(), self.bars.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        if self.bars.is_empty() { Vec::new() } else { vec![("tornado", chart(self))] }
    }
}

const ROW: i32 = 64;
const LOWER: Rgb = PALETTE[2];
const UPPER: Rgb = PALETTE[1];

fn chart(r: &TornadoReport) -> DrawScene {
    let rows = r.bars.len() as i32;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let label = MetricLabel::new(&r.metric, &r.provenance.currency);
    let names = parameter_names(&r.bars.iter().map(|b| b.path.as_str()).collect::<Vec<_>>());
    let title = format!("{}: sensitivity of {}", r.provenance.scenario, label.name);
    let subtitle = match r.base {
        Some(b) => format!(
            "change from the baseline of {}, one input varied at a time, with 95 % intervals of the paired differences",
            label.value(b.mean)
        ),
        None => String::new(),
    };
    let below = heading(&mut scene, &title, &subtitle);
    let widest = names.iter().map(|name| text_width(name, SIZE)).max().unwrap_or(0);
    let ends = r.bars.iter().flat_map(|b| [text_width(&b.shown[0], SIZE - 2), text_width(&b.shown[1], SIZE - 2)]);
    let ends = ends.max().unwrap_or(0).min(260) + 24;
    let left = MARGIN + widest.min(WIDTH / 3) + 24 + ends;
    let bounds = r.bars.iter().flat_map(|b| [b.at_low, b.at_high]).flatten().flat_map(|p| p.ci95);
    let x = PlaneScale::around_zero(bounds, &label);
    let top = below + 6 * SIZE;
    let plane = ParameterPlane {
        x,
        y: PlaneScale::new(0.0, 1.0),
        left,
        right: WIDTH - MARGIN - ends,
        top,
        bottom: top + rows * ROW,
    };
    scene.height = (plane.bottom + 4 * SIZE + MARGIN) as u32;
    let name = format!("change of {}", label.difference_axis());
    let tick = |v: f64| label.tick(v);
    let x_labels = PlaneLabels { name: &name, ticks: x.ticks_in(8, label.tick_unit(x.to - x.from)), label: &tick };
    let none = PlaneLabels { name: "", ticks: Vec::new(), label: &tick };
    plane.draw(&mut scene, &x_labels, &none);
    let zero = plane.to_pixels(0.0, 0.0).0;
    for (i, bar) in r.bars.iter().enumerate() {
        let y = top + i as i32 * ROW + ROW / 2;
        draw_name(&mut scene, y, &names[i], WIDTH / 3);
        draw_bar_end(&mut scene, &plane, (y, zero), (bar.at_low, &bar.shown[0]), LOWER);
        draw_bar_end(&mut scene, &plane, (y, zero), (bar.at_high, &bar.shown[1]), UPPER);
    }
    scene.line(vec![(zero, top), (zero, plane.bottom)], 3, TEXT_COLOR);
    let entries = [(LOWER, "at the lower end of its range"), (UPPER, "at the upper end")];
    legend(&mut scene, below + 3 * SIZE, entries.into_iter().map(|(c, t)| (c, t.to_owned())));
    draw_provenance(&mut scene, &r.provenance);
    scene
}

/// Draws one end of an input: a bar from 0, its interval and the value next to it. The upper end is drawn below the
/// lower end.
fn draw_bar_end(
    scene: &mut DrawScene, plane: &ParameterPlane, (y, zero): (i32, i32), (at, text): (Option<PairedDifference>, &str),
    color: Rgb,
) {
    let Some(p) = at else { return };
    let lower = color == LOWER;
    let y = if lower { y - ROW / 5 } else { y + ROW / 5 };
    let end = plane.to_pixels(p.mean, 0.0).0;
    let thick = ROW / 3;
    scene.rect(zero.min(end), y - thick / 2, (end - zero).abs().max(2), thick, color);
    let [low, high] = p.ci95.map(|v| plane.to_pixels(v, 0.0).0);
    scene.line(vec![(low, y), (high, y)], 3, TEXT_COLOR);
    let right = p.mean >= 0.0;
    let (x, anchor) =
        if right { (end.max(high) + 10, TextAnchor::Left) } else { (end.min(low) - 10, TextAnchor::Right) };
    scene.text((x, y), SIZE - 3, anchor, MUTED_COLOR, text);
}
