//! Heat map of the mean of a metric over a grid of two axes.

use super::{SIZE, SweptMetric, WIDTH, finish_scene, footer_lines, format_value};
use crate::draw::heading::{MARGIN, fitting_font_size, heading, shorten, shorten_name};
use crate::draw::scene::{DrawScene, MUTED_COLOR, PALETTE, Rgb, TEXT_COLOR, TextAnchor, text_color_on, text_width};
use crate::metric_label::MetricLabel;
use sim_analysis::experiment::{BetterDirection, better};

/// Colors from the worst to the best value. They have a single hue and increasing darkness, so that a grayscale copy
/// is readable.
const RAMP: [Rgb; 5] = [(240, 245, 250), (198, 219, 239), (125, 178, 218), (50, 120, 184), (8, 64, 129)];
const BEST: Rgb = PALETTE[1];
const EMPTY: Rgb = (236, 236, 236);

pub fn map(of: SweptMetric<'_>, metric: &str, (down, across): (usize, usize)) -> DrawScene {
    let (identity, all) = (of.identity, of.results);
    let (names, label) = (of.axes(), of.label(metric));
    let empty: &[String] = &[];
    let rows = all.points().grid(down).unwrap_or(empty);
    let columns = all.points().grid(across).unwrap_or(empty);
    let mut scene = DrawScene::new((WIDTH as u32, 900));
    let title = format!("{}: {} by {} and {}", identity.scenario, label.name, names[down], names[across]);
    let best = all.best(metric);
    let subtitle = match &best {
        Some(best) => format!(
            "mean of the replications; framed: best point, {}; marked: inconclusive in paired differences from it{}",
            of.point(best.point),
            if best.unranked.is_empty() { "" } else { "; gray: fewer replications complete" }
        ),
        None => "mean of the replications".to_owned(),
    };
    let top = heading(&mut scene, &title, &subtitle) + 2 * SIZE;
    let is_unranked = |point: usize| best.as_ref().is_some_and(|best| best.unranked.contains(&point));
    let means = all.means(metric);
    let ranked = means.iter().enumerate().map(|(point, mean)| mean.filter(|_| !is_unranked(point)));
    let ranked: Vec<Option<f64>> = ranked.collect();
    let ends = worst_and_best_mean(metric, &ranked);
    let top = legend(&mut scene, top + SIZE, &label, ends) + 3 * SIZE;
    let widest = rows.iter().map(|v| text_width(v, SIZE)).max().unwrap_or(0);
    let down_name = shorten_name(&names[down], SIZE, WIDTH / 4);
    let left = MARGIN + widest.max(text_width(&down_name, SIZE)) + 24;
    let right = WIDTH - MARGIN;
    let cell = ((right - left) / columns.len().max(1) as i32, row_height(rows.len()));
    scene.text(((left + right) / 2, top - 2 * SIZE), SIZE, TextAnchor::Middle, TEXT_COLOR, &names[across]);
    scene.text((MARGIN, top - SIZE / 2), SIZE, TextAnchor::Left, TEXT_COLOR, &down_name);
    for (j, value) in columns.iter().enumerate() {
        let x = left + j as i32 * cell.0 + cell.0 / 2;
        let value = shorten(value, SIZE, cell.0 - 8);
        scene.text((x, top - SIZE / 2), SIZE, TextAnchor::Middle, MUTED_COLOR, &value);
    }
    for (i, value) in rows.iter().enumerate() {
        let y = top + SIZE / 2 + i as i32 * cell.1;
        scene.text((left - 16, y + cell.1 / 2), SIZE, TextAnchor::Right, MUTED_COLOR, value);
        for j in 0..columns.len() {
            let point = i * columns.len() + j;
            let at = (left + j as i32 * cell.0, y);
            let rank = match &best {
                Some(best) if best.point == point => PointRank::Best,
                Some(best) if best.inconclusive.contains(&point) || best.equal.contains(&point) => {
                    PointRank::Inconclusive
                }
                _ => PointRank::Other,
            };
            let share = ranked[point].zip(ends).map(|(mean, ends)| goodness(mean, ends));
            draw_cell(&mut scene, at, cell, &format_value(&label, means[point]), share, rank);
        }
    }
    let bottom = top + SIZE / 2 + rows.len() as i32 * cell.1;
    finish_scene(&mut scene, bottom + SIZE, &footer_lines(of));
    scene
}

fn row_height(rows: usize) -> i32 {
    (560 / rows.max(1) as i32).clamp(36, 110)
}

/// Rank of a point among all points of the sweep.
#[derive(Copy, Clone, PartialEq, Eq)]
enum PointRank {
    Best,
    /// The paired difference from the best point is inconclusive.
    Inconclusive,
    Other,
}

/// Draws the cell of a point. `share` is the position of the value between the worst (0) and the best (1) mean.
fn draw_cell(
    scene: &mut DrawScene, (x, y): (i32, i32), (w, h): (i32, i32), text: &str, share: Option<f64>, rank: PointRank,
) {
    const GAP: i32 = 3;
    let is_best = rank == PointRank::Best;
    if is_best {
        scene.rect(x, y, w, h, BEST);
    }
    let inner = if is_best { 3 * GAP } else { GAP };
    let color = share.map_or(EMPTY, ramp);
    scene.rect(x + inner, y + inner, w - 2 * inner, h - 2 * inner, color);
    let ink = text_color_on(color);
    let size = fitting_font_size(text, SIZE + 2, w - 30);
    let text = shorten(text, size, w - 10);
    scene.text((x + w / 2, y + h / 2), size, TextAnchor::Middle, ink, &text);
    if rank == PointRank::Inconclusive {
        let d = 10;
        scene.rect(x + w - inner - 2 * d, y + inner + d / 2, d, d, BEST);
    }
}

fn worst_and_best_mean(metric: &str, means: &[Option<f64>]) -> Option<[f64; 2]> {
    let known = || means.iter().flatten().copied();
    let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
    (low <= high).then_some(match better(metric) {
        BetterDirection::Higher => [low, high],
        BetterDirection::Lower => [high, low],
    })
}

/// Maps a value to the range from 0 (worst) to 1 (best).
fn goodness(v: f64, [worst, best]: [f64; 2]) -> f64 {
    if best == worst { 1.0 } else { (v - worst) / (best - worst) }
}

fn ramp(share: f64) -> Rgb {
    let steps = RAMP.len() - 1;
    let place = share.clamp(0.0, 1.0) * steps as f64;
    let at = (place.floor() as usize).min(steps - 1);
    let part = place - at as f64;
    let (a, b) = (RAMP[at], RAMP[at + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Draws the color scale with the values at its ends. Returns the y coordinate of its lower edge.
fn legend(scene: &mut DrawScene, y: i32, label: &MetricLabel, ends: Option<[f64; 2]>) -> i32 {
    const LONG: i32 = 300;
    let name = format!("{} (dark: best)", label.axis());
    scene.text((MARGIN, y), SIZE, TextAnchor::Left, TEXT_COLOR, &name);
    let Some([worst, best]) = ends else {
        return y + SIZE;
    };
    let mut x = MARGIN + text_width(&name, SIZE) + 36;
    let low = format_value(label, Some(worst));
    scene.text((x, y), SIZE, TextAnchor::Left, MUTED_COLOR, &low);
    x += text_width(&low, SIZE) + 12;
    const PARTS: i32 = 50;
    for part in 0..PARTS {
        let color = ramp(f64::from(part) / f64::from(PARTS - 1));
        scene.rect(x + part * LONG / PARTS, y - SIZE / 2, LONG / PARTS + 1, SIZE, color);
    }
    let high = format!("{} (best)", format_value(label, Some(best)));
    scene.text((x + LONG + 12, y), SIZE, TextAnchor::Left, MUTED_COLOR, &high);
    y + SIZE
}
