//! Report on the restart budget: the conclusion, tables, and the probability over time that `maxRestarts` is
//! sufficient.

use super::number::{percent, share_with_interval, short_value};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::{PlanPage, PlanProvenance, PlanText, format_horizon, table};
use crate::draw::scene::{DrawScene, PALETTE, Rgb, TEXT_COLOR, tick_label};
use crate::figures::compare_panel::{SIZE, legend};
use crate::{console::waterfall::WaterfallStyle, draw::heading::heading, table::Table};
use serde::Serialize;
use sim_analysis::format::{count, thousands};
use sim_analysis::planning::budget::{AtDay, LeastLimit, LossBudget, LossShare};
use std::collections::BTreeMap;

/// A restart budget result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    /// Name of the JobSet with the limit; empty for a fleet.
    #[serde(rename = "jobSet", skip_serializing_if = "String::is_empty")]
    pub jobset: String,
    #[serde(flatten)]
    pub budget: LossBudget,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl BudgetReport {
    pub fn new(of: PlanProvenance, jobset: String, budget: LossBudget) -> BudgetReport {
        BudgetReport { conclusion: conclusion(&budget), provenance: of, jobset, budget }
    }
}

fn conclusion(b: &LossBudget) -> Vec<String> {
    let mut all = Vec::new();
    let horizon = format_horizon(b.horizon_s);
    let uncounted = match b.uncounted {
        n if n > 0.0 => format!(", and has {} restarts that do not count", short_value(n)),
        _ => String::new(),
    };
    let used = format!(
        "a run uses {} restarts on average (p10 {}, p90 {})",
        short_value(b.used.mean),
        short_value(b.used.p10),
        short_value(b.used.p90)
    );
    match b.max_restarts.zip(b.lasts) {
        Some((limit, lasts)) => all.push(format!(
            "maxRestarts {} is sufficient for {horizon} with probability {}; {used}{uncounted}.",
            thousands(u64::from(limit)),
            share_with_interval(lasts)
        )),
        None => all.push(format!("maxRestarts is unlimited; within {horizon} {used}{uncounted}.")),
    }
    if b.used.mean == 0.0 && b.uncounted > 0.0 {
        all.push("No restart counts towards maxRestarts, so any limit is sufficient.".to_owned());
    } else if b.used.mean == 0.0 {
        all.push(
            "No run restarted: without failures any limit is sufficient. Add failures with faultProcesses in the scenario or with --fail."
                .to_owned(),
        );
    }
    all.push(format!(
        "The smallest maxRestarts that is sufficient with probability {} is {}.",
        percent(b.probability),
        format_minimum(b.least)
    ));
    // A rule that matches nothing more is the subject of a note.
    if let Some(rule) = b.rule.as_ref().filter(|rule| !rule.uncounted.is_empty()) {
        let lasts = rule.lasts.map_or(String::new(), |lasts| {
            format!("maxRestarts would be sufficient with probability {}; ", share_with_interval(lasts))
        });
        all.push(format!(
            "If {} were not counted (an action that ends in AndIgnoreMaxRestarts): {lasts}the smallest value would be {}; a run would use {} restarts on average.",
            rule.what,
            format_minimum(rule.least),
            short_value(rule.used.mean)
        ));
    }
    all
}

/// Formats the smallest sufficient limit: `7`, `between 5 and 7`, or a lower bound if there are too few replications.
fn format_minimum(of: LeastLimit) -> String {
    let number = |n: u32| thousands(u64::from(n));
    match of.high {
        Some(high) if high == of.low => number(high),
        Some(high) => format!("between {} and {}", number(of.low), number(high)),
        None => format!(
            "at least {} (an exact value needs at least {} replications)",
            number(of.low),
            thousands(of.replications_needed as u64)
        ),
    }
}

impl PlanText for BudgetReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let b = &self.budget;
        let whose = match self.jobset.as_str() {
            "" => String::new(),
            name => format!("JobSet {name}, "),
        };
        let what = format!("{whose}{} with unlimited restarts", format_horizon(b.horizon_s));
        let n = b.replications as u64;
        let again = if self.provenance.replications_played > n { ", each repeated with the rule" } else { "" };
        let simulated = format!("{}{again}", count(n, "replication"));
        let page = PlanPage::new(self.provenance.title_with_count(&what, &simulated, style), &self.conclusion, style);
        let marked = |i: usize| {
            let limit = b.limits[i].max_restarts;
            Some(limit) == b.max_restarts || Some(limit) == b.least.high
        };
        let causes = if b.causes.is_empty() { Vec::new() } else { cause_rows(b) };
        page.table(&causes, |_| false).table(&limit_rows(b), marked).finish(&notes(b))
    }

    fn table(&self) -> Table {
        let b = &self.budget;
        let head = "what day max_restarts lasts lasts_low lasts_high poisson negative_binomial with_rule with_rule_low \
            with_rule_high cause used share uncounted";
        let mut rows = Vec::new();
        let of = |s: LossShare| [s.share, s.ci95[0], s.ci95[1]].map(|v| v.to_string());
        let none = || ["", "", ""].map(str::to_owned);
        for l in &b.limits {
            let mut row = vec!["limit".to_owned(), (b.horizon_s / 86_400.0).to_string()];
            row.push(l.max_restarts.to_string());
            row.extend(of(l.lasts));
            row.push(l.poisson.to_string());
            row.push(l.negative_binomial.map_or(String::new(), |v| v.to_string()));
            row.resize(15, String::new());
            rows.push(row);
        }
        for i in &b.curve {
            let mut row = vec!["curve".to_owned(), i.day.to_string(), b.curve_limit.to_string()];
            row.extend(of(i.lasts));
            row.extend([String::new(), String::new()]);
            row.extend(i.with_rule.map_or_else(none, of));
            row.resize(15, String::new());
            rows.push(row);
        }
        for c in &b.causes {
            let mut row = vec!["cause".to_owned()];
            row.resize(11, String::new());
            row.extend([c.cause.clone(), c.used.mean.to_string(), c.share.to_string(), c.uncounted.to_string()]);
            rows.push(row);
        }
        table(&head.split(' ').collect::<Vec<_>>(), rows)
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        vec![("budget", survival(self))]
    }
}

fn cause_rows(b: &LossBudget) -> Vec<Vec<String>> {
    let is_uncounted = b.uncounted > 0.0;
    let mut head = if is_uncounted {
        vec!["cause", "counted per run", "share", "not counted per run"]
    } else {
        vec!["cause", "restarts per run", "share"]
    };
    if b.max_restarts.is_some() {
        head.extend(["exhausted the limit in", "sufficient without it"]);
    }
    head.push("smallest value without it");
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for c in &b.causes {
        let mut row = vec![c.cause.clone(), short_value(c.used.mean), percent(c.share)];
        row.extend(is_uncounted.then(|| short_value(c.uncounted)));
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

fn limit_rows(b: &LossBudget) -> Vec<Vec<String>> {
    let wider = b.limits.iter().any(|l| l.negative_binomial.is_some());
    let mut head = vec!["maxRestarts", "sufficient", "95 % interval", "if independent (Poisson)"];
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

fn notes(b: &LossBudget) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(dispersion) = b.dispersion {
        all.push(dispersion_note(dispersion));
    }
    if let Some(rule) = &b.rule {
        let list = |causes: &BTreeMap<String, f64>| {
            let one = |(cause, n): (&String, &f64)| format!("{cause} {}", short_value(*n));
            causes.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        if !rule.uncounted.is_empty() {
            let each = list(&rule.uncounted);
            all.push(format!("Mean number of restarts per run that the rule does not count: {each}."));
        }
        if !rule.already_uncounted.is_empty() {
            let each = list(&rule.already_uncounted);
            all.push(format!("The inputs already do not count {}; mean number per run: {each}.", rule.what));
        }
        if rule.uncounted.is_empty() && rule.already_uncounted.is_empty() {
            all.push(format!("The rule has no effect: no run had {}.", rule.what));
        }
    }
    if !b.exempt_failures.is_empty() {
        all.push(format!(
            "A rule for DisruptionTarget also applies to failures of nodes, because the pods of a lost node have this condition: restarts by {} do not count.",
            b.exempt_failures.join(", ")
        ));
    }
    if b.completed > 0 {
        all.push(format!(
            "{} of {} runs completed before the horizon and use no further restarts.",
            b.completed, b.replications
        ));
    }
    if b.ended_otherwise > 0 {
        all.push(format!(
            "ATTENTION: {} of {} runs ended before the horizon for another reason than the limit (a rule that fails the JobSet, or a deadlock). Their restarts up to that time are counted.",
            b.ended_otherwise, b.replications
        ));
    }
    all
}

fn dispersion_note(dispersion: f64) -> String {
    let d = short_value(dispersion);
    match dispersion {
        v if v > 1.25 => format!(
            "Restarts are clustered: the variance of their number is {d} times its mean (1 for independent restarts). The Poisson probabilities are too high."
        ),
        v if v < 0.8 => format!(
            "Restarts are more regular than independent restarts: the variance of their number is {d} times its mean."
        ),
        _ => format!(
            "The variance of the number of restarts is {d} times its mean: consistent with independent restarts."
        ),
    }
}

/// Draws the share of runs within the limit over time.
fn survival(report: &BudgetReport) -> DrawScene {
    let b = &report.budget;
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32));
    let limit = thousands(u64::from(b.curve_limit));
    let title = format!("{}: survival of maxRestarts {limit}", report.provenance.scenario);
    let below = heading(&mut scene, &title, &survival_subtitle(b));
    let lows = b.curve.iter().flat_map(|i| [i.lasts.ci95[0], i.with_rule.map_or(1.0, |r| r.ci95[0])]);
    let low = (lows.fold(0.9, f64::min) * 10.0).floor() / 10.0;
    let y = PlaneScale::new(low.max(0.0), 1.0);
    let y_labels = PlaneLabels {
        name: "share of runs within the limit",
        ticks: y.ticks(6),
        label: &|v| sim_analysis::format::percent(v, 0),
    };
    let x = PlaneScale::new(0.0, b.horizon_s / 86_400.0);
    let x_labels = PlaneLabels { name: "days since the start", ticks: x.ticks(10), label: &tick_label };
    let plane = ParameterPlane::single(below, (x, y), &y_labels);
    plane.draw(&mut scene, &x_labels, &y_labels);
    let mut curves = vec![(PALETTE[1], "all restarts counted".to_owned())];
    if let Some(rule) = &b.rule {
        //  The line is wide so that it remains visible where both curves are equal.
        draw(&plane, &mut scene, &b.curve, (10, PALETTE[2]), |i| i.with_rule);
        curves.push((PALETTE[2], format!("{} not counted", rule.what)));
    }
    draw(&plane, &mut scene, &b.curve, (4, PALETTE[1]), |i| Some(i.lasts));
    plane.horizontal_line(&mut scene, b.probability, 2, TEXT_COLOR);
    curves.push((TEXT_COLOR, format!("target: {}", percent(b.probability))));
    legend(&mut scene, below + 3 * SIZE, curves.into_iter());
    draw_provenance(&mut scene, &report.provenance);
    scene
}

fn survival_subtitle(b: &LossBudget) -> String {
    let rule = b.rule.as_ref().map_or(String::new(), |rule| format!("; {} with the rule", format_minimum(rule.least)));
    format!(
        "share of {} runs with exact 95 % interval; smallest value sufficient for {} with probability {}: {}{rule}",
        b.replications,
        format_horizon(b.horizon_s),
        percent(b.probability),
        format_minimum(b.least)
    )
}

fn draw(
    plane: &ParameterPlane, scene: &mut DrawScene, curve: &[AtDay], (width, color): (u32, Rgb),
    of: impl Fn(&AtDay) -> Option<LossShare>,
) {
    let all = || curve.iter().filter_map(|i| Some((i.day, of(i)?)));
    let band: Vec<_> = all().map(|(x, s)| (x, s.ci95[0], s.ci95[1])).collect();
    plane.fill_between_curves(scene, &band, color);
    let line: Vec<_> = all().map(|(x, s)| (x, s.share)).collect();
    plane.curve(scene, &line, width, color);
}
