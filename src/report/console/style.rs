//! Width, character set, colors and amount of console output.

use sim_analysis::metrics::Phase;
use sim_base::Duration;

/// Amount of console output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A limited number of lines: the default of commands with `--verbose`.
    Brief,
    /// All sections and rows.
    Full,
}

/// Output width, character set, color and amount of text.
#[derive(Copy, Clone, Debug)]
pub struct WaterfallStyle {
    pub width: usize,
    pub unicode: bool,
    pub color: bool,
    pub detail: Detail,
}

impl Default for WaterfallStyle {
    fn default() -> WaterfallStyle {
        WaterfallStyle { width: 100, unicode: true, color: false, detail: Detail::Full }
    }
}

impl WaterfallStyle {
    pub fn bold(&self, text: &str) -> String {
        self.apply_ansi_code("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.apply_ansi_code("2", text)
    }

    fn apply_ansi_code(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Colors text like the phase in the charts, in the 256-color palette of terminals.
    pub(super) fn phase(&self, phase: Phase, text: &str) -> String {
        let code = match phase {
            Phase::Detect => "38;5;244",
            Phase::Terminate => "38;5;166",
            Phase::Recreate => "38;5;25",
            Phase::Queue | Phase::Schedule => "38;5;74",
            Phase::Capacity => "38;5;60",
            Phase::Start => "38;5;36",
            Phase::Barrier => "38;5;178",
            _ => "38;5;175",
        };
        self.apply_ansi_code(code, text)
    }

    /// Returns a bar of `cells` characters that covers `from` to `to` on a scale of `total`. At least an eighth of a
    /// cell is filled.
    pub fn bar(&self, from: Duration, to: Duration, total: Duration, cells: usize) -> String {
        let steps = cells * 8;
        let scale = |d: Duration| (d.0 as f64 / (total.0 as f64).max(1.0) * steps as f64).round() as usize;
        let (from, to) = (scale(from).min(steps - 1), scale(to).min(steps));
        let to = to.max(from + 1);
        let mut bar = String::new();
        for cell in 0..cells {
            let (left, right) = (cell * 8, cell * 8 + 8);
            let filled = to.min(right).saturating_sub(from.max(left));
            bar.push(self.cell(filled, from <= left));
        }
        bar
    }

    /// Returns a bar of `cells` characters that covers several intervals on a scale of `total`.
    pub fn bars(&self, pieces: &[(Duration, Duration)], total: Duration, cells: usize) -> String {
        let mut bars = vec![' '; cells];
        for &(from, to) in pieces {
            for (cell, c) in bars.iter_mut().zip(self.bar(from, to, total, cells).chars()) {
                if c != ' ' && *cell != '█' {
                    *cell = c;
                }
            }
        }
        bars.into_iter().collect()
    }

    /// Returns the character for a cell with `filled` eighths covered, starting at its left edge or ending at its
    /// right edge.
    fn cell(&self, filled: usize, from_left: bool) -> char {
        const LEFT: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
        match (self.unicode, filled, from_left) {
            (_, 0, _) => ' ',
            (true, n, true) => LEFT[n],
            (true, 8, false) => '█',
            (true, 4.., false) => '▐',
            (true, _, false) => '▕',
            (false, 4.., _) => '#',
            (false, _, _) => '|',
        }
    }

    /// Returns the separator between items on a line.
    pub(super) fn separator(&self) -> &'static str {
        if self.unicode { " · " } else { ", " }
    }
}
