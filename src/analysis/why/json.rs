//! The explanation as JSON, schema `jobset-sim/why/v1`.

use super::OverrideSetter;
use super::blocked::{PastAdmission, PendingAdmission};
use super::explain::{DrawShare, WhyExplanation};
use super::idle_domains::IdleDomains;
use super::levers::typed;
use crate::metrics::CriticalSpan;
use serde::Serialize;
use sim_base::Duration;
use sim_engine::record::PendingPods;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyJson<'w> {
    schema: &'static str,
    version: &'static str,
    scenario: &'w str,
    seed: u64,
    digest: &'w str,
    /// Kind of the subject: restart, start, pod or none.
    about: &'static str,
    job_set: &'w str,
    restart: Option<JsonRestart>,
    cause: &'w str,
    /// Time of the cause, which can precede the start.
    #[serde(rename = "causedAt_s")]
    caused_at: f64,
    #[serde(rename = "start_s")]
    start: f64,
    #[serde(rename = "total_s")]
    total: f64,
    ended: bool,
    critical_path: Vec<JsonSpan<'w>>,
    binding: Option<JsonBinding<'w>>,
    what_if: Vec<JsonWhatIf<'w>>,
    no_help: Vec<NoHelp<'w>>,
    not_tried: Vec<NotTried<'w>>,
    blocked: Option<JsonBlocked<'w>>,
    /// Other JobSets that failed or are blocked.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    others_lost: &'w [String],
    /// The longest wait for quota that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    admission: Option<&'w PastAdmission>,
    /// Whole domains that stay free while pods wait for a node.
    idle_domains: Option<&'w IdleDomains>,
    placement: &'w [PendingPods],
}

#[derive(Serialize)]
struct JsonRestart {
    number: usize,
    of: usize,
}

#[derive(Serialize)]
struct JsonSpan<'w> {
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
struct JsonBinding<'w> {
    name: &'w str,
    time_s: f64,
    lever: Option<&'w str>,
}

#[derive(Serialize)]
struct JsonWhatIf<'w> {
    lever: &'w str,
    set: String,
    saves_s: f64,
    restart_s: f64,
    /// Whether the restart does not occur.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    sets: Vec<String>,
    #[serde(rename = "partsSave_s", skip_serializing_if = "Option::is_none")]
    parts_save: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<DrawShare>,
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
struct JsonBlocked<'w> {
    object: &'w str,
    condition: &'w str,
    #[serde(skip_serializing_if = "Option::is_none")]
    admission: Option<&'w PendingAdmission>,
    change: Option<JsonChange<'w>>,
    /// Whether the JobSet is unfinished at the end of the run with the change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unfinished: bool,
}

#[derive(Serialize)]
struct JsonChange<'w> {
    lever: &'w str,
    set: String,
    restart_s: f64,
}

impl<'w> WhyJson<'w> {
    /// Converts an explanation. `quoted` quotes a word for the shell.
    pub fn new(why: &'w WhyExplanation, quoted: &dyn Fn(&str) -> String) -> WhyJson<'w> {
        let set = |sets: &[OverrideSetter]| typed(sets, quoted);
        let subject = &why.subject;
        let span = |s: &'w CriticalSpan| JsonSpan {
            from_s: s.step.from.since(subject.start).seconds(),
            to_s: s.step.to.since(subject.start).seconds(),
            what: &s.what,
            waited_for: &s.waited_for,
            rule: s.rule,
            phase: s.phase,
        };
        WhyJson {
            schema: "jobset-sim/why/v1",
            version: env!("CARGO_PKG_VERSION"),
            scenario: &why.scenario,
            seed: why.seed,
            digest: &why.digest,
            about: subject.kind,
            job_set: &subject.jobset,
            restart: subject.number.map(|(number, of)| JsonRestart { number, of }),
            cause: &subject.cause,
            caused_at: subject.caused_at.seconds(),
            start: subject.start.seconds(),
            total: subject.total().seconds(),
            ended: subject.ended,
            critical_path: why.spans.iter().map(span).collect(),
            binding: why.binding.as_ref().map(|b| JsonBinding {
                name: &b.name,
                time_s: b.time.seconds(),
                lever: b.lever.map(|i| why.what_if[i].setting.lever.as_str()),
            }),
            what_if: why
                .what_if
                .iter()
                .map(|w| JsonWhatIf {
                    lever: &w.setting.lever,
                    set: set(&w.setting.sets),
                    saves_s: w.saves.seconds(),
                    restart_s: w.takes.seconds(),
                    removed: w.is_removed,
                    sets: w.setting.sets.iter().map(|(p, v)| format!("{p}={v}")).collect(),
                    parts_save: w.parts_save.map(Duration::seconds),
                    draws: w.draws,
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
                .map(|(s, why)| NotTried { lever: &s.lever, set: set(&s.sets), why })
                .collect(),
            others_lost: &why.others_lost,
            admission: why.admission.as_ref(),
            idle_domains: why.idle_domains.as_ref(),
            blocked: why.blocked.as_ref().map(|b| JsonBlocked {
                object: &b.object,
                condition: &b.condition,
                admission: b.admission.as_ref(),
                unfinished: b.is_unfinished,
                change: b.change.as_ref().map(|(s, takes)| JsonChange {
                    lever: &s.lever,
                    set: set(&s.sets),
                    restart_s: takes.seconds(),
                }),
            }),
            placement: &why.placement,
        }
    }
}
