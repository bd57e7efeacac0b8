//! CSV as columns: whole numbers where every cell is one, then numbers, else text; an empty cell is None.

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

/// Hexadecimal, which may look like a number.
const TEXT: &str = "digest";

fn column<'py>(py: Python<'py>, name: &str, cells: &[String]) -> PyResult<Bound<'py, PyList>> {
    if name != TEXT {
        if let Some(whole) = parsed::<i64>(cells) {
            return PyList::new(py, whole);
        }
        if let Some(numbers) = parsed::<f64>(cells) {
            return PyList::new(py, numbers);
        }
    }
    let text = |cell: &String| Some(cell.clone()).filter(|c| !c.is_empty());
    PyList::new(py, cells.iter().map(text))
}

/// If each is one, or empty. A column without any cell is text.
fn parsed<T: std::str::FromStr>(cells: &[String]) -> Option<Vec<Option<T>>> {
    if cells.iter().all(String::is_empty) {
        return None;
    }
    let one = |cell: &String| match cell.as_str() {
        "" => Some(None),
        // What Rust reads too: inf, nan.
        text if text.contains(|c: char| c.is_alphabetic() && c != 'e') => None,
        text => text.parse().ok().map(Some),
    };
    cells.iter().map(one).collect()
}
