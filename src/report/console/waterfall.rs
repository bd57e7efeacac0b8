//! A restart as a waterfall: one bar per step on a common time scale, with the wait that preceded each step.

use super::page::wrapped;
pub use super::style::WaterfallStyle;
use sim_analysis::format;
use sim_analysis::format::seconds;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::restarts::bottleneck::{BottleneckShare, RestartBottleneck};
use sim_analysis::metrics::restarts::waits::{self, WaitKind};
use sim_analysis::metrics::{Phase, RestartMetrics, RunView};
use sim_base::Duration;
use sim_engine::record::TicketWait;
use std::fmt::Write;

/// Returns whether a step is long enough to be shown: at least 50 ms or 0.5 % of the total. Shorter steps are only
/// counted.
pub(crate) fn is_long_enough(g: &BottleneckShare, total: Duration) -> bool {
    let d = g.span.duration();
    d >= Duration::from_millis(50) || d.0 * 200 >= total.0.max(1)
}

/// Returns the number of characters of a bar on lines of `width` characters; 0 if there is no room for bars.
fn bar_cells(width: usize) -> usize {
    const LABELS_AND_TEXT: usize = 76;
    const WIDEST: usize = 40;
    width.saturating_sub(LABELS_AND_TEXT).min(WIDEST)
}

/// Writes the waterfall of one restart. `number` counts from 1.
pub fn restart(out: &mut String, run: &RunView<'_>, r: &RestartMetrics, number: usize, style: &WaterfallStyle) {
    let _ = writeln!(out, "{}", style.bold(&format::restart_title(run, r, number)));
    let cause = format!("cause: {}, at {}", format::cause(run, &r.cause), r.caused_at);
    for line in format::wrap(&cause, style.width - 4) {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out);
    for line in steps(run, r, style) {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out);
    bottleneck(out, run, r, style);
    milestones(out, run, r, style);
}

/// Returns the lines of the steps of a restart: the heading, an entry per long step, and the number of short ones.
fn steps(run: &RunView<'_>, r: &RestartMetrics, style: &WaterfallStyle) -> Vec<String> {
    let column = format::seconds_width(r.total(), 8);
    let cells = bar_cells(style.width);
    let scale = if cells > 0 { format!("{:<cells$}  ", "0 s") } else { String::new() };
    let head =
        format!("  {:<10} {:>column$} {:>column$}  {scale}step and what it waited for", "phase", "start", "duration");
    let mut entries = vec![style.dim(&head)];
    let mut hidden = (0, Duration::ZERO);
    for g in &bottleneck::span_bottlenecks(run, r) {
        if is_long_enough(g, r.total()) {
            entries.push(step(r, g, style));
        } else {
            hidden = (hidden.0 + 1, hidden.1 + g.span.duration());
        }
    }
    if hidden.0 > 0 {
        let steps = format::count(hidden.0, "short step");
        let line = format!(
            "  ({steps} not shown, {} s in total)",
            format::exact_seconds(u128::from(hidden.1.0 / 1_000_000 * 1_000_000))
        );
        entries.push(style.dim(&line));
    }
    entries
}

/// Returns the lines of the phases of a restart: the heading, and a line per phase with its longest wait.
pub(super) fn phases(run: &RunView<'_>, r: &RestartMetrics, style: &WaterfallStyle) -> Vec<String> {
    let column = format::seconds_width(r.total(), 8);
    let cells = bar_cells(style.width);
    let end = seconds(r.total());
    let axis = match cells.checked_sub(3 + end.chars().count()) {
        Some(room) => format!("0 s{:room$}{end}  ", ""),
        None => String::new(),
    };
    let mut lines = vec![style.dim(&format!("  {:<10} {:>column$}  {axis}longest wait", "phase", "duration"))];
    let steps = bottleneck::span_bottlenecks(run, r);
    for phase in Phase::ALL {
        let own = || steps.iter().filter(|g| g.span.phase() == phase);
        let time = own().fold(Duration::ZERO, |sum, g| sum + g.span.duration());
        if time == Duration::ZERO {
            continue;
        }
        let pieces: Vec<(Duration, Duration)> =
            own().map(|g| (g.span.from.since(r.start), g.span.to.since(r.start))).collect();
        let bar = if cells > 0 { style.bars(&pieces, r.total(), cells) + "  " } else { String::new() };
        let indent = 2 + 10 + 1 + column + 2 + bar.chars().count();
        let lead = format!("  {:<10} {:>column$}  {}", phase.as_str(), seconds(time), style.phase(phase, &bar));
        let wait = longest_wait(own(), r.pods).unwrap_or_default();
        let wait = wrapped(&wait, style.width.saturating_sub(indent).max(20), 2, style);
        lines.push(lead + &wait.join(&format!("\n{:indent$}", "")));
    }
    lines
}

/// Returns the longest wait of these steps with its time.
fn longest_wait<'a>(steps: impl Iterator<Item = &'a BottleneckShare>, pods: u32) -> Option<String> {
    let mut sums: Vec<(&RestartBottleneck, Duration)> = Vec::new();
    for gate in steps.filter_map(|g| g.gate.as_ref()) {
        match sums.iter_mut().find(|(known, _)| known.what == gate.what) {
            Some((_, sum)) => *sum = *sum + gate.time,
            None => sums.push((gate, gate.time)),
        }
    }
    let (gate, time) = sums.into_iter().rev().max_by_key(|(_, time)| *time)?;
    Some(format!("{}, {}", without_period(&plain_name(gate, pods)), seconds(time).replace(' ', "\u{a0}")))
}

/// Returns the name of a wait without the rule behind it.
pub(crate) fn plain_name(gate: &RestartBottleneck, pods: u32) -> String {
    match gate.what {
        WaitKind::Mechanism(TicketWait::ImagePull) => gate.name.clone(),
        WaitKind::Mechanism(waited) => waits::with_pods(waits::plain(waited, pods), pods),
        _ => gate.name.clone(),
    }
}

/// Writes the longest wait of the restart with its duration.
fn bottleneck(out: &mut String, run: &RunView<'_>, r: &RestartMetrics, style: &WaterfallStyle) {
    let text = describe_longest_waits(run, r);
    if text.is_empty() {
        return;
    }
    for line in format::wrap(&text, style.width - 2) {
        let _ = writeln!(out, "  {line}");
    }
}

/// Describes the longest waits of the restart in one sentence; empty if there are none.
pub fn describe_longest_waits(run: &RunView<'_>, r: &RestartMetrics) -> String {
    describe_waits(&bottleneck::restart_bottlenecks(run, r), r, |gate| gate.name.clone())
}

/// Describes the longest waits without the rules behind them.
pub(crate) fn describe_longest_waits_plainly(run: &RunView<'_>, r: &RestartMetrics) -> String {
    describe_waits(&bottleneck::restart_bottlenecks(run, r), r, |gate| plain_name(gate, r.pods))
}

/// Returns the name of a wait for use inside a sentence: messages of kube-scheduler end with a period.
pub(super) fn without_period(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn describe_waits(
    gates: &[RestartBottleneck], r: &RestartMetrics, name: impl Fn(&RestartBottleneck) -> String,
) -> String {
    let Some(first) = gates.first() else {
        return String::new();
    };
    let title = if first.is_bottleneck() { "Bottleneck" } else { "Longest part" };
    let mut text = format!(
        "{title}: {}, {} of {} ({})",
        without_period(&name(first)),
        seconds(first.time),
        seconds(r.total()),
        format::percent(first.share, 0)
    );
    for other in &gates[1..] {
        let percent = format::percent(other.share, 0);
        let name = name(other);
        text.push_str(&format!("; and {}, {} ({percent})", without_period(&name), seconds(other.time)));
    }
    text.push('.');
    text
}

/// Returns the lines of one step.
fn step(r: &RestartMetrics, g: &BottleneckShare, style: &WaterfallStyle) -> String {
    let begins = g.span.from.since(r.start);
    let cells = bar_cells(style.width);
    let bar =
        if cells > 0 { style.bar(begins, g.span.to.since(r.start), r.total(), cells) + "  " } else { String::new() };
    let column = format::seconds_width(r.total(), 8);
    let indent = 2 + 10 + 1 + column + 1 + column + 2 + bar.chars().count();
    let room = style.width.saturating_sub(indent);
    let what = format::wrap(&r.describe_step(g.span.step), room);
    let mut lines = vec![format!(
        "  {:<10} {:>column$} {:>column$}  {}{}",
        g.span.phase().as_str(),
        seconds(begins),
        seconds(g.span.duration()),
        style.phase(g.span.phase(), &bar),
        what.first().map_or("", String::as_str),
    )];
    lines.extend(what.iter().skip(1).map(|line| format!("{:indent$}{line}", "")));
    let arrow = if style.unicode { "← " } else { "< " };
    let gate = g.gate.as_ref().map(|gate| gate.text());
    let gate = format::wrap(&gate.unwrap_or_default(), room.saturating_sub(2));
    for (i, line) in gate.iter().enumerate() {
        let lead = if i == 0 { arrow } else { "  " };
        lines.push(format!("{:indent$}{}", "", style.dim(&format!("{lead}{line}"))));
    }
    lines.join("\n")
}

fn milestones(out: &mut String, run: &RunView<'_>, r: &RestartMetrics, style: &WaterfallStyle) {
    let list: Vec<String> = r
        .reached_milestones()
        .iter()
        //  Non-breaking spaces keep the name and the value on the same line.
        .map(|(m, d)| format!("{}\u{a0}{:.2}", m.as_str(), d.seconds()))
        .collect();
    let text = format!("Milestones, seconds after the {}: {}", format::origin(run, r), list.join(style.separator()));
    for line in format::wrap(&text, style.width - 2) {
        let _ = writeln!(out, "  {}", style.dim(&line));
    }
}
