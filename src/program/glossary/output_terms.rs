//! Terms of the output: files, columns, keys, conditions, reasons, exit codes. `output_terms.yaml` contains them by
//! table, except for columns that `sim-report` describes. `docs/reference/output.md` is generated from both.

use super::entry::GlossaryEntry;
use super::markdown::{code_spans, plain, terms};
use serde::Deserialize;
use sim_inputs::SourceText;
use sim_report::files::columns;
use sim_report::table::{Table, TableColumn};
use std::fmt::Write;

const TABLES: &str = include_str!("output_terms.yaml");
const PAGE: &str = "docs/reference/output.md";

/// A table of terms with one meaning per row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TermTable {
    title: String,
    /// Kind of the terms: column, key, condition ...
    kind: String,
    /// Paragraphs before and after the table.
    #[serde(default)]
    introduction: String,
    #[serde(default)]
    note: String,
    /// Headers of the cells between the terms and their meaning.
    #[serde(default)]
    details: Vec<String>,
    /// Header of the meanings.
    #[serde(default = "default_meaning")]
    meaning: String,
    /// Name of a list of columns of `sim-report`, which replaces `rows`.
    code_columns: Option<String>,
    /// Cells: the terms as code spans, one cell per detail, the meaning.
    #[serde(default)]
    rows: Vec<Vec<String>>,
}

fn default_meaning() -> String {
    "meaning".to_owned()
}

/// Returns the tables, with the columns of `sim-report` as rows. Panics if the compiled-in file is invalid.
fn tables() -> Vec<TermTable> {
    let source = SourceText { file: "output_terms.yaml".to_owned(), text: TABLES.to_owned() };
    let documents = sim_inputs::documents(&source).unwrap_or_else(|e| panic!("{e}"));
    let mut document = documents.into_iter().next().expect("a document");
    let mut tables: Vec<TermTable> =
        serde_json::from_value(document["tables"].take()).unwrap_or_else(|e| panic!("output_terms.yaml: {e}"));
    for table in &mut tables {
        if let Some(name) = &table.code_columns {
            let columns = code_columns(name);
            table.details = vec!["unit".to_owned()];
            table.rows = columns.iter().map(column_row).collect();
        }
    }
    tables
}

fn code_columns(name: &str) -> Vec<TableColumn> {
    match name {
        "restarts" => columns::RESTARTS.to_vec(),
        "pods" => columns::PODS.to_vec(),
        "nodes" => columns::NODES.to_vec(),
        "ledger" => columns::LEDGER.to_vec(),
        "fragmentation" => columns::FRAGMENTATION.to_vec(),
        "control_plane" => columns::CONTROL_PLANE.to_vec(),
        _ => panic!("output_terms.yaml: unknown list of columns {name:?}"),
    }
}

fn column_row(column: &TableColumn) -> Vec<String> {
    let name = format!("`{}`", column.name);
    vec![name, column.unit.to_owned(), column.description.to_owned()]
}

pub fn entries() -> Vec<GlossaryEntry> {
    tables().iter().flat_map(table_entries).collect()
}

fn table_entries(table: &TermTable) -> Vec<GlossaryEntry> {
    let mut entries = Vec::new();
    for row in &table.rows {
        let [names, details @ .., meaning] = row.as_slice() else {
            panic!("output_terms.yaml: {}: a row needs two cells or more", table.title);
        };
        let facts = table.details.iter().zip(details);
        let facts = facts.map(|(name, cell)| (name.clone(), plain(cell)));
        let facts: Vec<(String, String)> = facts.filter(|(_, cell)| !cell.is_empty()).collect();
        let header = table.meaning.as_str();
        let text = match header {
            "meaning" => plain(meaning),
            _ => format!("{header}: {}", plain(meaning)),
        };
        //  A column such as `detect_s` is also found without its unit.
        let aliases = |word: &str| word.strip_suffix("_s").filter(|_| table.kind == "column").map(str::to_owned);
        entries.extend(terms(names).into_iter().map(|word| GlossaryEntry {
            aliases: aliases(&word).into_iter().collect(),
            word,
            kind: table.kind.clone(),
            of: table.title.clone(),
            text: text.clone(),
            facts: facts.clone(),
            source: PAGE.to_owned(),
            mentions: row[1..].iter().flat_map(|cell| code_spans(cell)).collect(),
        }));
    }
    entries
}

/// Returns the page `docs/reference/output.md`.
pub fn output_reference() -> String {
    let mut page = String::from(
        "# Output: files, columns, keys\n\nGenerated from the tables in `src/program/glossary/output_terms.yaml` and `src/report/files/columns.rs`. `jobset-sim explain TERM` prints\nthe same texts.\n",
    );
    for table in tables() {
        let _ = write!(page, "\n## {}\n\n", table.title);
        if !table.introduction.is_empty() {
            let _ = write!(page, "{}\n\n", table.introduction.trim_end());
        }
        let details = table.details.iter().map(String::as_str);
        let headers: Vec<&str> =
            std::iter::once(table.kind.as_str()).chain(details).chain([table.meaning.as_str()]).collect();
        let all: Vec<usize> = (0..headers.len()).collect();
        let cells = Table::new(headers).with_markdown_columns(&all).with_rows(table.rows.iter().cloned());
        page.push_str(&cells.markdown());
        if !table.note.is_empty() {
            let _ = write!(page, "\n{}\n", table.note.trim_end());
        }
    }
    page
}
