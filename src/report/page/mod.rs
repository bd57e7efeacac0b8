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
pub use timeline::sums;

use super::draw::scene::Scene;
use super::timeline::Timeline;
use crate::table::Table;

/// A complete report.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Short line above the title that names the report and its subject.
    pub kicker: String,
    /// The main result in one line.
    pub title: String,
    /// A summary paragraph.
    pub lead: String,
    /// The key figures.
    pub figures: Vec<KeyFigure>,
    pub sections: Vec<Section>,
    /// Provenance lines at the end of the page.
    pub foot: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct KeyFigure {
    pub value: String,
    pub what: String,
}

#[derive(Clone, Debug)]
pub struct Section {
    /// Id of the anchor: lower case with hyphens.
    pub id: &'static str,
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub enum Block {
    Text(String),
    Heading(String),
    List(Vec<String>),
    Table(Table),
    Chart(Chart),
    /// Lanes that can be zoomed in HTML, and a static chart for Markdown.
    Timeline(Box<Timeline>, Chart),
    /// A command or preformatted text.
    Code(String),
}

/// A chart. `name` is its file name without extension, `alt` its alternative text.
#[derive(Clone, Debug)]
pub struct Chart {
    pub name: String,
    pub alt: String,
    pub scene: Scene,
}

impl Section {
    pub fn new(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
        Section {
            id,
            title: title.to_owned(),
            blocks,
        }
    }
}

impl Page {
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let blocks = self.sections.iter().flat_map(|s| &s.blocks);
        blocks.filter_map(|b| match b {
            Block::Chart(chart) | Block::Timeline(_, chart) => Some(chart),
            _ => None,
        })
    }

    /// Appends a section unless it is empty.
    pub fn push(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }
}
