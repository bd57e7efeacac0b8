//! Report on the best checkpoint interval: the conclusion with closed forms for comparison, the simulated intervals
//! and the chart.

use super::number::{change_with_interval, duration_text, exact_value, short_value};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::{PlanPage, PlanProvenance, PlanText, table};
use crate::draw::scene::{DrawScene, PALETTE};
use crate::figures::compare_panel::{SIZE, legend};
use crate::metric_label::{MetricLabel, parameter_tick};
use crate::{console::waterfall::WaterfallStyle, draw::heading::heading, table::Table};
use serde::Serialize;
use sim_analysis::planning::interval::{BestInterval, SimulatedInterval};
use sim_analysis::planning::{ClosedForm, RangeUnit};

/// A checkpoint interval result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IntervalReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    pub path: String,
    pub metric: String,
    /// The best interval in seconds; null if no optimum was found.
    #[serde(rename = "every_s")]
    pub every_s: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(rename = "every_ci95_s")]
    pub ci95_s: Option<[f64; 2]>,
    /// The configured interval in seconds.
    #[serde(rename = "now_s")]
    pub now_s: f64,
    pub closed_form: ClosedForm,
    pub points: Vec<SimulatedInterval>,
    /// Features of these inputs that the closed forms do not cover.
    pub not_in_formula: Vec<String>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl IntervalReport {
    pub fn new(
        of: PlanProvenance, (path, metric, now_s): (&str, &str, f64), result: BestInterval, closed_form: ClosedForm,
        not_in_formula: Vec<String>,
    ) -> IntervalReport {
        let mut report = IntervalReport {
            provenance: of,
            path: path.to_owned(),
            metric: metric.to_owned(),
            every_s: result.every_s,
            ci95_s: result.ci95_s,
            now_s,
            closed_form,
            points: result.points,
            not_in_formula,
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report, result.at_edge, result.is_simulated);
        report
    }

    fn configured_point(&self) -> Option<&SimulatedInterval> {
        self.points.iter().find(|p| (p.every_s - self.now_s).abs() < 1e-3)
    }

    /// Returns the range of simulated intervals whose loss against the best one is below `loss`.
    fn flat_range(&self, loss: f64) -> Option<(f64, f64)> {
        let near = |p: &&SimulatedInterval| p.change.is_none_or(|c| c.mean.abs() < loss);
        let all = || self.points.iter().filter(near).map(|p| p.every_s);
        Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
    }
}

fn conclusion(r: &IntervalReport, at_edge: bool, is_simulated: bool) -> Vec<String> {
    let c = &r.closed_form;
    let mut all = Vec::new();
    match (r.every_s, r.ci95_s) {
        (Some(best), Some([low, high])) => all.push(format!(
            "The best interval is {} (95 % interval {} to {}).",
            duration_text(best),
            duration_text(low),
            duration_text(high)
        )),
        (Some(best), _) if is_simulated => all.push(format!(
            "The best of the simulated intervals is {}; the curve is no parabola around it, so there is no confidence \
             interval.",
            duration_text(best)
        )),
        (Some(best), None) => all.push(format!(
            "The best interval is about {}; there are too few replications for a confidence interval.",
            duration_text(best)
        )),
        (None, _) if at_edge => {
            all.push(format!("No best interval found: {} has no optimum within the simulated range.", r.metric))
        }
        (None, _) => all.push(format!(
            "No best interval found: the differences in {} are inconclusive with this number of replications.",
            r.metric
        )),
    }
    let total = |of: fn(&SimulatedInterval) -> usize| r.points.iter().map(of).sum::<usize>();
    let excluded = total(|p| p.excluded);
    if excluded > 0 {
        all.push(format!(
            "{excluded} of {} replications do not complete their work and are excluded: the result holds for the others.",
            total(|p| p.replications)
        ));
    }
    all.push(format!(
        "Closed forms for checkpoints that block for {} and one interruption per {} of training steps: Young {}, Daly {}, exact {}.",
        duration_text(c.blocking_s),
        duration_text(c.between_s),
        duration_text(c.young_s),
        duration_text(c.daly_s),
        duration_text(c.exact_s)
    ));
    all.extend(closed_form_difference(r));
    if let Some((low, high)) = r.flat_range(0.002).filter(|(low, high)| low < high) {
        all.push(format!(
            "The optimum is flat: simulated intervals from {} to {} are within 0.002 of the best.",
            duration_text(low),
            duration_text(high)
        ));
    }
    if let Some(change) = r.configured_point().and_then(|p| p.change).filter(|c| c.mean != 0.0) {
        all.push(format!(
            "The configured interval of {} differs from the best simulated one by {} in {}.",
            duration_text(r.now_s),
            self::change_with_interval(change.mean, change.ci95),
            r.metric
        ));
    }
    all
}

/// Compares the exact closed form with the simulated optimum.
fn closed_form_difference(r: &IntervalReport) -> Option<String> {
    let (best, [low, high]) = (r.every_s?, r.ci95_s?);
    let exact = r.closed_form.exact_s;
    let knows = "The formula assumes exponentially distributed failures with a constant rate; its optimum does not depend on the restart time.";
    let reasons = if r.not_in_formula.is_empty() {
        String::new()
    } else {
        format!(" Not covered by the formula: {}.", r.not_in_formula.join("; "))
    };
    Some(if (low..=high).contains(&exact) {
        format!(
            "The exact closed form is within the confidence interval, so the formula is sufficient here. {knows}{reasons}"
        )
    } else {
        let percent = 100.0 * (best / exact - 1.0);
        let word = if percent > 0.0 { "longer" } else { "shorter" };
        format!(
            "The simulated optimum is {:.0} % {word} than the exact closed form, which is outside the confidence interval. {knows}{reasons}",
            percent.abs()
        )
    })
}

impl PlanText for IntervalReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("the best {} for {}", self.path, self.metric);
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let head = ["every", &self.metric, "95 % interval of the mean", "difference from the best", "runs"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for p in &self.points {
            let m = p.metric;
            let interval = m
                .filter(|m| m.n > 1)
                .map_or("-".to_owned(), |m| format!("{} to {}", short_value(m.ci95[0]), short_value(m.ci95[1])));
            rows.push(vec![
                duration_text(p.every_s),
                m.map_or("-".to_owned(), |m| short_value(m.mean)),
                interval,
                p.change.filter(|c| c.mean != 0.0).map_or("-".to_owned(), |c| change_with_interval(c.mean, c.ci95)),
                match p.excluded {
                    0 => p.replications.to_string(),
                    excluded => format!("{} of {}", p.replications - excluded, p.replications),
                },
            ]);
        }
        let best = |i: usize| self.points[i].change.is_some_and(|c| c.mean == 0.0);
        page.table(&rows, best).finish(&[])
    }

    fn table(&self) -> Table {
        let head =
            ["every_s", "mean", "low", "high", "change", "change_low", "change_high", "replications", "excluded"];
        let row = |p: &SimulatedInterval| {
            let (m, c) = (p.metric, p.change);
            vec![
                p.every_s.to_string(),
                exact_value(m.map(|m| m.mean)),
                exact_value(m.map(|m| m.ci95[0])),
                exact_value(m.map(|m| m.ci95[1])),
                exact_value(c.map(|c| c.mean)),
                exact_value(c.map(|c| c.ci95[0])),
                exact_value(c.map(|c| c.ci95[1])),
                p.replications.to_string(),
                p.excluded.to_string(),
            ]
        };
        table(&head, self.points.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        match self.points.len() {
            0 | 1 => Vec::new(),
            _ => vec![("interval", interval_chart(self))],
        }
    }
}

fn interval_chart(r: &IntervalReport) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32));
    let metric = MetricLabel::new(&r.metric, &r.provenance.currency);
    let title = format!("{}: {} by checkpoint interval", r.provenance.scenario, metric.name);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let c = &r.closed_form;
    let marks = [c.young_s, c.daly_s, c.exact_s, r.every_s.unwrap_or(c.exact_s)];
    let xs = || r.points.iter().map(|p| p.every_s).chain(marks).filter(|v| *v > 0.0);
    let x = PlaneScale::logarithmic(xs().fold(f64::MAX, f64::min) * 0.9, xs().fold(0.0, f64::max) * 1.1);
    //  The difference removes the variation that is common to all intervals of a replication.
    let ys = r.points.iter().filter_map(|p| p.change);
    let y = PlaneScale::from_values(ys.flat_map(|c| c.ci95).chain([0.0]));
    let name = format!("{}: difference from the best simulated interval", metric.difference_axis());
    let tick = |v: f64| metric.tick(v);
    let y_labels = PlaneLabels { name: &name, ticks: y.ticks_in(6, metric.tick_unit(y.to - y.from)), label: &tick };
    let time = |v: f64| parameter_tick(v, RangeUnit::Seconds);
    let x_labels = PlaneLabels { name: "checkpoint interval", ticks: x.time_ticks(14), label: &time };
    let plane = ParameterPlane::single(below, (x, y), &y_labels);
    if let Some(ci95_s) = r.ci95_s {
        plane.fill_between_x(&mut scene, ci95_s, PALETTE[4]);
    }
    plane.draw(&mut scene, &x_labels, &y_labels);
    //  The lines of the formulas end below the points.
    for (at, width, color) in [(c.exact_s, 7, PALETTE[6]), (c.young_s, 4, PALETTE[7]), (c.daly_s, 2, PALETTE[1])] {
        let x = plane.to_pixels(at, plane.y.from).0;
        scene.line(vec![(x, plane.bottom - (plane.bottom - plane.top) / 8), (x, plane.bottom)], width, color);
    }
    let mut entries = vec![(PALETTE[2], "simulated".to_owned())];
    if let Some(best) = r.every_s {
        plane.vertical_line(&mut scene, best, 4, PALETTE[4]);
        entries.push((PALETTE[4], format!("best {}", duration_text(best))));
    }
    entries.push((PALETTE[7], format!("Young {}", duration_text(c.young_s))));
    entries.push((PALETTE[1], format!("Daly {}", duration_text(c.daly_s))));
    entries.push((PALETTE[6], format!("exact {}", duration_text(c.exact_s))));
    let means: Vec<_> = r.points.iter().filter_map(|p| Some((p.every_s, p.change?.mean))).collect();
    plane.curve(&mut scene, &means, 3, PALETTE[3]);
    for p in &r.points {
        if let Some(m) = p.change {
            plane.mark(&mut scene, p.every_s, (m.ci95[0], m.mean, m.ci95[1]), PALETTE[2]);
        }
    }
    legend(&mut scene, below + 3 * SIZE, entries.into_iter());
    draw_provenance(&mut scene, &r.provenance);
    scene
}
