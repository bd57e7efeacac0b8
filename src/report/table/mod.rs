//! Tables: columns with a name, a unit and a description, rows of cells, and one renderer per format.
//!
//! Must never compute: cells are texts when they arrive here.

mod html;
mod text;

use csv::Writer;
use serde_json::{Map, Number, Value};
use sim_base::plain::{for_cell, for_markdown};
use std::borrow::Cow;

pub(crate) use html::write_html;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head, and its key in JSON.
    pub name: Cow<'static, str>,
    /// The unit of its numbers, such as `s`; empty for texts and counts.
    pub unit: &'static str,
    /// What a cell says, as a sentence or a phrase in Markdown; empty where the name says it.
    pub description: &'static str,
    /// Whether cells are numbers: aligned to the right, and numbers in JSON.
    pub is_number: bool,
}

impl Column {
    /// A described column of texts or, where it has a unit, of numbers.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str) -> Column {
        Column {
            name: Cow::Borrowed(name),
            unit,
            description,
            is_number: !unit.is_empty(),
        }
    }
}

impl From<String> for Column {
    fn from(name: String) -> Column {
        Column {
            name: Cow::Owned(name),
            ..Column::new("", "", "")
        }
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Column {
        name.to_owned().into()
    }
}

impl From<&Column> for Column {
    fn from(column: &Column) -> Column {
        column.clone()
    }
}

/// Columns and rows. Every row has a cell per column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// Rows that a page shows at once, the others on request; `None`: all.
    pub open: Option<usize>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = impl Into<Column>>) -> Table {
        Table {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            open: None,
        }
    }

    /// Declares the columns at these positions to be numbers; positions beyond the last column are ignored.
    pub fn numbers(mut self, positions: &[usize]) -> Table {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.is_number |= positions.contains(&at);
        }
        self
    }

    pub fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        self.rows.extend(rows);
        self
    }

    pub fn open(mut self, rows: usize) -> Table {
        self.open = Some(rows);
        self
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Without the columns in which every cell is empty or 0; all columns of a table without rows.
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
            open: self.open,
        }
    }

    /// RFC 4180 with a head. Cells that a spreadsheet would take for formulas get an apostrophe.
    pub fn csv(&self) -> Vec<u8> {
        let mut out = Writer::from_writer(Vec::new());
        let head = self.columns.iter().map(|column| &*column.name).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(String::as_str).collect());
        for row in std::iter::once::<Vec<&str>>(head).chain(rows) {
            let cells = row.into_iter().map(|cell| for_cell(cell).into_owned());
            out.write_record(cells)
                .expect("a cell per column, written to memory");
        }
        out.into_inner().expect("written to memory")
    }

    /// A table of GitHub's Markdown; no cell can be markup.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(for_markdown).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = |column: &Column| if column.is_number { "---:|" } else { "---|" };
        let mut out = line(&mut self.columns.iter().map(|column| &*column.name));
        out.push('|');
        out.extend(self.columns.iter().map(rule));
        out.push('\n');
        for row in &self.rows {
            out.push_str(&line(&mut row.iter().map(String::as_str)));
        }
        out
    }

    /// An array with an object per row; empty cells are null, cells of numeric columns numbers where they are finite.
    pub fn json(&self) -> Value {
        let cell = |column: &Column, cell: &String| match cell.parse::<f64>() {
            _ if cell.is_empty() => Value::Null,
            Ok(number) if column.is_number => {
                Number::from_f64(number).map_or(Value::Null, Value::Number)
            }
            _ => Value::String(cell.clone()),
        };
        let row = |row: &Vec<String>| {
            let named = self.columns.iter().zip(row);
            Value::Object(Map::from_iter(
                named.map(|(c, text)| (c.name.clone().into_owned(), cell(c, text))),
            ))
        };
        Value::Array(self.rows.iter().map(row).collect())
    }

    /// The columns themselves as a table of a manual: name, unit, description. The names are code.
    pub fn manual(columns: &[Column]) -> String {
        let mut out = "| column | unit | meaning |\n|---|---|---|\n".to_owned();
        for c in columns {
            out.push_str(&format!(
                "| `{}` | {} | {} |\n",
                c.name, c.unit, c.description
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::new("name", "", "a | name"),
            Column::new("total", "s", "how long"),
        ];
        let mut table = Table::new(columns);
        table.push(["=a|b", "1.5"]);
        table.push(["<c>", ""]);
        table
    }

    #[test]
    fn each_format_has_the_same_cells_and_none_can_be_code() {
        assert_eq!(table().csv(), b"name,total\n'=a|b,1.5\n<c>,\n");
        let markdown = "| name | total |\n|---|---:|\n| =a\\|b | 1.5 |\n| &lt;c> |  |\n";
        assert_eq!(table().markdown(), markdown);
        let json = r#"[{"name":"=a|b","total":1.5},{"name":"<c>","total":null}]"#;
        assert_eq!(table().json().to_string(), json);
        let mut html = String::new();
        write_html(&mut html, &table());
        assert!(
            html.contains("<td>&lt;c&gt;</td>")
                && html.contains("<th scope=\"col\" class=\"n\">total</th>"),
            "{html}"
        );
        assert_eq!(
            table().text(|row| row == 0, "  <"),
            ["  name   total", "  =a|b     1.5  <", "  <c>"]
        );
    }

    #[test]
    fn columns_in_which_every_cell_is_empty_or_zero_are_left_out_on_request() {
        let mut table = Table::new(["a", "b", "c"]);
        assert_eq!(table.without_empty_columns(), table);
        table.push(["1", "0", ""]);
        table.push(["2", "", "0"]);
        assert_eq!(table.without_empty_columns().csv(), b"a\n1\n2\n");
    }
}
