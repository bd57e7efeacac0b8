//! Renders a plan as lines, which the cases state as expected output.

use sim_policy::{ActionPlan, JobSetStatus, JobSetView, PodCondition};

pub fn plan(view: &JobSetView<'_>, plan: &ActionPlan) -> Vec<String> {
    let mut out = Vec::new();
    let rjs = &view.jobset.spec.replicated_jobs;
    let slot = |rj: u32, index: u32| format!(" {}/{index}", rjs[rj as usize].name);
    let mut line = |word: &str, slots: Vec<String>| {
        if !slots.is_empty() {
            out.push(format!("{word}{}", slots.concat()));
        }
    };
    let at = |list: &[u32]| -> Vec<String> {
        let jobs = list.iter().map(|&i| &view.jobs[i as usize]);
        jobs.map(|j| slot(j.rj, j.index)).collect()
    };
    let create = |suspended: bool| -> Vec<String> {
        let chosen = plan.create.iter().filter(|c| c.suspended == suspended);
        chosen.map(|c| slot(c.rj, c.index)).collect()
    };
    line("delete", at(&plan.delete));
    line("create", create(false));
    line("create suspended", create(true));
    line("suspend", at(&plan.suspend));
    line("resume", at(&plan.resume));
    line("resize", at(&plan.patch));
    if plan.create_service {
        out.push("service".to_string());
    }
    if plan.delete_jobset {
        out.push("delete jobset".to_string());
    }
    if let Some(after) = plan.requeue_after {
        out.push(format!("requeue {after}"));
    }
    if let Some(error) = &plan.error {
        out.push(format!("error {error}"));
    }
    out.extend(changes(view, plan));
    for e in &plan.events {
        let kind = if e.warning { "Warning" } else { "Normal" };
        out.push(format!("event {kind} {}: {}", e.reason, e.message));
    }
    out
}

/// Returns the differences between the written and the stored status.
fn changes(view: &JobSetView<'_>, plan: &ActionPlan) -> Vec<String> {
    let (old, new): (&JobSetStatus, &JobSetStatus) = (view.status, &plan.status);
    let mut out = Vec::new();
    match (plan.status_dirty, old == new) {
        (true, _) => out.push("write".to_string()),
        (false, true) => return out,
        (false, false) => out.push("CHANGED BUT NOT WRITTEN".to_string()),
    }
    let restarts = |s: &JobSetStatus| (s.restarts, s.restarts_count_towards_max);
    if restarts(old) != restarts(new) {
        let (all, counted) = restarts(new);
        out.push(format!("  restarts {all}/{counted}"));
    }
    if old.terminal_state != new.terminal_state
        && let Some(state) = new.terminal_state
    {
        out.push(format!("  terminal {state:?}"));
    }
    for (word, a, b) in [
        ("current", old.current_in_place_restart_attempt, new.current_in_place_restart_attempt),
        ("previous", old.previous_in_place_restart_attempt, new.previous_in_place_restart_attempt),
    ] {
        if a != b {
            out.push(format!("  {word} {}", b.map_or("none".to_string(), |b| b.to_string())));
        }
    }
    for (i, s) in new.replicated_jobs.iter().enumerate() {
        let name = &view.jobset.spec.replicated_jobs[i].name;
        let before = old.replicated_jobs.get(i);
        if before == Some(s) {
            continue;
        }
        out.push(format!(
            "  {name} ready {} succeeded {} failed {} active {} suspended {}",
            s.ready, s.succeeded, s.failed, s.active, s.suspended
        ));
        if before.map_or(&vec![], |b| &b.job_restarts) != &s.job_restarts {
            out.push(format!("  {name} jobRestarts {:?}", s.job_restarts));
        }
        let counted = &s.job_restarts_count_towards_max;
        if before.map_or(&vec![], |b| &b.job_restarts_count_towards_max) != counted {
            out.push(format!("  {name} counted {counted:?}"));
        }
    }
    let conditions = new.conditions.iter().enumerate();
    let changed = conditions.filter(|(i, c)| old.conditions.get(*i) != Some(c));
    out.extend(changed.map(|(_, c)| condition(view, c)));
    out
}

/// Renders a condition. `(kept)` means that lastTransitionTime is unchanged.
fn condition(view: &JobSetView<'_>, c: &PodCondition) -> String {
    let status = if c.status { "True" } else { "False" };
    let kept = if c.last_transition == view.now { "" } else { " (kept)" };
    let kind = c.kind.as_str();
    format!("  {kind}={status} {}: {}{kept}", c.full_reason(), c.message)
}
