//! Layout of a scaling law: seconds against a size, both logarithmic, one line for each of several things, and closed
//! forms beside them.
//!
//! Must never fit a line: points are runs, and a closed form is a formula with given numbers.

use super::figure::{MARGIN, foot, foot_height, heading, shorten};
use super::scene::*;
use super::words::{seconds, thousands};
use crate::base::*;

/// Points by size, ascending.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// A formula, drawn thin and gray.
    pub closed: bool,
}

/// A token bucket: of `n` requests that come at once, the last one passes then (calibration.md 6.6).
pub fn token_bucket(n: f64, rate: f64, burst: f64) -> f64 {
    ((n - burst) / rate).max(0.0)
}

const COLORS: [usize; 7] = [1, 2, 4, 6, 7, 3, 0];
/// For the names at the ends of lines.
const ASIDE: i32 = 330;
const SIZE: i32 = 22;

pub fn scaling(
    (title, subtitle, of): (&str, &str, &str),
    lines: &[Line],
    below: &[String],
    size: (u32, u32),
) -> Scene {
    let mut scene = Scene::new(size);
    let top = heading(&mut scene, title, subtitle) + 60;
    let bottom = size.1 as i32 - foot_height(below, size.0 as i32) - 80;
    let all = || lines.iter().flat_map(|l| &l.points).filter(|p| p.1 > 0.0);
    let left = MARGIN + text_width("10,000 s", SIZE);
    let x = Log::over(all().map(|p| p.0), (left, size.0 as i32 - MARGIN - ASIDE));
    let y = Log::over(all().map(|p| p.1), (bottom, top));
    for v in y.decades() {
        scene.line(vec![(x.from, y.at(v)), (x.to, y.at(v))], 2, GRID);
        let label = seconds(Duration::from_seconds_f64(v));
        scene.text((left - 12, y.at(v)), SIZE, Anchor::Right, FAINT, &label);
    }
    let mut sizes: Vec<f64> = all().map(|p| p.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let mut free = i32::MIN;
    for n in sizes {
        let label = match n >= 1000.0 {
            true => thousands(n as u64),
            false => tick_label(n),
        };
        let half = text_width(&label, SIZE) / 2;
        scene.line(vec![(x.at(n), top), (x.at(n), bottom)], 2, GRID);
        if x.at(n) - half > free {
            let at = (x.at(n), bottom + SIZE);
            scene.text(at, SIZE, Anchor::Middle, FAINT, &label);
            free = x.at(n) + half + 14;
        }
    }
    let middle = (x.from + x.to) / 2;
    let words = format!("{of} (both axes are logarithmic)");
    scene.text((middle, bottom + 54), SIZE, Anchor::Middle, INK, &words);
    draw(&mut scene, lines, (&x, &y));
    foot(&mut scene, below);
    scene
}

fn draw(scene: &mut Scene, lines: &[Line], (x, y): (&Log, &Log)) {
    let mut ends: Vec<(i32, Color, String)> = Vec::new();
    let mut nth = 0;
    for line in lines {
        let points: Vec<(i32, i32)> = line
            .points
            .iter()
            .filter(|p| p.1 > 0.0)
            .map(|p| (x.at(p.0), y.at(p.1)))
            .collect();
        let Some(end) = points.last().copied() else {
            continue;
        };
        let color = match line.closed {
            true => FAINT,
            false => {
                nth += 1;
                PALETTE[COLORS[(nth - 1) % COLORS.len()]]
            }
        };
        let last = line.points.last().map_or(0.0, |p| p.1);
        let value = seconds(Duration::from_seconds_f64(last));
        ends.push((end.1, color, format!("{}  {value}", line.name)));
        scene.line(points.clone(), if line.closed { 2 } else { 4 }, color);
        for (px, py) in points.iter().filter(|_| !line.closed) {
            scene.rect(px - 6, py - 6, 12, 12, color);
        }
    }
    // Names from the top down, each at the end of its line or as near as there is room.
    ends.sort_by_key(|e| e.0);
    let mut free = i32::MIN;
    for (at, color, name) in ends {
        let at = at.max(free);
        free = at + SIZE + 8;
        scene.rect(x.to + 14, at - 7, 14, 14, color);
        let name = shorten(&name, 20, ASIDE - 20);
        scene.text((x.to + 36, at), 20, Anchor::Left, INK, &name);
    }
}

/// A logarithmic axis over pixels.
struct Log {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
}

impl Log {
    fn over(values: impl Iterator<Item = f64>, (from, to): (i32, i32)) -> Log {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match low <= high {
            true => (low, high.max(low * 1.01)),
            false => (1.0, 10.0),
        };
        let air = libm::pow(high / low, 0.04);
        Log {
            low: low / air,
            high: high * air,
            from,
            to,
        }
    }

    fn at(&self, v: f64) -> i32 {
        let share = libm::log(v / self.low) / libm::log(self.high / self.low);
        self.from + (share * f64::from(self.to - self.from)) as i32
    }

    /// Round numbers: 1, 2 and 5 of each power of ten, or the powers alone if these are many.
    fn decades(&self) -> Vec<f64> {
        let first = libm::floor(libm::log10(self.low)) as i32;
        let last = libm::ceil(libm::log10(self.high)) as i32;
        let steps: &[f64] = match last - first {
            ..=3 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let all = (first..=last)
            .flat_map(|p| steps.iter().map(move |s| s * libm::pow(10.0, f64::from(p))));
        all.filter(|v| (self.low..=self.high).contains(v)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::tests::check;
    use super::*;

    #[test]
    fn the_closed_form_is_that_of_the_calibration() {
        for (n, rate, burst, expected) in [
            (5000.0, 50.0, 100.0, 98.0),
            (5000.0, 20.0, 30.0, 248.5),
            (5000.0, 500.0, 500.0, 9.0),
            (10.0, 20.0, 30.0, 0.0),
        ] {
            assert_eq!(token_bucket(n, rate, burst), expected);
        }
    }

    #[test]
    fn names_at_the_ends_of_lines_that_meet_do_not_overlap() {
        let line = |i: u32| Line {
            name: format!("strategy number {i}"),
            points: vec![
                (100.0, 8.0),
                (1000.0, 60.0),
                (15_000.0, 400.0 + f64::from(i)),
            ],
            closed: i == 3,
        };
        let lines: Vec<Line> = (0..4).map(line).collect();
        let names = ("Time to recover", "kill-process", "nodes");
        check(&scaling(
            names,
            &lines,
            &["jobset-sim".to_owned()],
            (1600, 900),
        ));
    }
}
