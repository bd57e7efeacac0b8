//! A report as sections and blocks, whatever it is of and however it is written: what is said is said once, HTML and
//! Markdown only write it down.
//!
//! Must never hold markup: every text is plain, and whoever writes it escapes it.

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

/// A whole report.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// What it is of.
    pub kicker: String,
    /// The answer, in one line.
    pub title: String,
    /// One paragraph in plain words.
    pub lead: String,
    /// The few numbers that everybody asks for.
    pub figures: Vec<KeyFigure>,
    pub sections: Vec<Section>,
    /// How it was made.
    pub foot: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct KeyFigure {
    pub value: String,
    pub what: String,
}

#[derive(Clone, Debug)]
pub struct Section {
    /// Of its anchor: lower case, hyphens.
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
    /// Lanes that can be zoomed, and the chart for where they cannot.
    Timeline(Box<Timeline>, Chart),
    /// A command or a text as it is printed.
    Code(String),
}

/// `name`: of its file, where it gets one; `alt`: what it shows, for whoever does not see it.
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

    /// Leaves out a section that has nothing to say.
    pub fn push(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }
}
