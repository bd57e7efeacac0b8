//! The report page of one run: the main result, the restarts in detail, the events and the caveats.
//!
//! All times come from the folds and critical paths of the run and are not computed here.

pub use super::run_input::RunInputText;
use super::{KeyFigure, PageSection, ReportPage};
use super::{run_charts as charts, run_parts as parts};
use crate::{assumptions::provenance, console::waterfall};
use sim_analysis::format;
use sim_analysis::format::{count, seconds};
use sim_analysis::metrics::restarts::restart;
use sim_analysis::metrics::restarts::waits::WaitKind;
use sim_analysis::metrics::{RestartMetrics, RestartOutcome, RunView};
use sim_engine::record::LedgerCategory;
use std::fmt::Write;

pub fn page(view: &RunInputText<'_>) -> ReportPage {
    let run = &view.run;
    let mut page = ReportPage {
        kicker: format!("jobset-sim report: {}", run.scenario.name),
        title: title(run),
        lead: lead(run),
        figures: figures(run),
        sections: Vec::new(),
        provenance_lines: vec![provenance::run_provenance(run)],
    };
    let mut section = |id, title, blocks| page.push(PageSection::new(id, title, blocks));
    section("seconds", "Restart breakdown", charts::waterfalls(view));
    section("timeline", "Timeline", charts::timeline_blocks(view));
    section("map", "Node assignment", charts::maps(view));
    section("path", "Critical path", charts::critical_path_blocks(view));
    section("restarts", "All restarts", parts::restarts(run));
    section("admission", "Admission by Kueue", [charts::admission_blocks(view), parts::admission(run)].concat());
    section("training", "Training", parts::training(run));
    section("control-plane", "Control plane", parts::control_plane(run));
    section("ledger", "Accelerator time by category", parts::ledger(run));
    section("story", "Main events", parts::main_event_blocks(run));
    section("events", "Kubernetes Events", parts::events(run));
    section("assumptions", "Relevant assumptions", parts::assumptions(view));
    section("limits", "Caveats", parts::limits(view));
    page.push(parts::reproduction(view).section());
    page
}

fn longest_restart<'r>(run: &RunView<'r>) -> Option<&'r RestartMetrics> {
    restart::longest(run.restarts()).map(|i| &run.restarts()[i])
}

fn title(run: &RunView<'_>) -> String {
    match run.failed_jobsets().as_slice() {
        [] => match lost(run).as_slice() {
            [] => restart_title(run),
            [one] => one.to_owned(),
            [first, others @ ..] => format!("{first}, and {}", count(others.len() as u64, "other JobSet")),
        },
        [one] => one.headline(),
        [first, others @ ..] => format!("{}; {} more failed", first.headline(), count(others.len() as u64, "JobSet")),
    }
}

/// Names the JobSets that are blocked at the end, as the outcome on the console does.
fn lost(run: &RunView<'_>) -> Vec<String> {
    let jobsets = run.scenario.jobsets.iter();
    let blocked = jobsets.filter(|submitted| run.outcome.blocked_reason(&submitted.jobset.name).is_some());
    blocked.map(|submitted| format!("JobSet {} blocked", submitted.jobset.name)).collect()
}

fn restart_title(run: &RunView<'_>) -> String {
    let Some(r) = longest_restart(run) else {
        return format!("{}: no restart", run.scenario.name);
    };
    let from = format::origin(run, r);
    let end = match r.ending {
        RestartOutcome::Ready => format!("from the {from} until every pod is ready again"),
        RestartOutcome::JobSetEnded => {
            format!("from the {from} to the end of the JobSet, without becoming ready again")
        }
        RestartOutcome::Unfinished => format!("after the {from}, not ready at the end of the run"),
    };
    let which = match run.restarts().len() {
        1 => String::new(),
        n => format!(", the longest of {n} restarts"),
    };
    format!("{} {end}{which} ({})", seconds(r.total()), run.strategy(r))
}

/// Returns the summary paragraph of the page.
fn lead(run: &RunView<'_>) -> String {
    let jobsets = run.scenario.jobsets.iter();
    let sentences = jobsets.map(|j| {
        let jobs = j.jobset.spec.replicated_jobs.iter();
        let jobs = jobs.map(|rj| u64::from(rj.replicas)).sum();
        let pods = j.jobset.spec.pods();
        let (jobs, pods) = (count(jobs, "Job"), count(pods, "pod"));
        format!("JobSet {} with {jobs} and {pods}", j.jobset.name)
    });
    const NAMED: usize = 3;
    let mut sentences: Vec<String> = sentences.collect();
    if sentences.len() > NAMED {
        let more = sentences.len() - NAMED;
        sentences.truncate(NAMED);
        sentences.push(format!("{more} more"));
    }
    let (topology, cp) = (&run.scenario.topology, &run.scenario.control_plane);
    let mut text = format!(
        "{} on the {} of {}, with the control plane of preset {}: ",
        sentences.join(", "),
        count(topology.nodes(), "node"),
        topology.name,
        cp.preset
    );
    for failed in run.failed_jobsets() {
        let _ = write!(text, "{}, with the message {:?}. ", failed.headline(), failed.message);
    }
    let (blocked, _) = run.outcome.blocked_and_unfinished();
    for sentence in blocked.iter().take(NAMED) {
        let _ = write!(text, "{}. ", sentence.trim_end_matches('.'));
    }
    if blocked.len() > NAMED {
        let _ = write!(text, "Also blocked: {}. ", count((blocked.len() - NAMED) as u64, "other JobSet"));
    }
    match longest_restart(run) {
        None if !blocked.is_empty() => {}
        None => text.push_str("no restart occurred. "),
        Some(r) => text.push_str(&describe_restart(run, r)),
    }
    text.push_str(&describe_accelerators(run));
    text.trim_end().to_owned()
}

fn describe_restart(run: &RunView<'_>, r: &RestartMetrics) -> String {
    let cause = format::cause(run, &r.cause);
    let total = seconds(r.total());
    let mut text = match run.restarts().len() {
        1 => format!("after {cause}, at {}, ", r.caused_at),
        n => format!("{n} restarts occurred. In the longest, after {cause}, at {}, ", r.caused_at),
    };
    text.push_str(&match r.ending {
        RestartOutcome::Ready => {
            format!("it took {total} until all {} were ready again. ", count(u64::from(r.pods), "pod"))
        }
        RestartOutcome::JobSetEnded => {
            format!("the JobSet ended {total} later and was never ready again. ")
        }
        RestartOutcome::Unfinished => {
            format!("the run ended {total} later, before all pods were ready again. ")
        }
    });
    let longest = waterfall::describe_longest_waits(run, r);
    if !longest.is_empty() {
        text.push_str(&longest);
        text.push(' ');
    }
    text
}

fn describe_accelerators(run: &RunView<'_>) -> String {
    let ledger = &run.outcome.ledger;
    let all: u128 = ledger.accelerator_ns.iter().sum();
    if all == 0 {
        return String::new();
    }
    let productive = ledger.accelerator_ns[LedgerCategory::Productive as usize];
    format!(
        "Over the whole run of {} the {} were productive for {} of their time.",
        seconds(run.outcome.end.since(sim_base::SimTime::ZERO)),
        count(ledger.accelerators, "accelerator"),
        format::percent(productive as f64 / all as f64, 1)
    )
}

fn figures(run: &RunView<'_>) -> Vec<KeyFigure> {
    let figure = |what: &str, value: String| KeyFigure { label: what.to_owned(), value };
    let mut all = Vec::new();
    if let Some(r) = longest_restart(run) {
        let what = match (run.restarts().len(), r.ending) {
            (1, RestartOutcome::Ready) => "time to recover".to_owned(),
            (1, _) => format!("time after the {}, not recovered", format::origin(run, r)),
            _ => "longest restart".to_owned(),
        };
        all.push(figure(&what, seconds(r.total())));
        if let Some(gate) = sim_analysis::metrics::restarts::bottleneck::restart_bottlenecks(run, r).first() {
            let name = match gate.resource() {
                Some(resource) => resource.as_str(),
                None => gate.name.split(" (").next().unwrap_or_default(),
            };
            // Such a name is a sentence about an object; its reason is in the chapter on the restart.
            let what = match gate.what {
                WaitKind::DeadEnd => {
                    format!("share of it in which {}", name.split(": ").next().unwrap_or(name))
                }
                _ => format!("share of it waiting for {name}"),
            };
            all.push(figure(&what, format::percent(gate.share, 0)));
        }
        let n = run.restarts().len() as u64;
        all.push(figure("restarts", format::thousands(n)));
    }
    let pods = run.scenario.jobsets.iter().map(|j| j.jobset.spec.pods());
    let nodes = run.scenario.topology.nodes();
    let (pods, nodes) = (format::thousands(pods.sum()), format::thousands(nodes));
    all.push(figure("pods on nodes", format!("{pods} on {nodes}")));
    let cost: u128 = run.outcome.ledger.cost_micros.iter().sum();
    if cost > 0 {
        let (currency, cost) = (&run.outcome.ledger.currency, (cost / 1_000_000) as u64);
        let value = format!("{} {currency}", format::thousands(cost));
        all.push(figure("total cost", value));
    }
    all
}
