//! Table tests of parts of the JobSet manager that need no run.

use super::cache::{CachedJobSet, CachedJobs};
use super::job_view::job_view;
use super::merge::merge_templates;
use super::pass::{PassStep, ReconcilePass};
use super::queue::error_delay;
use super::rows::RowTimer;
use crate::ctx::ContextMark;
use crate::record::TicketWait;
use crate::store::JobEntry;
use sim_api::spec::{PodTemplate, TolerationSpec};
use sim_base::*;
use sim_policy::{CreateJob, JobView};
use std::collections::BTreeMap;

#[test]
fn errors_in_a_row_double_the_delay_up_to_a_thousand_seconds() {
    for (errors, ms) in [(0, 5), (1, 10), (10, 5 << 10), (17, 5 << 17), (18, 1_000_000), (4_000_000_000, 1_000_000)] {
        assert_eq!(error_delay(errors), Duration::from_millis(ms), "{errors}");
    }
}

#[test]
fn the_earliest_of_several_timers_rings_and_reports_the_newest_reason() {
    let mark = |at| {
        let mut mark = ContextMark::default();
        mark.at = SimTime(at);
        mark
    };
    let mut timer = RowTimer::default();
    assert!(timer.set(SimTime(100), mark(1), TicketWait::ErrorBackoff));
    assert!(!timer.set(SimTime(300), mark(2), TicketWait::ErrorBackoff), "later");
    assert!(timer.set(SimTime(50), mark(3), TicketWait::Ttl), "earlier");
    let rung = timer.fire(SimTime(50)).map(|(m, w)| (m.at, w));
    assert_eq!(rung, Some((SimTime(3), TicketWait::Ttl)));
    assert!(timer.fire(SimTime(100)).is_none(), "replaced by an earlier time");
    assert!(timer.set(SimTime(200), mark(4), TicketWait::Ttl), "no timer is set");
}

#[test]
fn cached_jobs_stay_in_slot_order_and_a_late_goodbye_affects_no_other_worker() {
    let view = |rj, index, active| Some(JobView { rj, index, active, ..JobView::default() });
    let mut jobs = CachedJobs::default();
    let of = CachedJobSet::default();
    for (slot, id) in [((1, 0), 7), ((0, 2), 5), ((0, 0), 6)] {
        jobs.update(&of, slot, JobId(id), view(slot.0, slot.1, 0));
    }
    assert_eq!(jobs.ids, [JobId(6), JobId(5), JobId(7)]);
    jobs.update(&of, (0, 2), JobId(5), view(0, 2, 3));
    assert_eq!((jobs.ids.len(), jobs.views[1].active), (3, 3), "changed");
    // The JobEntry is recreated in another slot before the deletion of the old JobEntry arrives.
    jobs.update(&of, (0, 2), JobId(9), view(0, 2, 1));
    jobs.update(&of, (0, 2), JobId(5), None);
    assert_eq!(jobs.ids, [JobId(6), JobId(9), JobId(7)]);
    jobs.update(&of, (0, 2), JobId(9), None);
    jobs.update(&of, (0, 1), JobId(8), None);
    assert_eq!(jobs.ids, [JobId(6), JobId(7)]);
}

#[test]
fn labels_are_read_as_a_user_left_them() {
    use sim_api::spec::keys::{
        JOB_INDEX as INDEX, JOB_RESTART_ATTEMPT as OWN, REPLICATED_JOB_NAME as RJ, RESTART_ATTEMPT as ATTEMPT,
    };
    for (label, text, attempts, unusable) in [
        ("app", Some("x"), (Some(2), Some(1)), None),
        (ATTEMPT, Some("7"), (Some(7), Some(1)), None),
        (ATTEMPT, Some("-1"), (Some(0), Some(1)), None),
        (ATTEMPT, Some("seven"), (None, Some(1)), None),
        (ATTEMPT, None, (None, Some(1)), None),
        (OWN, Some("x"), (Some(2), None), Some(OWN)),
        (OWN, None, (Some(2), None), None),
        (INDEX, Some("3"), (Some(2), Some(1)), None),
        (INDEX, None, (Some(2), Some(1)), Some(INDEX)),
        (RJ, None, (Some(2), Some(1)), Some(RJ)),
        (RJ, Some("x"), (Some(2), Some(1)), None),
    ] {
        let job = JobEntry {
            restart_attempt: 2,
            job_restart_attempt: 1,
            changed_labels: vec![(label.to_owned(), text.map(str::to_owned))],
            ..JobEntry::default()
        };
        let view = job_view(&job);
        let result = (view.restart_attempt, view.job_restart_attempt);
        assert_eq!((result, view.unusable_label), (attempts, unusable), "{label} {text:?}");
    }
}

fn template(selector: &[(&str, &str)], tolerated: &[&str], gates: u32) -> PodTemplate {
    let text = |(k, v): &(&str, &str)| (k.to_string(), v.to_string());
    let mut template = PodTemplate::default();
    template.spec.node_selector = selector.iter().map(text).collect();
    template.spec.scheduling_gates = gates;
    let toleration = |key: &&str| TolerationSpec {
        key: Some(key.to_string()),
        exists: true,
        value: String::new(),
        effect: None,
        toleration_seconds: None,
    };
    template.spec.tolerations = tolerated.iter().map(toleration).collect();
    template
}

#[test]
fn a_resumed_job_takes_over_what_is_new_and_loses_nothing() {
    let own = template(&[("pool", "a"), ("rack", "1")], &["x"], 1);
    for (new, expected) in [
        (own.clone(), None),
        (template(&[], &[], 0), None),
        (template(&[("pool", "b")], &[], 0), Some(template(&[("pool", "b"), ("rack", "1")], &["x"], 1))),
        (
            template(&[("zone", "z")], &["x", "y"], 2),
            Some(template(&[("pool", "a"), ("rack", "1"), ("zone", "z")], &["x", "y"], 2)),
        ),
    ] {
        assert_eq!(merge_templates(&own, &new), expected);
    }
    let mut new = own.clone();
    new.labels = BTreeMap::from([("app".to_owned(), "x".to_owned())]);
    new.annotations = BTreeMap::from([("note".to_owned(), "y".to_owned())]);
    assert_eq!(merge_templates(&own, &new), Some(new));
}

#[test]
fn steps_without_work_are_passed_over_in_upstreams_order() {
    let mut pass = ReconcilePass::default();
    pass.plan.delete = vec![0];
    pass.plan.create = vec![create(0, 0)];
    pass.plan.resume = vec![1];
    pass.plan.status_dirty = true;
    let mut steps = Vec::new();
    while pass.next_step() {
        steps.push(pass.step);
    }
    assert_eq!(steps, [PassStep::Deleting, PassStep::Creating, PassStep::Resuming, PassStep::Status]);
    let mut pass = ReconcilePass::default();
    pass.plan.status_dirty = true;
    pass.plan.error = Some(sim_policy::ReconcileError::NoSuccessPolicy);
    assert!(!pass.next_step(), "an error discards the status");
}

fn create(rj: u32, index: u32) -> CreateJob {
    CreateJob { rj, index, suspended: false }
}

#[test]
fn jobs_of_a_replicated_job_are_not_begun_before_those_of_the_one_before_it_exist() {
    let mut pass = ReconcilePass { step: PassStep::Creating, ..ReconcilePass::default() };
    pass.plan.create = vec![create(0, 0), create(0, 1), create(1, 0)];
    assert_eq!(pass.sendable_items(), 2);
    (pass.next, pass.in_flight) = (2, 1);
    assert_eq!(pass.sendable_items(), 2, "one response is pending");
    pass.in_flight = 0;
    assert_eq!(pass.sendable_items(), 3);
    let mut pass = ReconcilePass {
        step: PassStep::Creating,
        next: 2,
        create_until: 2,
        failed: true,
        plan: pass.plan,
        ..ReconcilePass::default()
    };
    assert_eq!(pass.sendable_items(), 2, "one request was rejected");
}

#[test]
fn claims_know_the_policy_that_they_are_of() {
    let template = |name: &str| serde_json::json!({"metadata": {"name": name}, "spec": {}});
    let policies = serde_json::json!([
        {"templates": [template("a"), template("b")]},
        {"templates": []},
        {"templates": [template("c")]},
    ]);
    let object = serde_json::json!({"metadata": {"name": "js", "namespace": "ns"},
        "spec": {"volumeClaimPolicies": policies}});
    let jobset = sim_api::spec::JobSet { object: Some(std::sync::Arc::new(object)), ..Default::default() };
    let claims = super::children::new_claims(&jobset);
    let result: Vec<(usize, &str)> =
        claims.iter().map(|c| (c.policy, c.object["metadata"]["name"].as_str().unwrap_or(""))).collect();
    assert_eq!(result, [(0, "a-js"), (0, "b-js"), (2, "c-js")]);
}
