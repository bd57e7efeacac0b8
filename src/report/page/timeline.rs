//! HTML rendering of a timeline. Each lane is an SVG drawing of the whole run in milliseconds; its `viewBox` selects
//! the visible window.
//!
//! Without the script, the page shows the first window.

use crate::draw::scene::{Rgb, tick_label, ticks};
use crate::draw::svg::hex;
use crate::timeline::{LaneGroup, MarkKind, TimelineChart, TimelineLane, TimelineMark, ViewWindow};
use sim_base::SimTime;
use sim_base::escape::for_html;
use std::fmt::Write;

/// Height of a lane in the units of its `viewBox`.
const LANE_HEIGHT: u64 = 1000;

pub fn write(out: &mut String, timeline: &TimelineChart, alt: &str) {
    let Some(window) = timeline.windows.first() else {
        return;
    };
    let end = timeline.moments.last().copied().unwrap_or(SimTime::ZERO);
    let _ = writeln!(
        out,
        "<div class=\"timeline\" role=\"group\" aria-label=\"{}\" tabindex=\"0\" data-end=\"{}\" data-from=\"{}\" data-to=\"{}\">",
        for_html(alt),
        ms(end),
        ms(window.from),
        ms(window.to)
    );
    write_window_bar(out, timeline);
    for group in &timeline.groups {
        write_group(out, timeline, group, window);
    }
    axis(out, window);
    out.push_str(
        "<p class=\"hint\">Drag to zoom in, double-click to show the whole run. Keyboard: arrow keys move, + and - \
         zoom, 0 shows the whole run. Solid lines: faults; dashed lines: returns of nodes and user \
         actions; dotted lines: ends of restarts.</p>\n</div>\n",
    );
}

fn ms(at: SimTime) -> u64 {
    at.0 / 1_000_000
}

fn write_window_bar(out: &mut String, timeline: &TimelineChart) {
    out.push_str("<div class=\"bar\">");
    for (i, w) in timeline.windows.iter().enumerate() {
        let _ = write!(
            out,
            "<button type=\"button\" data-from=\"{}\" data-to=\"{}\" aria-pressed=\"{}\">{}</button>",
            ms(w.from),
            ms(w.to),
            i == 0,
            for_html(&w.name)
        );
    }
    out.push_str(
        "<button type=\"button\" data-zoom=\"0.5\" aria-label=\"Zoom in\">+</button>\
         <button type=\"button\" data-zoom=\"2\" aria-label=\"Zoom out\">-</button>\
         <span class=\"at\" aria-live=\"off\"></span></div>\n",
    );
}

fn write_group(out: &mut String, timeline: &TimelineChart, group: &LaneGroup, window: &ViewWindow) {
    let _ = writeln!(out, "<h3>{}</h3>\n<ul class=\"legend\">", for_html(group.title));
    for (color, what) in group.legend_of(|changes| changes.iter().any(|(_, n)| *n > 0)) {
        let (color, what) = (hex(color), for_html(what));
        let _ = writeln!(out, "<li><i style=\"background:{color}\"></i>{what}</li>");
    }
    out.push_str("</ul>\n");
    for lane in &group.lanes {
        write_lane(out, timeline, lane, window);
    }
}

fn write_lane(out: &mut String, timeline: &TimelineChart, lane: &TimelineLane, window: &ViewWindow) {
    let _ = write!(
        out,
        "<div class=\"lane\"><p>{}<small>{}</small></p><div class=\"field\"><svg viewBox=\"{} 0 {} {LANE_HEIGHT}\" \
         preserveAspectRatio=\"none\" aria-hidden=\"true\">",
        for_html(&lane.label),
        for_html(&[lane.note.as_str(), &lane.critical].join(if lane.critical.is_empty() { "" } else { "; " })),
        ms(window.from),
        (ms(window.to) - ms(window.from)).max(1)
    );
    for (color, path) in layer_paths(timeline, lane) {
        let _ = write!(out, "<path fill=\"{}\" d=\"{path}\"/>", hex(color));
    }
    out.push_str("</svg>");
    for mark in &timeline.marks {
        write_mark(out, mark, window);
    }
    out.push_str("</div></div>\n");
}

/// Returns the layers from the top of the stack down, in drawing order: each covers the area below it and is
/// overdrawn by the next.
fn layer_paths(timeline: &TimelineChart, lane: &TimelineLane) -> Vec<(Rgb, String)> {
    let end = timeline.moments.last().copied().unwrap_or(SimTime::ZERO);
    let mut stacked: Vec<(Rgb, String)> = Vec::new();
    for top in (0..lane.layers.len()).rev() {
        if lane.layers[top].1.iter().all(|(_, n)| *n == 0) {
            continue;
        }
        let mut d = String::new();
        let mut last = 0;
        for (at, n) in cumulative_heights(lane, top) {
            let y = LANE_HEIGHT - u64::from(n) * LANE_HEIGHT / u64::from(lane.full_height);
            let x = ms(timeline.moments[at as usize]);
            if d.is_empty() {
                let _ = write!(d, "M{x} {LANE_HEIGHT}V{y}");
            } else if y != last {
                let _ = write!(d, "H{x}V{y}");
            }
            last = y;
        }
        let _ = write!(d, "H{}V{LANE_HEIGHT}z", ms(end));
        stacked.push((lane.layers[top].0, d));
    }
    stacked
}

/// Returns the cumulative height of the stack up to a layer at every change.
pub fn cumulative_heights(lane: &TimelineLane, top: usize) -> Vec<(u32, u32)> {
    let layers = &lane.layers[..=top];
    let mut at: Vec<u32> = layers.iter().flat_map(|(_, l)| l.iter().map(|(at, _)| *at)).collect();
    at.sort_unstable();
    at.dedup();
    let value = |layer: &[(u32, u32)], at: u32| {
        let seen = layer.partition_point(|(from, _)| *from <= at);
        seen.checked_sub(1).map_or(0, |i| layer[i].1)
    };
    let sum = |at: u32| (at, layers.iter().map(|(_, l)| value(l, at)).sum());
    at.into_iter().map(sum).collect()
}

fn position_percent(at: SimTime, window: &ViewWindow) -> f64 {
    let span = window.to.since(window.from).0.max(1);
    (at.0 as f64 - window.from.0 as f64) / span as f64 * 100.0
}

fn write_mark(out: &mut String, mark: &TimelineMark, window: &ViewWindow) {
    let class = match mark.kind {
        MarkKind::Fault => "",
        MarkKind::NodeReturn | MarkKind::UserAction => " class=\"d\"",
        MarkKind::Ready => " class=\"r\"",
    };
    let (at, title) = (ms(mark.at), for_html(mark.kind.as_str()));
    let left = position_percent(mark.at, window);
    let _ = write!(out, "<i{class} data-t=\"{at}\" title=\"{title}\" style=\"left:{left:.3}%\"></i>");
}

fn axis(out: &mut String, window: &ViewWindow) {
    out.push_str("<div class=\"axis\"><p></p><div class=\"ticks\">");
    let (from, to) = (window.from.seconds(), window.to.seconds());
    let step = ticks(to - from, 7).get(1).copied().unwrap_or(1.0);
    let mut at = (from / step).ceil() * step;
    while at <= to {
        let left = (at - from) / (to - from).max(1e-9) * 100.0;
        let _ = write!(out, "<span style=\"left:{left:.2}%\">{} s</span>", tick_label(at));
        at += step;
    }
    out.push_str("</div></div>\n");
}
