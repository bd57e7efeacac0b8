//! Tables of named columns with units and descriptions, with one renderer per format.
//!
//! Cells are texts; this module does not compute values.

mod html;
mod text;

use crate::planning::number::short_value;
use csv::Writer;
use serde_json::{Map, Number, Value};
use sim_base::escape::{for_cell, for_markdown};
use std::borrow::Cow;

pub(crate) use html::write_html;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Heading of the column, and its key in JSON.
    pub name: Cow<'static, str>,
    /// Unit of the numbers, such as `s`; empty for texts and counts.
    pub unit: &'static str,
    /// Description of the column as a sentence or phrase in Markdown; empty if the name is sufficient.
    pub description: &'static str,
    /// Whether the cells are numbers. Numbers are right-aligned, and are numbers in JSON.
    pub is_number: bool,
    /// Whether the cells are Markdown, which is not escaped.
    pub is_markdown: bool,
}

impl TableColumn {
    /// Creates a column with a description. A column with a unit contains numbers.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str) -> TableColumn {
        let is_number = !unit.is_empty();
        TableColumn { name: Cow::Borrowed(name), unit, description, is_number, is_markdown: false }
    }
}

impl From<String> for TableColumn {
    fn from(name: String) -> TableColumn {
        TableColumn { name: Cow::Owned(name), ..TableColumn::new("", "", "") }
    }
}

impl From<&str> for TableColumn {
    fn from(name: &str) -> TableColumn {
        name.to_owned().into()
    }
}

impl From<&TableColumn> for TableColumn {
    fn from(column: &TableColumn) -> TableColumn {
        column.clone()
    }
}

/// Columns and rows. Every row has a cell per column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<String>>,
    /// Number of rows that a page shows initially; `None` shows all.
    pub initial_rows: Option<usize>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: impl IntoIterator<Item = impl Into<TableColumn>>) -> Table {
        Table { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new(), initial_rows: None }
    }

    /// Marks the columns at these positions as numeric. Positions beyond the last column are ignored.
    pub fn with_number_columns(mut self, positions: &[usize]) -> Table {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.is_number |= positions.contains(&at);
        }
        self
    }

    /// Rounds numbers with more digits than a reader needs to four significant digits. Digests are unchanged.
    pub fn with_short_numbers(mut self) -> Table {
        /// Longest number that is not rounded, such as `1234.5`.
        const LONGEST: usize = 6;
        let is_digest: Vec<bool> = self.columns.iter().map(|column| column.name == "digest").collect();
        for row in &mut self.rows {
            for (cell, _) in row.iter_mut().zip(&is_digest).filter(|(_, is_digest)| !**is_digest) {
                let is_long = cell.len() > LONGEST && cell.contains('.');
                if let Some(value) = cell.parse::<f64>().ok().filter(|v| is_long && v.is_finite()) {
                    *cell = short_value(value);
                }
            }
        }
        self
    }

    /// Marks the columns at these positions as Markdown.
    pub fn with_markdown_columns(mut self, positions: &[usize]) -> Table {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.is_markdown |= positions.contains(&at);
        }
        self
    }

    pub fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        self.rows.extend(rows);
        self
    }

    pub fn with_initial_rows(mut self, rows: usize) -> Table {
        self.initial_rows = Some(rows);
        self
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Returns a copy without columns that contain only empty or 0 cells. A table without rows keeps all columns.
    pub fn without_empty_columns(&self) -> Table {
        let has_content = |at: &usize| {
            let mut cells = self.rows.iter().map(|row| row[*at].as_str());
            self.rows.is_empty() || cells.any(|cell| !["", "0"].contains(&cell))
        };
        let kept: Vec<usize> = (0..self.columns.len()).filter(has_content).collect();
        let row = |row: &Vec<String>| kept.iter().map(|at| row[*at].clone()).collect();
        Table {
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
            initial_rows: self.initial_rows,
        }
    }

    /// Returns the table as CSV with a header.
    pub fn csv(&self) -> Vec<u8> {
        let head = self.columns.iter().map(|column| column.name.to_string());
        csv_of([head.collect()].iter().chain(&self.rows))
    }

    /// Returns the table in GitHub Flavored Markdown, with markup in cells escaped.
    pub fn markdown(&self) -> String {
        let cell = |(cell, column): (&str, &TableColumn)| {
            if column.is_markdown { cell.replace('|', "\\|").replace('\n', " ") } else { for_markdown(cell) }
        };
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.zip(&self.columns).map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = |column: &TableColumn| if column.is_number { "---:|" } else { "---|" };
        let mut out = line(&mut self.columns.iter().map(|column| &*column.name));
        out.push('|');
        out.extend(self.columns.iter().map(rule));
        out.push('\n');
        for row in &self.rows {
            out.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        out
    }

    /// Returns an array with an object per row. Empty cells are null; finite values of numeric columns are numbers.
    pub fn json(&self) -> Value {
        let cell = |column: &TableColumn, cell: &String| match cell.parse::<f64>() {
            _ if cell.is_empty() => Value::Null,
            Ok(number) if column.is_number => Number::from_f64(number).map_or(Value::Null, Value::Number),
            _ => Value::String(cell.clone()),
        };
        let row = |row: &Vec<String>| {
            let named = self.columns.iter().zip(row);
            Value::Object(Map::from_iter(named.map(|(c, text)| (c.name.clone().into_owned(), cell(c, text)))))
        };
        Value::Array(self.rows.iter().map(row).collect())
    }
}

/// Returns rows as CSV (RFC 4180). Cells that spreadsheets would interpret as formulas get an apostrophe.
pub fn csv_of<R: IntoIterator<Item: AsRef<str>>>(rows: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut out = Writer::from_writer(Vec::new());
    for row in rows {
        for cell in row {
            out.write_field(for_cell(cell.as_ref()).as_bytes()).expect("written to memory");
        }
        out.write_record(None::<&[u8]>).expect("a cell per column, written to memory");
    }
    out.into_inner().expect("written to memory")
}

#[cfg(test)]
#[path = "../../../tests/inside/report/table/mod.rs"]
mod tests;
