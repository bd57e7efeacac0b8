//! Report on the smallest value that satisfies a target: the conclusion, all candidates with their costs, and the
//! knee chart.

use super::number::{cost_with_unit, exact_value, short_value};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance, plot_left_edge};
use super::{PlanPage, PlanProvenance, PlanText, table, target_title};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, tick_label};
use crate::figures::compare_panel::{SIZE, legend};
use crate::metric_label::{MetricLabel, parameter_name};
use crate::{console::waterfall::WaterfallStyle, table::Table};
use serde::Serialize;
use sim_analysis::planning::sample::mean_estimate;
use sim_analysis::planning::{MetricTarget, MinimumSearch, SearchAnswer, SearchCandidate, TargetJudgement};
use sim_base::stats::{MeanEstimate, PairedDifference};

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRow {
    pub value: u64,
    /// Whether the candidate satisfies the target.
    pub judgement: TargetJudgement,
    /// Estimate of the statistic in the target.
    pub statistic: Option<f64>,
    /// Its 95 % interval; null for a bound that requires more values.
    pub ci95: [Option<f64>; 2],
    /// Estimate of the metric over the replications.
    pub metric: Option<MeanEstimate>,
    /// Paired difference from the previous row.
    pub change: Option<PairedDifference>,
    /// Mean cost of a replication that completed its work.
    pub cost: f64,
    pub replications: usize,
    /// Number of replications without completed work. They count as the worst possible value.
    pub excluded: usize,
}

/// A result for one field with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SparesReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    pub path: String,
    /// The target as given by the user.
    pub target: String,
    pub metric: String,
    /// The statistic of the target, for example `p10` or `mean`.
    pub statistic: String,
    pub limit: f64,
    #[serde(flatten)]
    pub answer: SearchAnswer,
    /// The candidates in ascending order of their values.
    pub candidates: Vec<CandidateRow>,
    /// Unit of the cost: a currency or node-hours.
    pub currency: String,
    /// Candidates that are worse than smaller ones.
    pub not_monotone: Vec<u64>,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl SparesReport {
    pub fn new(
        of: PlanProvenance, path: &str, target: &MetricTarget, result: &MinimumSearch, currency: &str,
    ) -> SparesReport {
        let candidates = result.candidates.iter().map(|c| row(&target.metric, c)).collect();
        let mut report = SparesReport {
            provenance: of,
            path: path.to_owned(),
            target: target.text.clone(),
            metric: target.metric.clone(),
            statistic: target.statistic_name(),
            limit: target.limit,
            answer: result.answer,
            candidates,
            currency: currency.to_owned(),
            not_monotone: result.not_monotone.clone(),
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }

    /// Adds the reasons why the search failed to the conclusion.
    pub fn add_reasons(&mut self, reasons: Vec<String>) {
        self.conclusion.extend(reasons);
    }

    fn candidate(&self, value: u64) -> Option<&CandidateRow> {
        self.candidates.iter().find(|c| c.value == value)
    }

    /// Returns the proposed value, if any.
    fn chosen(&self) -> Option<u64> {
        match self.answer {
            SearchAnswer::Least { value } => Some(value),
            SearchAnswer::Between { high, .. } => Some(high),
            SearchAnswer::Nothing | SearchAnswer::Open { .. } => None,
        }
    }

    fn money(&self, cost: f64) -> String {
        cost_with_unit(cost, &self.currency)
    }

    fn label(&self) -> MetricLabel {
        MetricLabel::new(&self.metric, &self.currency)
    }

    fn interval(&self, c: &CandidateRow) -> String {
        let bound = |v: Option<f64>| v.map_or("?".to_owned(), |v| self.label().plain(v));
        format!("95 % interval {} to {}", bound(c.ci95[0]), bound(c.ci95[1]))
    }
}

pub(super) fn row(metric: &str, c: &SearchCandidate) -> CandidateRow {
    CandidateRow {
        value: c.value,
        judgement: c.judgement,
        statistic: c.estimated.map(|e| e.value).filter(|v| v.is_finite()),
        ci95: c.estimated.map_or([None, None], |e| e.interval.map(|v| v.filter(|v| v.is_finite()))),
        metric: mean_estimate(metric, &c.sample),
        change: c.change.filter(|change| change.n > 1),
        cost: c.cost(),
        replications: c.sample.len(),
        excluded: c.excluded(),
    }
}

fn conclusion(r: &SparesReport) -> Vec<String> {
    let (path, target) = (&r.path, &r.target);
    let greatest = r.candidates.last().map_or(0, |c| c.value);
    let is_greatest =
        |low: u64| r.candidates.last().is_some_and(|c| c.value >= low && c.judgement != TargetJudgement::Misses);
    let stat = |c: &CandidateRow| {
        let value = c.statistic.map(|v| r.label().plain(v));
        let value = value.map(|v| format!("{}.{} is {v} ({})", r.metric, r.statistic, r.interval(c)));
        let incomplete = (c.excluded > 0)
            .then(|| format!("{} of {} replications do not complete their work", c.excluded, c.replications));
        let parts: Vec<String> = [value, incomplete].into_iter().flatten().collect();
        parts.join(", and ")
    };
    let mut all = vec![match r.answer {
        SearchAnswer::Least { value } => {
            format!("{path} = {value} is the smallest value that satisfies {target}.")
        }
        SearchAnswer::Between { low, high } => format!(
            "The smallest {path} that satisfies {target} is between {low} and {high}; smaller values of this range are inconclusive. {high} satisfies it."
        ),
        SearchAnswer::Nothing => format!(
            "No value up to {path} = {greatest} satisfies {target}; at this value {}.",
            r.candidate(greatest).map_or(String::new(), stat)
        ),
        SearchAnswer::Open { low } => format!(
            "Inconclusive whether {path} = {} satisfies {target}{}. Increase --seeds{}.",
            if is_greatest(low) { greatest } else { low },
            if r.candidates.iter().any(|c| c.value < low) {
                format!("; values below {low} miss it")
            } else {
                String::new()
            },
            if is_greatest(low) { " or --max" } else { "" },
        ),
    }];
    all.extend(saturation(r).filter(|_| r.answer == SearchAnswer::Nothing));
    if let Some(c) = r.chosen().and_then(|v| r.candidate(v)) {
        let less = c.value.checked_sub(1).and_then(|v| r.candidate(v));
        let price = less.map_or(String::new(), |l| format!("; with {path} = {} it costs {}", l.value, r.money(l.cost)));
        // Without prices there is nothing to compare.
        let cost = if c.cost > 0.0 { format!(", and a run costs {}{price}", r.money(c.cost)) } else { String::new() };
        all.push(format!("At this value {}{cost}.", stat(c)));
    }
    all
}

/// Returns whether larger values change the metric between the two largest candidates.
fn saturation(r: &SparesReport) -> Option<String> {
    let [.., before, last] = r.candidates.as_slice() else {
        return None;
    };
    let (path, metric) = (&r.path, &r.metric);
    // Replications without completed work have no change.
    if last.excluded == last.replications {
        return None;
    }
    let change = last.change?;
    let text = r.label().plain_change(change.mean, change.ci95);
    Some(match change.significant_order() {
        None => format!(
            "More does not help: {path} = {} and {path} = {} do not differ significantly in {metric} (change of the mean {text}), so {path} does not limit it.",
            before.value, last.value
        ),
        Some(_) => format!(
            "From {path} = {} to {path} = {} the mean of {metric} changes by {text}; {}.",
            before.value,
            last.value,
            if r.not_monotone.contains(&last.value) {
                "more makes it worse"
            } else {
                "a larger --max may satisfy the target"
            }
        ),
    })
}

pub(super) fn judgement_word(judgement: TargetJudgement) -> &'static str {
    match judgement {
        TargetJudgement::Meets => "satisfied",
        TargetJudgement::Misses => "missed",
        TargetJudgement::Open => "inconclusive",
    }
}

/// Position of the costs in the table, behind the means.
const COST_COLUMN: usize = 5;

impl PlanText for SparesReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("smallest {} for {}", self.path, self.target);
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let last = self.path.rsplit('.').next().unwrap_or(&self.path);
        // The title has the metric. Without it, the mean would have the name of another column.
        let stat = match self.statistic.as_str() {
            "mean" => format!("{}.mean", self.metric),
            statistic => statistic.to_owned(),
        };
        let cost = format!("{} per run", self.currency);
        // Without prices, every run costs nothing.
        let has_costs = self.candidates.iter().any(|c| c.cost > 0.0);
        let mut head = vec![last, &stat, "95 % interval", "mean", "change of the mean", "runs", "target"];
        if has_costs {
            head.insert(COST_COLUMN, &cost);
        }
        let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<String>>()];
        let label = self.label();
        for c in &self.candidates {
            let number = |v: Option<f64>| v.map_or("-".to_owned(), |v| label.plain(v));
            let bound = |v: Option<f64>| v.map_or("?".to_owned(), |v| label.plain(v));
            let change = c.change.map_or("-".to_owned(), |p| label.plain_change(p.mean, p.ci95));
            let mut row = vec![
                c.value.to_string(),
                number(c.statistic),
                match c.ci95 {
                    [None, None] => "-".to_owned(),
                    [low, high] => format!("{} to {}", bound(low), bound(high)),
                },
                number(c.metric.map(|m| m.mean)),
                change,
                c.replications.to_string(),
                judgement_word(c.judgement).to_owned(),
            ];
            if has_costs {
                // A candidate without completed replications has no cost.
                let cost = (c.excluded < c.replications).then_some(c.cost);
                row.insert(COST_COLUMN, cost.map_or("-".to_owned(), short_value));
            }
            rows.push(row);
        }
        page.table(&rows, |i| Some(self.candidates[i].value) == self.chosen()).finish(&self.notes())
    }

    fn table(&self) -> Table {
        let head = "value judgement statistic low high mean p10 p50 p90 change change_low change_high cost replications \
            excluded";
        let row = |c: &CandidateRow| {
            let m = c.metric;
            let judgement = match c.judgement {
                TargetJudgement::Meets => "meets",
                TargetJudgement::Misses => "misses",
                TargetJudgement::Open => "open",
            };
            vec![
                c.value.to_string(),
                judgement.to_owned(),
                exact_value(c.statistic),
                exact_value(c.ci95[0]),
                exact_value(c.ci95[1]),
                exact_value(m.map(|m| m.mean)),
                exact_value(m.map(|m| m.p10)),
                exact_value(m.map(|m| m.p50)),
                exact_value(m.map(|m| m.p90)),
                exact_value(c.change.map(|p| p.mean)),
                exact_value(c.change.map(|p| p.ci95[0])),
                exact_value(c.change.map(|p| p.ci95[1])),
                c.cost.to_string(),
                c.replications.to_string(),
                c.excluded.to_string(),
            ]
        };
        table(&head.split(' ').collect::<Vec<_>>(), self.candidates.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        vec![("knee", spares_chart(self))]
    }
}

impl SparesReport {
    fn notes(&self) -> Vec<String> {
        let mut all = vec![
            "Bisection assumes that larger values are never worse. All candidates were simulated with common random numbers.".to_owned(),
            "The intervals decide the judgments. Their level is 95 % and takes the earlier interim analyses into account.".to_owned(),
        ];
        if !self.not_monotone.is_empty() {
            let values: Vec<String> = self.not_monotone.iter().map(u64::to_string).collect();
            all.push(format!(
                "ATTENTION: this assumption does not hold here: {} = {} is worse than the previous candidate. Testing every value may give a different result.",
                self.path,
                values.join(", ")
            ));
        }
        let excluded: usize = self.candidates.iter().map(|c| c.excluded).sum();
        if excluded > 0 {
            all.push(format!(
                "{excluded} replications failed, are blocked or are unfinished at the time limit. The target counts them as the worst value; the mean excludes them."
            ));
        }
        all
    }
}

/// Draws the metric of each candidate with the limit above, and the cost below.
fn spares_chart(r: &SparesReport) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32 + 230));
    let (parameter, currency) = (parameter_name(&r.path), &r.provenance.currency);
    let metric = MetricLabel::new(&r.metric, currency);
    let target = target_title((&r.target, r.limit), &metric.clone().of_statistic(&r.statistic));
    let title = format!("{}: {parameter} for {target}", r.provenance.scenario);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let values: Vec<f64> = r.candidates.iter().map(|c| c.value as f64).collect();
    let (low, high) = (values[0], values[values.len() - 1]);
    let air = ((high - low) * 0.03).max(0.3);
    let x = PlaneScale::new(low - air, high + air);
    let bounds = r.candidates.iter().flat_map(|c| {
        let m = c.metric;
        [c.ci95[0], c.ci95[1], c.statistic, m.map(|m| m.p50)]
    });
    let y = PlaneScale::of_metric(bounds.flatten().chain([r.limit]), &metric);
    let costs = PlaneScale::from_values(r.candidates.iter().map(|c| c.cost).chain([0.0]));
    let costs = PlaneScale::new(0.0, costs.to);
    let y_name = metric.clone().of_statistic(&r.statistic).axis();
    let cost_name = format!("mean cost per run, {}", r.currency);
    let tick = |v: f64| metric.tick(v);
    let y_labels = PlaneLabels { name: &y_name, ticks: y.ticks_in(6, metric.tick_unit(y.to - y.from)), label: &tick };
    let cost_labels = PlaneLabels { name: &cost_name, ticks: costs.ticks(4), label: &short_value };
    let left = plot_left_edge(&y_labels).max(plot_left_edge(&cost_labels));
    let top = below + 7 * SIZE;
    let upper = ParameterPlane { x, y, left, right: WIDTH - MARGIN - 20, top, bottom: top + 420 };
    let lower = ParameterPlane {
        x,
        y: costs,
        left,
        right: upper.right,
        top: upper.bottom + 5 * SIZE,
        bottom: upper.bottom + 5 * SIZE + 190,
    };
    let complete = |ticks: Vec<f64>| ticks.into_iter().filter(|t| *t == t.round()).collect();
    let none = PlaneLabels { name: "", ticks: complete(x.ticks(12)), label: &tick_label };
    let x_labels = PlaneLabels { name: &parameter, ticks: complete(x.ticks(12)), label: &tick_label };
    upper.draw(&mut scene, &none, &y_labels);
    lower.draw(&mut scene, &x_labels, &cost_labels);
    upper.horizontal_line(&mut scene, r.limit, 3, TEXT_COLOR);
    draw_medians(&mut scene, &upper, &r.candidates);
    let unit = lower.to_pixels(low + 1.0, 0.0).0 - lower.to_pixels(low, 0.0).0;
    let bar = (unit * 4 / 5).clamp(4, 28);
    for c in &r.candidates {
        let color = color(c.judgement);
        if let Some(value) = c.statistic {
            let [low, high] = c.ci95.map(|v| v.unwrap_or(value));
            upper.mark(&mut scene, c.value as f64, (low, value, high), color);
        }
        let (px, py) = lower.to_pixels(c.value as f64, c.cost);
        scene.rect(px - bar / 2, py, bar, lower.bottom - py, color);
    }
    let met = format!("{} satisfies the target", r.statistic);
    let words = [
        (TargetJudgement::Meets, met.as_str()),
        (TargetJudgement::Open, "inconclusive"),
        (TargetJudgement::Misses, "misses the target"),
    ];
    let seen = |j: &TargetJudgement| r.candidates.iter().any(|c| c.judgement == *j);
    let seen = words.into_iter().filter(|(j, _)| seen(j));
    let entries = seen
        .map(|(j, word)| (color(j), word.to_owned()))
        .chain([(PALETTE[3], "median".to_owned()), (TEXT_COLOR, format!("limit {}", metric.value(r.limit)))]);
    legend(&mut scene, below + 3 * SIZE, entries);
    draw_provenance(&mut scene, &r.provenance);
    scene
}

/// Draws the median of each candidate. A line connects candidates only if no value between them was skipped.
fn draw_medians(scene: &mut DrawScene, plane: &ParameterPlane, candidates: &[CandidateRow]) {
    for part in candidates.chunk_by(|a, b| b.value <= a.value + 1) {
        let medians: Vec<_> = part.iter().map(|c| (c.value as f64, c.metric.map(|m| m.p50))).collect();
        plane.curve_with_gaps(scene, &medians, 3, PALETTE[3]);
        for (x, median) in medians {
            if let Some(median) = median {
                let (px, py) = plane.to_pixels(x, median);
                scene.rect(px - 9, py - 2, 18, 4, PALETTE[3]);
            }
        }
    }
}

pub(super) fn color(judgement: TargetJudgement) -> Rgb {
    match judgement {
        TargetJudgement::Meets => PALETTE[4],
        TargetJudgement::Misses => PALETTE[1],
        TargetJudgement::Open => PALETTE[0],
    }
}
