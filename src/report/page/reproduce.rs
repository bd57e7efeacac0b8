//! The section "Reproduce" of every page: the commands, the program version and inputs, the digests, and the
//! assumptions that the numbers depend on, with their sources.

use super::{PageBlock, PageSection};
use crate::{assumptions::dominant::DominantAssumption, table::Table};

/// Content of the section.
#[derive(Clone, Debug, Default)]
pub struct ReproductionSteps {
    /// Command lines that repeat the results and the page.
    pub commands: Vec<String>,
    /// Rows of label and text: program, inputs, seed, digest.
    pub facts: Vec<(String, String)>,
    /// Assumptions in descending order of their share of the critical paths.
    pub assumptions: Vec<DominantAssumption>,
    /// Sentences below the tables.
    pub notes: Vec<String>,
}

impl ReproductionSteps {
    /// Splits the provenance lines (`program  ·  scenario …  ·  …`) of a page into rows and appends the digest of
    /// the inputs.
    pub fn new(commands: &[String], made_by: &[String], inputs: &str) -> ReproductionSteps {
        let mut facts: Vec<(String, String)> = made_by.iter().map(|line| split_label(line)).collect();
        if !inputs.is_empty() {
            facts.push(("inputs".to_owned(), inputs.to_owned()));
        }
        ReproductionSteps { commands: commands.to_vec(), facts, ..ReproductionSteps::default() }
    }

    pub fn section(&self) -> PageSection {
        let mut blocks: Vec<PageBlock> = self.commands.iter().cloned().map(PageBlock::Code).collect();
        let facts = self.facts.iter();
        blocks.push(PageBlock::Table(
            Table::new(["", "value"]).with_rows(facts.map(|(label, text)| vec![label.clone(), text.clone()])),
        ));
        if !self.assumptions.is_empty() {
            blocks.push(PageBlock::Heading("Assumptions that the numbers depend on".to_owned()));
            let row = |d: &DominantAssumption| {
                let name = d.name.to_owned();
                vec![name, d.value.clone(), d.confidence.clone(), d.source.clone()]
            };
            blocks.push(PageBlock::Table(
                Table::new(["assumption", "value", "confidence", "source"]).with_rows(self.assumptions.iter().map(row)),
            ));
        }
        blocks.extend(self.notes.iter().cloned().map(PageBlock::Text));
        PageSection::new("reproduce", "Reproduce", blocks)
    }
}

/// Splits a line into label and text. Lines without a label of their own, such as `digests: …`, get the label `made
/// by`.
fn split_label(line: &str) -> (String, String) {
    let text = line.replace("  ·  ", ", ");
    match text.split_once(": ") {
        Some((label, rest)) if !label.contains(' ') => (label.to_owned(), rest.to_owned()),
        _ => ("made by".to_owned(), text),
    }
}
