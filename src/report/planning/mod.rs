//! Output of planning results: text, tables and charts.
//!
//! The estimates come from `search` and are not computed here.

pub mod breakeven;
pub mod budget;
mod columns;
pub mod interval;
pub mod number;
pub(crate) mod plane;
pub mod rare;
pub mod several;
pub mod spares;
pub mod tornado;

use super::console::waterfall::Style;
use super::draw::scene::Scene;
use super::table::Table;
use serde::Serialize;
use sim_analysis::format::{count, wrap};
use sim_base::Duration;
use std::fmt::Write;

/// A planning result that can be output in every format.
pub trait Told: Serialize {
    /// Returns the console output.
    fn text(&self, style: &Style) -> String;
    /// Returns the table for CSV and Markdown output.
    fn table(&self) -> Table;
    /// Returns the charts with their file names.
    fn figures(&self) -> Vec<(&'static str, Scene)>;
}

/// The data needed to reproduce a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// Identifier of the output format.
    pub schema: &'static str,
    /// Version of this program.
    pub version: &'static str,
    /// Name of the scenario.
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
    pub hangs: Vec<String>,
}

impl Provenance {
    fn line(&self) -> String {
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

    fn title(&self, what: &str, style: &Style) -> String {
        let played = count(self.replications_played, "replication");
        self.title_of(what, &played, style)
    }

    /// Returns the title. `played` is the number of replications as text.
    fn title_of(&self, what: &str, played: &str, style: &Style) -> String {
        let text = format!(
            "jobset-sim {}: {}, {what}; {played} ({}) of seed {}",
            self.version, self.scenario, self.level, self.seed
        );
        let lines = wrap(&text, style.width);
        let bold: Vec<String> = lines.iter().map(|line| style.bold(line)).collect();
        format!("{}\n", bold.join("\n"))
    }
}

/// Writes sentences wrapped to the line width with a hanging indent.
fn sentences(out: &mut String, texts: &[String], style: &Style) {
    for text in texts {
        for (i, line) in wrap(text, style.width - 2).iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if i == 0 { "" } else { "  " });
        }
    }
}

/// Formats a horizon, for example `30 days` or `12h`.
pub(super) fn length(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{} days", number::short(s / 86_400.0)),
        s => Duration::from_seconds_f64(s).to_string(),
    }
}

/// Builds a table for CSV and Markdown output.
fn table(head: &[impl AsRef<str>], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    Table::new(head.iter().map(AsRef::as_ref)).with_rows(rows)
}
