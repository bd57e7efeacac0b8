//! Report on the smallest combinations of several fields that satisfy a target, with their costs.

use super::columns::columns;
use super::number::{change, exact, short};
use super::plane::{HEIGHT, Labels, Plane, Scale, WIDTH, provenance};
use super::spares::{CandidateRow, color, row, word};
use super::{Provenance, Told, sentences, table};
use crate::console::waterfall::Style;
use crate::draw::heading::heading;
use crate::draw::scene::*;
use crate::figures::compare_panel::{SIZE, legend};
use crate::table::Table;
use serde::Serialize;
use sim_analysis::format::count;
use sim_analysis::planning::several::{Combination, Several};
use sim_analysis::planning::{Judgement, Target};
use sim_base::stats::Paired;

/// A simulated combination that is listed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CombinationRow {
    /// The value of each field in `paths`.
    pub values: Vec<u64>,
    #[serde(flatten)]
    pub worth: CandidateRow,
    /// Paired cost difference from the cheapest combination.
    pub dearer: Option<Paired>,
}

/// A result for several fields with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeveralReport {
    #[serde(flatten)]
    pub of: Provenance,
    /// The varied fields.
    pub paths: Vec<String>,
    /// The target as given by the user.
    pub target: String,
    /// Metric and statistic of the target.
    pub metric: String,
    pub statistic: String,
    /// The limit of the target.
    pub limit: f64,
    /// Minimal combinations that satisfy the target, cheapest first, followed by inconclusive ones.
    pub combinations: Vec<CombinationRow>,
    /// Unit of the cost: a currency or node-hours.
    pub currency: String,
    /// Number of simulated combinations.
    pub played: usize,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl SeveralReport {
    pub fn new(
        of: Provenance,
        paths: Vec<String>,
        target: &Target,
        found: &Several,
        currency: &str,
    ) -> SeveralReport {
        let told = |c: &Combination| CombinationRow {
            values: c.values.clone(),
            worth: row(&c.candidate),
            dearer: c.dearer.filter(|d| d.n > 1),
        };
        let all = found.least.iter().chain(&found.open).chain(&found.greatest);
        let mut combinations: Vec<CombinationRow> = all.map(told).collect();
        //  The largest combination may also be one of the inconclusive ones.
        combinations.dedup_by(|b, a| a.values == b.values);
        let mut report = SeveralReport {
            of,
            paths,
            target: target.text.clone(),
            metric: target.metric.clone(),
            statistic: target.statistic_name(),
            limit: target.limit,
            combinations,
            currency: currency.to_owned(),
            played: found.played,
            conclusion: Vec::new(),
        };
        report.conclusion = conclusion(&report);
        report
    }

    /// Formats a combination: `topology.pools[0].count=17, topology.pools[0].nodesPerIsland=16`.
    fn named(&self, values: &[u64]) -> String {
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
    fn dearer(&self, c: &CombinationRow) -> String {
        let nothing = c.worth.cost.abs() * 1e-9;
        match c.dearer {
            None => "-".to_owned(),
            Some(d) if d.ci95.iter().all(|bound| bound.abs() <= nothing) => "0".to_owned(),
            Some(d) => change(d.mean, d.ci95),
        }
    }

    fn meeting(&self) -> impl Iterator<Item = &CombinationRow> {
        let meets = |c: &&CombinationRow| c.worth.judgement == Judgement::Meets;
        self.combinations.iter().filter(meets)
    }

    fn cost(&self, c: &CombinationRow) -> String {
        format!("{} {}", short(c.worth.cost), self.currency)
    }
}

fn conclusion(r: &SeveralReport) -> Vec<String> {
    let all = r.meeting().count();
    let Some(best) = r.meeting().next() else {
        let greatest = r.combinations.last().map(|c| c.values.as_slice());
        let greatest = r.named(greatest.unwrap_or(&[]));
        return vec![match r
            .combinations
            .iter()
            .any(|c| c.worth.judgement == Judgement::Open)
        {
            true => format!(
                "Whether {greatest} meets {} cannot be told; more --seeds would tell.",
                r.target
            ),
            false => format!("Nothing up to {greatest} meets {}.", r.target),
        }];
    };
    let mut told = vec![format!(
        "{} meets {} and costs least: {} a run; with one less of any of them it is not met, or cannot be told.",
        r.named(&best.values),
        r.target,
        r.cost(best)
    )];
    let near = r
        .meeting()
        .skip(1)
        .filter(|c| c.dearer.is_none_or(|d| d.separated().is_none()));
    let near: Vec<String> = near.map(|c| r.named(&c.values)).collect();
    if all > 1 {
        told.push(format!(
            "There are {}; none of their numbers can be less.",
            count(all as u64, "such combination")
        ));
    }
    if !near.is_empty() {
        told.push(format!(
            "Their costs do not tell it from: {}.",
            near.join("; ")
        ));
    }
    told
}

impl Told for SeveralReport {
    fn text(&self, style: &Style) -> String {
        let what = format!(
            "the least of {} for {}",
            self.paths.join(" and "),
            self.target
        );
        let mut out = self.of.title(&what, style);
        out.push('\n');
        sentences(&mut out, &self.conclusion, style);
        out.push('\n');
        let mut head = self.short_names();
        let stat = format!("{}.{}", self.metric, self.statistic);
        let rest = [
            &stat,
            "95 % interval",
            "cost of a run",
            "more than the cheapest",
            "runs",
            "",
        ];
        head.extend(rest.map(str::to_owned));
        let mut rows = vec![head];
        for c in &self.combinations {
            let worth = &c.worth;
            let bound = |v: Option<f64>| v.map_or("?".to_owned(), short);
            let mut cells: Vec<String> = c.values.iter().map(u64::to_string).collect();
            cells.extend([
                worth.statistic.map_or("-".to_owned(), short),
                format!("{} to {}", bound(worth.ci95[0]), bound(worth.ci95[1])),
                self.cost(c),
                self.dearer(c),
                worth.replications.to_string(),
                word(worth.judgement).to_owned(),
            ]);
            rows.push(cells);
        }
        let has_best = self.meeting().next().is_some();
        columns(&mut out, &rows, |i| i == 0 && has_best, style);
        out.push('\n');
        let note = format!(
            "{} were played, all under the same random numbers. That more of any is never worse is assumed.",
            count(self.played as u64, "combination")
        );
        sentences(&mut out, &[note], style);
        out
    }

    fn table(&self) -> Table {
        let mut head = self.paths.clone();
        let rest = [
            "judgement",
            "statistic",
            "low",
            "high",
            "mean",
            "cost",
            "replications",
            "left_out",
        ];
        head.extend(rest.map(str::to_owned));
        let line = |c: &CombinationRow| {
            let worth = &c.worth;
            let judgement = match worth.judgement {
                Judgement::Meets => "meets",
                Judgement::Misses => "misses",
                Judgement::Open => "open",
            };
            let mut cells: Vec<String> = c.values.iter().map(u64::to_string).collect();
            cells.extend([
                judgement.to_owned(),
                exact(worth.statistic),
                exact(worth.ci95[0]),
                exact(worth.ci95[1]),
                exact(worth.metric.map(|m| m.mean)),
                worth.cost.to_string(),
                worth.replications.to_string(),
                worth.left_out.to_string(),
            ]);
            cells
        };
        table(&head, self.combinations.iter().map(line))
    }

    fn figures(&self) -> Vec<(&'static str, Scene)> {
        vec![("combinations", chart(self))]
    }
}

/// Draws the cost of each combination, ordered by the values.
fn chart(r: &SeveralReport) -> Scene {
    let mut scene = Scene::new((WIDTH as u32, HEIGHT as u32));
    let title = format!("{}: what meets {}", r.of.scenario, r.target);
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let mut all: Vec<&CombinationRow> = r.combinations.iter().collect();
    all.sort_by(|a, b| a.values.cmp(&b.values));
    let costs = Scale::over(all.iter().map(|c| c.worth.cost).chain([0.0]));
    let name = format!("mean cost of a run, {}", r.currency);
    let y = Labels {
        name: &name,
        ticks: Scale::new(0.0, costs.to).ticks(6),
        label: &short,
    };
    let label = |at: f64| {
        let values = all.get(at as usize).map_or(&[][..], |c| &c.values);
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        words.join(" · ")
    };
    let names = r.short_names().join(" · ");
    let x = Labels {
        name: &names,
        ticks: (0..all.len()).map(|i| i as f64).collect(),
        label: &label,
    };
    let across = Scale::new(-0.6, all.len() as f64 - 0.4);
    let plane = Plane::alone(below, (across, Scale::new(0.0, costs.to)), &y);
    plane.draw(&mut scene, &x, &y);
    let best = r.meeting().next().map(|c| &c.values);
    for (i, c) in all.iter().enumerate() {
        let (px, py) = plane.at(i as f64, c.worth.cost);
        let color = match Some(&c.values) == best {
            true => PALETTE[2],
            false => color(c.worth.judgement),
        };
        scene.rect(px - 20, py, 40, plane.bottom - py, color);
    }
    let seen = |j: Judgement| all.iter().any(|c| c.worth.judgement == j);
    let mut entries = vec![(PALETTE[2], "cheapest".to_owned())];
    for (judgement, word) in [
        (
            Judgement::Meets,
            "meets it, with no number that can be less",
        ),
        (Judgement::Open, "cannot be told"),
        (Judgement::Misses, "misses it"),
    ] {
        if seen(judgement) {
            entries.push((color(judgement), word.to_owned()));
        }
    }
    if best.is_none() {
        entries.remove(0);
    }
    legend(&mut scene, below + 3 * SIZE, entries.into_iter());
    provenance(&mut scene, &r.of);
    scene
}
