//! Reads a directory of `sweep`: its results, its dominant assumptions, and the closed form.
//!
//! The replications are in the directory, so this module must never simulate the sweep again.

use crate::cli::failure::{CommandFailure, bail};
use crate::cli::inputs::dominant_assumptions;
use crate::cli::sweep::closed_forms;
use crate::{cli::sweep::args::SweepArgs, cli::sweep::request::SweepRequest};
use serde_json::Value;
use sim_analysis::experiment::{MeasuredMetric, ReplicationOutcome};
use sim_analysis::sweep::{SweepIdentity, SweepResults, SweepRow};
use sim_base::fnv;
use sim_report::assumptions::sensitivity;
use sim_report::assumptions::sensitivity::SensitiveResult;
use sim_report::figures::sweep_figure::{ClosedFormCurve, SweptMetric};
use sim_report::sweep_selection::{axis_names, selected_metrics};
use std::path::Path;
use std::sync::Arc;

/// Data for the page and the charts of a sweep.
pub struct StoredSweep {
    pub identity: SweepIdentity,
    pub results: SweepResults,
    pub dominant_assumptions: Vec<SensitiveResult>,
    /// Closed forms of metrics, as far as their parameters are known at any point.
    pub closed_forms: Vec<ClosedFormCurve>,
    pub warnings: Vec<String>,
    foot: Vec<String>,
    currency: String,
}

impl StoredSweep {
    /// Reads the directory. `args` is the command that wrote it; its paths point into the directory.
    pub fn read(dir: &Path, args: &SweepArgs) -> Result<StoredSweep, CommandFailure> {
        let display_path = dir.display();
        let sweep = SweepRequest::open(&args.input, &args.over, true)?;
        let summary = summary(dir)?;
        let of = |key: &str| summary[key].as_str().unwrap_or_default().to_owned();
        if of("version") != env!("CARGO_PKG_VERSION") {
            bail!(
                "{display_path} was written by jobset-sim {}, and this is {}: run the sweep again",
                of("version"),
                env!("CARGO_PKG_VERSION")
            );
        }
        if of("experiment") != sweep.identity.digest() {
            bail!("{display_path}: the stored inputs differ from those of the sweep");
        }
        let rows = rows(dir, &summary)?;
        let digest = fnv::fnv1a_words(rows.iter().map(|r| r.digest));
        if of("digest") != format!("{digest:016x}") {
            bail!("{display_path}: replications.csv and summary.json belong to different sweeps");
        }
        let results = SweepResults::new(sweep.points.clone(), rows).with_currency(sweep.currency());
        let warnings = summary["warnings"].as_array().into_iter().flatten();
        let warnings = warnings.filter_map(|w| Some(w.as_str()?.to_owned()));
        let dominant_assumptions = dominant_assumptions(&sweep, &results);
        Ok(StoredSweep {
            foot: sensitivity::footer_lines(&dominant_assumptions),
            dominant_assumptions,
            closed_forms: closed_forms::curves(&sweep),
            warnings: warnings.collect(),
            currency: sweep.currency().to_owned(),
            identity: sweep.identity,
            results,
        })
    }

    pub fn swept(&self) -> SweptMetric<'_> {
        SweptMetric {
            identity: &self.identity,
            results: &self.results,
            assumption_lines: &self.foot,
            currency: &self.currency,
        }
    }

    /// Returns the main metric of the sweep.
    pub fn headline(&self) -> Option<String> {
        selected_metrics(&self.results, &[]).into_iter().next()
    }
}

/// Returns the dominant assumptions of the first point and of the best point.
pub fn dominant_assumptions(sweep: &SweepRequest, results: &SweepResults) -> Vec<SensitiveResult> {
    let metrics = selected_metrics(results, &[]);
    let best = metrics.iter().find_map(|metric| results.best(metric));
    let mut points = vec![0];
    points.extend(best.map(|b| b.point).filter(|p| *p != 0));
    let one = |point: usize| {
        let loaded = sweep.loaded(point).ok()?;
        let names = axis_names(results);
        let values = results.points().values(point);
        let each = names.iter().zip(values);
        let each: Vec<String> = each.map(|(name, v)| format!("{name}={v}")).collect();
        Some(dominant_assumptions::of_input(&each.join(", "), &loaded, sweep.seed))
    };
    points.into_iter().filter_map(one).collect()
}

fn summary(dir: &Path) -> Result<Value, CommandFailure> {
    let path = dir.join("summary.json");
    let failed = |why: String| CommandFailure::Invalid(format!("{}: {why}", path.display()));
    let text = sim_inputs::files::read_stored_text(&path).map_err(|e| failed(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| failed(e.to_string()))
}

/// Reads the rows of `replications.csv` in order. The summary contains the reasons for empty cells as counts per
/// point and metric. The assignment of reasons to cells does not affect results.
fn rows(dir: &Path, summary: &Value) -> Result<Vec<SweepRow>, CommandFailure> {
    let path = dir.join("replications.csv");
    let failed = |why: String| CommandFailure::Invalid(format!("{}: {why}", path.display()));
    let bytes = sim_inputs::files::read_stored(&path).map_err(|e| failed(e.to_string()))?;
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let head = reader.headers().map_err(|e| failed(e.to_string()))?.clone();
    let place = |name: &str| {
        let matching = head.iter().position(|h| h == name);
        matching.ok_or_else(|| failed(format!("no column {name}")))
    };
    let (point, number) = (place("point")?, place("replication")?);
    let (reason, outcome) = (place("end_reason")?, place("outcome")?);
    let digest = place("digest")?;
    let names: Arc<Vec<String>> = Arc::new(head.iter().skip(digest + 1).map(str::to_owned).collect());
    let mut rows: Vec<SweepRow> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| failed(e.to_string()))?;
        let wrong = |at: usize| failed(format!("{:?} in column {}", &record[at], &head[at]));
        let cell = |at: usize| match &record[at] {
            "" => Ok(MeasuredMetric::Absent),
            text => text.parse().map(MeasuredMetric::Value).map_err(|_| wrong(at)),
        };
        rows.push(SweepRow {
            point: record[point].parse().map_err(|_| wrong(point))?,
            replication: record[number].parse().map_err(|_| wrong(number))?,
            digest: u64::from_str_radix(&record[digest], 16).map_err(|_| wrong(digest))?,
            end_reason: record[reason].to_owned(),
            outcome: ReplicationOutcome::from_name(&record[outcome]).ok_or_else(|| wrong(outcome))?,
            names: names.clone(),
            values: (digest + 1..head.len()).map(cell).collect::<Result<_, _>>()?,
            warnings: Vec::new(),
            never_placed: None,
        });
    }
    let points = summary["points"].as_array().map_or(&[][..], Vec::as_slice);
    for of in points {
        let own = |row: &&mut SweepRow| of["point"].as_u64() == Some(row.point as u64);
        for (at, name) in names.iter().enumerate() {
            let n = |why: &str| of["metrics"][name][why].as_u64().unwrap_or(0) as usize;
            let why = [
                (MeasuredMetric::Failed, n("failed")),
                (MeasuredMetric::Blocked, n("blocked")),
                (MeasuredMetric::Censored, n("censored")),
            ];
            let mut why = why.into_iter().flat_map(|(m, n)| std::iter::repeat_n(m, n));
            let empty = rows.iter_mut().filter(own);
            for row in empty.filter(|r| r.values[at] == MeasuredMetric::Absent) {
                row.values[at] = why.next().unwrap_or(MeasuredMetric::Absent);
            }
        }
    }
    Ok(rows)
}
