//! Report on a rare event: its probability, and the levels of the splitting estimate.

use super::number::{duration_text, probability, short_value};
use super::plane::{HEIGHT, ParameterPlane, PlaneLabels, PlaneScale, WIDTH, draw_provenance};
use super::{PlanPage, PlanProvenance, PlanText, format_horizon, table};
use crate::draw::heading::{MARGIN, heading};
use crate::draw::scene::{DrawScene, PALETTE};
use crate::{console::waterfall::WaterfallStyle, figures::compare_panel::SIZE, table::Table};
use serde::Serialize;
use sim_analysis::format::{count, thousands};
use sim_analysis::planning::rare::{RareEventSearch, SplittingLevel};

/// A rare event result with its provenance and conclusion.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RareReport {
    #[serde(flatten)]
    pub provenance: PlanProvenance,
    /// The quantity that is limited: `restarts` or `lost_s`.
    pub excess: &'static str,
    /// The event occurs when the quantity reaches this value.
    pub limit: f64,
    /// Horizon in seconds.
    #[serde(rename = "horizon_s")]
    pub horizon_s: f64,
    #[serde(flatten)]
    pub rare: RareEventSearch,
    /// Sentences at the beginning of the text output.
    pub conclusion: Vec<String>,
}

impl RareReport {
    pub fn new(
        of: PlanProvenance, (excess, limit, horizon_s): (&'static str, f64, f64), rare: RareEventSearch,
    ) -> RareReport {
        let mut report = RareReport { provenance: of, excess, limit, horizon_s, rare, conclusion: Vec::new() };
        report.conclusion = conclusion(&report);
        report
    }

    fn is_time(&self) -> bool {
        self.excess == "lost_s"
    }

    fn format_quantity(&self, at: f64) -> String {
        if self.is_time() { duration_text(at) } else { short_value(at) }
    }

    fn event(&self) -> String {
        let until = format_horizon(self.horizon_s);
        if self.is_time() {
            format!("a run of at most {until} loses {} or more", duration_text(self.limit))
        } else {
            format!("maxRestarts {} is exhausted within {until}", thousands((self.limit as u64).saturating_sub(1)))
        }
    }
}

/// Formats a probability with its interval: `1.36e-6 (95 % interval 1.1e-6 to 1.6e-6)`.
fn probability_with_interval(p: f64, [low, high]: [f64; 2]) -> String {
    format!("{} (95 % interval {} to {})", probability(p), probability(low), probability(high))
}

fn conclusion(r: &RareReport) -> Vec<String> {
    let x = &r.rare;
    let mut all = Vec::new();
    if let Some((interval, by_counting)) = x.ci95.zip(x.by_counting) {
        all.push(format!("The probability that {} is {}.", r.event(), probability_with_interval(x.chance, interval)));
        all.push(format!(
            "That is one run in {}. Plain simulation with the same precision needs about {} full runs; {} {} were simulated.",
            short_value(1.0 / x.chance),
            short_value(by_counting),
            thousands(x.simulated),
            if x.whole_runs { "runs" } else { "partial runs" }
        ));
        if by_counting < x.simulated as f64 {
            let count = if r.is_time() { "run --seeds N" } else { "plan budget --seeds N" };
            all.push(format!(
                "The event is not rare enough for splitting: use plain simulation ({count}), which needs fewer runs."
            ));
        }
    } else {
        //  An interval from 0 to 0 would suggest that the event is impossible.
        all.push(format!(
            "The probability that {} could not be estimated: no branch reached the limit. Increase --runs or lower the limit.",
            r.event()
        ));
    }
    all
}

impl PlanText for RareReport {
    fn text(&self, style: &WaterfallStyle) -> String {
        let what = format!("probability that {}", self.event());
        let page = PlanPage::new(self.provenance.title(&what, style), &self.conclusion, style);
        let unit = if self.is_time() { "lost" } else { "restarts" };
        let head = [unit, "share from the previous level", "probability of reaching it"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for l in &self.rare.levels {
            rows.push(vec![self.format_quantity(l.at), probability(l.share), probability(l.chance)]);
        }
        let mut notes = vec![format!(
            "Multilevel splitting with {} per level in {}, which are independent of each other; the interval is based on the logarithms of the batches.",
            count(u64::from(self.rare.runs), "run"),
            format_args!("{} batches", self.rare.batches)
        )];
        if self.rare.whole_runs {
            notes.push(
                "From each level, runs that reached it are simulated again with part of their random numbers redrawn; those that reach the level again are kept.".to_owned(),
            );
        }
        page.table(&rows, |_| false).finish(&notes)
    }

    fn table(&self) -> Table {
        let head = ["what", "at", "share", "chance", "low", "high"];
        let row = |l: &SplittingLevel| {
            let (at, share, chance) = (l.at.to_string(), l.share.to_string(), l.chance.to_string());
            vec!["level".to_owned(), at, share, chance, String::new(), String::new()]
        };
        let x = &self.rare;
        let mut last = vec!["limit".to_owned(), self.limit.to_string(), String::new()];
        let known = |at: usize| x.ci95.map_or(String::new(), |limits| [x.chance, limits[0], limits[1]][at].to_string());
        last.extend([0, 1, 2].map(known));
        table(&head, x.levels.iter().map(row).chain([last]))
    }

    fn figures(&self) -> Vec<(&'static str, DrawScene)> {
        if self.rare.chance > 0.0 { vec![("rare", chart(self))] } else { Vec::new() }
    }
}

/// Draws the probability of reaching each level on a logarithmic axis.
fn chart(r: &RareReport) -> DrawScene {
    let mut scene = DrawScene::new((WIDTH as u32, HEIGHT as u32));
    let title = format!("{}: probability that {}", r.provenance.scenario, r.event());
    let below = heading(&mut scene, &title, &r.conclusion[0]);
    let x = &r.rare;
    let [low, high] = x.ci95.unwrap_or([x.chance; 2]);
    let lowest = low.max(x.chance / 10.0);
    let y = PlaneScale::logarithmic(lowest * 0.7, 1.0);
    let powers = |v: f64| match v * 100.0 {
        percent if percent >= 0.0099 => format!("{} %", short_value(percent)),
        _ => format!("1 in {}", short_value(libm::round(1.0 / v))),
    };
    let y_labels = PlaneLabels { name: "probability of reaching a level", ticks: y.ticks(8), label: &powers };
    let to = r.limit;
    let scale = PlaneScale::new(0.0, to * 1.02);
    let label = |v: f64| r.format_quantity(v);
    let x_labels = PlaneLabels {
        name: if r.is_time() { "lost time" } else { "restarts" },
        ticks: if r.is_time() { scale.round_times(8) } else { scale.ticks(8) },
        label: &label,
    };
    let plane = ParameterPlane {
        right: WIDTH - MARGIN - 30,
        //  This chart has no legend.
        top: below + 5 * SIZE,
        ..ParameterPlane::single(below, (scale, y), &y_labels)
    };
    plane.draw(&mut scene, &x_labels, &y_labels);
    let points: Vec<(f64, f64)> = [(0.0, 1.0)].into_iter().chain(x.levels.iter().map(|l| (l.at, l.chance))).collect();
    plane.curve(&mut scene, &points, 4, PALETTE[3]);
    for (at, chance) in &points {
        let (px, py) = plane.to_pixels(*at, *chance);
        scene.rect(px - 6, py - 6, 12, 12, PALETTE[2]);
    }
    plane.mark(&mut scene, to, (lowest, x.chance, high), PALETTE[1]);
    draw_provenance(&mut scene, &r.provenance);
    scene
}
