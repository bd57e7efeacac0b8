//! The script: executes the scenario's faults, user requests and operator actions at their times.
//!
//! Uses the API server like any other client, and the kubelets for actions on machines and processes, which have no
//! API.

mod actions;
mod create;
mod finalizers;
mod lookup;
mod node_holds;
pub(crate) mod object_json;
mod patch;
mod patch_error;
mod patch_job;
mod patch_node;
mod patch_pod;
mod patch_status;
mod pod_status_json;
mod request_error;
mod requests;
mod state;
mod webhooks;

pub use state::ScriptRunner;

use super::apiserver;
use super::ctx::EngineContext;
use super::event::SimulationEvent;
use super::kubelet::KubeletState;
use crate::record::{Body, TicketSubject, TicketWait};
use sim_api::spec::FaultTime;
use webhooks::{CREATE_WEBHOOK, check_webhook_available};

impl ScriptRunner {
    /// Creates the objects that exist before the first event.
    pub fn begin(&mut self, ctx: &mut EngineContext<'_>) {
        // Owners precede their dependents, and PriorityClasses precede pods.
        let (classes, others): (Vec<_>, Vec<_>) =
            ctx.scenario.objects.iter().partition(|object| object["kind"] == "PriorityClass");
        let (dependents, owners): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|object| apiserver::has_owner_references(object));
        for object in classes.into_iter().chain(owners).chain(dependents) {
            let created = match object["kind"].as_str() {
                Some("Node") => self.add_node(ctx, object),
                _ => self.create(ctx, object, None),
            };
            if let Err(refusal) = created {
                let name = object["metadata"]["name"].as_str().unwrap_or("?");
                let kind = object["kind"].as_str().unwrap_or("object");
                let text = format!("{kind} {name}, which should exist from the start: {refusal}");
                ctx.progress.warnings.push(text);
            }
        }
    }

    pub fn handle(&mut self, ctx: &mut EngineContext<'_>, event: SimulationEvent, kubelets: &mut KubeletState) {
        match event {
            SimulationEvent::Submit(jobset) => {
                let new = ctx.store.names.jobsets[jobset.ix()].clone();
                let admitted = check_webhook_available(ctx, CREATE_WEBHOOK);
                match admitted.and_then(|()| create::check_jobset_absent(ctx, &new)) {
                    Ok(()) => {
                        let manifest = self.manifests[jobset.ix()].clone();
                        apiserver::create_jobset(ctx, jobset, manifest);
                    }
                    Err(refusal) => {
                        requests::note_not_created(ctx, jobset, &refusal);
                        let answer = ctx.intern(&refusal.to_string());
                        ctx.emit(Body::JobSetRefused { jobset, answer });
                    }
                }
            }
            SimulationEvent::Fault(index) => self.act(ctx, index, kubelets),
            SimulationEvent::EvictionRetry { pod, .. } => self.evict_until_accepted(ctx, pod),
            other => unreachable!("not an event of the user: {other:?}"),
        }
    }

    /// Schedules, once, the actions that are timed relative to readiness.
    pub fn arm_ready_faults(&mut self, ctx: &mut EngineContext<'_>) {
        if std::mem::replace(&mut self.armed, true) {
            return;
        }
        for (i, fault) in ctx.scenario.faults.iter().enumerate() {
            if let FaultTime::AfterReady(delay) = fault.at {
                let event = SimulationEvent::Fault(i as u32);
                ctx.schedule_after(delay, TicketWait::Script, TicketSubject::Nothing, event);
            }
        }
    }
}
