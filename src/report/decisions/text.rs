//! Renders a decision as short labeled lines in Kubernetes terms, each with the id of its rule.
//!
//! The text repeats the decision trace of the policies and does not evaluate any policy itself. The deciding rule is
//! always included.

use super::block::{DecisionBlock, LISTED, names};
use sim_analysis::format::count;
use sim_policy::decision::{
    JobSetPass, PlannedChange, PlannedRequests, PolicyDecision, PolicyOutcome, RestartTrace, StartupTrace, SuccessTrace,
};

/// Renders the decision as a block of lines.
pub fn decision_block(decision: &PolicyDecision) -> DecisionBlock {
    let mut block = DecisionBlock { title: String::new(), short: None, lines: Vec::new() };
    match &decision.what {
        PolicyOutcome::JobSet(pass) => {
            block.title = title(JOBSET_CONTROLLER, &pass.object);
            block.add_pass(pass);
            if only_writes_counts(pass) {
                let counters = block.lines.iter().filter(|(_, _, rule)| rule == "REC-6");
                let text: Vec<&str> = counters.map(|(_, text, _)| text.as_str()).collect();
                let text = format!("{}: {}", block.title, text.join("; "));
                block.short = Some((text, "REC-6".to_owned()));
            }
        }
        PolicyOutcome::Job(sync) => {
            block.title = title("Job controller", &sync.object);
            super::job::add_job_sync(&mut block, sync);
            if let [(label, text, rule)] = block.lines.as_slice() {
                let lead = if *label == "result" { "" } else { label };
                let text = format!("{}: {lead} {text}", block.title).replace(":  ", ": ");
                block.short = Some((text, rule.clone()));
            }
        }
        PolicyOutcome::JobSetPassLost(lost) => {
            let title = title(JOBSET_CONTROLLER, &lost.object);
            let text = format!("{title}: D{} is discarded, {}; the pass is repeated", lost.decision, lost.why);
            block.short = Some((text, lost.rule.to_owned()));
        }
    }
    block
}

impl DecisionBlock {
    fn add_pass(&mut self, pass: &JobSetPass) {
        match &pass.failure_policy {
            Some(failure) => super::failure::add_failure_policy(self, pass, failure),
            None => self.add_job_counts(pass),
        }
        if let Some(success) = &pass.success_policy {
            self.success(success);
        }
        if let Some(startup) = &pass.startup_policy {
            self.startup(startup);
        }
        for d in &pass.depends_on {
            let text = format!(
                "{}, until {} is {}: {} of {}",
                d.replicated_job,
                d.on,
                d.status,
                d.have,
                count(u64::from(d.need), "Job")
            );
            self.add_line("waits", text, "DEP-3");
        }
        if let Some(restart) = &pass.restart {
            self.restart(restart);
        }
        if let Some(in_place) = &pass.in_place {
            super::in_place::add_in_place_restart(self, in_place);
        }
        if let Some(ttl) = &pass.ttl {
            let text = format!(
                "ttlSecondsAfterFinished {}, finished at {}: due at {}",
                ttl.ttl_seconds_after_finished, ttl.finished_at, ttl.due
            );
            self.add_line("ttl", text, "TTL-1");
        }
        self.add_requests(pass);
        self.add_writes(pass);
        if let Some(error) = &pass.error {
            self.add_line("error", error.as_str(), "REC-13");
            self.add_line("", "the status is not written; retry after a back-off", "");
        }
    }

    fn add_job_counts(&mut self, pass: &JobSetPass) {
        let n = pass.jobs;
        let all = [(n.active, "active"), (n.successful, "successful"), (n.failed, "failed"), (n.previous, "previous")];
        let some: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        let text = match some.as_slice() {
            [] => "no Job".to_owned(),
            some => format!("Jobs: {}", some.join(", ")),
        };
        self.add_line("seen", text, "");
    }

    fn success(&mut self, s: &SuccessTrace) {
        let of = match s.targets.as_slice() {
            [] => String::new(),
            targets => format!(" of {}", targets.join(", ")),
        };
        let met = if s.met { "met" } else { "not met" };
        let text =
            format!("operator {}: {} Complete{of}, {} needed: {met}", s.operator, count(s.matched, "Job"), s.needed);
        self.add_line("success", text, "SP-2");
    }

    fn startup(&mut self, s: &StartupTrace) {
        let Some(first) = &s.waits_for else {
            return self.add_line("startup", "InOrder: every replicatedJob has started", "CRE-6");
        };
        let started = format!("InOrder: {first} has started {} of {}", s.have, count(u64::from(s.need), "Job"));
        let text = match s.held_back.as_slice() {
            [] => started,
            held => format!("{started}; {} must wait", held.join(", ")),
        };
        self.add_line("startup", text, "SU-2");
    }

    fn restart(&mut self, r: &RestartTrace) {
        let (text, rule) = if r.blocks {
            ("no Job is created until all of them are gone", "RS-2")
        } else {
            ("a Job is created as soon as its name is free", "RS-1")
        };
        self.add_line("previous", format!("of an earlier attempt: {}", names(&r.previous)), "REC-5");
        self.add_line("", format!("{}: {text}", r.strategy), rule);
    }

    fn add_requests(&mut self, pass: &JobSetPass) {
        let does = &pass.does;
        let cited = |rules: &[&'static str]| {
            let mut all = pass.rules.iter().filter(|r| rules.contains(r));
            all.next_back().copied().unwrap_or(rules[0])
        };
        if !does.delete.is_empty() {
            let rule = cited(&["REC-8", "REC-7"]);
            self.add_line("deletes", jobs(&does.delete), rule);
        }
        if does.create_service {
            self.add_line("creates", "the headless Service", "SVC-1");
        }
        if does.create_claims > 0 {
            let claims = count(u64::from(does.create_claims), "PersistentVolumeClaim");
            self.add_line("creates", format!("{claims}, if missing"), "PVC-1");
        }
        if !does.patch.is_empty() {
            let text = format!("{}: parallelism and completions", jobs(&does.patch));
            self.add_line("patches", text, "ELA-2");
        }
        if !does.create.is_empty() {
            let suspended = if does.create_suspended { ", suspended" } else { "" };
            let text = format!("{}{suspended}", jobs(&does.create));
            self.add_line("creates", text, cited(&["CRE-4", "CRE-7"]));
        }
        if !does.suspend.is_empty() {
            self.add_line("suspends", jobs(&does.suspend), "SUS-1");
        }
        if !does.resume.is_empty() {
            self.add_line("resumes", jobs(&does.resume), "SUS-5");
        }
        if does.delete_job_set {
            self.add_line("deletes", "the JobSet", "TTL-1");
        }
    }

    fn add_writes(&mut self, pass: &JobSetPass) {
        for c in &pass.conditions {
            let status = if c.status { "True" } else { "False" };
            let was = match c.was {
                Some(true) => " (was True)",
                Some(false) => " (was False)",
                None => "",
            };
            self.add_line("condition", format!("{}={status} {}{was}", c.kind, c.reason), "COND-1");
            self.add_line("", format!("\"{}\"", c.message), "");
        }
        self.add_status_changes(&pass.status);
        let announced = |reason: &String| pass.conditions.iter().any(|c| c.reason == *reason);
        for (reason, _) in pass.events.iter().filter(|(reason, _)| !announced(reason)) {
            self.add_line("event", reason.as_str(), "FP-17");
        }
    }

    /// Adds a line per replicatedJob with its status changes.
    fn add_status_changes(&mut self, changes: &[PlannedChange]) {
        let mut lines: Vec<(String, String)> = Vec::new();
        for c in changes {
            let (of, field) = c.field.rsplit_once('.').unwrap_or(("", &c.field));
            //  Restart counters of single Jobs get their own line: the failure policy wrote them (ST-6), not the Job
            //  count (REC-6).
            let of = format!("{of}{}", if field.contains('[') { " " } else { "" });
            let was = if c.before.is_empty() { "\"\"" } else { &c.before };
            let text = format!("{field} {was} -> {}", c.after);
            match lines.last_mut() {
                Some((last, line)) if *last == of => *line = format!("{line}, {text}"),
                _ => lines.push((of, text)),
            }
        }
        let more = lines.len().saturating_sub(2 * LISTED);
        for (i, (of, text)) in lines.into_iter().take(2 * LISTED).enumerate() {
            let rule = match of.as_str() {
                "" if text.starts_with("terminalState") => "ST-4",
                "" => "ST-8",
                of if of.ends_with(' ') => "ST-6",
                _ => "REC-6",
            };
            let label = if i == 0 { "status" } else { "" };
            let of = of.trim_end();
            let text = if of.is_empty() { text } else { format!("{of}: {text}") };
            self.add_line(label, text, rule);
        }
        if more > 0 {
            self.add_line("", format!("... and {}", count(more as u64, "more replicatedJob")), "");
        }
    }
}

const JOBSET_CONTROLLER: &str = "JobSet controller";

/// Returns the title of a decision: the controller and the object's name without the namespace.
fn title(controller: &str, object: &str) -> String {
    let name = object.rsplit('/').next().unwrap_or(object);
    format!("{controller}, {name}")
}

/// Returns whether the pass only writes Job counts (REC-6) and no Job has just finished.
fn only_writes_counts(pass: &JobSetPass) -> bool {
    let claims_only = PlannedRequests { create_claims: pass.does.create_claims, ..PlannedRequests::default() };
    pass.does == claims_only
        && pass.error.is_none()
        && pass.conditions.is_empty()
        && pass.failure_policy.is_none()
        && pass.restarts.before == pass.restarts.after
        && pass
            .status
            .iter()
            .all(|c| c.field.contains('.') && !c.field.ends_with(".succeeded") && !c.field.contains('['))
}

fn jobs(list: &[String]) -> String {
    match list {
        [one] => format!("Job {one}"),
        list => format!("{}: {}", count(list.len() as u64, "Job"), names(list)),
    }
}
