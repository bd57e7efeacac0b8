//! Compares the sequences of `suspend` and of the conditions of the Workload, for each JobSet that Kueue manages.
//!
//! Kueue's scheduler, its reconcilers and the user write concurrently. The order of two changes of different fields is
//! compared only if they are further apart than the tolerance of times. A condition that a concurrent writer sets back
//! to its last value for less than `STALE_S` is not compared.

use super::DecisionRun;
use super::history::condition_status;
use super::sequence::compared_until_s;
use super::time_tolerance::TimeTolerance;
use crate::validate::recording::RecordedRun;
use crate::validate::result::{ComparedMoment, RecordedDifference};
use serde_json::{Value, json};
use sim_base::JobSetId;
use sim_engine::record::{AdmissionNow, RecordNames};
use std::collections::{BTreeMap, BTreeSet};

/// Longest time in seconds until a reconciler corrects a stale condition: its watch event and its request on the
/// recording machine, whose lag is 0.7 s per step in the 99th percentile.
const STALE_S: f64 = 0.7;
const SUSPEND: &str = "suspend";

/// Values of one field without repetitions, each with its start time in seconds.
type FieldValues = Vec<(f64, String)>;

/// The values of `suspend` and of each condition, as status and reason.
#[derive(Clone, Debug, Default, PartialEq)]
struct AdmissionFields(BTreeMap<String, FieldValues>);

impl AdmissionFields {
    fn set(&mut self, at_s: f64, field: &str, value: String) {
        let values = self.0.entry(field.to_owned()).or_default();
        if values.last().is_none_or(|(_, last)| *last != value) {
            values.push((at_s, value));
        }
    }

    /// Removes values that a concurrent writer set back and that were corrected at once: a, b, a, b becomes a, b.
    fn without_stale_writes(mut self) -> AdmissionFields {
        for values in self.0.iter_mut().filter(|(field, _)| *field != SUSPEND).map(|(_, values)| values) {
            let mut i = 0;
            while i + 3 < values.len() {
                let is_set_back = values[i].1 == values[i + 2].1 && values[i + 1].1 == values[i + 3].1;
                if is_set_back && values[i + 3].0 - values[i + 2].0 < STALE_S {
                    values.drain(i + 2..i + 4);
                } else {
                    i += 1;
                }
            }
        }
        self
    }
}

/// Collects the fields of all JobSets in a run. Times count from its start.
#[derive(Default)]
pub struct AdmissionHistory(BTreeMap<JobSetId, AdmissionFields>);

impl AdmissionHistory {
    pub fn add(&mut self, now: &AdmissionNow) {
        let (at_s, fields) = (now.at.seconds(), self.0.entry(now.jobset).or_default());
        fields.set(at_s, SUSPEND, now.suspended.to_string());
        for condition in now.workload.iter().flat_map(|workload| &workload.status.conditions) {
            let value = format!("{} {}", condition_status(condition.status), condition.reason);
            fields.set(at_s, condition.kind.as_str(), value);
        }
    }

    fn by_name(&self, names: &RecordNames, created_s: f64) -> BTreeMap<String, AdmissionFields> {
        let named = |(jobset, fields): (&JobSetId, &AdmissionFields)| {
            let mut fields = fields.clone().without_stale_writes();
            fields.0.values_mut().flatten().for_each(|(at_s, _)| *at_s -= created_s);
            (names.jobset(*jobset).to_owned(), fields)
        };
        self.0.iter().map(named).collect()
    }
}

/// Returns the recorded fields by JobSet. Conditions are rows of type, status, reason and message.
fn recorded_fields(recording: &RecordedRun) -> BTreeMap<String, AdmissionFields> {
    let mut all: BTreeMap<String, AdmissionFields> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for entry in &recording.log {
        let at_s = entry.at_ms as f64 / 1e3;
        match (entry.kind.as_str(), entry.what.as_str()) {
            ("JobSetSpec", SUSPEND) => {
                all.entry(entry.name.clone()).or_default().set(at_s, SUSPEND, text(&entry.detail))
            }
            ("Workload", "state") => {
                let fields = all.entry(entry.name.clone()).or_default();
                for row in entry.detail["conditions"].as_array().into_iter().flatten() {
                    fields.set(at_s, &text(&row[0]), format!("{} {}", text(&row[1]), text(&row[2])));
                }
            }
            _ => {}
        }
    }
    all.into_iter().map(|(name, fields)| (name, fields.without_stale_writes())).collect()
}

/// A change on both sides: its field, its value, and its recorded and simulated time in seconds.
struct MatchedChange<'a> {
    field: &'a str,
    value: &'a str,
    recorded_s: f64,
    simulated_s: f64,
}

/// Pairs the nth value of a field with the nth, up to the first one that differs.
fn matched<'a>(recorded: &'a AdmissionFields, simulated: &'a AdmissionFields) -> Vec<MatchedChange<'a>> {
    let mut changes = Vec::new();
    for (field, values) in &recorded.0 {
        let pairs = values.iter().zip(simulated.0.get(field).into_iter().flatten()).take_while(|(r, s)| r.1 == s.1);
        let change = |(r, s): (&'a (f64, String), &(f64, String))| MatchedChange {
            field,
            value: &r.1,
            recorded_s: r.0,
            simulated_s: s.0,
        };
        changes.extend(pairs.map(change));
    }
    changes
}

/// Reports the first value of each field that differs, and changes in another order.
pub fn compare(recording: &RecordedRun, run: &DecisionRun<'_>, out: &mut Vec<RecordedDifference>) {
    let simulated = run.admissions.by_name(run.names, run.history.created_s());
    let (until_s, tolerance) = (compared_until_s(recording), TimeTolerance::new(recording));
    for (name, recorded) in &recorded_fields(recording) {
        let none = AdmissionFields::default();
        let simulated = simulated.get(name).unwrap_or(&none);
        for field in recorded.0.keys().chain(simulated.0.keys()).collect::<BTreeSet<&String>>() {
            let [r, s] = [recorded, simulated].map(|side| side.0.get(field).map_or(&[][..], Vec::as_slice));
            let differs = |i: &usize| r.get(*i).map(|r| &r.1) != s.get(*i).map(|s| &s.1);
            let Some(i) = (0..r.len().max(s.len())).find(differs) else { continue };
            if r.get(i).or(s.get(i)).is_some_and(|(at_s, _)| *at_s <= until_s) {
                let text = |side: &[(f64, String)]| json!(side.get(i).map(|(_, value)| value));
                out.push(RecordedDifference::new(format!("admission {name} {field}[{i}]"), text(r), text(s)));
            }
        }
        compare_order(name, &matched(recorded, simulated), tolerance, out);
    }
}

/// Reports the first two changes of different fields whose order differs although they are far apart.
fn compare_order(
    name: &str, changes: &[MatchedChange<'_>], tolerance: TimeTolerance, out: &mut Vec<RecordedDifference>,
) {
    let pairs = changes.iter().flat_map(|a| changes.iter().map(move |b| (a, b)));
    let is_reversed = |(a, b): &(&MatchedChange<'_>, &MatchedChange<'_>)| {
        let (recorded_s, simulated_s) = (b.recorded_s - a.recorded_s, b.simulated_s - a.simulated_s);
        let band_s = tolerance.band_s(b.recorded_s);
        a.field != b.field && ((recorded_s > band_s && simulated_s < 0.0) || (simulated_s > band_s && recorded_s < 0.0))
    };
    if let Some((a, b)) = pairs.filter(is_reversed).min_by(|x, y| x.0.recorded_s.total_cmp(&y.0.recorded_s)) {
        let text = |c: &MatchedChange<'_>| format!("{}={}", c.field, c.value);
        let order = |first: bool| json!(if first { [text(a), text(b)] } else { [text(b), text(a)] });
        let path = format!("admission {name} order");
        out.push(RecordedDifference::new(
            path,
            order(a.recorded_s < b.recorded_s),
            order(a.simulated_s < b.simulated_s),
        ));
    }
}

/// Returns the instants of all changes that both sides have.
pub fn moments(recording: &RecordedRun, run: &DecisionRun<'_>) -> Vec<ComparedMoment> {
    let simulated = run.admissions.by_name(run.names, run.history.created_s());
    let mut moments = Vec::new();
    for (name, recorded) in recorded_fields(recording) {
        let none = AdmissionFields::default();
        let changes = matched(&recorded, simulated.get(&name).unwrap_or(&none));
        let other_jobset = Some(name.clone()).filter(|name| name != recording.jobset_name());
        moments.extend(changes.iter().map(|change| {
            let what = format!("admission of {name}: {}={}", change.field, change.value);
            let moment = ComparedMoment::new(what, Some(change.recorded_s), Some(change.simulated_s));
            ComparedMoment { other_jobset: other_jobset.clone(), ..moment }
        }));
    }
    moments
}

#[cfg(test)]
#[path = "../../../../tests/inside/recordings/validate/decisions/admissions.rs"]
mod tests;
