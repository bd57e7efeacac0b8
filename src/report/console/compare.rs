//! Console output of `compare`: estimates per metric and variant, paired differences, and a conclusion.

mod main_metrics;
mod values;

pub(crate) use main_metrics::MAIN_METRICS;
pub use values::{format_metric_row, format_metric_value, format_seconds_row};
pub(crate) use values::{money, unit, unit_with_currency};

use super::waterfall::WaterfallStyle;
use crate::estimates::{EstimateFormat, HEAD};
use sim_analysis::experiment::{
    CompareVerdict, MetricEstimate, PairedEstimate, ReplicationOutcome, VariantChange, VariantComparison,
    VariantEstimates, accumulates, grows_with_time, is_by_cause,
};
use sim_analysis::format::{column, count, percent, wrap};
use sim_base::stats::StatisticalWarning;
use std::fmt::Write;

/// With more variants, only differences from the first one are printed. The output files contain all pairs.
const ALL_PAIRS_MAX: usize = 4;

#[derive(Copy, Clone, Debug)]
pub enum MetricSelection<'m> {
    Main,
    /// A table per metric, for all metrics that differ, and all caveats.
    All,
    Named(&'m [String]),
}

/// Returns the console output of a comparison.
pub fn text(all: &VariantComparison, selection: MetricSelection<'_>, style: &WaterfallStyle) -> String {
    if matches!(selection, MetricSelection::Main) {
        return main_metrics::text(all, style);
    }
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", title(all, style));
    let request = match selection {
        MetricSelection::Named(names) => names,
        MetricSelection::Main | MetricSelection::All => &[],
    };
    for line in wrap(&conclusion(all, request), style.width) {
        let _ = writeln!(out, "{line}");
    }
    out.push('\n');
    for variant in variants(all, true) {
        let _ = writeln!(out, "{variant}");
    }
    out.push('\n');
    if let MetricSelection::Named(names) = selection {
        names.iter().for_each(|name| write_metric(&mut out, all, name, style));
        for note in multiplicity_note(all).into_iter().chain(sequential_note(all, names)) {
            let _ = writeln!(out, "{}", wrap(&note, style.width - 2).join("\n  "));
        }
        return out;
    }
    let (different, same) = split_by_difference(all);
    for (i, metric) in different.iter().enumerate() {
        let is_similar = |known: &&&str| metric_estimates(all, known).eq(metric_estimates(all, metric));
        match different[..i].iter().find(is_similar) {
            Some(known) => {
                let _ = writeln!(out, "{}: same values as {known}\n", style.bold(metric));
            }
            None => write_metric(&mut out, all, metric, style),
        }
    }
    for line in multiplicity_note(all).into_iter().chain(caveats(all, &same)) {
        let _ = writeln!(out, "{}", wrap(&line, style.width - 2).join("\n  "));
    }
    out
}

fn title(all: &VariantComparison, style: &WaterfallStyle) -> String {
    let most = all.variants.iter().map(|v| v.replications).max();
    let title = format!(
        "jobset-sim {}: {}, {}, {} each, seed {}, common\u{a0}random\u{a0}numbers",
        all.version,
        all.scenario,
        count(all.variants.len() as u64, "variant"),
        count(most.unwrap_or(0) as u64, all.level.replication_term()),
        all.seed
    );
    wrap(&title, style.width).iter().map(|line| style.bold(line)).collect::<Vec<_>>().join("\n")
}

fn metric_estimates<'a>(all: &'a VariantComparison, metric: &'a str) -> impl Iterator<Item = &'a MetricEstimate> {
    estimates(all, metric).map(|(_, e)| e)
}

fn name_width(all: &VariantComparison) -> usize {
    column(all.variants.iter().map(|v| v.name.as_str()), 8)
}

/// Returns the outcomes and changes of each variant. `is_complete` selects whether automatic changes are listed.
fn variants(all: &VariantComparison, is_complete: bool) -> Vec<String> {
    let width = name_width(all);
    let variant = |v: &VariantEstimates| {
        let mut lines = vec![format!("  {:<width$}  {}; digest {:016x}", v.name, v.outcomes, v.digest)];
        let is_shown = |c: &&VariantChange| is_complete || c.because.is_empty();
        for c in v.changes.iter().filter(is_shown) {
            let because = match c.because.as_str() {
                "" => String::new(),
                reason => format!("   (for {reason})"),
            };
            let value = shorten_value(&c.value);
            lines.push(format!("  {:<width$}    {}={value}{because}", "", c.path));
        }
        let hidden = v.changes.iter().filter(|c| !is_shown(c)).count();
        if hidden > 0 {
            let hidden = count(hidden as u64, "required change");
            lines.push(format!("  {:<width$}    and {hidden} (--verbose)", ""));
        }
        lines.join("\n")
    };
    all.variants.iter().map(variant).collect()
}

/// Shortens a value to 40 characters. The JSON output contains the full value.
fn shorten_value(value: &str) -> String {
    const LONGEST: usize = 40;
    match value.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}...", &value[..at]),
        None => value.to_owned(),
    }
}

/// Splits the metrics into those with differences or missing values and those equal in each replication.
pub(crate) fn split_by_difference(all: &VariantComparison) -> (Vec<&str>, Vec<&str>) {
    let has_excluded = |e: &MetricEstimate| e.excluded() > 0;
    let differs = |metric: &&str| {
        let mut pairs = all.paired.iter().filter(|p| p.metric == *metric);
        let has_pairs = all.paired.iter().any(|p| p.metric == *metric);
        let has_no_pairs = !has_pairs && all.variants.len() > 1 && metric_estimates(all, metric).any(|e| e.n > 0);
        pairs.any(|p| p.verdict != CompareVerdict::NoDifference || p.unpaired > 0)
            || metric_estimates(all, metric).any(has_excluded)
            || has_no_pairs
    };
    all.metrics.iter().map(String::as_str).partition(differs)
}

pub(crate) fn estimates<'a>(
    all: &'a VariantComparison, metric: &'a str,
) -> impl Iterator<Item = (&'a str, &'a MetricEstimate)> {
    let of = move |v: &'a VariantEstimates| Some((v.name.as_str(), v.metrics.get(metric)?));
    all.variants.iter().filter_map(of)
}

fn write_metric(out: &mut String, all: &VariantComparison, metric: &str, style: &WaterfallStyle) {
    if metric_estimates(all, metric).all(|e| e.n == 0) {
        let why = estimates(all, metric).filter_map(|(v, e)| Some(format!("{v}: {}", missing_value_note(e)?)));
        let why: Vec<String> = why.collect();
        let text = format!("{metric}: no run has a value. {}.", why.join(". "));
        for line in wrap(&text, style.width) {
            let _ = writeln!(out, "{line}");
        }
        out.push('\n');
        return;
    }
    let width = name_width(all);
    let pairs: Vec<&PairedEstimate> = all.paired.iter().filter(|p| p.metric == metric).collect();
    let better = match sim_analysis::experiment::better(metric) {
        sim_analysis::experiment::BetterDirection::Lower => "lower is better",
        sim_analysis::experiment::BetterDirection::Higher => "higher is better",
    };
    let unit = unit_with_currency(metric, &all.currency);
    let _ = writeln!(out, "{} ({unit}{better})", style.bold(metric));
    let mut table = EstimateFormat::new(&HEAD, [width, 6, 10]);
    for (name, e) in estimates(all, metric) {
        let [low, high] = e.ci95.filter(|_| e.n > 1).map_or([None; 2], |bounds| bounds.map(Some));
        let cells = format_metric_row(metric, [e.p10, e.p50, e.p90, e.mean, low, high]);
        let [p10, p50, p90, mean, low_text, high_text] = cells;
        let interval = if low.is_some() { format!("{low_text} to {high_text}") } else { "-".to_owned() };
        table.row(vec![name.to_owned(), e.n.to_string(), p10, p50, p90, mean, interval]);
        if let Some(text) = missing_value_note(e) {
            table.text(format!("{:<width$} ATTENTION: {text}", ""));
        }
    }
    table.write(out, style);
    for p in pairs.iter().filter(|p| is_printed(all, p)) {
        let _ = writeln!(out, "  {}", difference(all, p));
    }
    out.push('\n');
}

fn is_printed(all: &VariantComparison, p: &PairedEstimate) -> bool {
    all.variants.len() <= ALL_PAIRS_MAX || all.variants.first().is_some_and(|v| v.name == p.a)
}

pub(crate) fn missing_value_note(e: &MetricEstimate) -> Option<String> {
    let of = e.n + e.excluded() + e.absent;
    let parts = [(e.failed, "failed"), (e.blocked, "blocked"), (e.censored, "unfinished")];
    let parts: Vec<String> = (parts.iter().filter(|(n, _)| *n > 0)).map(|(n, name)| format!("{n} {name}")).collect();
    let text =
        format!("of {of} replications, {}: worst value in quantiles, excluded from the mean", parts.join(" and "));
    (!parts.is_empty()).then_some(text)
}

/// Formats a paired difference, for example `b − a: -3.2 s (-3.3 s to -3.1 s): b is better`.
fn difference(all: &VariantComparison, p: &PairedEstimate) -> String {
    let d = &p.difference;
    let [mean, low, high] = format_metric_row(&p.metric, [d.mean, d.ci95[0], d.ci95[1]].map(Some));
    let interval = match d.n {
        1 => "no interval from one pair".to_owned(),
        _ => format!("{low} to {high}"),
    };
    let unpaired = match p.unpaired {
        0 => String::new(),
        n => format!("; {} with a value in only one variant", count(n as u64, "run")),
    };
    let cut_short = match p.cut_short {
        0 => String::new(),
        n => format!("; {} in which one fails or is blocked are not compared", count(n as u64, "replication")),
    };
    let currency = money(&p.metric, &all.currency).map_or(String::new(), |currency| format!(" {currency}"));
    format!("{} − {}: {mean}{currency} ({interval}): {}{unpaired}{cut_short}", p.b, p.a, verdict(p))
}

fn verdict(p: &PairedEstimate) -> String {
    match p.verdict {
        CompareVerdict::A => format!("{} is better", p.a),
        CompareVerdict::B => format!("{} is better", p.b),
        CompareVerdict::NoDifference => "no difference".to_owned(),
        CompareVerdict::CompletesLess => {
            let [a, b] = p.completed.unwrap_or_default();
            let (less, fewer, more) = if a < b { (&p.a, a, b) } else { (&p.b, b, a) };
            format!("not comparable: {less} completes only {fewer} against {more} replications")
        }
        CompareVerdict::Inconclusive => "inconclusive".to_owned(),
    }
}

/// Metrics in order of relevance. The conclusion uses the first one that differs between the variants.
pub(crate) const HEADLINES: [&str; 10] = [
    "completed", "goodput", "effective_training_ratio", "training_time_h", "restartLatency_s.p50", "stepTime_s",
    "end.t_s", "cost.total", "restarts", "ledger.productive",
];

/// Returns whether the metric is `headline`, for the only JobSet or for one of several. Per-cause metrics never
/// match, even if a cause has such a name.
pub(crate) fn is_headline_metric(metric: &str, headline: &str) -> bool {
    metric.ends_with(headline) && !is_by_cause(metric)
}

/// Returns whether pods of a variant run indefinitely, so that the end of the run says nothing.
fn has_running(all: &VariantComparison) -> bool {
    let mut variants = all.variants.iter();
    variants.any(|v| v.outcomes.get(ReplicationOutcome::Running) > 0)
}

/// Returns whether the metric grows until the end of the run. Such metrics do not rank variants whose runs end
/// because no events are pending.
fn grows_until_end(metric: &str) -> bool {
    is_headline_metric(metric, "end.t_s") || metric.starts_with("cost.") || metric.starts_with("ledger.")
}

const ONLY_END_TIME_DIFFERS: &str = "The variants differ only in the time of the last event, which does not rank them: no JobSet finished and none \
     restarted. To compare them, add faults to the scenario or use --fail POD:exit=1.";

fn wins(name: &str, p: &PairedEstimate) -> bool {
    p.verdict == CompareVerdict::A && p.a == name || p.verdict == CompareVerdict::B && p.b == name
}

fn loses(name: &str, p: &PairedEstimate) -> bool {
    p.verdict == CompareVerdict::A && p.b == name || p.verdict == CompareVerdict::B && p.a == name
}

/// Returns a pair of variants in which the given one completes significantly fewer replications, if there is one.
fn completion_loss<'a>(all: &'a VariantComparison, name: &str) -> Option<&'a PairedEstimate> {
    all.paired.iter().find(|p| p.metric == "completed" && loses(name, p))
}

/// Returns the pairs that rank variants in a metric. A variant that completes significantly fewer replications than
/// another one is ranked in completion only.
fn ranked_pairs<'a>(all: &'a VariantComparison, metric: &str) -> Vec<&'a PairedEstimate> {
    let is_ranked = |name: &String| metric == "completed" || completion_loss(all, name).is_none();
    let pairs = all.paired.iter().filter(|p| p.metric == metric);
    pairs.filter(|p| is_ranked(&p.a) && is_ranked(&p.b)).collect()
}

/// Returns the variant that is better than every other ranked one in a metric.
fn winner<'a>(all: &'a VariantComparison, metric: &'a str) -> Option<&'a str> {
    let pairs = ranked_pairs(all, metric);
    let mut names = estimates(all, metric).map(|(name, _)| name);
    names.find(|name| {
        let mut own = pairs.iter().filter(|p| p.a == *name || p.b == *name).peekable();
        own.peek().is_some() && own.all(|p| wins(name, p))
    })
}

/// Returns a sentence for each variant that completes significantly fewer replications than another one.
fn completion_losses(all: &VariantComparison) -> String {
    let sentence = |name: &str| {
        let p = completion_loss(all, name)?;
        let other = if p.a == name { &p.b } else { &p.a };
        let [a, b] = p.completed?;
        let (fewer, more) = (a.min(b), a.max(b));
        let of = p.difference.n;
        Some(format!(
            "{name} completes significantly fewer replications than {other}: {fewer} against {more} of {of}. "
        ))
    };
    all.variants.iter().filter_map(|v| sentence(&v.name)).collect()
}

/// Returns the metric of the conclusion: the most relevant one in which two variants differ. Completion decides only
/// if one variant completes more replications than every other one.
fn deciding_metric(all: &VariantComparison) -> Option<&str> {
    let (mut ranked, _) = split_by_difference(all);
    if has_running(all) {
        ranked.retain(|metric| !grows_until_end(metric));
    }
    ranked.retain(|metric| has_difference(&ranked_pairs(all, metric)));
    let headline = HEADLINES.iter().find_map(|headline| {
        let decides = |metric: &str| *headline != "completed" || winner(all, metric).is_some();
        let mut own = ranked.iter();
        own.find(|metric| is_headline_metric(metric, headline) && decides(metric))
    });
    headline.or(ranked.first()).copied()
}

fn has_difference(pairs: &[&PairedEstimate]) -> bool {
    pairs.iter().any(|p| p.verdict != CompareVerdict::NoDifference)
}

/// Returns a sentence that states in how many replications of each variant the JobSet fails or is blocked; `None` if
/// it never does.
pub(crate) fn failures(all: &VariantComparison) -> Option<String> {
    let of_outcome = |outcome: ReplicationOutcome, jobset: Option<&String>, verb: &str| {
        let number = |v: &VariantEstimates| match jobset {
            Some(name) => v.ended_jobsets.get(&(outcome, name.clone())).copied().unwrap_or(0),
            None => v.outcomes.get(outcome),
        };
        let counts = all.variants.iter().map(|v| (v, number(v), v.outcomes.total()));
        let counts: Vec<_> = counts.filter(|(_, n, _)| *n > 0).collect();
        let is_always = counts.len() == all.variants.len() && counts.iter().all(|(_, n, total)| n == total);
        let named = counts.iter().map(|(v, n, total)| format!("{n} of {total} replications of {}", v.name));
        match counts.as_slice() {
            [] => None,
            _ if is_always => Some(format!("{verb} in every replication of every variant")),
            _ => Some(format!("{verb} in {}", named.collect::<Vec<_>>().join(", "))),
        }
    };
    let outcomes = [(ReplicationOutcome::Failed, "fails"), (ReplicationOutcome::Blocked, "is blocked")];
    let is_fleet = all.metrics.iter().any(|metric| metric == "effective_training_ratio");
    if all.jobsets.len() > 1 {
        let of_jobset = |name: &String| {
            let parts = outcomes.into_iter().filter_map(|(outcome, verb)| of_outcome(outcome, Some(name), verb));
            let parts: Vec<String> = parts.collect();
            (!parts.is_empty()).then(|| format!("JobSet {name} {}.", parts.join("; it ")))
        };
        let sentences: Vec<String> = all.jobsets.iter().filter_map(of_jobset).collect();
        return (!sentences.is_empty()).then(|| sentences.join(" "));
    }
    let parts = outcomes.into_iter().filter_map(|(outcome, verb)| of_outcome(outcome, None, verb));
    let parts: Vec<String> = parts.collect();
    let job = if is_fleet { "The job" } else { "The JobSet" };
    (!parts.is_empty()).then(|| format!("{job} {}.", parts.join("; it ")))
}

/// Returns the conclusion: failures, and the best variant and its margin, or that no variant is best. It is about the
/// requested metrics, otherwise about the most relevant one in which the variants differ.
pub fn conclusion(all: &VariantComparison, request: &[String]) -> String {
    let ranking = match request {
        [] => ranking(all),
        metrics => requested_rankings(all, metrics),
    };
    failures(all).map_or(ranking.clone(), |failures| format!("{failures} {ranking}"))
}

fn ranking(all: &VariantComparison) -> String {
    let Some(metric) = deciding_metric(all) else {
        return without_ranking(all).to_owned();
    };
    let losses = if metric == "completed" { String::new() } else { completion_losses(all) };
    let excluded = excluded_sentence(all, &[metric]);
    format!("{losses}{}{excluded}", describe_metric(all, metric, true))
}

/// Returns a sentence for each requested metric.
fn requested_rankings(all: &VariantComparison, request: &[String]) -> String {
    let names: Vec<&str> = request.iter().map(String::as_str).collect();
    let losses = if names == ["completed"] { String::new() } else { completion_losses(all) };
    let sentences: Vec<String> = names.iter().map(|metric| describe_metric(all, metric, false)).collect();
    format!("{losses}{}{}", sentences.join(" "), excluded_sentence(all, &names))
}

fn excluded_sentence(all: &VariantComparison, metrics: &[&str]) -> &'static str {
    let has_excluded = |metric: &&str| metric_estimates(all, metric).any(|e| e.excluded() > 0);
    if metrics.iter().any(has_excluded) {
        " Replications without completed work have the worst value in quantiles and are excluded from means."
    } else {
        ""
    }
}

/// Returns the reason why no metric ranks the variants.
fn without_ranking(all: &VariantComparison) -> &'static str {
    let (differing, _) = split_by_difference(all);
    let pairs = |metric: &str| all.paired.iter().filter(|p| p.metric == metric).collect::<Vec<_>>();
    let mut metrics = differing.iter().filter(|metric| has_difference(&pairs(metric))).peekable();
    if metrics.peek().is_some() {
        return if has_running(all) && metrics.all(|metric| grows_until_end(metric)) {
            ONLY_END_TIME_DIFFERS
        } else {
            "No metric has values for two ranked variants in the same replication."
        };
    }
    if all.paired.is_empty() {
        return "No metric has values for two variants in the same replication.";
    }
    let has_values = |metric: &str| metric_estimates(all, metric).any(|e| e.n > 0);
    if differing.iter().any(|metric| has_values(metric) && pairs(metric).is_empty()) {
        "The variants do not differ in any metric that two of them have."
    } else {
        "The variants do not differ in any metric."
    }
}

/// Describes the ranking of the variants in a metric. A metric that was not requested can be one that the user does not
/// mean: a variant is not called the best in a ratio if another one does more work.
fn describe_metric(all: &VariantComparison, metric: &str, is_default: bool) -> String {
    let pairs = ranked_pairs(all, metric);
    if pairs.is_empty() {
        if accumulates(metric) && failures(all).is_some() {
            return format!(
                "No variant is best in {metric}: replications that fail or are blocked have less time for it and are \
                 not compared."
            );
        }
        if grows_with_time(metric)
            && let Some([a, b]) = all.unequal_times.first()
        {
            return format!(
                "No variant is ranked in {metric}: it is a sum over the time of a run, and the runs of {a} and {b} end \
                 at different time limits."
            );
        }
        let losing = all.variants.iter().filter(|v| completion_loss(all, &v.name).is_some());
        let losing: Vec<&str> = losing.map(|v| v.name.as_str()).collect();
        if !losing.is_empty() && all.paired.iter().any(|p| p.metric == metric) {
            let because = if losing.len() == 1 { "completes" } else { "complete" };
            return format!(
                "No variant is ranked in {metric}, because {} {because} significantly fewer replications.",
                losing.join(" and ")
            );
        }
        return format!("No two variants have a value of {metric} in the same replication.");
    }
    if !has_difference(&pairs) {
        return format!("The variants do not differ in {metric}.");
    }
    let Some(name) = winner(all, metric) else {
        return describe_unbeaten(all, metric, &pairs);
    };
    let more_work = if is_default && is_ratio(metric) { more_productive(all, name) } else { None };
    describe_best(all, (name, metric), &pairs, more_work)
}

/// Returns whether a metric is productive time relative to all time, so that it does not grow with the size of a job.
pub(crate) fn is_ratio(metric: &str) -> bool {
    ["goodput", "effective_training_ratio"].iter().any(|name| is_headline_metric(metric, name))
}

/// Metrics of the productive accelerator or node time.
pub(crate) const PRODUCTIVE: [&str; 2] = ["ledger.productive", "nodeHours.productive_h"];

/// Returns the comparison in productive time in which another variant is better than this one, if there is one.
fn more_productive<'a>(all: &'a VariantComparison, name: &str) -> Option<&'a PairedEstimate> {
    let metric = PRODUCTIVE.into_iter().find(|metric| all.metrics.iter().any(|known| known == metric))?;
    if has_running(all) && grows_until_end(metric) {
        return None;
    }
    let worse = ranked_pairs(all, metric).into_iter().filter(|p| loses(name, p));
    worse.max_by(|a, b| a.difference.mean.abs().total_cmp(&b.difference.mean.abs()))
}

fn mean_of(all: &VariantComparison, metric: &str, name: &str) -> String {
    let matching = estimates(all, metric).find(|(known, _)| *known == name);
    let mean = matching.and_then(|(_, e)| e.mean);
    let currency = money(metric, &all.currency).map_or(String::new(), |currency| format!(" {currency}"));
    mean.map_or(String::new(), |m| format!("{}{currency}", format_metric_value(metric, m)))
}

fn describe_best(
    all: &VariantComparison, (name, metric): (&str, &str), pairs: &[&PairedEstimate],
    more_work: Option<&PairedEstimate>,
) -> String {
    let own = pairs.iter().filter(|p| p.a == name || p.b == name);
    //  The next best variant has the smallest difference.
    let closest = own.min_by(|x, y| x.difference.mean.abs().total_cmp(&y.difference.mean.abs()));
    let Some(p) = closest else {
        return String::new();
    };
    let other = if p.a == name { &p.b } else { &p.a };
    //  The interval excludes zero, so both bounds have the same sign.
    let mut bounds = p.difference.ci95.map(f64::abs);
    bounds.sort_by(f64::total_cmp);
    let [difference, low, high] = format_metric_row(metric, [p.difference.mean.abs(), bounds[0], bounds[1]].map(Some));
    let is_best = match more_work {
        None => format!("is best in {metric}"),
        Some(_) => format!("has the highest {metric}"),
    };
    let mut text = format!(
        "{name} {is_best}: mean {} against {} for {other}, the next best; difference {difference} (95 % interval {low} \
         to {high}, {}).",
        mean_of(all, metric, name),
        mean_of(all, metric, other),
        count(p.difference.n as u64, "pair")
    );
    if let Some(work) = more_work {
        let more = if work.a == name { &work.b } else { &work.a };
        let hours = unit(&work.metric).trim_end_matches("; ");
        text.push_str(&format!(
            " This ratio does not include the size of the job: {more} has more productive {hours}, {} against {}.",
            mean_of(all, &work.metric, more),
            mean_of(all, &work.metric, name)
        ));
    }
    text
}

/// Returns the number of comparisons of each metric and their probability of a false difference, if there is more than
/// one.
pub(crate) fn multiplicity_note(all: &VariantComparison) -> Option<String> {
    let m = all.multiplicity?;
    Some(format!(
        "{} without correction: equal variants show a false difference per metric in {} of cases.",
        count(m.pairs as u64, "pair"),
        percent(m.any_false, 0)
    ))
}

/// Returns a note on further replications if the conclusion is inconclusive.
pub(crate) fn sequential_note(all: &VariantComparison, request: &[String]) -> Option<String> {
    let is_inconclusive = |metric: &str| {
        let pairs = ranked_pairs(all, metric);
        pairs.iter().any(|p| p.verdict == CompareVerdict::Inconclusive)
    };
    let any = match request {
        [] => is_inconclusive(deciding_metric(all)?),
        metrics => metrics.iter().any(|metric| is_inconclusive(metric)),
    };
    any.then(|| INCONCLUSIVE_NOTE.to_owned())
}

const INCONCLUSIVE_NOTE: &str = "Inconclusive results: adding replications until a difference appears gives false differences in more than 5 % of \
     the comparisons. Choose --seeds in advance, or a precision with --until, which corrects for repeated looks.";

/// Maximum number of pairs in the conclusion. The tables contain all pairs.
const MAX_CONCLUSION_PAIRS: usize = 3;

/// Describes the variants that no other variant beats, with the differences between them.
fn describe_unbeaten(all: &VariantComparison, metric: &str, pairs: &[&PairedEstimate]) -> String {
    let is_beaten = |name: &&str| pairs.iter().any(|p| loses(name, p));
    let names = estimates(all, metric).map(|(name, _)| name);
    let names = names.filter(|name| pairs.iter().any(|p| p.a == *name || p.b == *name));
    let (beaten, unbeaten): (Vec<&str>, Vec<&str>) = names.partition(is_beaten);
    let own = |p: &&&PairedEstimate| [&p.a, &p.b].iter().all(|n| unbeaten.contains(&n.as_str()));
    let mut among: Vec<String> = pairs.iter().filter(own).map(|p| difference(all, p)).collect();
    let more = among.len().saturating_sub(MAX_CONCLUSION_PAIRS);
    if more > 0 {
        among.truncate(MAX_CONCLUSION_PAIRS);
        among.push(count(more as u64, "more pair"));
    }
    let worse = match beaten.as_slice() {
        [] => String::new(),
        beaten => format!(" Worse than at least one of these: {}.", beaten.join(", ")),
    };
    format!("No variant is best in {metric}: {}.{worse}", among.join("; "))
}

/// Returns the caveats: metrics without differences, heavy tails, too few replications, warnings.
fn caveats(all: &VariantComparison, same: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = sequential_note(all, &[]).into_iter().collect();
    if !same.is_empty() {
        lines.push(format!("Equal in each replication: {}.", same.join(", ")));
    }
    let mut too_few = None;
    for v in &all.variants {
        let mut skewed = Vec::new();
        for (metric, e) in &v.metrics {
            for weakness in &e.weaknesses {
                match *weakness {
                    StatisticalWarning::TooFew { n, needed } => too_few = Some((n, needed)),
                    StatisticalWarning::HeavyTail { skewness, needed, .. } => {
                        skewed.push(format!("{metric} (skewness {skewness:.1}, {needed} needed)"));
                    }
                    //  Printed next to the estimate.
                    StatisticalWarning::Excluded { .. } => {}
                }
            }
        }
        if !skewed.is_empty() {
            let text = "Heavy-tailed metrics, with the replications needed for an interval of the mean:";
            lines.push(format!("{text} {}: {}.", v.name, skewed.join(", ")));
        }
    }
    if let Some((_, needed)) = too_few {
        let text = "Too few replications: with fewer than";
        lines.insert(0, format!("{text} {needed} values, p10 and p90 have no 95 % interval."));
    }
    lines.extend(all.warnings.iter().map(|w| format!("Warning: {w}")));
    lines
}

#[cfg(test)]
#[path = "../../../tests/inside/report/console/compare.rs"]
mod tests;
