//! The pages of the file formats match the tables that they are generated from.

use crate::support::{root, updates_golden_files};
use sim_inputs::reference_page;
use sim_report::files::columns;
use sim_report::table::Table;

#[test]
fn the_reference_pages_are_the_tables() {
    for kind in ["Scenario", "Fleet", "Topology", "Timing"] {
        let name = format!("docs/reference/{}.md", kind.to_lowercase());
        let page = reference_page(kind).expect("the format has a page");
        if updates_golden_files() {
            std::fs::write(root().join(&name), &page).expect("a page can be written");
        }
        let written = std::fs::read_to_string(root().join(&name)).unwrap_or_default();
        assert!(
            written == page,
            "{name}: UPDATE_GOLDEN=1 cargo test writes it"
        );
    }
}

/// `docs/run-directory.md` contains the descriptions of the columns in the code.
#[test]
fn the_columns_of_the_run_directory_are_described_as_in_the_code() {
    let path = root().join("docs/run-directory.md");
    let page = std::fs::read_to_string(&path).expect("a page");
    let mut expected = page.clone();
    for (name, columns) in [
        ("restarts", &columns::RESTARTS[..]),
        ("pods", &columns::PODS),
        ("nodes", &columns::NODES),
        ("ledger", &columns::LEDGER),
        ("control_plane", &columns::CONTROL_PLANE),
    ] {
        let section = expected.find(&format!("\n## {name}.csv\n")).expect(name);
        let start = section + expected[section..].find("| column |").expect(name);
        let end = start + expected[start..].find("\n\n").expect(name) + 1;
        expected.replace_range(start..end, &Table::column_reference(columns));
    }
    if updates_golden_files() {
        std::fs::write(&path, &expected).expect("a page can be written");
    }
    let written = std::fs::read_to_string(&path).expect("a page");
    assert!(
        written == expected,
        "docs/run-directory.md: UPDATE_GOLDEN=1 cargo test writes it"
    );
}
