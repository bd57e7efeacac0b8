//! The explanation as JSON, schema `jobset-sim/why/v1`.

use super::Set;
use super::explain::Why;
use super::levers::typed;
use crate::metrics::CriticalSpan;
use serde::Serialize;
use sim_base::*;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Json<'w> {
    schema: &'static str,
    version: &'static str,
    scenario: &'w str,
    seed: u64,
    digest: &'w str,
    /// Kind of the subject: restart, start, pod or none.
    about: &'static str,
    job_set: &'w str,
    restart: Option<Restart>,
    cause: &'w str,
    #[serde(rename = "start_s")]
    start: f64,
    #[serde(rename = "total_s")]
    total: f64,
    ended: bool,
    critical_path: Vec<Span<'w>>,
    binding: Option<Binding<'w>>,
    what_if: Vec<WhatIf<'w>>,
    no_help: Vec<NoHelp<'w>>,
    not_tried: Vec<NotTried<'w>>,
    blocked: Option<Blocked<'w>>,
}

#[derive(Serialize)]
struct Restart {
    number: usize,
    of: usize,
}

#[derive(Serialize)]
struct Span<'w> {
    from_s: f64,
    to_s: f64,
    what: &'w str,
    #[serde(rename = "waitedFor")]
    waited_for: &'w str,
    rule: &'w str,
    phase: &'w str,
}

/// The longest wait, and the change that shortens it most.
#[derive(Serialize)]
struct Binding<'w> {
    name: &'w str,
    time_s: f64,
    lever: Option<&'w str>,
}

#[derive(Serialize)]
struct WhatIf<'w> {
    lever: &'w str,
    set: String,
    saves_s: f64,
    restart_s: f64,
    sets: Vec<String>,
    #[serde(rename = "partsSave_s", skip_serializing_if = "Option::is_none")]
    parts_save: Option<f64>,
}

#[derive(Serialize)]
struct NoHelp<'w> {
    lever: &'w str,
    set: String,
    restart_s: Option<f64>,
}

#[derive(Serialize)]
struct NotTried<'w> {
    lever: &'w str,
    set: String,
    why: &'w str,
}

#[derive(Serialize)]
struct Blocked<'w> {
    object: &'w str,
    condition: &'w str,
    change: Option<Change<'w>>,
}

#[derive(Serialize)]
struct Change<'w> {
    lever: &'w str,
    set: String,
    restart_s: f64,
}

impl<'w> Json<'w> {
    /// Converts an explanation. `quoted` quotes a word for the shell.
    pub fn of(why: &'w Why, quoted: &dyn Fn(&str) -> String) -> Json<'w> {
        let set = |sets: &[Set]| typed(sets, quoted);
        let subject = &why.subject;
        let span = |s: &'w CriticalSpan| Span {
            from_s: s.step.from.since(subject.start).seconds(),
            to_s: s.step.to.since(subject.start).seconds(),
            what: &s.what,
            waited_for: &s.waited_for,
            rule: s.rule,
            phase: s.phase,
        };
        Json {
            schema: "jobset-sim/why/v1",
            version: env!("CARGO_PKG_VERSION"),
            scenario: &why.scenario,
            seed: why.seed,
            digest: &why.digest,
            about: subject.kind,
            job_set: &subject.jobset,
            restart: subject.number.map(|(number, of)| Restart { number, of }),
            cause: &subject.cause,
            start: subject.start.seconds(),
            total: subject.total().seconds(),
            ended: subject.ended,
            critical_path: why.spans.iter().map(span).collect(),
            binding: why.binding.as_ref().map(|b| Binding {
                name: &b.name,
                time_s: b.time.seconds(),
                lever: b.lever.map(|i| why.what_if[i].setting.lever.as_str()),
            }),
            what_if: why
                .what_if
                .iter()
                .map(|w| WhatIf {
                    lever: &w.setting.lever,
                    set: set(&w.setting.sets),
                    saves_s: w.saves.seconds(),
                    restart_s: w.takes.seconds(),
                    sets: w
                        .setting
                        .sets
                        .iter()
                        .map(|(p, v)| format!("{p}={v}"))
                        .collect(),
                    parts_save: w.parts_save.map(Duration::seconds),
                })
                .collect(),
            no_help: why
                .no_help
                .iter()
                .map(|(s, takes)| NoHelp {
                    lever: &s.lever,
                    set: set(&s.sets),
                    restart_s: takes.map(Duration::seconds),
                })
                .collect(),
            not_tried: why
                .not_tried
                .iter()
                .map(|(s, why)| NotTried {
                    lever: &s.lever,
                    set: set(&s.sets),
                    why,
                })
                .collect(),
            blocked: why.blocked.as_ref().map(|b| Blocked {
                object: &b.object,
                condition: &b.condition,
                change: b.change.as_ref().map(|(s, takes)| Change {
                    lever: &s.lever,
                    set: set(&s.sets),
                    restart_s: takes.seconds(),
                }),
            }),
        }
    }
}
