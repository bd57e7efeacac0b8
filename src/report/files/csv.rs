//! The tables of a run directory. Times are exact seconds of virtual time; the cell of an event that did not occur
//! is empty.
//!
//! Every table ends with the column `digest`, which identifies the run of a file that was moved.

use super::columns;
use crate::table::{Table, TableColumn};
use sim_analysis::capacity::{self, CountedGroups, FragmentationRow};
use sim_analysis::format;
use sim_analysis::format::{exact_seconds, exact_time};
use sim_analysis::metrics::RunView;
use sim_analysis::metrics::nodes::NodeMetrics;
use sim_analysis::metrics::pods::PodMetrics;
use sim_analysis::metrics::restarts::bottleneck;
use sim_analysis::metrics::restarts::restart::{RestartMetrics, RestartOutcome};
use sim_base::JobSetId;
use sim_engine::record::LedgerCategory;

/// Builds a table with the run's digest as its last column.
fn table(
    columns: impl IntoIterator<Item = impl Into<TableColumn>>, rows: impl Iterator<Item = Vec<String>>,
    run: &RunView<'_>,
) -> Table {
    let digest = run.digest();
    let mut table = Table::new(columns);
    table.columns.push("digest".into());
    table.with_rows(rows.map(|mut row| {
        row.push(digest.clone());
        row
    }))
}

/// Returns the tables of a run with their names. The tables of pods and nodes are included if they were recorded.
pub fn tables(run: &RunView<'_>) -> Vec<(&'static str, Table)> {
    let mut all = vec![("restarts", restarts(run)), ("ledger", ledger(run))];
    if !run.outcome.training.is_empty() {
        all.push(("jobset_ledger", jobset_ledger(run)));
    }
    all.push(("control_plane", control_plane(run)));
    if let Some((of_pods, of_nodes)) = &run.folded.tables {
        all.push(("pods", pods(run, of_pods.rows())));
        all.push(("nodes", nodes(run, of_nodes.rows())));
        let groups = CountedGroups::of_scenario(run.scenario);
        if !groups.is_empty() {
            let rows = capacity::fragmentation(&groups, of_pods.rows(), of_nodes.rows());
            all.push(("fragmentation", fragmentation(run, &rows)));
        }
    }
    all
}

/// Returns `restarts.csv`. `start_time_s` is the time of the fault, `start_s` is the duration of the phase in which
/// containers start. `end_s` and `total_s` are empty if the pods never became ready again; the phases then cover the
/// restart up to the end of the JobSet or of the run.
pub fn restarts(run: &RunView<'_>) -> Table {
    let row = |r: &RestartMetrics| {
        let ready = r.ending == RestartOutcome::Ready;
        let mut row = vec![
            run.names.jobset(r.jobset).to_owned(),
            r.attempt.to_string(),
            run.strategy(r).to_owned(),
            format::cause(run, &r.cause),
            exact_time(r.start),
            if ready { exact_time(r.end) } else { String::new() },
            if ready { exact_seconds(u128::from(r.total().0)) } else { String::new() },
        ];
        row.extend(r.phases().iter().map(|d| exact_seconds(u128::from(d.0))));
        row.push(r.ending.as_str().to_owned());
        let names: Vec<String> = bottleneck::restart_bottlenecks(run, r).into_iter().map(|g| g.name).collect();
        row.push(names.join("; "));
        row
    };
    table(&columns::RESTARTS, run.restarts().iter().map(row), run)
}

/// Returns `pods.csv` with a row per pod object in order of creation.
pub fn pods(run: &RunView<'_>, rows: &[PodMetrics]) -> Table {
    let row = |r: &PodMetrics| {
        let ended = r.finished != sim_base::SimTime::NEVER;
        let phase = match (ended, r.succeeded) {
            (true, true) => "Succeeded",
            (true, false) => "Failed",
            (false, _) if r.running != sim_base::SimTime::NEVER => "Running",
            (false, _) => "Pending",
        };
        let node = if r.node.is_some() { run.names.node(r.node) } else { "" };
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
        let times = [r.created, r.bound, r.running, r.ready, r.not_ready, r.exited, r.finished, r.deleting, r.gone];
        row.extend(times.into_iter().map(exact_time));
        row.push(phase.to_owned());
        row.push(r.exit_code.map_or(String::new(), |code| code.to_string()));
        row.push(r.deleted_by.map_or("", |d| d.as_str()).to_owned());
        row.push(r.in_place_attempt.map_or(String::new(), |a| a.to_string()));
        row.push(r.container_restarts.to_string());
        row
    };
    table(&columns::PODS, rows.iter().map(row), run)
}

/// Returns `nodes.csv`. The columns `transitions` and `taints` list `seconds:change` entries separated by `;`.
pub fn nodes(run: &RunView<'_>, rows: &[NodeMetrics]) -> Table {
    let row = |(i, r): (usize, &NodeMetrics)| {
        let transitions: Vec<String> =
            r.transitions.iter().map(|&(at, ready)| format!("{}:{}", exact_time(at), ready.as_str())).collect();
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
    let untouched = NodeMetrics::default();
    let all = 0..run.names.nodes.len();
    let all = all.map(|i| (i, rows.get(i).unwrap_or(&untouched)));
    table(&columns::NODES, all.map(row), run)
}

/// Returns `fragmentation.csv` with the free nodes of each kind of group after each change.
pub fn fragmentation(run: &RunView<'_>, rows: &[FragmentationRow]) -> Table {
    let row = |r: &FragmentationRow| {
        let numbers = [r.free.nodes, r.free.whole_groups, r.free.largest, r.free.stranded];
        let mut row = vec![exact_time(r.at), r.groups.clone()];
        row.extend(numbers.iter().map(usize::to_string));
        row
    };
    table(&columns::FRAGMENTATION, rows.iter().map(row), run)
}

/// Returns `ledger.csv`. The accelerator seconds add up to installed accelerators × wall time.
pub fn ledger(run: &RunView<'_>) -> Table {
    let ledger = &run.outcome.ledger;
    let row = |c: &LedgerCategory| {
        let micros = ledger.cost_micros[*c as usize];
        vec![c.as_str().to_owned(), exact_seconds(ledger.accelerator_ns[*c as usize]), exact_seconds(micros * 1_000)]
    };
    table(&columns::LEDGER, ledger.categories().iter().map(row), run)
}

/// Returns `jobset_ledger.csv` with the accelerator time held by the pods of each JobSet. It is written for runs
/// with a training job.
pub fn jobset_ledger(run: &RunView<'_>) -> Table {
    let ledger = &run.outcome.ledger;
    let jobsets = ledger.by_jobset.iter().enumerate();
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
    let jobset = TableColumn::new("jobset", "", "name of the JobSet");
    table(std::iter::once(&jobset).chain(&columns::LEDGER), rows, run)
}

/// Returns `control_plane.csv` with the load of the shared resources over the whole run. A resource is a bottleneck
/// if a restart waited for it during at least 10 % of its critical path.
pub fn control_plane(run: &RunView<'_>) -> Table {
    let outcome = run.outcome;
    let gating = bottleneck::bottlenecks(run.restarts());
    let row = |u: &sim_engine::record::ResourceUsage| {
        let busy = u.busy_within(sim_base::SimTime::ZERO, outcome.end);
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
    table(&columns::CONTROL_PLANE, outcome.resources.iter().map(row), run)
}
