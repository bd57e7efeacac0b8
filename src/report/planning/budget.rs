//! Report on the restart budget: the conclusion, tables, and the probability over time that `maxRestarts` is
//! sufficient.

use super::columns::columns;
use super::number::{percent, share, short};
use super::plane::{HEIGHT, Labels, Plane, Scale, WIDTH, provenance};
use super::{Provenance, Told, length, sentences, table};
use crate::console::waterfall::Style;
use crate::draw::heading::heading;
use crate::draw::scene::*;
use crate::figures::compare_panel::{SIZE, legend};
use crate::table::Table;
use serde::Serialize;
use sim_analysis::format::{count, thousands};
use sim_analysis::planning::budget::{AtDay, Budget, LeastLimit, Share};

/// A restart budget result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetReport {
    #[serde(flatten)]
    pub of: Provenance,
    /// Name of the JobSet with the limit; empty for a fleet.
    #[serde(rename = "jobSet", skip_serializing_if = "String::is_empty")]
    pub jobset: String,
    #[serde(flatten)]
    pub budget: Budget,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl BudgetReport {
    pub fn new(of: Provenance, jobset: String, budget: Budget) -> BudgetReport {
        BudgetReport {
            conclusion: conclusion(&budget),
            of,
            jobset,
            budget,
        }
    }
}

fn conclusion(b: &Budget) -> Vec<String> {
    let mut all = Vec::new();
    let horizon = length(b.horizon_s);
    let used = format!(
        "a run uses {} of it on average, {} to {} in eight runs of ten",
        short(b.used.mean),
        short(b.used.p10),
        short(b.used.p90)
    );
    match b.max_restarts.zip(b.lasts) {
        Some((limit, lasts)) => all.push(format!(
            "maxRestarts {} lasts {horizon} with a chance of {}; {used}.",
            thousands(u64::from(limit)),
            share(lasts)
        )),
        None => all.push(format!(
            "There is no limit of restarts; until {horizon} {used}."
        )),
    }
    if b.used.mean == 0.0 {
        all.push(
            "No run restarted at all: without failures any limit lasts. faultProcesses of a scenario, or --fail, bring some."
                .to_owned(),
        );
    }
    all.push(format!(
        "The least maxRestarts that lasts with a chance of {} is {}.",
        percent(b.probability),
        least(b.least)
    ));
    if let Some(rule) = &b.rule {
        let lasts = rule.lasts.map_or(String::new(), |lasts| {
            format!("it would last with a chance of {}, and ", share(lasts))
        });
        all.push(format!(
            "If {} did not count (an action that ends in AndIgnoreMaxRestarts): {lasts}the least would be {}; a run would use {} on average.",
            rule.what,
            least(rule.least),
            short(rule.used.mean)
        ));
    }
    all
}

/// Formats the smallest sufficient limit: `7`, `between 5 and 7`, or a lower bound if there are too few
/// replications.
fn least(of: LeastLimit) -> String {
    let number = |n: u32| thousands(u64::from(n));
    match of.high {
        Some(high) if high == of.low => number(high),
        Some(high) => format!("between {} and {}", number(of.low), number(high)),
        None => format!(
            "at least {}; to name one takes {} replications or more",
            number(of.low),
            thousands(of.replications_needed as u64)
        ),
    }
}

impl Told for BudgetReport {
    fn text(&self, style: &Style) -> String {
        let b = &self.budget;
        let whose = match self.jobset.as_str() {
            "" => String::new(),
            name => format!("JobSet {name}, "),
        };
        let what = format!("{whose}{} without a limit of restarts", length(b.horizon_s));
        let n = b.replications as u64;
        let again = match self.of.replications_played > n {
            true => ", all of them again with a rule",
            false => "",
        };
        let played = format!("{}{again}", count(n, "replication"));
        let mut out = self.of.title_of(&what, &played, style);
        out.push('\n');
        sentences(&mut out, &self.conclusion, style);
        if !b.causes.is_empty() {
            out.push('\n');
            columns(&mut out, &cause_rows(b), |_| false, style);
        }
        out.push('\n');
        let marked = |i: usize| {
            let limit = b.limits[i].max_restarts;
            Some(limit) == b.max_restarts || Some(limit) == b.least.high
        };
        columns(&mut out, &limit_rows(b), marked, style);
        out.push('\n');
        sentences(&mut out, &notes(b), style);
        out
    }

    fn table(&self) -> Table {
        let b = &self.budget;
        let head = [
            "what",
            "day",
            "max_restarts",
            "lasts",
            "lasts_low",
            "lasts_high",
            "poisson",
            "negative_binomial",
            "with_rule",
            "with_rule_low",
            "with_rule_high",
            "cause",
            "used",
            "share",
        ];
        let mut rows = Vec::new();
        let of = |s: Share| [s.share, s.ci95[0], s.ci95[1]].map(|v| v.to_string());
        let none = || ["", "", ""].map(str::to_owned);
        for l in &b.limits {
            let mut row = vec!["limit".to_owned(), (b.horizon_s / 86_400.0).to_string()];
            row.push(l.max_restarts.to_string());
            row.extend(of(l.lasts));
            row.push(l.poisson.to_string());
            row.push(l.negative_binomial.map_or(String::new(), |v| v.to_string()));
            row.resize(14, String::new());
            rows.push(row);
        }
        for i in &b.curve {
            let mut row = vec![
                "curve".to_owned(),
                i.day.to_string(),
                b.curve_limit.to_string(),
            ];
            row.extend(of(i.lasts));
            row.extend([String::new(), String::new()]);
            row.extend(i.with_rule.map_or_else(none, of));
            row.resize(14, String::new());
            rows.push(row);
        }
        for c in &b.causes {
            let mut row = vec!["cause".to_owned()];
            row.resize(11, String::new());
            row.extend([
                c.cause.clone(),
                c.used.mean.to_string(),
                c.share.to_string(),
            ]);
            rows.push(row);
        }
        table(&head, rows)
    }

    fn figures(&self) -> Vec<(&'static str, Scene)> {
        vec![("budget", survival(self))]
    }
}

fn cause_rows(b: &Budget) -> Vec<Vec<String>> {
    let mut head = vec!["cause", "uses of it a run", "share"];
    if b.max_restarts.is_some() {
        head.extend(["last straw in", "lasts without it"]);
    }
    head.push("least without it");
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for c in &b.causes {
        let mut row = vec![c.cause.clone(), short(c.used.mean), percent(c.share)];
        if let Some(lasts) = c.lasts_without {
            row.extend([format!("{} runs", c.last_straw), percent(lasts.share)]);
        }
        row.push(match c.least_without.high {
            Some(high) if high == c.least_without.low => high.to_string(),
            Some(high) => format!("{} to {high}", c.least_without.low),
            None => format!("{} or more", c.least_without.low),
        });
        rows.push(row);
    }
    rows
}

fn limit_rows(b: &Budget) -> Vec<Vec<String>> {
    let wider = b.limits.iter().any(|l| l.negative_binomial.is_some());
    let mut head = vec![
        "maxRestarts",
        "lasts",
        "95 % interval",
        "if independent (Poisson)",
    ];
    if wider {
        head.push("negative binomial");
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for l in &b.limits {
        let [low, high] = l.lasts.ci95;
        let mut row = vec![
            l.max_restarts.to_string(),
            percent(l.lasts.share),
            format!("{} to {}", percent(low), percent(high)),
            percent(l.poisson),
        ];
        row.extend(l.negative_binomial.map(percent));
        rows.push(row);
    }
    rows
}

fn notes(b: &Budget) -> Vec<String> {
    let mut all = Vec::new();
    let d = short(b.dispersion);
    all.push(match b.dispersion {
        v if v > 1.25 => format!(
            "Restarts come in clusters: the variance of their number is {d} times its mean (1 if they came independently), so Poisson's chances are too good."
        ),
        v if v < 0.8 => format!(
            "Restarts come more evenly than by chance: the variance of their number is {d} times its mean."
        ),
        _ => format!("The variance of the number of restarts is {d} times its mean: they come as if independently."),
    });
    if let Some(rule) = &b.rule {
        let one = |(cause, n): (&String, &f64)| format!("{cause} {}", short(*n));
        let each: Vec<String> = rule.uncounted.iter().map(one).collect();
        all.push(match each.is_empty() {
            true => format!(
                "The rule leaves nothing uncounted: no run had {}.",
                rule.what
            ),
            false => format!("In a run the rule leaves uncounted: {}.", each.join(", ")),
        });
    }
    if b.completed > 0 {
        all.push(format!(
            "{} of {} runs had done their work before and need nothing after it.",
            b.completed, b.replications
        ));
    }
    if b.ended_otherwise > 0 {
        all.push(format!(
            "ATTENTION: {} of {} runs ended before for another reason than the limit (a rule that fails the JobSet, or stuck); they are counted with what they used until then.",
            b.ended_otherwise, b.replications
        ));
    }
    all
}

/// Draws the share of runs within the limit over time.
fn survival(report: &BudgetReport) -> Scene {
    let b = &report.budget;
    let mut scene = Scene::new((WIDTH as u32, HEIGHT as u32));
    let limit = thousands(u64::from(b.curve_limit));
    let title = format!("{}: how long maxRestarts {limit} lasts", report.of.scenario);
    let below = heading(&mut scene, &title, &b_subtitle(b));
    let lows = b
        .curve
        .iter()
        .flat_map(|i| [i.lasts.ci95[0], i.with_rule.map_or(1.0, |r| r.ci95[0])]);
    let low = (lows.fold(0.9, f64::min) * 10.0).floor() / 10.0;
    let y = Scale::new(low.max(0.0), 1.0);
    let y_labels = Labels {
        name: "runs whose limit is not used up",
        ticks: y.ticks(6),
        label: &|v| format!("{:.0} %", v * 100.0),
    };
    let x = Scale::new(0.0, b.horizon_s / 86_400.0);
    let x_labels = Labels {
        name: "days since the start",
        ticks: x.ticks(10),
        label: &tick_label,
    };
    let plane = Plane::alone(below, (x, y), &y_labels);
    plane.draw(&mut scene, &x_labels, &y_labels);
    let mut curves = vec![(PALETTE[1], "every restart counts".to_owned())];
    if let Some(rule) = &b.rule {
        //  The line is wide so that it remains visible where both curves are equal.
        draw(&plane, &mut scene, &b.curve, (10, PALETTE[2]), |i| {
            i.with_rule
        });
        curves.push((PALETTE[2], format!("{} do not count", rule.what)));
    }
    draw(&plane, &mut scene, &b.curve, (4, PALETTE[1]), |i| {
        Some(i.lasts)
    });
    plane.level(&mut scene, b.probability, 2, INK);
    curves.push((INK, format!("asked for: {}", percent(b.probability))));
    legend(&mut scene, below + 3 * SIZE, curves.into_iter());
    provenance(&mut scene, &report.of);
    scene
}

fn b_subtitle(b: &Budget) -> String {
    let rule = b.rule.as_ref().map_or(String::new(), |rule| {
        format!("; {} with the rule", least(rule.least))
    });
    format!(
        "share of {} runs with its exact 95 % interval; the least that lasts {} with a chance of {}: {}{rule}",
        b.replications,
        length(b.horizon_s),
        percent(b.probability),
        least(b.least)
    )
}

fn draw(
    plane: &Plane,
    scene: &mut Scene,
    curve: &[AtDay],
    (width, color): (u32, Color),
    of: impl Fn(&AtDay) -> Option<Share>,
) {
    let all = || curve.iter().filter_map(|i| Some((i.day, of(i)?)));
    let band: Vec<_> = all().map(|(x, s)| (x, s.ci95[0], s.ci95[1])).collect();
    plane.band(scene, &band, color);
    let line: Vec<_> = all().map(|(x, s)| (x, s.share)).collect();
    plane.curve(scene, &line, width, color);
}
