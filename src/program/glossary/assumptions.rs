//! Prints the defaults that a run used, and how much its result depends on each.

use serde_json::{Value, json};
use sim_analysis::experiment::{MetricDerivative, OutcomeCounts};
use sim_analysis::format::{count, wrap};
use sim_inputs::EffectiveDefault;
use sim_report::console::compare::format_metric_value;
use sim_report::console::waterfall::WaterfallStyle;
use sim_report::table::Table;
use std::fmt::Write;

/// The metric and effort of the elasticities.
pub struct SimulatedEffect {
    pub metric: String,
    /// Mean of the metric with unchanged parameters.
    pub base: Option<f64>,
    /// Level of detail of the replications.
    pub level: &'static str,
    pub replications: u64,
    /// Number of replications that `base` is the mean of.
    pub values: usize,
    /// Outcomes of the replications with unchanged parameters.
    pub outcomes: OutcomeCounts,
    /// Change of each value in percent.
    pub step: u8,
}

/// A default with its effect on the metric.
pub struct AssumptionRow {
    pub used: EffectiveDefault,
    pub effect: AssumptionEffect,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssumptionEffect {
    NotPlayed,
    /// The value cannot be changed. Contains the reason: no field sets it, or the model rejects the changed values.
    NotTried(String),
    /// The changed values do not affect the first replication.
    None,
    Of(MetricDerivative),
}

impl AssumptionRow {
    fn derivative(&self) -> Option<&MetricDerivative> {
        match &self.effect {
            AssumptionEffect::Of(derivative) => Some(derivative),
            _ => None,
        }
    }
}

/// Elasticities below this value, in percent of the metric per 1 % of the parameter, are only listed by name.
const MIN_ELASTICITY: f64 = 0.005;

/// Sorts rows by decreasing effect, followed by rows without effect and rows that were not simulated.
pub fn sorted(mut rows: Vec<AssumptionRow>) -> Vec<AssumptionRow> {
    let rank = |row: &AssumptionRow| match &row.effect {
        AssumptionEffect::Of(d) => (0, -d.per_percent.abs()),
        AssumptionEffect::None => (1, 0.0),
        AssumptionEffect::NotTried(_) | AssumptionEffect::NotPlayed => (2, 0.0),
    };
    rows.sort_by(|a, b| {
        let ((a, x), (b, y)) = (rank(a), rank(b));
        a.cmp(&b).then(x.total_cmp(&y))
    });
    rows
}

pub fn text(name: &str, rows: &[AssumptionRow], effect: Option<&SimulatedEffect>, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let title = match name {
        "" => "Defaults of the model".to_owned(),
        name => format!("Parameters of {name}"),
    };
    let _ = writeln!(out, "{}\n", style.bold(&title));
    if let Some(effect) = effect {
        effects(&mut out, rows, effect, style);
    }
    for row in rows {
        default(&mut out, &row.used, style);
    }
    out
}

fn effects(out: &mut String, rows: &[AssumptionRow], simulated_effect: &SimulatedEffect, style: &WaterfallStyle) {
    let base = simulated_effect.base.map(|v| format_metric_value(&simulated_effect.metric, v));
    let base = base.map_or("undefined".to_owned(), |v| format!("mean {v}"));
    let counted = match simulated_effect.values {
        n if n as u64 == simulated_effect.replications => String::new(),
        n => format!(", of which {n} with a value ({})", simulated_effect.outcomes),
    };
    let head = format!(
        "{}: {base} over {} ({}){counted}. Each value was simulated {} % smaller and larger with common random numbers.",
        simulated_effect.metric,
        count(simulated_effect.replications, "replication"),
        simulated_effect.level,
        simulated_effect.step
    );
    add_sentence(out, "", &head, style);
    let result = rows.iter().filter_map(|r| Some((r, r.derivative()?)));
    let (clear, unclear): (Vec<_>, Vec<_>) = result.partition(|(_, d)| d.is_separated());
    let hardly = |d: &MetricDerivative| d.elasticity.is_some_and(|e| e.abs() < MIN_ELASTICITY);
    let (small, clear): (Vec<_>, Vec<_>) = clear.into_iter().partition(|(_, d)| hardly(d));
    if !clear.is_empty() {
        let head = format!("\n  {:>12} {:>10}   {:>25}  parameter", "per +1 %", "elasticity", "95 % interval");
        let _ = writeln!(out, "{}", style.dim(&head));
    }
    for (row, d) in &clear {
        line(out, &row.used, d, &simulated_effect.metric);
    }
    out.push('\n');
    let names = |rows: Vec<&AssumptionRow>| -> String {
        let names: Vec<&str> = rows.iter().map(|r| r.used.id.as_str()).collect();
        names.join(", ")
    };
    let unclear = names(unclear.into_iter().map(|(row, _)| row).collect());
    let small = names(small.into_iter().map(|(row, _)| row).collect());
    let why = match (simulated_effect.replications, simulated_effect.values) {
        (0 | 1, _) => "One replication gives no interval (use --seeds 20): ",
        (_, 0 | 1) => "One replication with a value gives no interval (use more --seeds): ",
        _ => "Inconclusive with this number of replications: ",
    };
    let none = rows.iter().filter(|r| r.effect == AssumptionEffect::None);
    let none = names(none.collect());
    let hardly = "Small effect (less than 0.005 % per 1 %): ";
    for (lead, list) in [(why, unclear), (hardly, small), ("No effect in this scenario: ", none)] {
        if !list.is_empty() {
            add_sentence(out, lead, &format!("{list}."), style);
        }
    }
    for row in rows {
        if let AssumptionEffect::NotTried(why) = &row.effect {
            add_sentence(out, "Not varied: ", &format!("{}: {why}", row.used.id), style);
        }
    }
    out.push('\n');
}

fn line(out: &mut String, used: &EffectiveDefault, d: &MetricDerivative, metric: &str) {
    let signed = |v: f64| {
        if v > 0.0 { format!("+{}", format_metric_value(metric, v)) } else { format_metric_value(metric, v) }
    };
    let share = d.elasticity.map_or(String::new(), |e| format!("{e:+.3} %"));
    let [low, high] = d.ci95.map(signed);
    let _ =
        writeln!(out, "  {:>12} {share:>10}   {:>25}  {}", signed(d.per_percent), format!("{low} to {high}"), used.id);
}

fn default(out: &mut String, used: &EffectiveDefault, style: &WaterfallStyle) {
    let _ = writeln!(out, "{} = {}", used.id, value(used));
    let note = match &used.instead_of {
        Some(default) => format!("set by the inputs; default: {default}"),
        None => format!("{}: {}", used.confidence, used.source),
    };
    add_sentence(out, "    ", &note, style);
}

/// Formats a value with its unit, unless the value already contains it.
fn value(used: &EffectiveDefault) -> String {
    let said = used.unit() == "s" && used.value.ends_with(['s', 'm', 'h', 'd']);
    if said || used.unit().is_empty() { used.value.clone() } else { format!("{} {}", used.value, used.unit()) }
}

fn add_sentence(out: &mut String, lead: &str, text: &str, style: &WaterfallStyle) {
    let held = lead.replace(' ', "\u{a0}");
    let lines = wrap(&format!("{held}{text}"), style.width - 4);
    let _ = writeln!(out, "{}", lines.join("\n    "));
}

pub fn as_json(name: &str, rows: &[AssumptionRow], simulated_effect: Option<&SimulatedEffect>) -> Value {
    let row = |row: &AssumptionRow| {
        let used = &row.used;
        let mut value = json!({
            "id": used.id,
            "value": used.value,
            "unit": used.unit(),
            "source": used.source,
            "confidence": used.confidence,
            "insteadOf": used.instead_of,
        });
        match &row.effect {
            AssumptionEffect::Of(derivative) => value["effect"] = json!(derivative),
            AssumptionEffect::None => value["effect"] = json!({"perPercent": 0.0}),
            AssumptionEffect::NotTried(why) => value["notTried"] = json!(why),
            AssumptionEffect::NotPlayed => {}
        }
        value
    };
    let mut all = json!({
        "schema": "jobset-sim/sensitivity/v1",
        "scenario": name,
        "parameters": rows.iter().map(row).collect::<Vec<_>>(),
    });
    if let Some(p) = simulated_effect {
        all["metric"] = json!({
            "name": p.metric, "mean": p.base, "level": p.level, "replications": p.replications, "stepPercent": p.step,
        });
    }
    all
}

const COLUMNS: &str = "id value unit source confidence instead_of per_percent ci95_low ci95_high elasticity n";

fn cells(row: &AssumptionRow) -> [String; 11] {
    let used = &row.used;
    let of = |f: &dyn Fn(&MetricDerivative) -> String| match &row.effect {
        AssumptionEffect::Of(d) => f(d),
        AssumptionEffect::None => "0".to_owned(),
        _ => String::new(),
    };
    [
        used.id.clone(),
        used.value.clone(),
        used.unit().to_owned(),
        used.source.clone(),
        used.confidence.clone(),
        used.instead_of.clone().unwrap_or_default(),
        of(&|d| d.per_percent.to_string()),
        of(&|d| d.ci95[0].to_string()),
        of(&|d| d.ci95[1].to_string()),
        of(&|d| d.elasticity.map_or(String::new(), |e| e.to_string())),
        of(&|d| d.n.to_string()),
    ]
}

pub fn csv(rows: &[AssumptionRow]) -> Vec<u8> {
    Table::new(COLUMNS.split(' ')).with_rows(rows.iter().map(|row| cells(row).to_vec())).csv()
}

pub fn markdown(rows: &[AssumptionRow], simulated_effect: Option<&SimulatedEffect>) -> String {
    let effect = simulated_effect.map(|p| format!("{} per +1 %", p.metric));
    let head = ["parameter".to_owned(), "value".to_owned()].into_iter().chain(effect);
    let head = head.chain(["confidence".to_owned(), "source".to_owned()]);
    let mut table = Table::new(head).with_markdown_columns(&[0]);
    for row in rows {
        let used = &row.used;
        let effect = simulated_effect.map(|p| match &row.effect {
            AssumptionEffect::Of(d) => format_metric_value(&p.metric, d.per_percent),
            AssumptionEffect::None => "0".to_owned(),
            _ => String::new(),
        });
        let first = [format!("`{}`", used.id), value(used)].into_iter().chain(effect);
        table.push(first.chain([used.confidence.clone(), used.source.clone()]));
    }
    table.markdown()
}
