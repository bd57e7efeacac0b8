//! Layouts of the charts of a comparison: paired differences, where the accelerators' time went, and distributions.
//!
//! Must never compute an estimate: intervals are those of the comparison.

use super::compare::{HEADLINES, estimates, is_seconds, parted, shown, tells, unit};
use super::compare_ledger::{ledger, shares};
use super::compare_time::{self, beneath, color_of};
use super::heading::{MARGIN, foot, foot_height, heading};
use super::scene::*;
use super::words::count;
use crate::experiment::{Comparison, PlayedVariant, Verdict, metrics};

pub(super) const WIDTH: i32 = 1600;
/// Of texts, and of the lines they stand in.
pub(super) const SIZE: i32 = 22;
pub(super) const ROW: i32 = 40;
/// More panels than these do not help anybody to decide.
const PANELS: usize = 4;

const BETTER: Color = PALETTE[4];
const WORSE: Color = PALETTE[1];
const OPEN: Color = PALETTE[0];

/// Every chart that this comparison has something for, by the name of its file.
///
/// `hangs`: the lines that say what they hang on.
pub fn figures(
    all: &Comparison,
    played: &[PlayedVariant],
    hangs: &[String],
) -> Vec<(&'static str, Scene)> {
    let told = headlines(all);
    let mut figures = Vec::new();
    if all.variants.len() > 1 && !told.is_empty() {
        figures.push(("differences", differences((all, hangs), &told)));
    }
    if shares(all).iter().any(|(_, s)| !s.is_empty()) {
        figures.push(("ledger", ledger((all, hangs))));
    }
    if !told.is_empty() {
        figures.push(("distributions", distributions((all, hangs), played, &told)));
    }
    figures.extend(compare_time::figures((all, hangs), played));
    figures
}

/// The metrics that tell the variants apart and that a reviewer asks for, most wanted first.
fn headlines(all: &Comparison) -> Vec<&str> {
    let (told, _) = parted(all);
    // What differs by rounding alone is nobody's question.
    let differs = |metric: &&&str| {
        let size = |e: &crate::experiment::MetricEstimate| e.mean.map_or(0.0, f64::abs);
        let most = estimates(all, metric)
            .map(|(_, e)| size(e))
            .fold(0.0, f64::max);
        let mut bounds = all.paired.iter().filter(|p| p.metric == ***metric);
        bounds.any(|p| p.difference.ci95.iter().any(|b| b.abs() > most * 1e-9))
    };
    let asked = HEADLINES.iter().flat_map(|headline| {
        let fit = told.iter().filter(differs);
        fit.filter(move |metric| tells(metric, headline))
    });
    asked.copied().take(PANELS).collect()
}

/// A comparison, and the lines that say what it hangs on.
pub(super) type Compared<'a> = (&'a Comparison, &'a [String]);

/// Below the last panel: what a reader must know to make the chart again.
pub(super) fn end(scene: &mut Scene, top: i32, (all, hangs): Compared<'_>) {
    let mut lines = provenance(all);
    lines.extend_from_slice(hangs);
    scene.height = (top + SIZE + foot_height(&lines, WIDTH)) as u32;
    foot(scene, &lines);
}

/// What it takes to make its charts again.
pub fn provenance(all: &Comparison) -> Vec<String> {
    let of = |v: &crate::experiment::VariantEstimates| format!("{} {:016x}", v.name, v.digest);
    let digests: Vec<String> = all.variants.iter().map(of).collect();
    let n = all.variants.iter().map(|v| v.replications).max();
    vec![
        format!(
            "jobset-sim {}  ·  scenario {}  ·  seed {}  ·  {} of each variant",
            all.version,
            all.scenario,
            all.seed,
            count(n.unwrap_or(0) as u64, all.level.replication())
        ),
        format!("digests: {}", digests.join("  ·  ")),
    ]
}

/// An axis from a number to another one, over pixels.
pub(super) struct Axis {
    pub from: f64,
    pub to: f64,
    pub left: i32,
    pub right: i32,
}

impl Axis {
    /// With a little air on both sides.
    fn over(values: impl Iterator<Item = f64>, (left, right): (i32, i32)) -> Axis {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let air = ((high - low) * 0.06).max(high.abs() * 1e-6).max(1e-12);
        Axis {
            from: low - air,
            to: high + air,
            left,
            right,
        }
    }

    pub fn x(&self, v: f64) -> i32 {
        let share = (v - self.from) / (self.to - self.from);
        self.left + (share * f64::from(self.right - self.left)) as i32
    }

    /// Numbers that are round in that unit, about so many.
    pub fn ticks(&self, count: usize, unit: f64) -> Vec<f64> {
        let step = match ticks((self.to - self.from) / unit, count).get(1) {
            Some(step) => *step * unit,
            None => return vec![self.from],
        };
        let first = (self.from / step).ceil();
        let number = |i: u32| (first + f64::from(i)) * step;
        (0..40).map(number).take_while(|&v| v <= self.to).collect()
    }

    /// In which people count so much of a metric, as a number of what it is measured in.
    fn unit(&self, metric: &str) -> f64 {
        let span = self.to - self.from;
        match metric {
            m if m.contains("ledger.") => 3600.0,
            m if is_seconds(m) && span > 7200.0 => 3600.0,
            m if is_seconds(m) && span > 120.0 => 60.0,
            _ => 1.0,
        }
    }

    /// Lines of the grid with their numbers below.
    fn draw(&self, scene: &mut Scene, metric: &str, (top, bottom): (i32, i32)) {
        let mut free = i32::MIN;
        for t in self.ticks(8, self.unit(metric)) {
            scene.line(vec![(self.x(t), top), (self.x(t), bottom)], 2, GRID);
            let label = shown(metric, t);
            let half = text_width(&label, SIZE - 2) / 2;
            if self.x(t) - half > free {
                let at = (self.x(t), bottom + SIZE);
                scene.text(at, SIZE - 2, Anchor::Middle, FAINT, &label);
                free = self.x(t) + half + 16;
            }
        }
        scene.line(vec![(self.left, bottom), (self.right, bottom)], 2, FAINT);
    }
}

/// Where bars and intervals begin: behind the longest name of a variant.
pub(super) fn names_end(all: &Comparison) -> i32 {
    let widest = all.variants.iter().map(|v| text_width(&v.name, SIZE)).max();
    MARGIN + widest.unwrap_or(0).min(WIDTH / 4) + 20
}

/// The size at which a text has room, however small that is.
fn shrunk(text: &str, size: i32, width: i32) -> i32 {
    size.min(size * width / text_width(text, size).max(1))
}

pub(super) fn name(scene: &mut Scene, y: i32, name: &str) {
    let size = shrunk(name, SIZE, WIDTH / 4);
    scene.text((MARGIN, y), size, Anchor::Left, INK, name);
}

fn labelled(metric: &str) -> String {
    match unit(metric).trim_end_matches("; ") {
        "" => metric.to_owned(),
        unit => format!("{metric} ({unit})"),
    }
}

/// One panel for each metric, one interval for each variant against the first.
fn differences((all, hangs): Compared<'_>, told: &[&str]) -> Scene {
    let others = all.variants.len() as i32 - 1;
    let panel = others * ROW + 4 * SIZE + 10;
    let mut scene = Scene::new((WIDTH as u32, 900));
    let first = &all.variants[0].name;
    let title = format!(
        "{}: differences to {first} on the same faults",
        all.scenario
    );
    let subtitle = "mean of the paired differences with its 95 % interval; what contains zero is not separated";
    let mut top = heading(&mut scene, &title, subtitle) + 3 * SIZE;
    let words = [
        (BETTER, "better"),
        (WORSE, "worse"),
        (OPEN, "not separated"),
    ];
    legend(
        &mut scene,
        top,
        words.map(|(c, w)| (c, w.to_owned())).into_iter(),
    );
    top += SIZE;
    for metric in told {
        let pairs = all.paired.iter();
        let pairs: Vec<_> = pairs
            .filter(|p| p.metric == *metric && p.a == *first)
            .collect();
        let label = labelled(metric);
        scene.text((MARGIN, top + SIZE), SIZE, Anchor::Left, INK, &label);
        let (from, to) = (top + 2 * SIZE, top + 2 * SIZE + others * ROW);
        let bounds = pairs.iter().flat_map(|p| p.difference.ci95);
        let axis = Axis::over(bounds.chain([0.0]), (names_end(all), WIDTH - MARGIN - 420));
        axis.draw(&mut scene, metric, (from, to));
        scene.line(vec![(axis.x(0.0), from), (axis.x(0.0), to)], 3, INK);
        for (i, p) in pairs.iter().enumerate() {
            let y = from + i as i32 * ROW + ROW / 2;
            let color = match p.verdict {
                Verdict::A => WORSE,
                Verdict::B => BETTER,
                Verdict::NotSeparated => OPEN,
            };
            name(&mut scene, y, &p.b);
            let [low, high] = p.difference.ci95;
            scene.line(vec![(axis.x(low), y), (axis.x(high), y)], 5, color);
            scene.rect(axis.x(p.difference.mean) - 7, y - 7, 14, 14, color);
            let text = format!(
                "{}  ({} to {})",
                shown(metric, p.difference.mean),
                shown(metric, low),
                shown(metric, high)
            );
            let size = shrunk(&text, SIZE, 400);
            scene.text((WIDTH - MARGIN - 400, y), size, Anchor::Left, INK, &text);
        }
        top += panel;
    }
    end(&mut scene, top, (all, hangs));
    scene
}

pub(super) fn legend(
    scene: &mut Scene,
    y: i32,
    entries: impl Iterator<Item = (Color, String)>,
) -> i32 {
    let (mut x, mut y) = (MARGIN, y);
    for (color, text) in entries {
        let width = SIZE + 10 + text_width(&text, SIZE) + 28;
        if x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + SIZE * 3 / 2);
        }
        scene.rect(x, y - SIZE / 2, SIZE, SIZE, color);
        scene.text((x + SIZE + 10, y), SIZE, Anchor::Left, INK, &text);
        x += width;
    }
    y + SIZE
}

/// For each metric, the share of replications at or below each value, one line for each variant.
fn distributions((all, hangs): Compared<'_>, played: &[PlayedVariant], told: &[&str]) -> Scene {
    const PLOT: i32 = 220;
    let panel = PLOT + 11 * SIZE / 2;
    let mut scene = Scene::new((WIDTH as u32, 900));
    let title = format!("{}: how the replications differ", all.scenario);
    let subtitle = "share of the replications at or below a value; those that got stuck or were cut have no value";
    let top = heading(&mut scene, &title, subtitle) + 3 * SIZE;
    let entries = played
        .iter()
        .enumerate()
        .map(|(i, v)| (color_of(i), v.name.clone()));
    let mut top = legend(&mut scene, top, entries);
    for metric in told {
        let label = labelled(metric);
        scene.text((MARGIN, top + SIZE), SIZE, Anchor::Left, INK, &label);
        // Room for the number of the upper line below the name.
        let from = top + 5 * SIZE / 2;
        let to = from + PLOT;
        let values: Vec<Vec<f64>> = played.iter().map(|v| sorted_values(v, metric)).collect();
        let left = MARGIN + text_width("100 %", SIZE) + 14;
        let axis = Axis::over(values.iter().flatten().copied(), (left, WIDTH - MARGIN));
        axis.draw(&mut scene, metric, (from, to));
        let y = |share: f64| to - (share * f64::from(PLOT)) as i32;
        for share in [0.0, 0.5, 1.0] {
            scene.line(vec![(axis.left, y(share)), (axis.right, y(share))], 2, GRID);
            let text = format!("{:.0} %", share * 100.0);
            scene.text(
                (axis.left - 12, y(share)),
                SIZE - 2,
                Anchor::Right,
                FAINT,
                &text,
            );
        }
        for (i, own) in values.iter().enumerate() {
            let step = |(k, v): (usize, &f64)| {
                let n = own.len() as f64;
                let (before, after) = (k as f64 / n, (k + 1) as f64 / n);
                [(axis.x(*v), y(before)), (axis.x(*v), y(after))]
            };
            let points: Vec<_> = own.iter().enumerate().flat_map(step).collect();
            if points.len() > 1 {
                scene.line(points, beneath(i, values.len()), color_of(i));
            }
        }
        top += panel;
    }
    end(&mut scene, top, (all, hangs));
    scene
}

fn sorted_values(variant: &PlayedVariant, metric: &str) -> Vec<f64> {
    let of = |r| {
        let own = metrics(r, &variant.jobsets).into_iter();
        own.filter(|(name, _)| name == metric)
            .find_map(|(_, m)| m.value())
    };
    let mut values: Vec<f64> = variant.replications.iter().filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
pub mod tests {
    use super::super::figure::tests::check;
    use super::*;
    use crate::experiment::Replication;
    use std::collections::BTreeMap;

    /// So long that it needs two lines.
    pub const HANGS: &str = "hangs on: each controller of kube-controller-manager 100 requests/s  ·  termination grace period 0 s  ·  node requests 4,000/s (unverified)  ·  images present on every node (assumed)";

    pub fn variant(name: &str, scale: f64, categories: &[&'static str]) -> PlayedVariant {
        let replication = |i: u32| Replication {
            level: crate::spec::Level::Pods,
            replication: u64::from(i),
            digest: u64::from(i),
            end_s: 100_000.0 * scale + f64::from(i * i) * 900.0,
            end_reason: "AllJobSetsFinished",
            jobsets: Vec::new(),
            fleet_goodput: None,
            ledger_s: BTreeMap::from_iter(
                categories
                    .iter()
                    .map(|c| (*c, 5000.0 * scale + f64::from(i))),
            ),
            cost: 1e6 * scale,
            cost_by_category: BTreeMap::new(),
            outputs: Vec::new(),
            warnings: Vec::new(),
            never_placed: None,
        };
        PlayedVariant {
            name: name.to_owned(),
            changes: Vec::new(),
            jobsets: Vec::new(),
            replications: (0..6).map(replication).collect(),
        }
    }

    #[test]
    fn no_text_overlaps_another_or_leaves_the_picture_however_many_variants_there_are() {
        let all = crate::record::LedgerCategory::ALL.map(|c| c.as_str());
        let long =
            "a variant with a name that somebody wrote who likes long names very much indeed";
        for names in [
            &["one"][..],
            &["one", "two"],
            &["a", "b", "c", "d", "e", "f", "g", "h", long],
        ] {
            for categories in [&all[..], &all[..2]] {
                let scale = |i: usize| 1.0 + i as f64 * 0.3;
                let variants = names
                    .iter()
                    .enumerate()
                    .map(|(i, n)| variant(n, scale(i), categories));
                let played: Vec<PlayedVariant> = variants.collect();
                let compared = Comparison::of(("a-scenario", 1), &played);
                let figures = figures(&compared, &played, &[HANGS.to_owned()]);
                let drawn: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
                let expected = match names.len() {
                    1 => vec!["ledger"],
                    _ => vec!["differences", "ledger", "distributions"],
                };
                assert_eq!(drawn, expected);
                figures.iter().for_each(|(_, scene)| check(scene));
            }
        }
    }

    #[test]
    fn ticks_are_round_in_the_unit_that_people_count_in() {
        let axis = |from, to| Axis {
            from,
            to,
            left: 0,
            right: 100,
        };
        let of = |axis: &Axis, metric| axis.ticks(4, axis.unit(metric));
        assert_eq!(of(&axis(-1e4, 2e4), "end.t_s"), [0.0, 18_000.0]);
        assert_eq!(of(&axis(0.71, 0.83), "goodput").len(), 2);
    }
}
