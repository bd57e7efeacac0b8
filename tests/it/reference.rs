//! The pages of the file formats match the tables that they are generated from.

use crate::support::{root, updates_golden_files};
use sim_inputs::reference_page;

#[test]
fn the_reference_pages_are_the_tables() {
    for kind in ["Scenario", "Fleet", "Topology", "Timing"] {
        let name = format!("docs/reference/{}.md", kind.to_lowercase());
        let page = reference_page(kind).expect("the format has a page");
        if updates_golden_files() {
            std::fs::write(root().join(&name), &page).expect("a page can be written");
        }
        let written = std::fs::read_to_string(root().join(&name)).unwrap_or_default();
        assert!(written == page, "{name}: UPDATE_GOLDEN=1 cargo test writes it");
    }
}

#[test]
fn the_page_of_the_output_matches_its_tables() {
    let name = "docs/reference/output.md";
    let page = jobset_sim::glossary::output_reference();
    if updates_golden_files() {
        std::fs::write(root().join(name), &page).expect("a page can be written");
    }
    let written = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    assert!(written == page, "{name}: UPDATE_GOLDEN=1 cargo test writes it");
}
