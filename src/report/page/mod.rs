//! A report as sections and blocks, independent of its content and of the output format. HTML and Markdown render
//! the same page.
//!
//! Texts contain no markup; the renderers escape them.

pub mod comparison;
pub mod html;
pub mod markdown;
pub mod reproduce;
pub mod run;
mod run_charts;
mod run_input;
mod run_parts;
pub mod sweep;
mod timeline;
pub use run_parts::NOT_MODELLED;
pub use timeline::cumulative_heights;

use super::draw::scene::DrawScene;
use super::timeline::TimelineChart;
use crate::table::Table;

#[derive(Clone, Debug, Default)]
pub struct ReportPage {
    /// Short line above the title that names the report and its subject.
    pub kicker: String,
    /// The main result in one line.
    pub title: String,
    /// A summary paragraph.
    pub lead: String,
    pub figures: Vec<KeyFigure>,
    pub sections: Vec<PageSection>,
    /// Provenance lines at the end of the page.
    pub provenance_lines: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct KeyFigure {
    pub value: String,
    pub label: String,
}

#[derive(Clone, Debug)]
pub struct PageSection {
    /// Id of the anchor: lower case with hyphens.
    pub id: &'static str,
    pub title: String,
    pub blocks: Vec<PageBlock>,
}

#[derive(Clone, Debug)]
pub enum PageBlock {
    Text(String),
    Heading(String),
    List(Vec<String>),
    Table(Table),
    Chart(PageChart),
    /// Lanes that can be zoomed in HTML, and a static chart for Markdown.
    Timeline(Box<TimelineChart>, PageChart),
    /// A command or preformatted text.
    Code(String),
}

/// A chart. `name` is its file name without extension, `alt` its alternative text.
#[derive(Clone, Debug)]
pub struct PageChart {
    pub name: String,
    pub alt: String,
    pub scene: DrawScene,
}

impl PageSection {
    pub fn new(id: &'static str, title: &str, blocks: Vec<PageBlock>) -> PageSection {
        PageSection { id, title: title.to_owned(), blocks }
    }
}

impl ReportPage {
    pub fn charts(&self) -> impl Iterator<Item = &PageChart> {
        let blocks = self.sections.iter().flat_map(|s| &s.blocks);
        blocks.filter_map(|b| match b {
            PageBlock::Chart(chart) | PageBlock::Timeline(_, chart) => Some(chart),
            _ => None,
        })
    }

    /// Appends a section unless it is empty.
    pub fn push(&mut self, section: PageSection) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }
}
