//! Line charts of quantities against the number of nodes, as a column of panels.

use crate::draw::colors::variant_color;
use crate::draw::heading::{MARGIN, draw_title};
use crate::draw::scene::{DrawScene, GRID, MUTED_COLOR, TEXT_COLOR, TextAnchor, text_width, tick_label, ticks};
use sim_analysis::format::thousands;

/// One quantity against the number of nodes.
pub struct GrowthPanel {
    pub label: String,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// Draws panels below each other with a common logarithmic axis of nodes.
pub fn growth(title: &str, panels: &[GrowthPanel], size: (u32, u32)) -> DrawScene {
    let mut scene = DrawScene::new(size);
    let (w, h) = (size.0 as i32, size.1 as i32);
    let (big, normal) = ((h / 22).max(28), (h / 40).max(22));
    draw_title(&mut scene, title, big);
    let top = MARGIN + big + normal / 2;
    let slot = (h - MARGIN - normal - top) / panels.len().max(1) as i32;
    let mut nodes: Vec<f64> =
        panels.iter().flat_map(|p| &p.lines).flat_map(|(_, points)| points.iter().map(|p| p.0)).collect();
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    for (i, panel) in panels.iter().enumerate() {
        let frame = GrowthFrame {
            left: MARGIN + text_width("00,000", normal),
            right: w - 2 * MARGIN,
            top: top + i as i32 * slot + 2 * normal,
            bottom: top + (i as i32 + 1) * slot - 2 * normal,
        };
        draw_panel(&mut scene, panel, &nodes, &frame, normal);
    }
    scene.text((w / 2, h - MARGIN / 2 - 4), normal, TextAnchor::Middle, TEXT_COLOR, "nodes (logarithmic)");
    scene
}

struct GrowthFrame {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

fn draw_panel(scene: &mut DrawScene, panel: &GrowthPanel, nodes: &[f64], f: &GrowthFrame, size: i32) {
    let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else {
        return;
    };
    let points = || panel.lines.iter().flat_map(|l| &l.1);
    let max = points().map(|p| p.1).fold(0.0, f64::max) * 1.1;
    let span = (libm::log(last) - libm::log(first)).max(1e-9);
    let x = |n: f64| f.left + ((libm::log(n) - libm::log(first)) / span * f64::from(f.right - f.left)) as i32;
    let y = |v: f64| f.bottom - (v / max.max(1e-12) * f64::from(f.bottom - f.top)) as i32;
    for t in ticks(max, 4) {
        scene.line(vec![(f.left, y(t)), (f.right, y(t))], 2, GRID);
        scene.text((f.left - 12, y(t)), size, TextAnchor::Right, MUTED_COLOR, &tick_label(t));
    }
    let mut free = i32::MIN;
    for &n in nodes {
        let label = thousands(n as u64);
        let half = text_width(&label, size) / 2;
        scene.line(vec![(x(n), f.bottom), (x(n), f.bottom + 6)], 2, MUTED_COLOR);
        if x(n) - half > free {
            scene.text((x(n), f.bottom + size), size, TextAnchor::Middle, MUTED_COLOR, &label);
            free = x(n) + half + 12;
        }
    }
    scene.line(vec![(f.left, f.bottom), (f.right, f.bottom)], 2, MUTED_COLOR);
    scene.text((MARGIN, f.top - size - size / 4), size, TextAnchor::Left, TEXT_COLOR, &panel.label);
    let mut key = MARGIN + text_width(&panel.label, size) + 50;
    for (i, (label, points)) in panel.lines.iter().enumerate() {
        let color = variant_color(i);
        scene.line(points.iter().map(|p| (x(p.0), y(p.1))).collect(), 4, color);
        for p in points {
            scene.rect(x(p.0) - 5, y(p.1) - 5, 10, 10, color);
        }
        scene.rect(key, f.top - size - size / 4 - size / 2, size, size, color);
        scene.text((key + size + 10, f.top - size - size / 4), size, TextAnchor::Left, TEXT_COLOR, label);
        key += size + 10 + text_width(label, size) + 28;
    }
}
