//! What the answers of a planner look like: text, rows for scripts, charts.
//!
//! Must never compute an estimate: `search` did that.

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

/// An answer that can be told in every format.
pub trait Told: Serialize {
    /// For people.
    fn text(&self, style: &Style) -> String;
    /// For scripts, as CSV and Markdown.
    fn table(&self) -> Table;
    /// Charts by the name of their file.
    fn figures(&self) -> Vec<(&'static str, Scene)>;
}

/// What a reader must know to get the same answer again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// The name of the format.
    pub schema: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// What replications were played of.
    pub level: &'static str,
    /// Of all random numbers.
    pub seed: u64,
    /// Of all candidates together.
    pub replications_played: u64,
    /// The hash over the digests of all of them, in their order.
    pub digest: String,
    /// Somebody has ended it early.
    pub interrupted: bool,
    /// What the first replication hangs on, for the feet of charts.
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

    /// `played`: how many of what.
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

/// Sentences, each on as many lines as it needs.
fn sentences(out: &mut String, texts: &[String], style: &Style) {
    for text in texts {
        for (i, line) in wrap(text, style.width - 2).iter().enumerate() {
            let _ = writeln!(out, "{}{line}", if i == 0 { "" } else { "  " });
        }
    }
}

/// `30 days`, `12 h`: a horizon.
pub(super) fn length(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{} days", number::short(s / 86_400.0)),
        s => Duration::from_seconds_f64(s).to_string(),
    }
}

/// A table for scripts.
fn table(head: &[impl AsRef<str>], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    Table::new(head.iter().map(AsRef::as_ref)).with_rows(rows)
}
