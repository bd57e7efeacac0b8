//! Chart of accelerator time by category, with one stacked bar per variant of a comparison.

use super::compare_panel::{
    ComparedVariants, PanelAxis, ROW, SIZE, WIDTH, comparison_heading, draw_name, finish_scene, legend, plot_left_edge,
    separate_segments,
};
use crate::draw::scene::{
    DrawScene, GRID, MUTED_COLOR, Rgb, TEXT_COLOR, TextAnchor, text_color_on, text_width, tick_label,
};
use crate::{draw::colors::category_color, draw::heading::MARGIN};
use sim_analysis::experiment::VariantComparison;
use sim_engine::record::LedgerCategory;

/// Returns the share of each category in all accelerator-seconds, per variant.
pub(crate) fn shares(all: &VariantComparison) -> Vec<(&str, Vec<(&str, f64)>)> {
    let of = |v: &sim_analysis::experiment::VariantEstimates| -> Vec<(&str, f64)> {
        let own = all.metrics.iter().filter_map(|metric| {
            let category = metric.strip_prefix("ledger.")?;
            Some((category, v.metrics.get(metric)?.mean?))
        });
        let own: Vec<(&str, f64)> = own.collect();
        let total: f64 = own.iter().map(|(_, s)| s).sum();
        own.into_iter().map(|(c, s)| (c, s / total.max(1e-9))).collect()
    };
    all.variants.iter().map(|v| (v.name.as_str(), of(v))).collect()
}

/// Returns the activities that occur, with their colors: productive time first, then in descending order of their
/// share.
fn colors<'a>(shares: &[(&str, Vec<(&'a str, f64)>)]) -> Vec<(&'a str, Rgb)> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for (category, share) in shares.iter().flat_map(|(_, s)| s) {
        match sums.iter_mut().find(|(c, _)| c == category) {
            Some((_, sum)) => *sum += share,
            None => sums.push((category, *share)),
        }
    }
    sums.retain(|(_, sum)| *sum > 0.0);
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let useful = LedgerCategory::Productive.as_str();
    let (mut own, lost): (Vec<_>, Vec<_>) = sums.into_iter().partition(|(c, _)| *c == useful);
    own.extend(lost);
    let color = |name: &str| {
        let category = LedgerCategory::ALL.into_iter().find(|c| c.as_str() == name);
        category.map_or(GRID, category_color)
    };
    own.into_iter().map(|(category, _)| (category, color(category))).collect()
}

/// Draws stacked bars of all accelerator-seconds, and below them of the non-productive part.
pub(crate) fn ledger(of: ComparedVariants<'_>) -> DrawScene {
    let all = of.all;
    let shares = shares(all);
    let colors = colors(&shares);
    let useful = LedgerCategory::Productive.as_str();
    let slot = ROW + 16;
    let panel = all.variants.len() as i32 * slot + 4 * SIZE + 20;
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: accelerator time by activity", all.scenario);
    let subtitle = "mean share of all accelerator-seconds of the cluster, over the whole run";
    let top = comparison_heading(&mut scene, all, (&title, subtitle)) + 3 * SIZE;
    let entries = colors.iter().map(|(c, color)| (*color, (*c).to_owned()));
    let mut top = legend(&mut scene, top, entries);
    let lost = |s: &[(&str, f64)]| s.iter().filter(|(c, _)| *c != useful).map(|(_, v)| v).sum();
    let most = shares.iter().map(|(_, s)| lost(s)).fold(0.0, f64::max);
    let parts = [("all activities", true), ("all but productive time", false)];
    for (label, complete) in parts.into_iter().take(of.panels(2, top, panel)) {
        scene.text((MARGIN, top + SIZE), SIZE, TextAnchor::Left, TEXT_COLOR, label);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + all.variants.len() as i32 * slot);
        let axis = PanelAxis {
            from: 0.0,
            to: if complete { 1.0 } else { most.max(1e-9) * 1.02 },
            left: plot_left_edge(all),
            right: WIDTH - MARGIN - 120,
        };
        for t in axis.ticks(8, 1.0) {
            scene.line(vec![(axis.x(t), from), (axis.x(t), to)], 2, GRID);
            let text = format!("{} %", tick_label(t * 100.0));
            scene.text((axis.x(t), to + SIZE), SIZE - 2, TextAnchor::Middle, MUTED_COLOR, &text);
        }
        for (i, (variant, own)) in shares.iter().enumerate() {
            let y = from + i as i32 * slot + slot / 2;
            draw_name(&mut scene, y, variant, WIDTH / 4);
            let (mut at, mut ends) = (0.0, Vec::new());
            for (category, color) in colors.iter().filter(|(c, _)| complete || *c != useful) {
                let share = own.iter().find(|(c, _)| c == category).map_or(0.0, |(_, s)| *s);
                let (left, right) = (axis.x(at), axis.x(at + share));
                scene.rect(left, y - ROW / 2, right - left, ROW, *color);
                ends.extend((right > left).then_some(right));
                let text = percent(share);
                if text_width(&text, SIZE - 2) + 12 < right - left {
                    let middle = ((left + right) / 2, y);
                    scene.text(middle, SIZE - 2, TextAnchor::Middle, text_color_on(*color), &text);
                }
                at += share;
            }
            separate_segments(&mut scene, &ends, (y, ROW));
            if !complete {
                scene.text((axis.x(at) + 12, y), SIZE, TextAnchor::Left, TEXT_COLOR, &percent(at));
            }
        }
        top += panel;
    }
    finish_scene(&mut scene, top, of);
    scene
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
