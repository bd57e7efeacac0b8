//! Python bindings: run a scenario and return its tables as columns, ready for pandas or polars.
//!
//! Must not contain simulation rules or default values: the module calls the public library and converts CSV into
//! columns.

mod columns;

use columns::{columns, phases};
use jobset_sim::{Scenario, Simulation, SimulationError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Converts the dict `{path: value}` into field overrides. A value that is not a string is written as JSON, which the
/// scenario reader accepts.
fn sets(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(set) = set else {
        return Ok(Vec::new());
    };
    let one = |(path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let text = match value.extract::<String>() {
            Ok(text) => text,
            Err(_) => {
                let json = value.py().import("json")?;
                json.call_method1("dumps", (&value,))?.extract()?
            }
        };
        Ok((path.extract::<String>()?, text))
    };
    set.iter().map(one).collect()
}

fn scenario(path: &str, sets: &[(String, String)]) -> PyResult<Scenario> {
    let sets: Vec<(&str, &str)> = sets.iter().map(|(p, v)| (p.as_str(), v.as_str())).collect();
    Scenario::from_file_with(path, &sets).map_err(wrong)
}

fn wrong(error: SimulationError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The result of a finished run.
#[pyclass(frozen)]
struct Run {
    /// Hash over all records. Equal inputs give equal digests on every platform.
    #[pyo3(get)]
    digest: String,
    /// Reasons why the results may be unreliable.
    #[pyo3(get)]
    warnings: Vec<String>,
    summary: String,
    tables: Vec<(&'static str, String)>,
    replication: u64,
}

fn restarts(tables: &[(&'static str, String)]) -> String {
    let matching = tables.iter().find(|(name, _)| *name == "restarts");
    matching.map_or(String::new(), |(_, rows)| rows.clone())
}

#[pymethods]
impl Run {
    /// Returns `summary.json` of the run as a dict.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.summary,))
    }

    /// Returns the names of the tables that `table` accepts.
    #[getter]
    fn names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|(name, _)| *name).collect()
    }

    /// Returns a table as a dict of lists, one per column. Empty cells are `None`.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let matching = self.tables.iter().find(|(known, _)| *known == name);
        let (_, rows) = matching.ok_or_else(|| {
            let names = self.names().join(", ");
            PyValueError::new_err(format!("unknown table {name:?}; available: {names}"))
        })?;
        columns(py, rows)
    }

    /// Returns the duration of each phase of each restart, one row per phase.
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        phases(py, &[(self.replication, restarts(&self.tables))])
    }

    fn __repr__(&self) -> String {
        format!("<jobset_sim.Run {}>", self.digest)
    }
}

/// Runs a scenario file. `set` (`{"path": value}`) overrides fields, like `--set` of the command line.
#[pyfunction]
#[pyo3(signature = (path, *, set=None, seed=None, replication=0))]
fn run(
    py: Python<'_>,
    path: &str,
    set: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    replication: u64,
) -> PyResult<Run> {
    let scenario = scenario(path, &sets(set)?)?;
    let seed = seed.unwrap_or(scenario.seed());
    py.detach(|| {
        let mut simulation = Simulation::new(&scenario).map_err(wrong)?;
        simulation.keep_pods();
        let outcome = simulation.run(seed, replication);
        let summary = serde_json::to_string(&outcome.summary());
        Ok(Run {
            digest: outcome.digest(),
            warnings: outcome.warnings(),
            summary: summary.map_err(|e| PyValueError::new_err(e.to_string()))?,
            tables: outcome.tables(),
            replication,
        })
    })
}

/// Returns the duration of each phase of each restart in `n` replications, one row per phase.
#[pyfunction]
#[pyo3(name = "phases", signature = (path, *, n=1, set=None, seed=None))]
fn phases_of<'py>(
    py: Python<'py>,
    path: &str,
    n: u64,
    set: Option<&Bound<'py, PyDict>>,
    seed: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario(path, &sets(set)?)?;
    let seed = seed.unwrap_or(scenario.seed());
    let all = py.detach(|| {
        let mut simulation = Simulation::new(&scenario).map_err(wrong)?;
        let one = |replication| (replication, restarts(&simulation.run(seed, replication).tables()));
        Ok::<_, PyErr>((0..n).map(one).collect::<Vec<_>>())
    })?;
    phases(py, &all)
}

/// Simulates `n` replications of each variant with common random numbers. Returns one row per replication, with all
/// metrics as columns. `variants` is `{"name": {"path": value}}`; the default is one variant, `baseline`.
#[pyfunction]
#[pyo3(signature = (path, *, n, variants=None, set=None, seed=None, threads=0))]
fn replicate<'py>(
    py: Python<'py>,
    path: &str,
    n: u64,
    variants: Option<&Bound<'py, PyDict>>,
    set: Option<&Bound<'py, PyDict>>,
    seed: Option<u64>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let common = sets(set)?;
    let mut all = Vec::new();
    match variants {
        None => all.push(("baseline".to_owned(), scenario(path, &common)?)),
        Some(variants) => {
            for (name, own) in variants.iter() {
                let own = sets(Some(own.cast::<PyDict>()?))?;
                let together: Vec<_> = common.iter().cloned().chain(own).collect();
                all.push((name.extract()?, scenario(path, &together)?));
            }
        }
    }
    let Some((_, first)) = all.first() else {
        return Err(PyValueError::new_err("variants is empty"));
    };
    let seed = seed.unwrap_or(first.seed());
    let rows = py.detach(|| {
        let all: Vec<(&str, &Scenario)> = all.iter().map(|(n, s)| (n.as_str(), s)).collect();
        jobset_sim::compared(&all, (seed, n), threads).map_err(wrong)
    })?;
    columns(py, &rows)
}

/// Deterministic simulation of Kubernetes JobSets on modelled accelerator clusters.
#[pymodule]
#[pyo3(name = "jobset_sim")]
fn exported(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Run>()?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(replicate, m)?)?;
    m.add_function(wrap_pyfunction!(phases_of, m)?)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("__all__", PyList::new(m.py(), ["Run", "run", "replicate", "phases"])?)
}
