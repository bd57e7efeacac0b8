//! Report on the smallest value that satisfies a target: the conclusion, all candidates with their costs, and the
//! knee chart.

use super::columns::columns;
use super::number::{change, exact, short};
use super::plane::{HEIGHT, Labels, Plane, Scale, WIDTH, left_of, provenance};
use super::{Provenance, Told, sentences, table};
use crate::console::waterfall::Style;
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::*;
use crate::figures::compare_panel::{SIZE, legend};
use crate::table::Table;
use serde::Serialize;
use sim_analysis::planning::{Answer, Candidate, Judgement, Least, Target};
use sim_base::stats::{Estimate, Paired};

/// A simulated candidate.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRow {
    /// The value of the varied field.
    pub value: u64,
    /// Whether the candidate satisfies the target.
    pub judgement: Judgement,
    /// Estimate of the statistic in the target.
    pub statistic: Option<f64>,
    /// Its 95 % interval; null for a bound that requires more values.
    pub ci95: [Option<f64>; 2],
    /// Estimate of the metric over the replications.
    pub metric: Option<Estimate>,
    /// Paired difference from the previous row.
    pub change: Option<Paired>,
    /// Mean cost of a replication.
    pub cost: f64,
    /// Number of simulated replications.
    pub replications: usize,
    /// Number of replications that deadlocked or were cut off. They count as the worst possible value.
    pub left_out: usize,
}

/// A result for one field with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SparesReport {
    #[serde(flatten)]
    pub of: Provenance,
    /// The varied field.
    pub path: String,
    /// The target as given by the user.
    pub target: String,
    /// The metric of the target.
    pub metric: String,
    /// The statistic of the target, for example `p10` or `mean`.
    pub statistic: String,
    /// The limit of the target.
    pub limit: f64,
    /// The result of the search.
    #[serde(flatten)]
    pub answer: Answer,
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
        of: Provenance,
        path: &str,
        target: &Target,
        found: &Least,
        currency: &str,
    ) -> SparesReport {
        let candidates = found.candidates.iter().map(row).collect();
        let mut report = SparesReport {
            of,
            path: path.to_owned(),
            target: target.text.clone(),
            metric: target.metric.clone(),
            statistic: target.statistic_name(),
            limit: target.limit,
            answer: found.answer,
            candidates,
            currency: currency.to_owned(),
            not_monotone: found.not_monotone.clone(),
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }

    fn of(&self, value: u64) -> Option<&CandidateRow> {
        self.candidates.iter().find(|c| c.value == value)
    }

    /// Returns the proposed value, if any.
    fn chosen(&self) -> Option<u64> {
        match self.answer {
            Answer::Least { value } => Some(value),
            Answer::Between { high, .. } => Some(high),
            Answer::Nothing | Answer::Open { .. } => None,
        }
    }

    fn money(&self, cost: f64) -> String {
        format!("{} {}", short(cost), self.currency)
    }
}

pub(super) fn row(c: &Candidate) -> CandidateRow {
    CandidateRow {
        value: c.value,
        judgement: c.judgement,
        statistic: c.estimated.map(|e| e.value).filter(|v| v.is_finite()),
        ci95: c.estimated.map_or([None, None], |e| {
            e.interval.map(|v| v.filter(|v| v.is_finite()))
        }),
        metric: Estimate::of(finite(c)),
        change: c.change.filter(|change| change.n > 1),
        cost: c.cost(),
        replications: c.sample.len(),
        left_out: c.left_out(),
    }
}

fn finite(c: &Candidate) -> Vec<f64> {
    let values = c.sample.iter().filter_map(|row| row.value);
    values.filter(|v| v.is_finite()).collect()
}

fn conclusion(r: &SparesReport) -> Vec<String> {
    let (path, target) = (&r.path, &r.target);
    let greatest = r.candidates.last().map_or(0, |c| c.value);
    let stat = |c: &CandidateRow| {
        let value = c.statistic.map_or("-".to_owned(), short);
        format!("{}.{} is {value} ({})", r.metric, r.statistic, interval(c))
    };
    let mut all = vec![match r.answer {
        Answer::Least { value } => format!("{path} = {value} is the least that meets {target}."),
        Answer::Between { low, high } => format!(
            "The least {path} that meets {target} is between {low} and {high}: the replications cannot tell which. {high} meets it."
        ),
        Answer::Nothing => format!(
            "Nothing up to {path} = {greatest} meets {target}: there {}.",
            r.of(greatest).map_or(String::new(), stat)
        ),
        Answer::Open { low } => format!(
            "Whether {path} = {greatest} meets {target} cannot be told{}. More --seeds, or a greater --max, would tell.",
            match r.candidates.iter().any(|c| c.value < low) {
                true => format!("; those below {low} miss it"),
                false => String::new(),
            }
        ),
    }];
    if let Some(c) = r.chosen().and_then(|v| r.of(v)) {
        let less = c.value.checked_sub(1).and_then(|v| r.of(v));
        let price = less.map_or(String::new(), |l| {
            format!("; {} with one less", r.money(l.cost))
        });
        all.push(format!(
            "With it {}; a run costs {}{price}.",
            stat(c),
            r.money(c.cost)
        ));
    }
    all
}

fn interval(c: &CandidateRow) -> String {
    let bound = |v: Option<f64>| v.map_or("?".to_owned(), short);
    format!("95 % interval {} to {}", bound(c.ci95[0]), bound(c.ci95[1]))
}

pub(super) fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Meets => "meets it",
        Judgement::Misses => "misses it",
        Judgement::Open => "cannot be told",
    }
}

impl Told for SparesReport {
    fn text(&self, style: &Style) -> String {
        let what = format!("the least {} for {}", self.path, self.target);
        let mut out = self.of.title(&what, style);
        out.push('\n');
        sentences(&mut out, &self.conclusion, style);
        out.push('\n');
        let last = self.path.rsplit('.').next().unwrap_or(&self.path);
        let stat = format!("{}.{}", self.metric, self.statistic);
        let head = [
            last,
            &stat,
            "95 % interval",
            "median",
            "mean",
            "change of the mean",
            "cost of a run",
            "runs",
            "",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for c in &self.candidates {
            let number = |v: Option<f64>| v.map_or("-".to_owned(), short);
            let bound = |v: Option<f64>| v.map_or("?".to_owned(), short);
            let change = c.change.map_or("-".to_owned(), |p| change(p.mean, p.ci95));
            rows.push(vec![
                c.value.to_string(),
                number(c.statistic),
                format!("{} to {}", bound(c.ci95[0]), bound(c.ci95[1])),
                number(c.metric.map(|m| m.p50)),
                number(c.metric.map(|m| m.mean)),
                change,
                self.money(c.cost),
                c.replications.to_string(),
                word(c.judgement).to_owned(),
            ]);
        }
        columns(
            &mut out,
            &rows,
            |i| Some(self.candidates[i].value) == self.chosen(),
            style,
        );
        out.push('\n');
        sentences(&mut out, &self.notes(), style);
        out
    }

    fn table(&self) -> Table {
        let head = [
            "value",
            "judgement",
            "statistic",
            "low",
            "high",
            "mean",
            "p10",
            "p50",
            "p90",
            "change",
            "change_low",
            "change_high",
            "cost",
            "replications",
            "left_out",
        ];
        let row = |c: &CandidateRow| {
            let m = c.metric;
            let judgement = match c.judgement {
                Judgement::Meets => "meets",
                Judgement::Misses => "misses",
                Judgement::Open => "open",
            };
            vec![
                c.value.to_string(),
                judgement.to_owned(),
                exact(c.statistic),
                exact(c.ci95[0]),
                exact(c.ci95[1]),
                exact(m.map(|m| m.mean)),
                exact(m.map(|m| m.p10)),
                exact(m.map(|m| m.p50)),
                exact(m.map(|m| m.p90)),
                exact(c.change.map(|p| p.mean)),
                exact(c.change.map(|p| p.ci95[0])),
                exact(c.change.map(|p| p.ci95[1])),
                c.cost.to_string(),
                c.replications.to_string(),
                c.left_out.to_string(),
            ]
        };
        table(&head, self.candidates.iter().map(row))
    }

    fn figures(&self) -> Vec<(&'static str, Scene)> {
        vec![("knee", knee(self))]
    }
}

impl SparesReport {
    fn notes(&self) -> Vec<String> {
        let mut all = vec![
            "Bisection assumes that more of it is never worse; all candidates were played under the same random numbers.".to_owned(),
        ];
        if !self.not_monotone.is_empty() {
            let values: Vec<String> = self.not_monotone.iter().map(u64::to_string).collect();
            all.push(format!(
                "ATTENTION: that does not hold of what was played: {} = {} is worse than the candidate before it. Trying every value may find another answer.",
                self.path,
                values.join(", ")
            ));
        }
        let left_out: usize = self.candidates.iter().map(|c| c.left_out).sum();
        if left_out > 0 {
            all.push(format!(
                "{left_out} runs got stuck or were cut before the metric was known; the target counts them as the worst there is, mean and median leave them out."
            ));
        }
        all
    }
}

/// Draws the metric of each candidate with the limit above, and the cost below.
fn knee(r: &SparesReport) -> Scene {
    let mut scene = Scene::new((WIDTH as u32, HEIGHT as u32 + 230));
    let title = format!("{}: {} for {}", r.of.scenario, r.path, r.target);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let values: Vec<f64> = r.candidates.iter().map(|c| c.value as f64).collect();
    let (low, high) = (values[0], values[values.len() - 1]);
    let air = ((high - low) * 0.03).max(0.3);
    let x = Scale::new(low - air, high + air);
    let bounds = r.candidates.iter().flat_map(|c| {
        let m = c.metric;
        [c.ci95[0], c.ci95[1], c.statistic, m.map(|m| m.p50)]
    });
    let y = Scale::over(bounds.flatten().chain([r.limit]));
    let costs = Scale::over(r.candidates.iter().map(|c| c.cost).chain([0.0]));
    let costs = Scale::new(0.0, costs.to);
    let y_name = format!("{} of a run", r.metric);
    let cost_name = format!("mean cost of a run, {}", r.currency);
    let y_labels = Labels {
        name: &y_name,
        ticks: y.ticks(6),
        label: &short,
    };
    let cost_labels = Labels {
        name: &cost_name,
        ticks: costs.ticks(4),
        label: &short,
    };
    let left = left_of(&y_labels).max(left_of(&cost_labels));
    let top = below + 7 * SIZE;
    let upper = Plane {
        x,
        y,
        left,
        right: WIDTH - MARGIN - 20,
        top,
        bottom: top + 420,
    };
    let lower = Plane {
        x,
        y: costs,
        left,
        right: upper.right,
        top: upper.bottom + 5 * SIZE,
        bottom: upper.bottom + 5 * SIZE + 190,
    };
    let whole = |ticks: Vec<f64>| ticks.into_iter().filter(|t| *t == t.round()).collect();
    let none = Labels {
        name: "",
        ticks: whole(x.ticks(12)),
        label: &tick_label,
    };
    let x_labels = Labels {
        name: &r.path,
        ticks: whole(x.ticks(12)),
        label: &tick_label,
    };
    upper.draw(&mut scene, &none, &y_labels);
    lower.draw(&mut scene, &x_labels, &cost_labels);
    upper.level(&mut scene, r.limit, 3, INK);
    let medians: Vec<_> = r
        .candidates
        .iter()
        .filter_map(|c| Some((c.value as f64, c.metric?.p50)))
        .collect();
    upper.curve(&mut scene, &medians, 3, PALETTE[3]);
    let unit = lower.at(low + 1.0, 0.0).0 - lower.at(low, 0.0).0;
    let bar = (unit * 4 / 5).clamp(4, 28);
    for c in &r.candidates {
        let color = color(c.judgement);
        if let Some(value) = c.statistic {
            let [low, high] = c.ci95.map(|v| v.unwrap_or(value));
            upper.mark(&mut scene, c.value as f64, (low, value, high), color);
        }
        let (px, py) = lower.at(c.value as f64, c.cost);
        scene.rect(px - bar / 2, py, bar, lower.bottom - py, color);
    }
    let met = format!("{} meets the target", r.statistic);
    let words = [
        (Judgement::Meets, met.as_str()),
        (Judgement::Open, "cannot be told"),
        (Judgement::Misses, "misses it"),
    ];
    let seen = |j: &Judgement| r.candidates.iter().any(|c| c.judgement == *j);
    let seen = words.into_iter().filter(|(j, _)| seen(j));
    let entries = seen.map(|(j, word)| (color(j), word.to_owned())).chain([
        (PALETTE[3], "median".to_owned()),
        (INK, format!("limit {}", short(r.limit))),
    ]);
    legend(&mut scene, below + 3 * SIZE, entries);
    provenance(&mut scene, &r.of);
    scene
}

pub(super) fn color(judgement: Judgement) -> Color {
    match judgement {
        Judgement::Meets => PALETTE[4],
        Judgement::Misses => PALETTE[1],
        Judgement::Open => PALETTE[0],
    }
}
