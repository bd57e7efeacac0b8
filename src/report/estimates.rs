//! Text tables of estimates, with column widths that adapt to the line width, and the CSV columns of estimates.

use super::console::waterfall::WaterfallStyle;
use sim_analysis::experiment::MetricEstimate;
use sim_analysis::format::column;
use sim_base::stats::MeanEstimate;
use std::fmt::Write;

/// Headings of the last column: the long form and the short form for narrow tables.
pub const INTERVAL: [&str; 2] = ["95 % interval of the mean", "95 % interval"];
/// Headings of the other columns in most tables.
pub const HEAD: [&str; 6] = ["", "n", "p10", "p50", "p90", "mean"];

/// Columns that narrow lines omit, in the order in which these sets are tried.
const OMITTED: [&[&str]; 4] = [&[], &["p10", "p90"], &["n", "p10", "p90"], &["n", "p10", "p50", "p90"]];

/// Columns of an estimate in CSV files.
pub const COLUMNS: [&str; 7] = ["n", "mean", "ci95_low", "ci95_high", "p10", "p50", "p90"];
/// Columns after `COLUMNS` with the number of runs without a value, by cause.
pub const MISSING_COLUMNS: [&str; 4] = ["failed", "blocked", "censored", "absent"];

/// Returns the cells of an estimate in the order of `COLUMNS`.
pub fn cells(e: &MeanEstimate) -> [String; 7] {
    let numbers = [e.mean, e.ci95[0], e.ci95[1], e.p10, e.p50, e.p90];
    let [mean, low, high, p10, p50, p90] = numbers.map(|n| n.to_string());
    [e.n.to_string(), mean, low, high, p10, p50, p90]
}

/// Returns the cells of a metric in the order of `COLUMNS` and `WITHOUT`.
pub fn metric_cells(e: &MetricEstimate) -> [String; 11] {
    let number = |v: Option<f64>| v.filter(|v| v.is_finite()).map_or(String::new(), |v| v.to_string());
    [
        e.n.to_string(),
        number(e.mean),
        number(e.ci95.map(|c| c[0])),
        number(e.ci95.map(|c| c[1])),
        number(e.p10),
        number(e.p50),
        number(e.p90),
        e.failed.to_string(),
        e.blocked.to_string(),
        e.censored.to_string(),
        e.absent.to_string(),
    ]
}

/// A text table of estimates. The first column is left-aligned, the last one is an interval, all others are numbers.
pub struct EstimateFormat {
    head: Vec<String>,
    /// Preferred minimum widths of the first column, of column `n` and of the other columns.
    preferred_widths: [usize; 3],
    lines: Vec<EstimateLine>,
}

enum EstimateLine {
    Row(Vec<String>),
    Text(String),
}

impl EstimateFormat {
    /// Creates an empty table. `head` excludes the heading of the interval column.
    pub fn new(head: &[&str], roomy: [usize; 3]) -> EstimateFormat {
        EstimateFormat {
            head: head.iter().map(|h| (*h).to_owned()).collect(),
            preferred_widths: roomy,
            lines: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.head.len() + 1);
        self.lines.push(EstimateLine::Row(cells));
    }

    /// Adds a line of text between the rows.
    pub fn text(&mut self, line: String) {
        self.lines.push(EstimateLine::Text(line));
    }

    pub fn write(&self, out: &mut String, style: &WaterfallStyle) {
        out.push_str(&self.formatted(style));
    }

    /// Returns the table as text. Its first line is the heading.
    pub fn formatted(&self, style: &WaterfallStyle) -> String {
        let mut out = String::new();
        let without = OMITTED.into_iter().find(|without| self.without(without).fits(style.width));
        let own = self.without(without.unwrap_or(OMITTED[OMITTED.len() - 1]));
        let (widths, interval) = own.fit(style.width);
        let head: Vec<String> = own.head.iter().cloned().chain([interval]).collect();
        let _ = writeln!(out, "{}", style.dim(&format_line(&head, &widths)));
        for line in &own.lines {
            let _ = match line {
                EstimateLine::Row(cells) => writeln!(out, "{}", format_line(cells, &widths)),
                EstimateLine::Text(text) => writeln!(out, "  {text}"),
            };
        }
        out
    }

    /// Returns the table without the columns that have these headings.
    fn without(&self, names: &[&str]) -> EstimateFormat {
        let is_kept = |at: usize| self.head.get(at).is_none_or(|name| !names.contains(&name.as_str()));
        let kept = |cells: &[String]| -> Vec<String> {
            cells.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, cell)| cell.clone()).collect()
        };
        let lines = self.lines.iter().map(|line| match line {
            EstimateLine::Row(cells) => EstimateLine::Row(kept(cells)),
            EstimateLine::Text(text) => EstimateLine::Text(text.clone()),
        });
        EstimateFormat { head: kept(&self.head), preferred_widths: self.preferred_widths, lines: lines.collect() }
    }

    /// Returns whether the narrowest form of the table has at most `room` columns.
    fn fits(&self, room: usize) -> bool {
        let (widths, interval) = self.fit(room);
        let rows = self.lines.iter().filter_map(|line| match line {
            EstimateLine::Row(cells) => Some(format_line(cells, &widths)),
            EstimateLine::Text(_) => None,
        });
        let head: Vec<String> = self.head.iter().cloned().chain([interval]).collect();
        let mut lines = rows.chain([format_line(&head, &widths)]);
        lines.all(|line| line.chars().count() <= room)
    }

    /// Returns the widths of all columns except the last, and the heading of the last column.
    fn fit(&self, room: usize) -> (Vec<usize>, String) {
        let rows = self.lines.iter().filter_map(|l| match l {
            EstimateLine::Row(cells) => Some(cells),
            EstimateLine::Text(_) => None,
        });
        let rows: Vec<&Vec<String>> = rows.collect();
        let n = self.head.len();
        let width = |text: &str| text.chars().count();
        let widest = |at: usize| column(rows.iter().map(|r| r[at].as_str()), 0);
        let tight: Vec<usize> = (0..n).map(|at| widest(at).max(width(&self.head[at]))).collect();
        let least = |at: usize| match self.head[at].as_str() {
            _ if at == 0 => self.preferred_widths[0],
            "n" => self.preferred_widths[1],
            _ => self.preferred_widths[2],
        };
        let roomy: Vec<usize> = (0..n).map(|at| tight[at].max(least(at))).collect();
        let sum =
            |widths: &[usize], interval: &str| widths.iter().sum::<usize>() + n + 4 + widest(n).max(width(interval));
        let tries = [(&roomy, INTERVAL[0]), (&roomy, INTERVAL[1]), (&tight, INTERVAL[0])];
        let fits = tries.into_iter().find(|(widths, interval)| sum(widths, interval) <= room);
        let (widths, interval) = fits.unwrap_or((&tight, INTERVAL[1]));
        (widths.clone(), interval.to_owned())
    }
}

fn format_line(cells: &[String], widths: &[usize]) -> String {
    let mut out = format!("  {:<width$}", cells[0], width = widths[0]);
    for (cell, width) in cells[1..].iter().zip(&widths[1..]) {
        let _ = write!(out, " {cell:>width$}");
    }
    let _ = write!(out, "   {}", cells[cells.len() - 1]);
    out.trim_end().to_owned()
}
