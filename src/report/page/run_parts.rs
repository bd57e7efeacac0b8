//! The sections of the page of a run, each as blocks.

use super::run::Told;
use super::{Block, Chart, Table, heads};
use crate::base::*;
use crate::metrics::critical::{self, Group};
use crate::metrics::{Phase, Restart, RunView, gate};
use crate::record::{LedgerCategory, ResourceUsage};
use crate::report::deciding::deciders;
use crate::report::timeline::closely;
use crate::report::words::{self, count, seconds, thousands};
use crate::report::{map_figure, timeline, timeline_figure};
use crate::report::{provenance, story as lines, text, training as trained, waterfall};
use crate::report::{waterfall::Style, waterfall_figure};

/// Of a chart in a page.
pub const SIZE: (u32, u32) = (1600, 700);

pub fn waterfalls(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let below = provenance::foot(run, &[r], told.defaults);
        let title = waterfall::title(run, r, i + 1);
        blocks.push(Block::Chart(Chart {
            name: format!("waterfall-{}", i + 1),
            alt: format!("{title}. {}", waterfall::longest(run, r)),
            scene: waterfall_figure::waterfall(run, r, i + 1, &below, SIZE),
        }));
    }
    blocks
}

/// Lanes of pods and queues, and the chart of the pods for where nobody zooms.
pub fn over_time(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let lanes = timeline::timeline(run, told.pods, told.queued);
    let alt = timeline::alt(&lanes);
    let below = [provenance::of_run(run)];
    let charts = timeline_figure::charts(run, &lanes, &below, SIZE);
    let Some((name, scene)) = charts.into_iter().next() else {
        return Vec::new();
    };
    let chart = Chart {
        name: name.to_owned(),
        alt,
        scene,
    };
    vec![Block::Timeline(Box::new(lanes), chart)]
}

pub fn maps(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let below = [provenance::of_run(run)];
        let Some(scene) = map_figure::of_restart(run, told.pods, (i, r), &below, SIZE) else {
            continue;
        };
        blocks.push(Block::Chart(Chart {
            name: format!("map-{}", i + 1),
            alt: format!(
                "The nodes of the cluster, before and after restart {}",
                i + 1
            ),
            scene,
        }));
    }
    blocks
}

/// The same walk as that of `why`, in the same words.
pub fn paths(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    for (i, r) in closely(run) {
        let spans = critical::spans(run, told.witness, &r.path, Some(r));
        if spans.is_empty() {
            continue;
        }
        let groups = critical::groups(&spans, r.total());
        let rows = groups.iter().map(|group| row(group, r)).collect();
        blocks.push(Block::Heading(waterfall::title(run, r, i + 1)));
        let sum = Duration(spans.iter().map(|s| s.step.duration().0).sum());
        blocks.push(Block::Text(format!(
            "The waits that followed each other from the fault to the end, without a gap: {}, together {}. Whatever is \
             not here did not make it longer.",
            count(spans.len() as u64, "span"),
            seconds(sum)
        )));
        blocks.push(Block::Table(Table {
            head: heads(&[
                "from",
                "took",
                "phase",
                "what went on",
                "what it waited for",
                "rule",
            ]),
            numbers: &[0, 1],
            rows,
            open: 0,
        }));
    }
    if !blocks.is_empty() {
        blocks.push(Block::Text(
            "jobset-sim why tries what would have been different.".to_owned(),
        ));
    }
    blocks
}

fn row(group: &Group<'_>, r: &Restart) -> Vec<String> {
    let first = group.spans[0];
    let from = seconds(first.step.from.since(r.start));
    let took = seconds(group.time());
    match group.long {
        Some(span) => {
            let n = group.spans.len();
            let mut waited = span.waited_for.clone();
            if n > 1 {
                let longest = seconds(span.step.duration());
                waited.push_str(&format!("; the longest of {n} spans, {longest}"));
            }
            let cells = [&from, &took, span.phase, &span.what, &waited, span.rule];
            cells.map(str::to_owned).to_vec()
        }
        None => {
            let n = words::short_spans(&group.spans, r.total());
            let cells = [&from, &took, first.phase, &n, "", ""];
            cells.map(str::to_owned).to_vec()
        }
    }
}

pub fn restarts(run: &RunView<'_>) -> Vec<Block> {
    let all = run.restarts();
    if all.len() < 2 {
        return Vec::new();
    }
    let used = |p: &&Phase| {
        all.iter()
            .any(|r| r.phases()[**p as usize] > Duration::ZERO)
    };
    let phases: Vec<Phase> = Phase::ALL.iter().filter(used).copied().collect();
    let mut head = vec!["", "JobSet", "strategy", "cause", "at", "total"];
    head.extend(phases.iter().map(|p| p.as_str()));
    head.push("waited longest for");
    let row = |(i, r): (usize, &Restart)| {
        let mut row = vec![
            (i + 1).to_string(),
            run.names.jobset(r.jobset).to_owned(),
            run.strategy(r).to_owned(),
            words::cause(run, &r.cause),
            r.start.to_string(),
            match r.latency() {
                Some(_) => seconds(r.total()),
                None => format!("{} ({})", seconds(r.total()), r.ending.as_str()),
            },
        ];
        row.extend(phases.iter().map(|p| seconds(r.phases()[*p as usize])));
        let gates = gate::bottleneck(run, r);
        row.push(gates.first().map_or(String::new(), |g| g.name.clone()));
        row
    };
    vec![Block::Table(Table {
        head: heads(&head),
        numbers: &[0, 4, 5, 6, 7, 8, 9, 10, 11],
        rows: all.iter().enumerate().map(row).collect(),
        open: 20,
    })]
}

pub fn training(run: &RunView<'_>) -> Vec<Block> {
    if run.outcome.training.is_empty() {
        return Vec::new();
    }
    let mut text = String::new();
    trained::training(&mut text, run, &Style::default());
    vec![Block::Code(text)]
}

pub fn control_plane(run: &RunView<'_>) -> Vec<Block> {
    let outcome = run.outcome;
    let gating = gate::bottlenecks(run.restarts());
    let whole = [(Time::ZERO, outcome.end)];
    let during: Vec<(Time, Time)> = run.restarts().iter().map(|r| (r.start, r.end)).collect();
    let share = |u: &ResourceUsage, of: &[(Time, Time)]| match of.is_empty() {
        true => "-".to_owned(),
        false => format!("{:.0} %", text::busy_share(u, of)),
    };
    let used = outcome.resources.iter().filter(|u| u.requests > 0);
    let rows: Vec<Vec<String>> = used
        .map(|u| {
            vec![
                u.resource.as_str().to_owned(),
                u.capacity.clone(),
                thousands(u.requests),
                share(u, &whole),
                share(u, &during),
                thousands(u64::from(u.longest_queue)),
                match gating.contains(&u.resource) {
                    true => "bottleneck".to_owned(),
                    false => String::new(),
                },
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut requests = outcome.requests.clone();
    requests.sort_by_key(|r| std::cmp::Reverse(r.count));
    let request = |r: &crate::record::RequestCount| {
        vec![
            r.client.to_owned(),
            format!("{} {}", r.verb, r.resource),
            match r.code {
                "" => "ok".to_owned(),
                code => code.to_owned(),
            },
            thousands(r.count),
            thousands(r.since_restart),
            seconds(r.first.since(Time::ZERO)),
            seconds(r.last.since(Time::ZERO)),
        ]
    };
    vec![
        Block::Text("Busy: the share of the time in which somebody waited for it.".to_owned()),
        Block::Table(Table {
            head: heads(&[
                "shared resource",
                "capacity",
                "requests",
                "busy",
                "busy in restarts",
                "longest queue",
                "",
            ]),
            numbers: &[2, 3, 4, 5],
            rows,
            open: 0,
        }),
        Block::Heading("Requests per client".to_owned()),
        Block::Table(Table {
            head: heads(&[
                "client",
                "request",
                "answer",
                "count",
                "since the first restart",
                "first",
                "last",
            ]),
            numbers: &[3, 4, 5, 6],
            rows: requests.iter().map(request).collect(),
            open: 12,
        }),
    ]
}

pub fn ledger(run: &RunView<'_>) -> Vec<Block> {
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
            format!("{:.3} %", ns as f64 / all as f64 * 100.0),
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
    let cost = match priced {
        true => format!(
            " Costs are in {}, at the prices of the topology.",
            ledger.currency
        ),
        false => String::new(),
    };
    vec![
        Block::Text(format!(
            "Each of the {n} is in one category at each instant; the sum is exactly installed accelerators times the \
             length of the run.{cost}"
        )),
        Block::Table(Table {
            head: heads(&head),
            numbers: &[1, 2, 3],
            rows: ledger.categories().iter().filter(own).map(row).collect(),
            open: 0,
        }),
    ]
}

pub fn story(run: &RunView<'_>) -> Vec<Block> {
    let mut rows: Vec<Vec<String>> = lines::lines(run)
        .into_iter()
        .map(|(at, text)| vec![at.to_string(), text])
        .collect();
    if run.folded.story.left_out > 0 {
        let more = words::count(run.folded.story.left_out, "line");
        rows.push(vec![String::new(), format!("... and {more} more")]);
    }
    rows.push(vec![
        run.outcome.end.to_string(),
        lines::ending(run).to_owned(),
    ]);
    vec![Block::Table(Table {
        head: heads(&["at", "what"]),
        numbers: &[0],
        rows,
        open: 40,
    })]
}

pub fn events(run: &RunView<'_>) -> Vec<Block> {
    let jobsets = (0..run.names.jobsets.len() as u32).map(JobSetId);
    let all = jobsets.chain([JobSetId::NONE]);
    let rows: Vec<Vec<String>> = all
        .flat_map(|jobset| run.folded.events.of(jobset))
        .map(|e| {
            let of = match e.jobset.is_some() {
                true => run.names.jobset(e.jobset),
                false => "",
            };
            let kind = if e.warning { "Warning" } else { "Normal" };
            let reason = run.names.text(e.reason);
            [of, kind, reason, &thousands(e.count)]
                .map(str::to_owned)
                .to_vec()
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table {
        head: heads(&["JobSet", "type", "reason", "count"]),
        numbers: &[3],
        rows,
        open: 30,
    })]
}

pub fn assumptions(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let all: Vec<_> = run.restarts().iter().collect();
    let found = deciders(run, &all, told.defaults);
    let total: u64 = all.iter().map(|r| r.path.total().0).sum();
    let rows: Vec<Vec<String>> = found
        .into_iter()
        .map(|d| {
            let share = d.time.0 as f64 / (total as f64).max(1.0) * 100.0;
            let share = match d.time {
                Duration::ZERO => "takes no time here".to_owned(),
                _ => format!("{share:.0} %"),
            };
            vec![
                d.name.to_owned(),
                d.value,
                share,
                d.confidence,
                d.source,
                d.id,
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Text(
            "What the restarts' time hangs on, by the share of their critical paths that waited for it. Confidence: \
             documented (read in source code or its documentation), measured, derived, unverified (an estimate), \
             given (by the inputs), assumed."
                .to_owned(),
        ),
        Block::Table(Table {
            head: heads(&["assumption", "value", "share of the path", "confidence", "source", "field"]),
            numbers: &[2],
            rows,
            open: 0,
        }),
    ]
}

/// What no run has: said in every report.
pub const NOT_MODELLED: [&str; 6] = [
    "Networks: links have no speed, and nothing is congested.",
    "Storage: checkpoints take the time that the scenario says, however many write at once.",
    "Images: they are on the nodes, nobody pulls.",
    "The API server itself: latencies and client limits, no priority and fairness, no etcd, no failures of its own.",
    "Scores of the scheduler, preemption, Kueue, autoscaling.",
    "People: nobody looks into it unless the scenario says so.",
];

pub fn limits(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks = Vec::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            blocks.push(Block::Heading(title.to_owned()));
            blocks.push(Block::List(lines));
        }
    };
    list("What can never go on", run.outcome.stuck.clone());
    list("Suspended at the end", text::suspended(run));
    list("Warnings", run.outcome.warnings.clone());
    let one =
        "One run under one seed is a trace, not a result: --seeds N tells how far chance moves it.";
    list("How far to generalize", vec![one.to_owned()]);
    list(
        "Assumed of containers",
        crate::report::assumed::containers(run.scenario),
    );
    list(
        "Fields of the inputs that are not modelled",
        run.not_modelled.to_vec(),
    );
    list(
        "Objects of the inputs that were not played",
        told.skipped.to_vec(),
    );
    list("Never modelled", NOT_MODELLED.map(str::to_owned).to_vec());
    blocks
}

pub fn again(told: &Told<'_>) -> Vec<Block> {
    let run = &told.run;
    let mut blocks: Vec<Block> = told.commands.iter().cloned().map(Block::Code).collect();
    let facts = text::facts(run).into_iter();
    blocks.push(Block::Table(Table {
        head: heads(&["", "what was played"]),
        numbers: &[],
        rows: facts
            .map(|(label, text)| vec![label.to_owned(), text])
            .collect(),
        open: 0,
    }));
    blocks.push(Block::Text(format!(
        "The same inputs and seed give the same digest, {}, on every machine.",
        run.digest()
    )));
    blocks
}
