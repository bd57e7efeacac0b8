//! The eviction API and PodDisruptionBudgets (`pkg/registry/core/pod/storage/eviction.go`,
//! `pkg/controller/disruption/disruption.go`).
//!
//! The disruption controller updates the status of a budget some milliseconds after its pods change. Here the status
//! always shows the current pods.

use crate::record::{Body, DeletionActor};
use crate::store::{PodPhase, flag};
use crate::{ctx::EngineContext, pod_views::PodViews};
use serde_json::Value;
use sim_api::objects::value_access::{int, text};
use sim_api::spec::ObjectKind;
use sim_base::PodId;
use sim_scheduler::labels::LabelSelector;
use sim_scheduler::resources::ResourceColumns;
use sim_scheduler::{DisruptionBudget, PodView};

const VIOLATED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const SEVERAL_BUDGETS: &str =
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";

/// Status of a budget.
#[derive(Copy, Clone, Default)]
struct BudgetStatus {
    current_healthy: i64,
    desired_healthy: i64,
    disruptions_allowed: i64,
}

/// Returns the status of a budget over these pods of its namespace. `maxUnavailable` and percentages need the scale
/// subresource of the pods' controller, which Jobs do not have: such a budget allows no disruption.
fn budget_status(
    ctx: &EngineContext<'_>, spec: &Value, selector: &LabelSelector, pods: &[(PodId, PodView)],
) -> BudgetStatus {
    let Some(desired_healthy) = int(spec, "minAvailable") else {
        return BudgetStatus::default();
    };
    let selected = || pods.iter().filter(|(_, view)| selector.matches(&view.labels));
    let store = &**ctx.store;
    let is_healthy = |pod: &PodId| store.pods.has(*pod, flag::READY) && !store.pods.has(*pod, flag::DELETING);
    let current_healthy = selected().filter(|(pod, _)| is_healthy(pod)).count() as i64;
    let spare = if selected().next().is_some() { current_healthy - desired_healthy } else { 0 };
    BudgetStatus { current_healthy, desired_healthy, disruptions_allowed: spare.max(0) }
}

/// Returns all pods of a namespace.
fn pods_in(ctx: &EngineContext<'_>, namespace: &str, views: &mut PodViews) -> Vec<(PodId, PodView)> {
    let (store, mut columns) = (&**ctx.store, ResourceColumns::default());
    let all = (0..store.pods.len() as u32).map(PodId).filter(|pod| store.pods.exists(*pod));
    let own = all.filter(|pod| store.names.namespace_of(store.pods.job[pod.ix()]) == namespace);
    own.map(|pod| (pod, views.view(ctx, pod, &mut columns))).collect()
}

/// Returns all budgets with the number of disruptions that they allow.
pub fn disruption_budgets(ctx: &EngineContext<'_>, views: &mut PodViews) -> Vec<DisruptionBudget> {
    let mut budgets = Vec::new();
    for (namespace, _, other) in ctx.store.others.objects_of_kind(ObjectKind::PodDisruptionBudget) {
        let spec = &other.object["spec"];
        let selector = LabelSelector::read(spec, "selector");
        let status = budget_status(ctx, spec, &selector, &pods_in(ctx, namespace, views));
        let disruptions_allowed = status.disruptions_allowed;
        budgets.push(DisruptionBudget { namespace: namespace.to_owned(), selector, disruptions_allowed });
    }
    budgets
}

/// Evicts a pod, or returns the message of the refusal, which is recorded.
pub fn evict_pod(ctx: &mut EngineContext<'_>, pod: PodId, views: &mut PodViews) -> Result<(), &'static str> {
    if let Some(refusal) = refusal(ctx, pod, views) {
        let answer = ctx.intern(refusal);
        ctx.emit(Body::EvictionRefused { pod, answer });
        return Err(refusal);
    }
    super::disrupt_pod(ctx, pod, DeletionActor::Eviction);
    Ok(())
}

fn refusal(ctx: &EngineContext<'_>, pod: PodId, views: &mut PodViews) -> Option<&'static str> {
    let store = &**ctx.store;
    if store.pods.phase[pod.ix()] != PodPhase::Running || store.pods.has(pod, flag::DELETING) {
        return None;
    }
    let namespace = store.names.namespace_of(store.pods.job[pod.ix()]);
    let budgets = store.others.objects_of_kind(ObjectKind::PodDisruptionBudget);
    let specs: Vec<&Value> = budgets.filter(|(n, _, _)| *n == namespace).map(|(_, _, o)| &o.object["spec"]).collect();
    if specs.is_empty() {
        return None;
    }
    let pods = pods_in(ctx, namespace, views);
    let own = pods.iter().find(|(other, _)| *other == pod)?;
    let read = specs.iter().map(|spec| (*spec, LabelSelector::read(spec, "selector")));
    let covering: Vec<(&Value, LabelSelector)> = read.filter(|(_, s)| s.matches(&own.1.labels)).collect();
    let [(spec, selector)] = &covering[..] else {
        return (!covering.is_empty()).then_some(SEVERAL_BUDGETS);
    };
    let status = budget_status(ctx, spec, selector, &pods);
    let is_guarded = status.desired_healthy > 0 && status.current_healthy >= status.desired_healthy;
    let may_evict_unhealthy = text(spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow" || is_guarded;
    let is_allowed = if store.pods.has(pod, flag::READY) { false } else { may_evict_unhealthy };
    (!is_allowed && status.disruptions_allowed == 0).then_some(VIOLATED)
}
