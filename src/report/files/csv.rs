//! The tables of a run directory. Times are exact seconds of virtual time; a cell is empty for what never happened.
//!
//! Every table ends with the column `digest`, so that a file that was moved still says which run it is from.

use csv::Writer;
use sim_analysis::format;
use sim_analysis::format::{exact_seconds, exact_time};
use sim_analysis::metrics::nodes::NodeRow;
use sim_analysis::metrics::pods::PodRow;
use sim_analysis::metrics::restarts::gate;
use sim_analysis::metrics::restarts::restart::{Ending, Restart};
use sim_analysis::metrics::{Phase, RunView};
use sim_base::JobSetId;
use sim_base::plain::{for_cell, for_markdown};
use sim_engine::record::LedgerCategory;

type Rows = Result<Vec<u8>, String>;

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>, digest: &str) -> Rows {
    let mut out = Writer::from_writer(Vec::new());
    let fields = header.iter().copied().chain(["digest"]);
    out.write_record(fields).map_err(|e| e.to_string())?;
    for row in rows {
        let cells = row.iter().map(|cell| for_cell(cell));
        out.write_record(cells.chain([digest.into()]).map(|cell| cell.into_owned()))
            .map_err(|e| e.to_string())?;
    }
    out.into_inner().map_err(|e| e.to_string())
}

/// A row whose cells mean themselves, whoever has chosen their text.
pub(crate) fn record<S: AsRef<str>>(
    out: &mut Writer<Vec<u8>>,
    row: impl IntoIterator<Item = S>,
) -> Result<(), String> {
    let cells = row.into_iter();
    let cells = cells.map(|cell| for_cell(cell.as_ref()).into_owned());
    out.write_record(cells).map_err(|e| e.to_string())
}

/// A table as Markdown, without the columns in which nothing but 0 stands.
pub fn markdown(table: &[u8]) -> Result<String, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(table);
    let rows: Result<Vec<csv::StringRecord>, _> = reader.records().collect();
    let rows = rows.map_err(|e| e.to_string())?;
    let Some((head, rows)) = rows.split_first() else {
        return Ok(String::new());
    };
    let stands = |k: &usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(*k));
        rows.is_empty() || cells.any(|cell| !["", "0"].contains(&cell))
    };
    let columns: Vec<usize> = (0..head.len()).filter(stands).collect();
    let line = |row: &csv::StringRecord| {
        let cells = columns
            .iter()
            .map(|k| for_markdown(row.get(*k).unwrap_or("")));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut out = line(head);
    out.push_str(&format!("|{}\n", "---|".repeat(columns.len())));
    out.extend(rows.iter().map(line));
    Ok(out)
}

/// `restarts.csv`. `start_time` is the instant of the fault, `start` the phase in which containers start. `end` and
/// `total` are empty where the pods never became ready again; the phases then run to wherever the restart was when the
/// JobSet or the run ended.
/// Every table of a run by its name; those of pods and nodes where they were kept.
pub fn tables(run: &RunView<'_>) -> Vec<(&'static str, Rows)> {
    let mut all = vec![("restarts", restarts(run)), ("ledger", ledger(run))];
    if !run.outcome.training.is_empty() {
        all.push(("jobset_ledger", jobset_ledger(run)));
    }
    all.push(("control_plane", control_plane(run)));
    if let Some((of_pods, of_nodes)) = &run.folded.tables {
        all.push(("pods", pods(run, of_pods.rows())));
        all.push(("nodes", nodes(run, of_nodes.rows())));
    }
    all
}

pub fn restarts(run: &RunView<'_>) -> Rows {
    let mut header = vec![
        "jobset",
        "attempt",
        "strategy",
        "fault_cause",
        "start_time",
        "end",
        "total",
    ];
    header.extend(Phase::ALL.iter().map(|p| p.as_str()));
    header.extend(["ending", "bottleneck"]);
    let row = |r: &Restart| {
        let ready = r.ending == Ending::Ready;
        let mut row = vec![
            run.names.jobset(r.jobset).to_owned(),
            r.attempt.to_string(),
            run.strategy(r).to_owned(),
            format::cause(run, &r.cause),
            exact_time(r.start),
            if ready {
                exact_time(r.end)
            } else {
                String::new()
            },
            if ready {
                exact_seconds(u128::from(r.total().0))
            } else {
                String::new()
            },
        ];
        row.extend(r.phases().iter().map(|d| exact_seconds(u128::from(d.0))));
        row.push(r.ending.as_str().to_owned());
        let names: Vec<String> = gate::bottleneck(run, r)
            .into_iter()
            .map(|g| g.name)
            .collect();
        row.push(names.join("; "));
        row
    };
    table(&header, run.restarts().iter().map(row), &run.digest())
}

/// `pods.csv`: one row per pod object, in the order of creation.
pub fn pods(run: &RunView<'_>, rows: &[PodRow]) -> Rows {
    let header = [
        "pod",
        "namespace",
        "jobset",
        "job",
        "index",
        "restart_attempt",
        "node",
        "created",
        "bound",
        "running",
        "ready",
        "not_ready",
        "exited",
        "finished",
        "deleting",
        "gone",
        "phase",
        "exit_code",
        "deleted_by",
        "in_place_attempt",
        "container_restarts",
    ];
    let row = |r: &PodRow| {
        let ended = r.finished != sim_base::Time::NEVER;
        let phase = match (ended, r.succeeded) {
            (true, true) => "Succeeded",
            (true, false) => "Failed",
            (false, _) if r.running != sim_base::Time::NEVER => "Running",
            (false, _) => "Pending",
        };
        let exited = ended || r.exited != sim_base::Time::NEVER;
        let node = if r.node.is_some() {
            run.names.node(r.node)
        } else {
            ""
        };
        let jobset = run.names.jobset_of(r.job);
        let jobset = jobset.map_or("", |id| run.names.jobset(id));
        let mut row = vec![
            run.names.pod(r.job, r.index, r.pod, r.incarnation),
            run.names.namespace_of(r.job).to_owned(),
            jobset.to_owned(),
            run.names.job(r.job).to_owned(),
            r.index.to_string(),
            r.restart_attempt.to_string(),
            node.to_owned(),
        ];
        let times = [
            r.created,
            r.bound,
            r.running,
            r.ready,
            r.not_ready,
            r.exited,
            r.finished,
            r.deleting,
            r.gone,
        ];
        row.extend(times.into_iter().map(exact_time));
        row.push(phase.to_owned());
        row.push(if exited {
            r.exit_code.to_string()
        } else {
            String::new()
        });
        row.push(r.deleted_by.map_or("", |d| d.as_str()).to_owned());
        row.push(r.in_place_attempt.map_or(String::new(), |a| a.to_string()));
        row.push(r.container_restarts.to_string());
        row
    };
    table(&header, rows.iter().map(row), &run.digest())
}

/// `nodes.csv`: `transitions` and `taints` list `seconds:what` separated by `;`.
pub fn nodes(run: &RunView<'_>, rows: &[NodeRow]) -> Rows {
    let header = [
        "node",
        "pods_bound",
        "first_fault",
        "not_ready_total",
        "gone",
        "transitions",
        "taints",
    ];
    let row = |(i, r): (usize, &NodeRow)| {
        let transitions: Vec<String> = r
            .transitions
            .iter()
            .map(|&(at, ready)| format!("{}:{}", exact_time(at), ready.as_str()))
            .collect();
        let taint = |&(at, key, added): &(_, _, bool)| {
            let sign = if added { '+' } else { '-' };
            format!("{}:{sign}{}", exact_time(at), run.names.text(key))
        };
        let taints: Vec<String> = r.taints.iter().map(taint).collect();
        vec![
            run.names.node(sim_base::NodeId(i as u32)).to_owned(),
            r.pods_bound.to_string(),
            exact_time(r.first_fault),
            exact_seconds(u128::from(r.not_ready(run.outcome.end).0)),
            exact_time(r.gone),
            transitions.join(";"),
            taints.join(";"),
        ]
    };
    let untouched = NodeRow::default();
    let all = 0..run.names.nodes.len();
    let all = all.map(|i| (i, rows.get(i).unwrap_or(&untouched)));
    table(&header, all.map(row), &run.digest())
}

/// `ledger.csv`: adds up to installed accelerators × wall time.
pub fn ledger(run: &RunView<'_>) -> Rows {
    let ledger = &run.outcome.ledger;
    let row = |c: &LedgerCategory| {
        let micros = ledger.cost_micros[*c as usize];
        vec![
            c.as_str().to_owned(),
            exact_seconds(ledger.accelerator_ns[*c as usize]),
            exact_seconds(micros * 1_000),
        ]
    };
    let header = ["category", "accelerator_seconds", "cost"];
    table(&header, ledger.categories().iter().map(row), &run.digest())
}

/// `jobset_ledger.csv`: what the pods of each JobSet held, where one of them trains.
pub fn jobset_ledger(run: &RunView<'_>) -> Rows {
    let ledger = &run.outcome.ledger;
    let jobsets = ledger.of_jobsets.iter().enumerate();
    let rows = jobsets.flat_map(|(i, own)| {
        let name = run.names.jobset(JobSetId(i as u32));
        let held = ledger.categories().iter();
        let held = held.filter(|c| **c != LedgerCategory::Idle);
        held.map(move |c| {
            vec![
                name.to_owned(),
                c.as_str().to_owned(),
                exact_seconds(own.accelerator_ns[*c as usize]),
                exact_seconds(own.cost_micros[*c as usize] * 1_000),
            ]
        })
    });
    let header = ["jobset", "category", "accelerator_seconds", "cost"];
    table(&header, rows, &run.digest())
}

/// `control_plane.csv`: busy share of the whole run; a bottleneck was waited for during a tenth of a restart's path.
pub fn control_plane(run: &RunView<'_>) -> Rows {
    let outcome = run.outcome;
    let gating = gate::bottlenecks(run.restarts());
    let row = |u: &sim_engine::record::ResourceUsage| {
        let busy = u.busy_within(sim_base::Time::ZERO, outcome.end);
        let share = busy.0 as f64 / (outcome.end.0 as f64).max(1.0);
        vec![
            u.resource.as_str().to_owned(),
            u.capacity.clone(),
            u.requests.to_string(),
            format!("{share:.6}"),
            exact_seconds(u128::from(busy.0)),
            u.longest_queue.to_string(),
            gating.contains(&u.resource).to_string(),
        ]
    };
    let header = [
        "resource",
        "capacity",
        "requests",
        "busy_share",
        "busy_seconds",
        "longest_queue",
        "bottleneck",
    ];
    table(&header, outcome.resources.iter().map(row), &run.digest())
}
