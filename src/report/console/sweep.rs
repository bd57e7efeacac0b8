//! Console output of `sweep`: a conclusion with the best point, and a table per metric that differs between points.

use super::compare::{PRODUCTIVE, format_metric_value, is_ratio, missing_value_note, money, unit, unit_with_currency};
use super::waterfall::WaterfallStyle;
use crate::estimates::{EstimateFormat, HEAD};
use crate::sweep_selection::{axis_names, axis_values, point_name, selected_metrics};
use sim_analysis::experiment::{
    BetterDirection, MetricEstimate, OutcomeCounts, PairMultiplicity, ReplicationOutcome, better, warnings_of,
};
use sim_analysis::format::{column, count, percent, wrap};
use sim_analysis::sweep::points::short;
use sim_analysis::sweep::results::BestPoint;
use sim_analysis::sweep::{SweepIdentity, SweepResults};
use sim_base::stats::StatisticalWarning;
use std::fmt::Write;

/// Maximum number of points in a table. With more points, only the best are printed; the output files contain all.
const ROWS: usize = 40;
/// Maximum number of points named in a sentence.
const NAMED: usize = 3;
/// Explains the mark of points that are not ranked.
pub(crate) const UNRANKED: &str = "not ranked: fewer replications complete";

pub fn text(identity: &SweepIdentity, all: &SweepResults, request: &[String], style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let points = all.points();
    let most = (0..points.count()).map(|p| all.rows(p).len()).max();
    let title = format!(
        "jobset-sim {}: {}, {}, {} each ({}), seed {}, common random numbers",
        identity.version,
        identity.scenario,
        count(points.count() as u64, "point"),
        count(most.unwrap_or(0) as u64, "replication"),
        identity.level,
        identity.seed
    );
    let _ = writeln!(out, "{}\n", style.bold(&title));
    for line in wrap(&conclusion(all, request), style.width) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    let outcomes = |p: usize| all.rows(p).iter().map(|row| row.outcome);
    let outcomes = OutcomeCounts::new((0..points.count()).flat_map(outcomes));
    let _ = writeln!(out, "  {outcomes}");
    for axis in &identity.axes {
        let _ = writeln!(out, "  {}", short(&axis.command_line_text()));
    }
    out.push('\n');
    for metric in selected_metrics(all, request) {
        match grid(all) {
            Some((rows, columns)) => matrix(&mut out, all, &metric, (rows, columns), style),
            None => list(&mut out, all, &metric, style),
        }
    }
    for line in caveats(all) {
        for (i, part) in wrap(&line, style.width - 2).iter().enumerate() {
            let _ = writeln!(out, "{}{part}", if i == 0 { "" } else { "  " });
        }
    }
    out
}

/// Returns the conclusion: the best point in the requested metric, otherwise in the most relevant one, and the points
/// for which the difference is inconclusive.
pub fn conclusion(all: &SweepResults, request: &[String]) -> String {
    let outcomes = OutcomeCounts::new((0..all.points().count()).flat_map(|p| all.rows(p)).map(|row| row.outcome));
    let failures = [(ReplicationOutcome::Failed, "fails"), (ReplicationOutcome::Blocked, "is blocked")];
    let failures = failures.into_iter().filter(|(outcome, _)| outcomes.get(*outcome) > 0);
    let is_fleet = all.names().iter().any(|name| name == "effective_training_ratio");
    let job = if is_fleet { "job" } else { "JobSet" };
    let sentence = |(outcome, verb): (ReplicationOutcome, &str)| {
        format!("The {job} {verb} in {} of {} replications. ", outcomes.get(outcome), outcomes.total())
    };
    failures.map(sentence).chain([ranking(all, request)]).collect()
}

fn ranking(all: &SweepResults, request: &[String]) -> String {
    let metrics = selected_metrics(all, request);
    if !all.uncertain_axes().is_empty() {
        return conclusion_with_uncertainty(all, &metrics);
    }
    if request.is_empty() {
        return match metrics.iter().find_map(|metric| all.best(metric)) {
            Some(best) => describe_best(all, &best, true),
            None => match metrics.first().map(|metric| all.best_or_reason(metric)) {
                Some(Err(reason)) => reason.sentence(&metrics[0]),
                _ => "The points do not differ in any metric.".to_owned(),
            },
        };
    }
    let sentence = |metric: &String| match all.best_or_reason(metric) {
        Ok(best) => describe_best(all, &best, false),
        Err(reason) => reason.sentence(metric),
    };
    metrics.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// Describes the best point in a metric. A metric that was not requested can be one that the user does not mean: a
/// point is not called the best in a ratio if another one does more work.
fn describe_best(all: &SweepResults, best: &BestPoint, is_default: bool) -> String {
    let e = all.estimate(best.point, &best.metric);
    let format_value = |v: f64| format_metric_value(&best.metric, v);
    let interval = match e.ci95 {
        Some([low, high]) if e.n > 1 => {
            format!(" (95 % interval {} to {})", format_value(low), format_value(high))
        }
        _ => String::new(),
    };
    let currency = money(&best.metric, all.currency()).map_or(String::new(), |currency| format!(" {currency}"));
    let name = point_name(all, best.point);
    let mean = format!("{}{currency}", format_value(e.mean.unwrap_or(f64::NAN)));
    let side = match best.better {
        BetterDirection::Higher => "highest",
        BetterDirection::Lower => "lowest",
    };
    if !all.has_replications() {
        return format!(
            "One replication does not rank the points; {name} has the {side} {}: {mean}. Use --seeds.",
            best.metric
        );
    }
    let more_work = if is_default && is_ratio(&best.metric) { more_productive(all, best.point) } else { None };
    let is_clear = best.inconclusive.is_empty() && best.equal.is_empty();
    let is_best = is_clear && best.unranked.is_empty() && more_work.is_none();
    let mut text = if is_best {
        format!("{name} is best in {}: mean {mean}{interval}", best.metric)
    } else {
        let among = if best.unranked.is_empty() { "" } else { " of the ranked points" };
        format!("{name} has the {side} mean of {}{among}: {mean}{interval}", best.metric)
    };
    let named = |points: &[usize]| {
        let mut names: Vec<String> = points.iter().take(NAMED).map(|p| point_name(all, *p)).collect();
        if points.len() > NAMED {
            names.push(format!("{} more", points.len() - NAMED));
        }
        names.join("; ")
    };
    let is_alone = best.unranked.len() + 1 == all.points().count();
    if is_clear && !is_alone {
        let ranked = if best.unranked.is_empty() { "" } else { "ranked " };
        let _ = write!(text, "; every other {ranked}point is worse in paired differences");
    }
    if !best.equal.is_empty() {
        let _ = write!(text, "; no difference from: {}", named(&best.equal));
    }
    if !best.inconclusive.is_empty() {
        let _ = write!(text, "; inconclusive against: {}", named(&best.inconclusive));
    }
    if !best.unranked.is_empty() {
        let _ = write!(text, "; not ranked, because fewer of their replications complete: {}", named(&best.unranked));
    }
    text.push('.');
    if let Some((metric, other)) = more_work {
        let value = |point: usize| format_metric_value(metric, all.means(metric)[point].unwrap_or(f64::NAN));
        let _ = write!(
            text,
            " This ratio does not include the size of the job: {} has the most productive {}, {} against {}.",
            point_name(all, other),
            unit(metric).trim_end_matches("; "),
            value(other),
            value(best.point)
        );
    }
    text
}

/// Returns the point with the most productive time and its metric, if it has significantly more than this point.
fn more_productive(all: &SweepResults, point: usize) -> Option<(&'static str, usize)> {
    let most = |metric: &'static str| Some((metric, all.best(metric)?));
    let (metric, most) = PRODUCTIVE.into_iter().find_map(most)?;
    let is_similar = most.point == point || most.inconclusive.contains(&point) || most.equal.contains(&point);
    (!is_similar && all.means(metric)[point].is_some()).then_some((metric, most.point))
}

/// Returns the note on the number of comparisons, if there is more than one.
pub(crate) fn multiplicity_note(all: &SweepResults) -> Option<String> {
    let n = all.points().count();
    let m = PairMultiplicity::of_choices(n).filter(|_| all.has_replications())?;
    Some(format!(
        "The paired differences of {} are not corrected for their number. If all points were equal, {} of such sweeps would show a worse point in a metric.",
        count(n as u64, "point"),
        percent(m.any_false, 0)
    ))
}

/// Maximum number of combinations of uncertain values in a conclusion.
const MAX_COMBINATIONS: usize = 4;

/// Returns the conclusion of a sweep over failure rates or other uncertainties: the best choice for each of their
/// values, or without choices the range of the metric.
fn conclusion_with_uncertainty(all: &SweepResults, metrics: &[String]) -> String {
    let uncertain = all.uncertain_axes();
    let names = axis_names(all);
    let called: Vec<&str> = uncertain.iter().map(|axis| names[*axis].as_str()).collect();
    let called = called.join(", ");
    let Some(metric) = metrics.first() else {
        return "The points do not differ in any metric.".to_owned();
    };
    let means = all.means(metric);
    let shown = |point: usize| means[point].map_or("-".to_owned(), |mean| format_metric_value(metric, mean));
    let is_uncertain = |axis: usize| uncertain.contains(&axis);
    if uncertain.len() == names.len() {
        let order = |a: &usize, b: &usize| means[*a].partial_cmp(&means[*b]).unwrap_or(std::cmp::Ordering::Equal);
        let known = || (0..means.len()).filter(|point| means[*point].is_some());
        let ends = known().min_by(order).zip(known().max_by(order));
        let range = ends.map_or(String::new(), |(low, high)| {
            let name = |point| point_name(all, point);
            format!(" Mean {metric}: {} at {}, {} at {}.", shown(low), name(low), shown(high), name(high))
        });
        return format!("No point is best: {called} cannot be chosen.{range}");
    }
    let best = all.best_choices(metric);
    let choice = |b: &BestPoint| axis_values(all, b.point, |axis| !is_uncertain(axis));
    let others = |b: &BestPoint| {
        let similar = [
            ("no difference from", b.equal.len()),
            ("inconclusive against", b.inconclusive.len()),
            ("not ranked against", b.unranked.len()),
        ];
        let similar = similar.into_iter().filter(|(_, n)| *n > 0);
        similar.map(|(how, n)| format!(", {how} {}", count(n as u64, "other choice"))).collect::<String>()
    };
    let is_clear = |b: &BestPoint| b.inconclusive.is_empty() && b.equal.is_empty() && b.unranked.is_empty();
    let one = |b: &BestPoint| {
        let at = axis_values(all, b.point, is_uncertain);
        format!("{} for {at} (mean {}{})", choice(b), shown(b.point), others(b))
    };
    match best.first() {
        Some(_) if !all.has_replications() => {
            format!("One replication does not rank the choices in {metric}. Use --seeds.")
        }
        None => format!("No choice is best in {metric} for any value of {called}, which cannot be chosen."),
        Some(first) if best.iter().all(|b| choice(b) == choice(first)) => format!(
            "{} {} {metric} for every value of {called}, which cannot be chosen: mean {} to {}.",
            choice(first),
            if best.iter().all(is_clear) { "is best in" } else { "has the best mean of" },
            shown(first.point),
            shown(best[best.len() - 1].point)
        ),
        Some(_) => {
            let mut parts: Vec<String> = best.iter().take(MAX_COMBINATIONS).map(one).collect();
            if best.len() > MAX_COMBINATIONS {
                parts.push(format!("{} more", best.len() - MAX_COMBINATIONS));
            }
            format!("The best choice in {metric} depends on {called}, which cannot be chosen: {}.", parts.join("; "))
        }
    }
}

/// Returns the axes for rows and columns if the sweep has exactly two axes that form a grid.
fn grid(all: &SweepResults) -> Option<(usize, usize)> {
    let points = all.points();
    let two = points.axes().len() == 2;
    let values = |axis| points.grid(axis).map(<[String]>::len);
    //  With more than eight columns, the points are listed instead.
    let fits = two && values(0).is_some() && values(1).is_some_and(|n| n <= 8);
    fits.then_some((0, 1))
}

fn head(all: &SweepResults, metric: &str) -> String {
    let side = match better(metric) {
        BetterDirection::Higher => "higher is better",
        BetterDirection::Lower => "lower is better",
    };
    format!(" ({}{side})", unit_with_currency(metric, all.currency()))
}

/// Returns the marker printed after the value of a point: `*` for the best mean, `=` without a difference from it, `~`
/// if the difference from it is inconclusive, `!` if the point is not ranked.
fn rank_marker(best: &[BestPoint], point: usize) -> &'static str {
    match best {
        all if all.iter().any(|best| best.point == point) => "*",
        all if all.iter().any(|best| best.equal.contains(&point)) => "=",
        all if all.iter().any(|best| best.inconclusive.contains(&point)) => "~",
        all if all.iter().any(|best| best.unranked.contains(&point)) => "!",
        _ => " ",
    }
}

fn legend(out: &mut String, best: &[BestPoint], style: &WaterfallStyle) {
    if best.is_empty() {
        out.push('\n');
        return;
    }
    let mut text = match best.len() {
        1 => "  * best mean".to_owned(),
        _ => "  * best mean for a value of the uncertain field".to_owned(),
    };
    if best.iter().any(|best| !best.equal.is_empty()) {
        text.push_str("   = no difference from it");
    }
    if best.iter().any(|best| !best.inconclusive.is_empty()) {
        text.push_str("   ~ inconclusive: the interval of the paired difference from it contains zero");
    }
    if best.iter().any(|best| !best.unranked.is_empty()) {
        let _ = write!(text, "\n  ! {UNRANKED}");
    }
    let _ = writeln!(out, "{}\n", style.dim(&text));
}

/// Writes a matrix of means with the first axis in rows and the second in columns.
fn matrix(out: &mut String, all: &SweepResults, metric: &str, (down, across): (usize, usize), style: &WaterfallStyle) {
    let names = axis_names(all);
    let points = all.points();
    let (rows, columns) = (points.grid(down), points.grid(across));
    let (rows, columns) = (rows.unwrap_or(&[]), columns.unwrap_or(&[]));
    let means = all.means(metric);
    let best = all.best_choices(metric);
    let _ = writeln!(out, "{}{}: mean", style.bold(metric), head(all, metric));
    let cell = |point: usize| means[point].map_or("-".to_owned(), |m| format_metric_value(metric, m));
    let cells: Vec<String> = (0..means.len()).map(cell).collect();
    let width = column(cells.iter().chain(columns).map(String::as_str), 6) + 2;
    let left = column(rows.iter().chain([&names[down]]).map(|t| t.as_ref()), 0) + 2;
    let _ = writeln!(out, "{}", style.dim(&format!("  {:>left$}  {}", "", names[across])));
    let header: String = columns.iter().map(|c| format!("{c:>width$} ")).collect();
    let header = format!("  {:>left$}{}", names[down], header.trim_end());
    let _ = writeln!(out, "{}", style.dim(&header));
    for (i, value) in rows.iter().enumerate() {
        let mut line = format!("  {value:>left$}");
        for j in 0..columns.len() {
            let point = i * columns.len() + j;
            let _ = write!(line, "{:>width$}{}", cells[point], rank_marker(&best, point));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    legend(out, &best, style);
}

/// Writes one row per point, limited to the best points.
fn list(out: &mut String, all: &SweepResults, metric: &str, style: &WaterfallStyle) {
    let best = all.best_choices(metric);
    let points = all.points().count();
    let mut order: Vec<usize> = (0..points).collect();
    let means = all.means(metric);
    let mut which = String::new();
    if points > ROWS {
        let worst = match better(metric) {
            BetterDirection::Higher => f64::MIN,
            BetterDirection::Lower => f64::MAX,
        };
        let key = |p: &usize| means[*p].unwrap_or(worst);
        order.sort_by(|a, b| match better(metric) {
            BetterDirection::Higher => key(b).total_cmp(&key(a)),
            BetterDirection::Lower => key(a).total_cmp(&key(b)),
        });
        order.truncate(ROWS);
        which = format!(": the best {ROWS} of {points} points");
    }
    let _ = writeln!(out, "{}{}{which}", style.bold(metric), head(all, metric));
    let names: Vec<String> = order.iter().map(|p| point_name(all, *p)).collect();
    let mut table = EstimateFormat::new(&HEAD, [0, 6, 10]);
    for (point, name) in order.iter().zip(&names) {
        let e = all.estimate(*point, metric);
        let cell = |v: Option<f64>| v.map_or("-".to_owned(), |v| format_metric_value(metric, v));
        let interval = match e.ci95 {
            Some([low, high]) if e.n > 1 => {
                format!("{} to {}", format_metric_value(metric, low), format_metric_value(metric, high))
            }
            _ => "-".to_owned(),
        };
        table.row(vec![
            format!("{} {name}", rank_marker(&best, *point)),
            e.n.to_string(),
            cell(e.p10),
            cell(e.p50),
            cell(e.p90),
            cell(e.mean),
            interval,
        ]);
    }
    table.write(out, style);
    legend(out, &best, style);
}

/// Returns the caveats: too few replications, missing values, warnings.
fn caveats(all: &SweepResults) -> Vec<String> {
    let mut lines: Vec<String> = multiplicity_note(all).into_iter().collect();
    let points = all.points().count();
    let estimates = |p: usize| all.names().iter().map(move |name| (name, all.estimate(p, name)));
    let mut few = None;
    let mut without: Vec<String> = Vec::new();
    for point in 0..points {
        let mut worst: Option<(usize, &String, MetricEstimate)> = None;
        for (name, e) in estimates(point) {
            for weakness in &e.weaknesses {
                if let StatisticalWarning::TooFew { needed, .. } = weakness {
                    few = few.max(Some(*needed));
                }
            }
            let out = e.excluded();
            if out > worst.as_ref().map_or(0, |w| w.0) {
                worst = Some((out, name, e));
            }
        }
        if let Some((_, name, e)) = worst {
            let text = missing_value_note(&e).unwrap_or_default();
            without.push(format!("{}, {name}: {text}", point_name(all, point)));
        }
    }
    if let Some(needed) = few {
        lines
            .push(format!("Too few replications: with fewer than {needed} values, p10 and p90 have no 95 % interval."));
    }
    if let Some(first) = without.first() {
        let n = count(without.len() as u64, "point");
        lines.push(format!(
            "Warning: at {n} some replications have no value; points without a value are not ranked: {first}."
        ));
    }
    let rows = (0..points).flat_map(|p| all.rows(p));
    let warned: Vec<&[String]> = rows.map(|r| r.warnings.as_slice()).collect();
    lines.extend(warnings_of(&warned).iter().map(|w| format!("Warning: {w}")));
    lines
}
