//! Output of planning results: text, tables and charts.
//!
//! The estimates come from `search` and are not computed here.

pub mod breakeven;
pub mod budget;
pub(crate) mod columns;
pub mod interval;
pub mod minimum_multi;
pub mod number;
pub(crate) mod plane;
pub mod rare;
pub mod spares;
pub mod tornado;

use super::console::check_level::LevelCheck;
use super::console::page::{Block, Page, Rank};
use super::console::waterfall::WaterfallStyle;
use super::draw::scene::DrawScene;
use super::metric_label::MetricLabel;
use super::table::Table;
use columns::columns;
use serde::Serialize;
use sim_analysis::format::{count, wrap};
use sim_base::Duration;

/// Returns a target as the title of a chart states it: `mean of goodput at least 80 %`. `text` is the target as given,
/// with its limit; `label` names the metric and the statistic.
pub(crate) fn target_title((text, limit): (&str, f64), label: &MetricLabel) -> String {
    let relations = [(">=", "at least"), ("<=", "at most"), (">", "more than"), ("<", "less than")];
    let relation = relations.into_iter().find(|(sign, _)| text.contains(sign));
    match relation {
        Some((_, words)) => format!("{} {words} {}", label.name, label.value(limit)),
        None => text.to_owned(),
    }
}

/// A planning result that can be output in every format.
pub trait PlanText: Serialize {
    /// Returns the console output.
    fn text(&self, style: &WaterfallStyle) -> String;
    /// Returns the table for CSV and Markdown output.
    fn table(&self) -> Table;
    /// Returns the charts with their file names.
    fn figures(&self) -> Vec<(&'static str, DrawScene)>;
}

/// The data needed to reproduce a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanProvenance {
    /// Identifier of the output format.
    pub schema: &'static str,
    pub version: &'static str,
    pub scenario: String,
    /// Level of detail of the replications.
    pub level: &'static str,
    /// Seed of all random streams.
    pub seed: u64,
    /// Number of replications simulated for all candidates.
    pub replications_played: u64,
    /// Hash over the digests of all replications, in order.
    pub digest: String,
    /// Whether the user interrupted the search.
    pub interrupted: bool,
    /// Footer lines with the assumptions behind the first replication.
    #[serde(skip)]
    pub assumption_lines: Vec<String>,
    /// Currency of the costs; empty for a Fleet.
    #[serde(skip)]
    pub currency: String,
    /// Comparison of both levels of detail for the recommended value, with `--check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<LevelCheck>,
}

impl PlanProvenance {
    fn provenance_line(&self) -> String {
        format!(
            "jobset-sim {}  ·  scenario {} ({})  ·  seed {}  ·  {}  ·  digest {}",
            self.version,
            self.scenario,
            self.level,
            self.seed,
            count(self.replications_played, "replication"),
            self.digest
        )
    }

    fn title(&self, what: &str, style: &WaterfallStyle) -> String {
        let simulated = count(self.replications_played, "replication");
        self.title_with_count(what, &simulated, style)
    }

    /// Returns the title. `simulated` is the number of replications as text.
    fn title_with_count(&self, what: &str, simulated: &str, style: &WaterfallStyle) -> String {
        let counts = format!("{simulated} ({}), seed {}", self.level, self.seed).replace(' ', "\u{a0}");
        let text = format!("jobset-sim {}: {}, {what}; {counts}", self.version, self.scenario);
        let lines = wrap_expressions(&text, style.width);
        let bold: Vec<String> = lines.iter().map(|line| style.bold(line)).collect();
        bold.join("\n")
    }
}

/// Maximum number of lines of a summary.
const LINES: usize = 15;

/// The text of a planning result: the answer, tables and notes.
struct PlanPage<'s> {
    page: Page<'s>,
    style: &'s WaterfallStyle,
}

impl<'s> PlanPage<'s> {
    /// Starts a page with a title and the sentences of the conclusion. The first sentence is the answer.
    fn new(title: String, conclusion: &[String], style: &'s WaterfallStyle) -> PlanPage<'s> {
        let mut page = Page::new(LINES, style);
        page.push(Block::text(Rank::Answer, title));
        let answer = Block::new(Rank::Answer, "").entries(sentences(conclusion, style)).noun("sentence");
        page.push(answer.minimum(2, 0));
        PlanPage { page, style }
    }

    /// Adds a table. The first of `rows` is the header; rows for which `is_marked` returns true end with an arrow.
    fn table(mut self, rows: &[Vec<String>], is_marked: impl Fn(usize) -> bool) -> PlanPage<'s> {
        let focus = (0..rows.len().saturating_sub(1)).find(|row| is_marked(*row));
        let text = columns(rows, is_marked, self.style);
        let has_head = text.len() == rows.len();
        let head = text.first().filter(|_| has_head).cloned().unwrap_or_default();
        let block = Block::new(Rank::Main, head).entries(text.into_iter().skip(usize::from(has_head)));
        self.page.push(block.noun("row").minimum(1, 1).focus(focus));
        self
    }

    /// Adds notes and returns the text.
    fn finish(mut self, notes: &[String]) -> String {
        let notes = Block::new(Rank::Note, "").entries(sentences(notes, self.style)).noun("note");
        self.page.push(notes.minimum(0, 0));
        self.page.finish()
    }
}

/// Wraps sentences to the line width with a hanging indent.
fn sentences(texts: &[String], style: &WaterfallStyle) -> Vec<String> {
    texts.iter().map(|text| wrap_expressions(text, style.width - 2).join("\n  ")).collect()
}

/// Wraps a text, but not within comparisons such as `goodput.p10 >= 0.9`.
fn wrap_expressions(text: &str, width: usize) -> Vec<String> {
    let held = [" = ", " >= ", " <= "]
        .iter()
        .fold(text.to_owned(), |text, operator| text.replace(operator, &operator.replace(' ', "\u{a0}")));
    wrap(&held, width)
}

/// Formats a horizon, for example `30 days` or `12h`.
pub(super) fn format_horizon(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{} days", number::short_value(s / 86_400.0)),
        s => Duration::from_seconds_f64(s).to_string(),
    }
}

/// Builds a table for CSV and Markdown output.
fn table(head: &[impl AsRef<str>], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    Table::new(head.iter().map(AsRef::as_ref)).with_rows(rows)
}
