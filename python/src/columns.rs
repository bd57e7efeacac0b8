//! Converts CSV into columns. A column contains integers if all cells are integers, otherwise numbers if all are
//! numbers, otherwise text. An empty cell is `None`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

pub fn columns<'py>(py: Python<'py>, rows: &str) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |e: csv::Error| PyValueError::new_err(e.to_string());
    let mut reader = csv::Reader::from_reader(rows.as_bytes());
    let names = reader.headers().map_err(wrong)?.clone();
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for row in reader.records() {
        let row = row.map_err(wrong)?;
        for (column, cell) in cells.iter_mut().zip(row.iter()) {
            column.push(cell.to_owned());
        }
    }
    let all = PyDict::new(py);
    for (name, cells) in names.iter().zip(&cells) {
        all.set_item(name, column(py, name, cells)?)?;
    }
    Ok(all)
}

/// The columns of the restart table directly before and after the columns of the phases.
const BEFORE: &str = "total_s";
const AFTER: &str = "ending";

/// Converts the restart tables of several replications into one row per phase of each restart.
pub fn phases<'py>(py: Python<'py>, restarts: &[(u64, String)]) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |e: csv::Error| PyValueError::new_err(e.to_string());
    let mut long = csv::Writer::from_writer(Vec::new());
    let head = ["replication", "jobset", "attempt", "strategy", "phase", "takes_s"];
    long.write_record(head).map_err(wrong)?;
    for (replication, rows) in restarts {
        let mut reader = csv::Reader::from_reader(rows.as_bytes());
        let names = reader.headers().map_err(wrong)?.clone();
        let place = |name: &str| names.iter().position(|n| n == name);
        let (Some(first), Some(end)) = (place(BEFORE), place(AFTER)) else {
            return Err(PyValueError::new_err("the table of restarts has other columns"));
        };
        for row in reader.records() {
            let row = row.map_err(wrong)?;
            let cell = |name: &str| place(name).and_then(|i| row.get(i)).unwrap_or("");
            for (name, takes) in names.iter().zip(row.iter()).take(end).skip(first + 1) {
                let own = [cell("jobset"), cell("attempt"), cell("strategy")];
                let phase = name.trim_end_matches("_s");
                let all = [&replication.to_string(), own[0], own[1], own[2], phase, takes];
                long.write_record(all).map_err(wrong)?;
            }
        }
    }
    let text = long.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    columns(py, &text.unwrap_or_default())
}

/// Column that stays text, because a hexadecimal digest can look like a number.
const TEXT: &str = "digest";

fn column<'py>(py: Python<'py>, name: &str, cells: &[String]) -> PyResult<Bound<'py, PyList>> {
    if name != TEXT {
        if let Some(complete) = parsed::<i64>(cells) {
            return PyList::new(py, complete);
        }
        if let Some(numbers) = parsed::<f64>(cells) {
            return PyList::new(py, numbers);
        }
    }
    let text = |cell: &String| Some(cell.clone()).filter(|c| !c.is_empty());
    PyList::new(py, cells.iter().map(text))
}

/// Returns the parsed cells, with `None` for empty ones. Returns `None` if a cell is not a `T` or all cells are empty.
fn parsed<T: std::str::FromStr>(cells: &[String]) -> Option<Vec<Option<T>>> {
    if cells.iter().all(String::is_empty) {
        return None;
    }
    let one = |cell: &String| match cell.as_str() {
        "" => Some(None),
        // Rust also parses `inf` and `nan`, which are text here.
        text if text.contains(|c: char| c.is_alphabetic() && c != 'e') => None,
        text => text.parse().ok().map(Some),
    };
    cells.iter().map(one).collect()
}
