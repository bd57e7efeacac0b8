//! Rendering of a page as Markdown, for a pull request or a design document.
//!
//! All texts are escaped.

use super::{PageBlock, ReportPage};
use crate::table::Table;
use sim_base::escape::{for_markdown, for_terminal};
use std::fmt::Write;

/// Returns the page as Markdown. `assets` is the path of the charts relative to the file; with `None`, charts are
/// omitted.
pub fn markdown(page: &ReportPage, assets: Option<&str>) -> String {
    let mut out = format!("# {}\n\n", for_markdown(&page.title));
    if !page.kicker.is_empty() {
        let _ = writeln!(out, "{}\n", for_markdown(&page.kicker));
    }
    let _ = writeln!(out, "{}\n", for_markdown(&page.lead));
    if !page.figures.is_empty() {
        let rows = page.figures.iter().map(|f| vec![f.label.clone(), f.value.clone()]);
        let _ = writeln!(out, "{}", Table::new(["", ""]).with_rows(rows).markdown());
    }
    for section in &page.sections {
        let _ = writeln!(out, "## {}\n", for_markdown(&section.title));
        for block in &section.blocks {
            write_block(&mut out, block, assets);
        }
    }
    for line in &page.provenance_lines {
        let _ = writeln!(out, "*{}*\n", for_markdown(line));
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn write_block(out: &mut String, block: &PageBlock, assets: Option<&str>) {
    let _ = match (block, assets) {
        (PageBlock::Text(text), _) => writeln!(out, "{}\n", for_markdown(text)),
        (PageBlock::Heading(text), _) => writeln!(out, "### {}\n", for_markdown(text)),
        (PageBlock::List(items), _) => {
            for item in items {
                let _ = writeln!(out, "- {}", for_markdown(item));
            }
            writeln!(out)
        }
        (PageBlock::Table(table), _) => writeln!(out, "{}", table.markdown()),
        (PageBlock::Chart(chart) | PageBlock::Timeline(_, chart), Some(assets)) => {
            let alt = for_markdown(&chart.alt);
            writeln!(out, "![{alt}]({assets}/{}.svg)\n", chart.name)
        }
        (PageBlock::Chart(_) | PageBlock::Timeline(..), None) => Ok(()),
        (PageBlock::Code(text), _) => {
            //  The fence is longer than any run of backticks in the text, so the text cannot close it.
            let fence = "`".repeat(longest_backtick_run(text) + 3);
            writeln!(out, "{fence}text\n{}\n{fence}\n", for_terminal(text, false).trim_end())
        }
    };
}

fn longest_backtick_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}
