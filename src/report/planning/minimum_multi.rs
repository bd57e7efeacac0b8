//! Report on the smallest combinations of several fields that satisfy a target, with their costs.

use super::number::{change_with_interval, cost_with_unit, exact_value, short_value};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::spares::{CandidateRow, color, judgement_word, row};
use super::{PlanPage, PlanProvenance, PlanText, table, target_title};
use crate::draw::scene::{DrawScene, PALETTE};
use crate::figures::compare_panel::{SIZE, legend};
use crate::metric_label::{MetricLabel, parameter_names};
use crate::{console::waterfall::WaterfallStyle, draw::heading::heading, table::Table};
use serde::Serialize;
use sim_analysis::format::count;
use sim_analysis::planning::minimum_multi::{MultiResult, ParameterCombination};
use sim_analysis::planning::{MetricTarget, TargetJudgement};
use sim_base::stats::PairedDifference;

/// A simulated combination that is listed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CombinationRow {
    /// The value of each field in `paths`.
    pub values: Vec<u64>,
    #[serde(flatten)]
    pub candidate: CandidateRow,
    /// Paired cost difference from the cheapest combination.
    pub dearer: Option<PairedDifference>,
}

/// A result for several fields with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MinimumMultiReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    pub paths: Vec<String>,
    /// The target as given by the user.
    pub target: String,
    /// Metric and statistic of the target.
    pub metric: String,
    pub statistic: String,
    pub limit: f64,
    /// Minimal combinations that satisfy the target, cheapest first, followed by inconclusive ones.
    pub combinations: Vec<CombinationRow>,
    /// Unit of the cost: a currency or node-hours.
    pub currency: String,
    pub simulated: usize,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl MinimumMultiReport {
    pub fn new(
        of: PlanProvenance, paths: Vec<String>, target: &MetricTarget, result: &MultiResult, currency: &str,
    ) -> MinimumMultiReport {
        let combination_row = |c: &ParameterCombination| CombinationRow {
            values: c.values.clone(),
            candidate: row(&target.metric, &c.candidate),
            dearer: c.dearer.filter(|d| d.n > 1),
        };
        let all = result.least.iter().chain(&result.open).chain(&result.greatest);
        let mut combinations: Vec<CombinationRow> = all.map(combination_row).collect();
        //  The largest combination may also be one of the inconclusive ones.
        combinations.dedup_by(|b, a| a.values == b.values);
        let mut report = MinimumMultiReport {
            provenance: of,
            paths,
            target: target.text.clone(),
            metric: target.metric.clone(),
            statistic: target.statistic_name(),
            limit: target.limit,
            combinations,
            currency: currency.to_owned(),
            simulated: result.simulated,
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }

    /// Adds the reasons why the search failed to the conclusion.
    pub fn add_reasons(&mut self, reasons: Vec<String>) {
        self.conclusion.extend(reasons);
    }

    /// Formats a combination: `topology.pools[0].count=17, topology.pools[0].nodesPerIsland=16`.
    fn format_combination(&self, values: &[u64]) -> String {
        let pairs = self.paths.iter().zip(values);
        let words: Vec<String> = pairs.map(|(p, v)| format!("{p}={v}")).collect();
        words.join(", ")
    }

    /// Returns the last segments of the paths if they are distinct, otherwise the full paths.
    fn short_names(&self) -> Vec<String> {
        let end = |path: &String| path.rsplit('.').next().unwrap_or(path).to_owned();
        let ends: Vec<String> = self.paths.iter().map(end).collect();
        let distinct = (1..ends.len()).all(|i| !ends[..i].contains(&ends[i]));
        if distinct { ends } else { self.paths.clone() }
    }

    /// Formats the cost difference from the cheapest combination. Differences within rounding error are shown as 0.
    fn cost_difference_text(&self, c: &CombinationRow) -> String {
        let nothing = c.candidate.cost.abs() * 1e-9;
        match c.dearer {
            None => "-".to_owned(),
            Some(d) if d.ci95.iter().all(|bound| bound.abs() <= nothing) => "0".to_owned(),
            Some(d) => change_with_interval(d.mean, d.ci95),
        }
    }

    fn satisfying_combinations(&self) -> impl Iterator<Item = &CombinationRow> {
        let meets = |c: &&CombinationRow| c.candidate.judgement == TargetJudgement::Meets;
        self.combinations.iter().filter(meets)
    }

    fn cost(&self, c: &CombinationRow) -> String {
        cost_with_unit(c.candidate.cost, &self.currency)
    }
}

fn conclusion(r: &MinimumMultiReport) -> Vec<String> {
    let all = r.satisfying_combinations().count();
    let Some(best) = r.satisfying_combinations().next() else {
        let greatest = r.combinations.last().map(|c| c.values.as_slice());
        let greatest = r.format_combination(greatest.unwrap_or(&[]));
        return vec![if r.combinations.iter().any(|c| c.candidate.judgement == TargetJudgement::Open) {
            format!("Inconclusive whether {greatest} satisfies {}. Increase --seeds.", r.target)
        } else {
            format!("No combination up to {greatest} satisfies {}.", r.target)
        }];
    };
    let mut sentences = vec![format!(
        "{} satisfies {} at the lowest cost: {} per run. With any value reduced by one, the target is missed or the result is inconclusive.",
        r.format_combination(&best.values),
        r.target,
        r.cost(best)
    )];
    let near = r.satisfying_combinations().skip(1).filter(|c| c.dearer.is_none_or(|d| d.significant_order().is_none()));
    let near: Vec<String> = near.map(|c| r.format_combination(&c.values)).collect();
    if all > 1 {
        sentences.push(format!(
            "There are {}; none of their values can be reduced.",
            count(all as u64, "minimal combination")
        ));
    }
    if !near.is_empty() {
        sentences.push(format!("The cost difference is inconclusive for: {}.", near.join("; ")));
    }
    sentences
}

impl PlanText for MinimumMultiReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("smallest {} for {}", self.paths.join(" and "), self.target);
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let mut head = self.short_names();
        let stat = format!("{}.{}", self.metric, self.statistic);
        let rest = [&stat, "95 % interval", "cost per run", "cost above the cheapest", "runs", "target"];
        head.extend(rest.map(str::to_owned));
        let mut rows = vec![head];
        let label = MetricLabel::new(&self.metric, &self.currency);
        for c in &self.combinations {
            let worth = &c.candidate;
            let bound = |v: Option<f64>| v.map_or("?".to_owned(), |v| label.plain(v));
            let mut cells: Vec<String> = c.values.iter().map(u64::to_string).collect();
            cells.extend([
                worth.statistic.map_or("-".to_owned(), |v| label.plain(v)),
                format!("{} to {}", bound(worth.ci95[0]), bound(worth.ci95[1])),
                self.cost(c),
                self.cost_difference_text(c),
                worth.replications.to_string(),
                judgement_word(worth.judgement).to_owned(),
            ]);
            rows.push(cells);
        }
        let has_best = self.satisfying_combinations().next().is_some();
        let note = format!(
            "{} were simulated with common random numbers. Larger values are assumed never to be worse.",
            count(self.simulated as u64, "combination")
        );
        page.table(&rows, |i| i == 0 && has_best).finish(&[note])
    }

    fn table(&self) -> Table {
        let mut head = self.paths.clone();
        let rest = ["judgement", "statistic", "low", "high", "mean", "cost", "replications", "excluded"];
        head.extend(rest.map(str::to_owned));
        let line = |c: &CombinationRow| {
            let worth = &c.candidate;
            let judgement = match worth.judgement {
                TargetJudgement::Meets => "meets",
                TargetJudgement::Misses => "misses",
                TargetJudgement::Open => "open",
            };
            let mut cells: Vec<String> = c.values.iter().map(u64::to_string).collect();
            cells.extend([
                judgement.to_owned(),
                exact_value(worth.statistic),
                exact_value(worth.ci95[0]),
                exact_value(worth.ci95[1]),
                exact_value(worth.metric.map(|m| m.mean)),
                worth.cost.to_string(),
                worth.replications.to_string(),
                worth.excluded.to_string(),
            ]);
            cells
        };
        table(&head, self.combinations.iter().map(line))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        vec![("combinations", chart(self))]
    }
}

/// Draws the cost of each combination, ordered by the values.
fn chart(r: &MinimumMultiReport) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32));
    let label = MetricLabel::new(&r.metric, &r.provenance.currency).of_statistic(&r.statistic);
    let target = target_title((&r.target, r.limit), &label);
    let title = format!("{}: combinations for {target}", r.provenance.scenario);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let mut all: Vec<&CombinationRow> = r.combinations.iter().collect();
    all.sort_by(|a, b| a.values.cmp(&b.values));
    let costs = PlaneScale::from_values(all.iter().map(|c| c.candidate.cost).chain([0.0]));
    let name = format!("mean cost per run, {}", r.currency);
    let y = PlaneLabels { name: &name, ticks: PlaneScale::new(0.0, costs.to).ticks(6), label: &short_value };
    let label = |at: f64| {
        let values = all.get(at as usize).map_or(&[][..], |c| &c.values);
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        words.join(" · ")
    };
    let paths: Vec<&str> = r.paths.iter().map(String::as_str).collect();
    let names = parameter_names(&paths).join(" · ");
    let x = PlaneLabels { name: &names, ticks: (0..all.len()).map(|i| i as f64).collect(), label: &label };
    let across = PlaneScale::new(-0.6, all.len() as f64 - 0.4);
    let plane = ParameterPlane::single(below, (across, PlaneScale::new(0.0, costs.to)), &y);
    plane.draw(&mut scene, &x, &y);
    let best = r.satisfying_combinations().next().map(|c| &c.values);
    for (i, c) in all.iter().enumerate() {
        let (px, py) = plane.to_pixels(i as f64, c.candidate.cost);
        let color = if Some(&c.values) == best { PALETTE[2] } else { color(c.candidate.judgement) };
        scene.rect(px - 20, py, 40, plane.bottom - py, color);
    }
    let seen = |j: TargetJudgement| all.iter().any(|c| c.candidate.judgement == j);
    let mut entries = vec![(PALETTE[2], "cheapest".to_owned())];
    for (judgement, word) in [
        (TargetJudgement::Meets, "satisfies the target, minimal"),
        (TargetJudgement::Open, "inconclusive"),
        (TargetJudgement::Misses, "misses the target"),
    ] {
        if seen(judgement) {
            entries.push((color(judgement), word.to_owned()));
        }
    }
    if best.is_none() {
        entries.remove(0);
    }
    legend(&mut scene, below + 3 * SIZE, entries.into_iter());
    draw_provenance(&mut scene, &r.provenance);
    scene
}
