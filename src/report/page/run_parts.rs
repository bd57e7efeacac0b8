//! Tables on the page of a run.

use super::PageBlock;
use super::reproduce::ReproductionSteps;
use super::run_input::RunInputText;
use crate::assumptions::{dominant, provenance};
use crate::console::{admission as admitted, main_events as lines, text, training as trained};
use crate::table::Table;
use crate::{assumptions::sensitivity, assumptions::sensitivity::SensitiveResult, console::waterfall::WaterfallStyle};
use sim_analysis::format;
use sim_analysis::format::{count, seconds, thousands};
use sim_analysis::metrics::admission::JobSetAdmission;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::{Phase, RestartMetrics, RunView, assumed};
use sim_base::{Duration, JobSetId, SimTime};
use sim_engine::record::{LedgerCategory, ResourceUsage};

pub fn restarts(run: &RunView<'_>) -> Vec<PageBlock> {
    let all = run.restarts();
    if all.len() < 2 {
        return Vec::new();
    }
    let used = |p: &&Phase| all.iter().any(|r| r.phases()[**p as usize] > Duration::ZERO);
    let phases: Vec<Phase> = Phase::ALL.iter().filter(used).copied().collect();
    let mut head = vec!["", "JobSet", "strategy", "cause", "at", "total"];
    head.extend(phases.iter().map(|p| p.as_str()));
    head.push("longest wait");
    let row = |(i, r): (usize, &RestartMetrics)| {
        let mut row = vec![
            (i + 1).to_string(),
            run.names.jobset(r.jobset).to_owned(),
            run.strategy(r).to_owned(),
            format::cause(run, &r.cause),
            r.caused_at.to_string(),
            match r.latency() {
                Some(_) => seconds(r.total()),
                None => format!("{} ({})", seconds(r.total()), r.ending.as_str()),
            },
        ];
        row.extend(phases.iter().map(|p| seconds(r.phases()[*p as usize])));
        let gates = bottleneck::restart_bottlenecks(run, r);
        row.push(gates.first().map_or(String::new(), |g| g.name.clone()));
        row
    };
    vec![PageBlock::Table(
        Table::new(head.iter().copied())
            .with_number_columns(&[0, 4, 5, 6, 7, 8, 9, 10, 11])
            .with_rows(all.iter().enumerate().map(row))
            .with_initial_rows(20),
    )]
}

pub fn training(run: &RunView<'_>) -> Vec<PageBlock> {
    if run.outcome.training.is_empty() {
        return Vec::new();
    }
    let mut text = String::new();
    trained::training(&mut text, run, &WaterfallStyle::default());
    vec![PageBlock::Code(text)]
}

pub fn control_plane(run: &RunView<'_>) -> Vec<PageBlock> {
    let outcome = run.outcome;
    let gating = bottleneck::bottlenecks(run.restarts());
    let complete = [(SimTime::ZERO, outcome.end)];
    let during: Vec<(SimTime, SimTime)> = run.restarts().iter().map(|r| (r.start, r.end)).collect();
    let share = |u: &ResourceUsage, of: &[(SimTime, SimTime)]| {
        if of.is_empty() { "-".to_owned() } else { format::percent(text::busy_share(u, of), 0) }
    };
    let used = outcome.resources.iter().filter(|u| u.requests > 0);
    let rows: Vec<Vec<String>> = used
        .map(|u| {
            vec![
                u.resource.as_str().to_owned(),
                u.capacity.clone(),
                thousands(u.requests),
                share(u, &complete),
                share(u, &during),
                thousands(u64::from(u.longest_queue)),
                if gating.contains(&u.resource) { "bottleneck".to_owned() } else { String::new() },
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut requests = outcome.requests.clone();
    requests.sort_by_key(|r| std::cmp::Reverse(r.count));
    let request = |r: &sim_engine::record::RequestCount| {
        vec![
            r.client.to_owned(),
            format!("{} {}", r.verb, r.resource),
            match r.code {
                "" => "ok".to_owned(),
                code => code.to_owned(),
            },
            thousands(r.count),
            thousands(r.since_restart),
            seconds(r.first.since(SimTime::ZERO)),
            seconds(r.last.since(SimTime::ZERO)),
        ]
    };
    vec![
        PageBlock::Text("Busy: share of time with a non-empty queue.".to_owned()),
        PageBlock::Table(
            Table::new(["shared resource", "capacity", "requests", "busy", "busy in restarts", "longest queue", ""])
                .with_number_columns(&[2, 3, 4, 5])
                .with_rows(rows),
        ),
        PageBlock::Heading("Requests per client".to_owned()),
        PageBlock::Table(
            Table::new(["client", "request", "response", "count", "since the first restart", "first", "last"])
                .with_number_columns(&[3, 4, 5, 6])
                .with_rows(requests.iter().map(request))
                .with_initial_rows(12),
        ),
    ]
}

pub fn ledger(run: &RunView<'_>) -> Vec<PageBlock> {
    let ledger = &run.outcome.ledger;
    let all: u128 = ledger.accelerator_ns.iter().sum();
    if all == 0 {
        return Vec::new();
    }
    let priced = ledger.cost_micros.iter().any(|c| *c > 0);
    let own = |c: &&LedgerCategory| ledger.accelerator_ns[**c as usize] > 0;
    let row = |c: &LedgerCategory| {
        let ns = ledger.accelerator_ns[*c as usize];
        let mut row = vec![
            c.as_str().to_owned(),
            format!("{:.2}", ns as f64 / 3.6e12),
            format::percent(ns as f64 / all as f64, 3),
        ];
        if priced {
            let micros = ledger.cost_micros[*c as usize];
            row.push(format!("{:.2}", micros as f64 / 1e6));
        }
        row
    };
    let mut head = vec!["category", "accelerator-hours", "share"];
    head.extend(priced.then_some("cost"));
    let n = count(ledger.accelerators, "accelerator");
    let cost = if priced {
        let hours = format!("{:.2} accelerator-hours", ledger.not_billed_ns as f64 / 3.6e12);
        let free = format!(", except for {hours} of on-demand machines that did not exist");
        let free = if ledger.not_billed_ns > 0 { free } else { String::new() };
        format!(" Costs are in {}, at the prices of the topology{free}.", ledger.currency)
    } else {
        String::new()
    };
    vec![
        PageBlock::Text(format!(
            "Each of the {n} is in exactly one category at any time; the sum equals the number of installed accelerators \
             times the duration of the run.{cost}"
        )),
        PageBlock::Table(
            Table::new(head.iter().copied())
                .with_number_columns(&[1, 2, 3])
                .with_rows(ledger.categories().iter().filter(own).map(row)),
        ),
    ]
}

pub fn main_event_blocks(run: &RunView<'_>) -> Vec<PageBlock> {
    let mut rows: Vec<Vec<String>> =
        lines::event_lines(run).into_iter().map(|(at, text)| vec![at.to_string(), text]).collect();
    if run.folded.story.left_out > 0 {
        let more = format::count(run.folded.story.left_out, "line");
        rows.push(vec![String::new(), format!("... and {more} more")]);
    }
    rows.push(vec![run.outcome.end.to_string(), lines::end_reason_sentence(run).to_owned()]);
    vec![PageBlock::Table(Table::new(["at", "what"]).with_number_columns(&[0]).with_rows(rows).with_initial_rows(40))]
}

/// Returns the waits for quota, reservations, evictions and preemptions of each JobSet that Kueue manages.
pub fn admission(run: &RunView<'_>) -> Vec<PageBlock> {
    let all = &run.folded.admission.job_sets;
    if all.is_empty() {
        return Vec::new();
    }
    let row = |own: &JobSetAdmission| {
        let sentences = admitted::sentences(run, own).join("; ");
        let evictions = thousands(own.evictions.len() as u64);
        let wait = format!("{:.1}", own.total_wait(run.outcome.end).seconds());
        vec![run.names.jobset(own.jobset).to_owned(), wait, evictions, sentences]
    };
    let table = Table::new(["JobSet", "wait (s)", "evictions", "admission"])
        .with_number_columns(&[1, 2])
        .with_rows(all.iter().map(row))
        .with_initial_rows(30);
    let loops = run.preemption_loops().into_iter().map(|found| PageBlock::Text(format!("{found}.")));
    loops.chain([PageBlock::Table(table)]).collect()
}

pub fn events(run: &RunView<'_>) -> Vec<PageBlock> {
    let jobsets = (0..run.names.jobsets.len() as u32).map(JobSetId);
    let all = jobsets.chain([JobSetId::NONE]);
    let rows: Vec<Vec<String>> = all
        .flat_map(|jobset| run.folded.events.for_jobset(jobset))
        .map(|e| {
            let of = if e.jobset.is_some() { run.names.jobset(e.jobset) } else { "" };
            let kind = if e.warning { "Warning" } else { "Normal" };
            let reason = run.names.text(e.reason);
            [of, kind, reason, &thousands(e.count)].map(str::to_owned).to_vec()
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![PageBlock::Table(
        Table::new(["JobSet", "type", "reason", "count"])
            .with_number_columns(&[3])
            .with_rows(rows)
            .with_initial_rows(30),
    )]
}

pub fn assumptions(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let all: Vec<_> = run.restarts().iter().collect();
    sensitivity::blocks(&[SensitiveResult::from_restarts("", run, &all, view.defaults)])
}

/// Limits of the model that apply to every run. They are listed in every report.
pub const NOT_MODELLED: [&str; 6] = [
    "Networks: link bandwidth and congestion, except for the steps of training jobs with communication.",
    "Storage: checkpoints take the configured time, regardless of the number of concurrent writers.",
    "Images: cached on all nodes, without pulls.",
    "API server internals: priority and fairness, etcd and API server failures. Latencies and client rate limits are modelled.",
    "Autoscaling and workload-aware scheduling; scheduler scores of pods without terms about other pods.",
    "Operators: no manual intervention, except for actions in the scenario.",
];

pub fn limits(view: &RunInputText<'_>) -> Vec<PageBlock> {
    let run = &view.run;
    let mut blocks = Vec::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            blocks.push(PageBlock::Heading(title.to_owned()));
            blocks.push(PageBlock::List(lines));
        }
    };
    let (stuck, overtaken) = run.outcome.blocked_and_unfinished();
    list("Permanently blocked", stuck);
    list("Not ready at the end", overtaken);
    list("Suspended at the end", run.suspended());
    list("Warnings", run.outcome.warnings.clone());
    let one = "A single run with one seed is one sample. Use --seeds N to estimate the spread.";
    list("Generalization", vec![one.to_owned()]);
    list("Container assumptions", assumed::containers(run.scenario).lines());
    list("Input fields that are not modelled", run.not_modelled.to_vec());
    list("Input objects that were not simulated", view.skipped.to_vec());
    list("Not modelled in any run", NOT_MODELLED.map(str::to_owned).to_vec());
    blocks
}

pub fn reproduction(view: &RunInputText<'_>) -> ReproductionSteps {
    let run = &view.run;
    let mut all = ReproductionSteps::new(view.commands, &[provenance::run_provenance(run)], view.inputs);
    let facts = text::header_entries(run).into_iter();
    all.facts.extend(facts.map(|(label, text)| (label.to_owned(), text)));
    let restarts: Vec<_> = run.restarts().iter().collect();
    all.assumptions = dominant::dominant_assumptions(run, &restarts, view.defaults);
    all.notes.push(format!("The same inputs and seed give the same digest, {}, on every machine.", run.digest()));
    all
}
