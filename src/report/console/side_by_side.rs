//! Two restarts after the same fault, side by side per phase on one time scale.

use super::waterfall::{self, WaterfallStyle};
use sim_analysis::format::{percent, seconds};
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{Phase, RestartMetrics, RunView};
use sim_base::{Duration, SimTime};
use std::fmt::Write;

/// Returns the number of characters of a bar, so that two sides fit into lines of `width` characters.
fn bar_cells(width: usize) -> usize {
    const LABELS: usize = 36;
    (width.saturating_sub(LABELS) / 2).clamp(8, 48)
}

/// One side: its label, its run and the restart to show.
pub struct VariantSide<'a> {
    pub label: &'a str,
    pub run: RunView<'a>,
    pub restart: &'a RestartMetrics,
}

pub fn compare(left: &VariantSide<'_>, right: &VariantSide<'_>, style: &WaterfallStyle) -> String {
    let mut out = String::new();
    let scale = left.restart.total().max(right.restart.total());
    let cells = bar_cells(style.width);
    let column = 10 + cells;
    let line = if style.unicode { '│' } else { '|' };
    let title = format!("  {:<10} {:<column$}{line} {:<column$}", "", left.label, right.label);
    let _ = writeln!(out, "{}", style.bold(title.trim_end()));
    let axis = format!("0 s{:>width$}", seconds(scale), width = cells - 3);
    let blank = " ".repeat(9);
    let head = format!("  {:<10} {blank}{axis} {line} {blank}{axis}", "phase");
    let _ = writeln!(out, "{}", style.dim(&head));
    let sides = [left, right].map(|s| (extents(s.restart), s.restart.start));
    for (i, phase) in Phase::ALL.iter().enumerate() {
        if sides.iter().all(|(e, _)| e[i].is_empty()) {
            continue;
        }
        let cell = |(extents, start): &(ColumnExtents, SimTime)| render_phase(&extents[i], *start, scale, style);
        let (l, r) = (cell(&sides[0]), cell(&sides[1]));
        let _ = writeln!(out, "  {:<10} {l} {line} {}", phase.as_str(), r.trim_end());
    }
    let until = ["from interruption to all ready", "to all ready", ""];
    let until = until.into_iter().find(|text| text.len() <= cells).unwrap_or_default();
    let total = |s: &VariantSide<'_>| format!("{:>8} {until:<cells$}", seconds(s.restart.total()));
    let totals = format!("  {:<10} {} {line} {}", "total", total(left), total(right));
    let _ = writeln!(out, "{}", style.bold(totals.trim_end()));
    out.push('\n');
    for side in [left, right] {
        bottleneck(&mut out, side);
    }
    ratio(&mut out, left, right, style);
    out
}

type ColumnExtents = [Vec<(SimTime, SimTime)>; Phase::COUNT];

/// Returns the time segments of each phase. A phase can occur more than once.
fn extents(r: &RestartMetrics) -> ColumnExtents {
    let mut all: ColumnExtents = Default::default();
    for span in r.spans() {
        let pieces = &mut all[span.phase() as usize];
        match pieces.last_mut() {
            Some((_, to)) if *to == span.from => *to = span.to,
            _ if span.duration() > Duration::ZERO => pieces.push((span.from, span.to)),
            _ => {}
        }
    }
    all
}

/// Renders the duration and bar of one phase on one side.
fn render_phase(pieces: &[(SimTime, SimTime)], start: SimTime, scale: Duration, style: &WaterfallStyle) -> String {
    let cells = bar_cells(style.width);
    if pieces.is_empty() {
        return format!("{:>8} {:<cells$}", "-", "");
    }
    let sum = pieces.iter().fold(Duration::ZERO, |d, &(a, b)| d + b.since(a));
    let pieces: Vec<_> = pieces.iter().map(|(from, to)| (from.since(start), to.since(start))).collect();
    format!("{:>8} {}", seconds(sum), style.bars(&pieces, scale, cells))
}

fn bottleneck(out: &mut String, side: &VariantSide<'_>) {
    for (i, gate) in bottleneck::restart_bottlenecks(&side.run, side.restart).iter().enumerate() {
        let name = waterfall::plain_name(gate, side.restart.pods);
        let (time, percent) = (seconds(gate.time), percent(gate.share, 0));
        let verb = match (i, gate.is_bottleneck()) {
            (0, true) => "the bottleneck is",
            (0, false) => "the longest part is",
            _ => "followed by",
        };
        let label = side.label;
        let _ = writeln!(out, "  {label}: {verb} {name} ({time}, {percent})");
    }
}

fn ratio(out: &mut String, left: &VariantSide<'_>, right: &VariantSide<'_>, style: &WaterfallStyle) {
    let (Some(l), Some(r)) = (left.restart.latency(), right.restart.latency()) else {
        let _ = writeln!(out, "  No ratio: at least one of the two restarts never became ready again.");
        return;
    };
    let (slow, fast, ratio) = if l >= r {
        (left, right, l.seconds() / r.seconds().max(1e-9))
    } else {
        (right, left, r.seconds() / l.seconds().max(1e-9))
    };
    let text = format!("{} is {ratio:.1} times as fast as {}.", fast.label, slow.label);
    let _ = writeln!(out, "  {}", style.bold(&text));
}
